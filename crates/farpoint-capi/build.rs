//! Link options of the shared library: its name for the loader, and that it stays once it is loaded.

/// The name that programs ask the loader for. It changes with the part of the version that changes the
/// interface, its first two numbers; CMake and `cargo xtask` take them of the same version.
const SONAME: &str = concat!(
    "libfarpoint.so.",
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR")
);

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if matches!(os.as_str(), "linux" | "android" | "freebsd" | "netbsd" | "openbsd") {
        // Test programs are linked with it, too, where a linker does not look at it. Instructions for
        // shared libraries alone are for packages that say to be one in Cargo.toml.
        println!("cargo:rustc-link-arg=-Wl,-soname,{SONAME}");
        // Destructors of thread-local values and threads of the pool would run code that is gone.
        println!("cargo:rustc-link-arg=-Wl,-z,nodelete");
    }
}
