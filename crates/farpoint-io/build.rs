//! Packs the well-known text of all EPSG codes, which are much alike, into a tenth of their size.

use flate2::{Compression, write::ZlibEncoder};
use std::io::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::new(6));
    let definitions = (0..=u16::MAX).filter_map(crs_definitions::from_code);
    for definition in definitions.filter(|definition| !definition.wkt.is_empty()) {
        assert!(!definition.wkt.contains('\n'), "one line per code");
        writeln!(packed, "{} {}", definition.code, definition.wkt).expect("memory takes all");
    }
    let folder = env::var_os("OUT_DIR").expect("cargo names it");
    let packed = packed.finish().expect("memory takes all");
    fs::write(Path::new(&folder).join("epsg.zz"), packed).expect("OUT_DIR is writable");
}
