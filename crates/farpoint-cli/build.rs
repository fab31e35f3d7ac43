//! Packs the script of the page, which is three quarters smaller so.

use flate2::{Compression, write::ZlibEncoder};
use std::io::Write;
use std::path::Path;
use std::{env, fs};

const SCRIPT: &str = "assets/view.js";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SCRIPT}");
    let script = fs::read(SCRIPT).expect("the crate contains the script");
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&script).expect("memory takes all");
    let folder = env::var_os("OUT_DIR").expect("cargo names it");
    let packed = packed.finish().expect("memory takes all");
    fs::write(Path::new(&folder).join("view.js.zz"), packed).expect("OUT_DIR is writable");
}
