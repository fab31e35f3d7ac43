//! How the shared library is linked: its name for the loader, and that it stays once it is loaded.

/// The name that programs ask the loader for. It changes with the first part of the version that
/// changes the interface: the minor one before 1.0.
const SONAME: &str = "libfarpoint.so.0.1";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    // cargo-c passes a name of its own, made from the version.
    println!("cargo:rustc-check-cfg=cfg(cargo_c)");
    if matches!(os.as_str(), "linux" | "android" | "freebsd" | "netbsd" | "openbsd") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
        // Thread-local destructors and the threads of the pool would run code that is no longer there.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
