//! The Rust examples of the documents, which `cargo test --doc --package farpoint-docs` runs.

macro_rules! documents {
    ($($name:ident: $path:literal,)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($path)]
            mod $name {}
        )*
    };
}

documents! {
    readme: "../README.md",
    quick_start: "quick-start.md",
    rust: "guide/rust.md",
    chamfer: "chamfer.md",
    operators: "operators.md",
    cuda: "cuda.md",
}
