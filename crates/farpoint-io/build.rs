//! Packs the well-known text of EPSG codes: a line each of code and text, in which `{4269}` stands for the text of
//! that code and `~` at the end for the code itself.

use flate2::{Compression, write::ZlibEncoder};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

/// Systems within others, the largest first, that have a line of their own.
const PARTS: [&str; 3] = ["PROJCS[", "GEOGCS[", "VERT_CS["];

/// Systems without axes in their text whose axes are not north and east.
const POLAR: [u32; 3] = [5482, 32661, 32761];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
    let mut text = text.to_owned();
    for part in [",TOWGS84[", ",USAGE["] {
        while let Some(at) = text.find(part) {
            text.replace_range(at..end(&text, at), "");
        }
    }
    let own = own(code);
    if text.starts_with("PROJCS[") && !text.contains("AXIS[") && !POLAR.contains(&code) {
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

/// Adds the vertical systems, which are only stated in compound ones.
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
