//! Packs the well-known text of EPSG codes: a line each of code and text, in which `{4269}` stands for the text of
//! that code and `~` at the end for the code itself.

use flate2::{Compression, write::ZlibEncoder};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

/// Systems within others, the largest first, that have a line of their own.
const PARTS: [&str; 3] = ["PROJCS[", "GEOGCS[", "VERT_CS["];

/// Vertical systems that no compound one contains.
const HEIGHTS: &str = "src/cloud/crs/heights.txt";

/// Units of heights: code, name, meters.
const UNITS: [(&str, &str, &str); 3] = [
    ("9001", "metre", "1"),
    ("9002", "foot", "0.3048"),
    ("9003", "US survey foot", "0.3048006096012192"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={HEIGHTS}");
    let definitions = (0..=u16::MAX).filter_map(crs_definitions::from_code);
    let clean = |definition: crs_definitions::Def| {
        let code = u32::from(definition.code);
        Some((code, clean(code, definition.wkt)?))
    };
    let mut texts: BTreeMap<u32, String> = definitions.filter_map(clean).collect();
    add_verticals(&mut texts);
    let mut lines: Vec<(u32, String)> =
        texts.iter().map(|(&code, text)| (code, shortened(code, text, &texts))).collect();
    // Similar texts side by side take less.
    lines.sort_by_cached_key(|(code, text)| {
        let method = text.split_once("PROJECTION[").map(|(_, rest)| rest.split(']').next());
        (text.split('[').next().map(str::to_owned), method.flatten().map(str::to_owned), *code)
    });
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    for (code, text) in lines {
        assert!(!text.contains('\n'), "one line per code");
        writeln!(packed, "{code} {text}").expect("memory takes all");
    }
    let folder = env::var_os("OUT_DIR").expect("cargo names it");
    let packed = packed.finish().expect("memory takes all");
    fs::write(Path::new(&folder).join("epsg.zz"), packed).expect("OUT_DIR is writable");
}

/// Returns the text of a code without what keeps readers from recognizing it: a shift to WGS 84, one of several. `None`
/// if the text states another code.
fn clean(code: u32, text: &str) -> Option<String> {
    let source = "BOUNDCRS[SOURCECRS[";
    let text = match text.strip_prefix(source) {
        Some(rest) => &rest[..end(text, source.len() - 1) - source.len() - 1],
        None => text,
    };
    // The azimuth as EPSG has it now.
    let mut text = text.replace("30.28813972222222", "30.2881397527778");
    // Both axes of polar systems lead to or from the pole, which their text leaves to the code.
    let polar = text.contains("[\"Polar_Stereographic\"]")
        || [90, -90].iter().any(|pole| text.contains(&format!("latitude_of_center\",{pole}]")));
    let axes = if polar && text.starts_with("PROJCS[") { ",AXIS[" } else { ",USAGE[" };
    for part in [",TOWGS84[", ",USAGE[", ",EXTENSION[\"PROJ4_GRIDS\"", axes] {
        while let Some(at) = text.find(part) {
            text.replace_range(at..end(&text, at), "");
        }
    }
    let own = own(code);
    if text.starts_with("PROJCS[") && !text.contains("AXIS[") && !polar {
        // The order in EPSG, which the text leaves to the code.
        let axes = r#",AXIS["Northing",NORTH],AXIS["Easting",EAST]"#;
        text = text.replace(&own, &format!("{axes}{own}"));
    }
    (text.ends_with(&own) || text.ends_with(&format!(",ID[\"EPSG\",{code}]]"))).then_some(text)
}

fn own(code: u32) -> String {
    format!(",AUTHORITY[\"EPSG\",\"{code}\"]]")
}

/// Returns the end of the brackets that open at or after `from`.
fn end(text: &str, from: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 1 => return at + 1,
            b']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Adds the vertical systems: those stated in compound ones, and others.
fn add_verticals(texts: &mut BTreeMap<u32, String>) {
    let verticals: Vec<String> = texts
        .values()
        .filter_map(|text| {
            let at = text.find("VERT_CS[")?;
            Some(text[at..end(text, at)].to_owned())
        })
        .collect();
    for text in verticals {
        texts.entry(code_of(&text).expect("a code")).or_insert(text);
    }
    let others = fs::read_to_string(HEIGHTS).expect("it is beside this file");
    for line in others.lines().skip(1) {
        let [code, unit, name, datum_code, datum] = line.split('|').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let (_, unit_name, meters) = UNITS.into_iter().find(|row| row.0 == unit).expect("a unit");
        let axis = match name.contains("depth") {
            true => r#"AXIS["Depth",DOWN]"#,
            false => r#"AXIS["Gravity-related height",UP]"#,
        };
        let id = |code: &str| format!("AUTHORITY[\"EPSG\",\"{code}\"]");
        let (of_datum, of_unit, own) = (id(datum_code), id(unit), id(code));
        let text = format!(
            "VERT_CS[\"{name}\",VERT_DATUM[\"{datum}\",2005,{of_datum}],\
             UNIT[\"{unit_name}\",{meters},{of_unit}],{axis},{own}]"
        );
        texts.entry(code.parse().expect("a number")).or_insert(text);
    }
}

/// Returns the code at the end of a text.
fn code_of(text: &str) -> Option<u32> {
    let start = text.rfind(",AUTHORITY[\"EPSG\",\"")?;
    text[start..].split('"').nth(3)?.parse().ok()
}

/// Returns the text with codes for the systems within it.
fn shortened(code: u32, text: &str, texts: &BTreeMap<u32, String>) -> String {
    assert!(!text.contains(['{', '~']), "{text}");
    let mut text = text.to_owned();
    for part in PARTS {
        while let Some(at) = text.match_indices(part).map(|(at, _)| at).find(|&at| at > 0) {
            let end = end(&text, at);
            let code = code_of(&text[at..end]).filter(|code| texts.contains_key(code));
            let code = code.expect("systems have lines of their own");
            text.replace_range(at..end, &format!("{{{code}}}"));
        }
    }
    match text.strip_suffix(&own(code)) {
        Some(start) => format!("{start}~"),
        None => text,
    }
}
