//! Well-known text of EPSG codes, as the build script packs it.

use super::wkt::{self, Node};
use flate2::read::ZlibDecoder;
use std::io::Read;
use std::sync::OnceLock;

/// Returns the lines of all codes, `code text`.
fn lines() -> &'static str {
    static LINES: OnceLock<String> = OnceLock::new();
    LINES.get_or_init(|| {
        let packed = include_bytes!(concat!(env!("OUT_DIR"), "/epsg.zz"));
        let mut text = String::new();
        // What this program contains can be unpacked; without it no code is known.
        _ = ZlibDecoder::new(&packed[..]).read_to_string(&mut text);
        text
    })
}

/// Returns the well-known text of an EPSG code.
pub(super) fn definition(code: u32) -> Option<String> {
    let text = lines().lines().find_map(|line| {
        let (number, text) = line.split_once(' ')?;
        (number.parse() == Ok(code)).then_some(text)
    })?;
    let mut out = String::new();
    let mut rest = text.strip_suffix('~').unwrap_or(text);
    while let Some((before, (part, after))) =
        rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        out += before;
        out += &definition(part.parse().ok()?)?;
        rest = after;
    }
    out += rest;
    if text.ends_with('~') {
        out += &format!(",AUTHORITY[\"EPSG\",\"{code}\"]]");
    }
    Some(out)
}

/// Returns the compound system of a horizontal and a vertical one.
pub(super) fn compound(horizontal: u32, vertical: u32) -> Option<String> {
    let parts = format!(",{{{horizontal}}},{{{vertical}}}~");
    if let Some(line) = lines().lines().find(|line| line.ends_with(&parts)) {
        return definition(line.split_once(' ')?.0.parse().ok()?);
    }
    let (horizontal, vertical) = (definition(horizontal)?, definition(vertical)?);
    if !horizontal.starts_with("PROJCS[") && !horizontal.starts_with("GEOGCS[") {
        return None;
    }
    let name = |text: &str| text.split('"').nth(1).unwrap_or_default().to_owned();
    let names = format!("{} + {}", name(&horizontal), name(&vertical));
    Some(format!("COMPD_CS[\"{names}\",{horizontal},{vertical}]"))
}

/// Returns codes and definitions of all systems that start with this word and contain no others.
fn systems(word: &str) -> impl Iterator<Item = (u32, Node)> {
    lines().lines().filter_map(move |line| {
        let (code, text) = line.split_once(' ')?;
        let text = text.strip_suffix('~').filter(|text| text.starts_with(word))?;
        Some((code.parse().ok()?, wkt::parse(&format!("{text}]"))?.nodes.pop()?))
    })
}

/// Returns the code of the vertical system with this code or datum, and this unit if it is stated. Files state datum
/// and unit of their own, or one in place of the other, and GeoTIFF 1.0 knew systems by the codes of their data.
pub(super) fn vertical(system: Option<u32>, datum: Option<u32>, unit: Option<u32>) -> Option<u32> {
    let mut all: Vec<(u32, Node)> = systems("VERT_CS").collect();
    // Heights before depths of the same datum.
    all.sort_by_key(|(code, node)| (node.is_depth(), *code));
    let datum_of = |node: &Node| node.code_of("VERT_DATUM");
    let of_unit = |node: &Node| unit.is_none() || node.code_of("UNIT") == unit;
    let of_code = |code: Option<u32>| all.iter().find(|(number, _)| Some(*number) == code);
    let of_datum = |datum: Option<u32>| {
        all.iter().find(|(_, node)| datum.is_some() && datum_of(node) == datum)
    };
    let found = of_code(system).or(of_datum(datum)).or(of_datum(system)).or(of_code(datum));
    let (_, node) = found?;
    let same = |(_, other): &&(u32, Node)| {
        datum_of(other) == datum_of(node) && node.is_depth() == other.is_depth() && of_unit(other)
    };
    let found = found.filter(|(_, node)| of_unit(node)).or_else(|| all.iter().find(same));
    found.map(|(code, _)| *code)
}

/// Returns the code of the geocentric system with this code, or the newest with the datum of the system of this code.
pub(super) fn geocentric(code: u32) -> Option<u32> {
    let text = definition(code)?;
    if text.starts_with("GEOCCS[") {
        return Some(code);
    }
    let datum = wkt::parse(&text)?.nodes.pop()?.code_of("DATUM")?;
    let same = systems("GEOCCS").filter(|(_, node)| node.code_of("DATUM") == Some(datum));
    same.map(|(code, _)| code).max()
}

/// Returns the meters of a unit of length.
pub(super) fn unit(code: u32) -> Option<f64> {
    // Units of no system among these; others have codes in the same range.
    const OTHERS: [(u32, f64); 6] = [
        (1025, 0.001),
        (1033, 0.01),
        (9014, 1.8288),
        (9030, 1852.0),
        (9093, 1609.344),
        (9096, 0.9144),
    ];
    let end = format!(",AUTHORITY[\"EPSG\",\"{code}\"]]");
    let before = lines().match_indices(&end).map(|(at, _)| &lines()[..at]);
    let mut stated =
        before.filter_map(|text| text.rsplit_once('[')).filter_map(|(before, unit)| {
            before.ends_with(",UNIT").then(|| unit.rsplit_once(',')?.1.parse().ok()).flatten()
        });
    stated
        .next()
        .or_else(|| OTHERS.iter().find(|(number, _)| *number == code).map(|(_, meters)| *meters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_whole_text_of_its_code() {
        let codes: Vec<u32> =
            lines().lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
        assert!(codes.len() > 6000, "{}", codes.len());
        // Some of each kind, which are sorted by it.
        for &code in codes.iter().step_by(37) {
            let text = definition(code).unwrap();
            let ends = [format!("\"{code}\"]]"), format!("[\"EPSG\",{code}]]")];
            assert!(ends.iter().any(|end| text.ends_with(end)), "{text}");
            assert!(!text.contains(['{', '}', '~']) && !text.contains("TOWGS84"), "{text}");
            assert_eq!(text.matches('[').count(), text.matches(']').count(), "{text}");
        }
        assert_eq!(definition(1), None);
    }

    #[test]
    fn two_systems_become_a_registered_one_or_one_of_their_names() {
        let text = compound(28992, 5709).unwrap();
        assert!(
            text.starts_with("COMPD_CS[\"Amersfoort / RD New + NAP height\",PROJCS["),
            "{text}"
        );
        assert!(text.ends_with(",AUTHORITY[\"EPSG\",\"7415\"]]"), "{text}");
        let text = compound(2227, 6360).unwrap();
        assert!(text.starts_with("COMPD_CS[\"NAD83 / California zone 3 (ftUS) + NAVD88"), "{text}");
        assert!(text.ends_with("]]"), "{text}");
        // Neither a vertical system nor three dimensions have a height to add.
        assert_eq!(compound(5703, 5703), None);
        assert_eq!(compound(4979, 5703), None);
        assert_eq!(compound(2227, 1), None);
    }

    #[test]
    fn units_by_their_code() {
        assert_eq!((unit(9001), unit(9002)), (Some(1.0), Some(0.3048)));
        assert_eq!((unit(9003), unit(1)), (Some(1200.0 / 3937.0), None));
        // Of an ellipsoid.
        assert_eq!(unit(7019), None);
    }
}
