//! Conversion between formats: the names of attributes in another format, and their ranges there. This is the one
//! place for it; the writers only lay out the result.
//!
//! Every attribute has one name in here, that of LAS where LAS has it (`red`, `intensity`,
//! `classification`, `gps_time`, ...), and `nx`, `ny`, `nz` for normals.

use crate::Format;
use crate::cloud::column::{Attribute, Column, NumberType};
use crate::cloud::{Cloud, distinct};
use crate::error::listed;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Name of the attribute that marks points without a position, in E57.
pub(crate) const STATE: &str = "invalid_state";

/// Target format of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Ply,
    Pcd,
    Las,
    E57,
    Npy,
    Text,
    Pts,
}

/// Attributes with one name for all formats. Names are compared without case, underscores and the prefix `scalar_` of
/// CloudCompare.
const NAMES: [&str; 23] = [
    "red",
    "green",
    "blue",
    "alpha",
    "nir",
    "intensity",
    "classification",
    "nx",
    "ny",
    "nz",
    "gps_time",
    "return_number",
    "number_of_returns",
    "scan_direction_flag",
    "edge_of_flight_line",
    "synthetic",
    "key_point",
    "withheld",
    "overlap",
    "scanner_channel",
    "scan_angle_rank",
    "user_data",
    "point_source_id",
];

/// Other names for the same, in the compared form.
const ALIASES: [(&str, &str); 8] = [
    ("diffusered", "red"),
    ("diffusegreen", "green"),
    ("diffuseblue", "blue"),
    ("class", "classification"),
    ("infrared", "nir"),
    ("normalx", "nx"),
    ("normaly", "ny"),
    ("normalz", "nz"),
];

const COLORS: [&str; 3] = ["red", "green", "blue"];

/// Every attribute except x, y, z at the given rows, with the names and ranges of the target.
pub(crate) fn attributes(
    cloud: &Cloud,
    rows: &[usize],
    target: Target,
    warnings: &mut Vec<String>,
) -> Vec<Attribute> {
    let mut all = cloud.attributes(rows, warnings);
    match cloud.format {
        Some(Format::Pcd | Format::Mcap) => all = unpacked(all),
        // That all points are valid is no attribute.
        Some(Format::E57) if !cloud.any_value(STATE, &|state| state != 0.0) => {
            all.retain(|attribute| attribute.name != STATE);
        }
        _ => {}
    }
    convert_colors(cloud, &mut all, target, warnings);
    if target == Target::Las {
        scale_intensity(cloud, &mut all, warnings);
    }
    rename(&mut all);
    for attribute in &mut all {
        adapt(attribute, target);
    }
    distinct(&mut all, ["x", "y", "z"].map(String::from).into());
    all
}

/// Returns the compared form of a name.
pub(crate) fn key(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let plain = lower.strip_prefix("scalar_").unwrap_or(&lower);
    plain.chars().filter(|c| !matches!(c, '_' | ' ' | '-')).collect()
}

/// Returns the name under which attributes of one meaning are matched: the common one, if there is one.
pub(crate) fn common_name(name: &str) -> String {
    common(name).map_or_else(|| key(name), str::to_owned)
}

/// Returns the places of the names of a normal's three values, the first of each.
pub(crate) fn normals<'a>(names: impl Iterator<Item = &'a str> + Clone) -> [Option<usize>; 3] {
    ["nx", "ny", "nz"].map(|axis| names.clone().position(|name| common(name) == Some(axis)))
}

/// The common name for an attribute.
fn common(name: &str) -> Option<&'static str> {
    static BY_KEY: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
        let aliases = ALIASES.iter().map(|&(alias, name)| (alias.to_owned(), name));
        NAMES.iter().map(|name| (key(name), *name)).chain(aliases).collect()
    });
    BY_KEY.get(&key(name)).copied()
}

/// Gives attributes their common names, the first of those of one meaning.
pub(crate) fn rename(all: &mut [Attribute]) {
    for i in 0..all.len() {
        let Some(name) = common(&all[i].name) else { continue };
        if !all.iter().any(|other| other.name == name) {
            all[i].name = name.into();
        }
    }
}

/// Sets the names and types that readers of the target expect.
fn adapt(attribute: &mut Attribute, target: Target) {
    let normal = ["nx", "ny", "nz"].iter().position(|name| *name == attribute.name);
    if let Some(axis) = normal {
        attribute.name = match target {
            Target::Pcd => ["normal_x", "normal_y", "normal_z"][axis],
            Target::Las => ["NormalX", "NormalY", "NormalZ"][axis],
            _ => ["nx", "ny", "nz"][axis],
        }
        .into();
    }
    if target != Target::Pcd {
        return;
    }
    // The Point Cloud Library matches fields by name and type.
    let single = normal.is_some() || matches!(attribute.name.as_str(), "intensity" | "curvature");
    let kind = attribute.column.kind();
    let largest = f64::from(1u32 << 24);
    let fits = kind.fits_in(NumberType::F32)
        || kind == NumberType::F64
        || attribute.column.whole_within(-largest, largest);
    if single && fits {
        attribute.column = attribute.column.cast(NumberType::F32);
    }
    if attribute.name == "label" && attribute.column.whole_within(0.0, f64::from(u32::MAX)) {
        attribute.column = attribute.column.cast(NumberType::U32);
    }
}

/// Adds the colors of a file in which some points may have none, which are NaN there.
pub(crate) fn add_colors(cloud: &mut Cloud, channels: [Column; 3]) {
    let missing = channels[0].nans();
    if missing > 0 {
        let warning = format!("{missing} of {} points have no color (NaN)", cloud.len());
        cloud.warnings.push(warning);
    }
    cloud.add_columns(COLORS.map(String::from).into_iter().zip(channels));
}

/// Unpacks the colors of PCD, which come in one 32-bit `rgb` or `rgba`.
pub(crate) fn unpacked(attributes: Vec<Attribute>) -> Vec<Attribute> {
    let mut out = Vec::with_capacity(attributes.len());
    for attribute in attributes {
        let packed: Option<Vec<u32>> = match (&attribute.column, attribute.name.as_str()) {
            (Column::F32(v), "rgb" | "rgba") => Some(v.iter().map(|x| x.to_bits()).collect()),
            (Column::U32(v), "rgb" | "rgba") => Some(v.clone()),
            (Column::I32(v), "rgb" | "rgba") => Some(v.iter().map(|&x| x as u32).collect()),
            _ => None,
        };
        let Some(packed) = packed else {
            out.push(attribute);
            continue;
        };
        let mut channels = vec![("red", 16), ("green", 8), ("blue", 0)];
        if attribute.name == "rgba" {
            channels.push(("alpha", 24));
        }
        for (name, shift) in channels {
            let values = packed.iter().map(|&p| (p >> shift) as u8).collect();
            out.push(Attribute { name: name.into(), column: Column::U8(values) });
        }
    }
    out
}

/// Share of a range by which values may be outside of it, as sums of weights and filters of images leave them.
const SLACK: f64 = 0.1;

/// The range of a file's colors. Values outside become its ends, and NaN becomes 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// 0 to 255.
    Byte,
    /// 0 to 65535.
    Word,
    /// 0 to 1.
    Unit,
}

impl Depth {
    /// Returns the range of attributes in all rows of a cloud; `None` if they can't be colors.
    fn detect(cloud: &Cloud, channels: &[&Attribute]) -> Option<Depth> {
        let of = |kinds: &[NumberType]| channels.iter().all(|a| kinds.contains(&a.column.kind()));
        if of(&[NumberType::U8]) {
            return Some(Depth::Byte);
        }
        let any = |test: &(dyn Fn(f64) -> bool + Sync)| {
            channels.iter().any(|a| cloud.any_value(&a.name, test))
        };
        // This type allows no other range, so that unread rows stay unread.
        if of(&[NumberType::U16]) {
            return Some(if any(&|v| v > 255.0) { Depth::Word } else { Depth::Byte });
        }
        // Text has no types, so that only a fraction shows the range 0 to 1.
        let floats = match cloud.has_lines() {
            true => any(&|v| v.is_finite() && v.fract() != 0.0),
            false => of(&[NumberType::F32, NumberType::F64]),
        };
        let mut all =
            [Depth::Unit, Depth::Byte, Depth::Word].into_iter().skip(usize::from(!floats));
        let slack = |depth: Depth| SLACK * depth.end();
        let depth = all.find(|&d| !any(&|v| v.is_finite() && v > d.end() + slack(d)))?;
        (!any(&|v| v.is_finite() && v < -slack(depth))).then_some(depth)
    }

    /// Returns the largest value; the smallest is 0.
    fn end(self) -> f64 {
        match self {
            Depth::Byte => 255.0,
            Depth::Word => 65535.0,
            Depth::Unit => 1.0,
        }
    }

    /// Warns of values outside the range, and of NaN.
    fn warn_of_others(self, channels: &[&Attribute], warnings: &mut Vec<String>) {
        let end = self.end();
        let outside = format!("outside of 0 to {end} become the nearer end");
        let mut count = |test: &dyn Fn(f64) -> bool, what: &str| {
            let of = |a: &Attribute| (0..a.column.len()).filter(|&i| test(a.column.get(i))).count();
            let quoted = |a: &&Attribute| (format!("'{}'", a.name), of(a));
            let found = channels.iter().map(quoted).filter(|(_, n)| *n > 0);
            let (names, counts): (Vec<String>, Vec<usize>) = found.unzip();
            if !names.is_empty() {
                let total: usize = counts.iter().sum();
                warnings.push(format!("{}: {total} values {what}", listed(names)));
            }
        };
        count(&|v| v < 0.0 || v > end, &outside);
        count(&f64::is_nan, "that are NaN become 0");
    }

    fn byte(self, value: f64) -> u8 {
        match self {
            Depth::Byte => value.round() as u8,
            Depth::Word => (value as u16 >> 8) as u8,
            Depth::Unit => (value * 255.0).round() as u8,
        }
    }

    /// Returns a value in the range of LAS: 8 bits are multiplied by 256.
    fn word(self, value: f64) -> u16 {
        match self {
            Depth::Byte => u16::from(value.round() as u8) << 8,
            Depth::Word => value as u16,
            Depth::Unit => (value * 65535.0).round() as u16,
        }
    }

    /// Returns whether 8 bits are too few for a value of the range.
    fn beyond_byte(self, value: f64) -> bool {
        (0.0..=self.end()).contains(&value)
            && match self {
                Depth::Byte => value.fract() != 0.0,
                // Both conversions of 8 bits to 16 are lossless.
                Depth::Word => {
                    !matches!(value as u16 & 255, low if low == 0 || low == value as u16 >> 8)
                }
                Depth::Unit => (value * 255.0 - (value * 255.0).round()).abs() > 1e-3,
            }
    }
}

/// Indices of red, green and blue; also of the names r, g and b, if there are all three.
fn color_places(all: &[Attribute]) -> Option<[usize; 3]> {
    let by = |names: [&str; 3], test: &dyn Fn(&str, &str) -> bool| {
        let place = |name: &str| all.iter().position(|a| test(&a.name, name));
        Some([place(names[0])?, place(names[1])?, place(names[2])?])
    };
    by(COLORS, &|attribute, name| attribute == name)
        .or_else(|| by(COLORS, &|attribute, name| common(attribute) == Some(name)))
        .or_else(|| by(["r", "g", "b"], &|attribute, name| attribute.eq_ignore_ascii_case(name)))
}

/// Brings colors into the range of the target, under the names red, green and blue.
fn convert_colors(
    cloud: &Cloud,
    all: &mut [Attribute],
    target: Target,
    warnings: &mut Vec<String>,
) {
    let Some(places) = color_places(all) else { return };
    let Some(mut rounded) = convert(cloud, all, (&places, &COLORS), target, warnings) else {
        return;
    };
    let alpha = all.iter().position(|a| key(&a.name) == "alpha");
    if let Some(place) = alpha.filter(|_| target != Target::Las) {
        let found = convert(cloud, all, (&[place], &["alpha"]), target, warnings);
        rounded |= found.unwrap_or(false);
    }
    if rounded {
        warnings.push("colors are rounded to 8 bits a channel".into());
    }
}

/// Brings these attributes into the range of the target, under these names; returns whether some are rounded. `None` if
/// they can't be colors.
fn convert(
    cloud: &Cloud,
    all: &mut [Attribute],
    (places, names): (&[usize], &[&str]),
    target: Target,
    warnings: &mut Vec<String>,
) -> Option<bool> {
    let kept = matches!(target, Target::Npy | Target::Text);
    let channels: Vec<&Attribute> = places.iter().map(|&place| &all[place]).collect();
    let depth = Depth::detect(cloud, &channels);
    match depth {
        Some(depth) if !kept => depth.warn_of_others(&channels, warnings),
        None if !kept && channels.iter().all(|a| common(&a.name).is_some()) => {
            warnings.push(no_colors(&channels));
        }
        _ => {}
    }
    let (depth, mut rounded) = (depth?, false);
    for (&place, name) in places.iter().zip(names) {
        let column = &all[place].column;
        let values = || (0..column.len()).map(|i| column.get(i));
        let beyond = || values().any(|v| depth.beyond_byte(v));
        let converted = match target {
            Target::Npy | Target::Text => None,
            Target::Las => {
                rounded |= depth == Depth::Byte && beyond();
                Some(Column::U16(values().map(|v| depth.word(v)).collect()))
            }
            Target::Ply | Target::Pcd | Target::Pts | Target::E57 => {
                rounded |= beyond();
                Some(Column::U8(values().map(|v| depth.byte(v)).collect()))
            }
        };
        if let Some(column) = converted {
            all[place].column = column;
        }
        if !kept || common(&all[place].name).is_none() {
            all[place].name = (*name).into();
        }
    }
    Some(rounded)
}

/// Returns the warning that attributes with the names of colors are none.
fn no_colors(channels: &[&Attribute]) -> String {
    format!(
        "{}: values beyond the ranges of colors (0 to 1, 255 or 65535) are kept, but not as colors",
        listed(channels.iter().map(|a| format!("'{}'", a.name)))
    )
}

/// Intensity from 0 to 1 becomes 0 to 65535, which is full intensity in LAS.
fn scale_intensity(cloud: &Cloud, all: &mut [Attribute], warnings: &mut Vec<String>) {
    let named = |a: &&mut Attribute| common(&a.name) == Some("intensity");
    let Some(attribute) = all.iter_mut().find(named) else { return };
    let fraction = |v: f64| v.is_finite() && v.fract() != 0.0;
    let unit = cloud.any_value(&attribute.name, &fraction)
        && Depth::detect(cloud, &[attribute]) == Some(Depth::Unit);
    if !unit {
        return;
    }
    Depth::Unit.warn_of_others(&[attribute], warnings);
    let column = &attribute.column;
    let values = (0..column.len()).map(|i| Depth::Unit.word(column.get(i))).collect();
    attribute.column = Column::U16(values);
    warnings.push("intensity from 0 to 1 is multiplied by 65535".into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coordinates;

    fn colored(values: Column) -> Cloud {
        let mut cloud = Cloud::new(Coordinates::F32(vec![[0.0; 3]; values.len()]));
        for name in ["r", "G", "b"] {
            cloud.add_column(name, values.clone());
        }
        cloud
    }

    /// The red of the rows in the target, with the number of warnings.
    fn red(values: Column, rows: &[usize], target: Target) -> (Column, usize) {
        let mut warnings = Vec::new();
        let all = attributes(&colored(values), rows, target, &mut warnings);
        let names: Vec<_> = all.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, COLORS);
        (all[0].column.clone(), warnings.len())
    }

    #[test]
    fn the_whole_cloud_shows_the_range_of_its_colors() {
        let words = Column::U16(vec![200, 65280, 513]);
        assert_eq!(red(words.clone(), &[0, 1], Target::Ply), (Column::U8(vec![0, 255]), 1));
        assert_eq!(red(words.clone(), &[1], Target::Ply), (Column::U8(vec![255]), 0));
        assert_eq!(red(words.clone(), &[0], Target::Las), (Column::U16(vec![200]), 0));
        assert_eq!(red(words.clone(), &[0], Target::Npy), (Column::U16(vec![200]), 0));
        let bytes = Column::U16(vec![200, 255]);
        assert_eq!(red(bytes.clone(), &[0, 1], Target::Pcd), (Column::U8(vec![200, 255]), 0));
        assert_eq!(red(bytes, &[0, 1], Target::Las), (Column::U16(vec![51200, 65280]), 0));
    }

    #[test]
    fn floats_are_shares_of_full_color() {
        let unit = Column::F32(vec![0.0, 1.0, 128.0 / 255.0, f32::NAN]);
        let expected = Column::U8(vec![0, 255, 128, 0]);
        // NaN is named.
        assert_eq!(red(unit.clone(), &[0, 1, 2, 3], Target::Ply), (expected, 1));
        assert_eq!(red(unit, &[1], Target::Las), (Column::U16(vec![65535]), 0));
        let bytes = Column::F32(vec![0.0, 255.0]);
        assert_eq!(red(bytes, &[0, 1], Target::Pts), (Column::U8(vec![0, 255]), 0));
    }

    #[test]
    fn attributes_that_are_not_colors_stay() {
        let mut warnings = Vec::new();
        let cloud = colored(Column::F64(vec![-3.5, 90_000.0]));
        let all = attributes(&cloud, &[0], Target::Ply, &mut warnings);
        assert_eq!(all[0].name, "r");
        assert_eq!(all[0].column, Column::F64(vec![-3.5]));
    }

    #[test]
    fn names_are_those_of_the_target() {
        let mut cloud = Cloud::new(Coordinates::F32(vec![[0.0; 3]]));
        for name in ["scalar_Intensity", "Normal_X", "GpsTime", "class", "radius"] {
            cloud.add_column(name, Column::F64(vec![0.5]));
        }
        let names = |target| {
            let all = attributes(&cloud, &[0], target, &mut Vec::new());
            all.into_iter().map(|a| (a.name, a.column.kind().name())).collect::<Vec<_>>()
        };
        let pair = |name: &str, kind| (name.to_owned(), kind);
        let rest = [pair("gps_time", "f64"), pair("classification", "f64"), pair("radius", "f64")];
        let with = |first: [(String, &'static str); 2]| [&first[..], &rest[..]].concat();
        assert_eq!(names(Target::Ply), with([pair("intensity", "f64"), pair("nx", "f64")]));
        assert_eq!(names(Target::Pcd), with([pair("intensity", "f32"), pair("normal_x", "f32")]));
        assert_eq!(names(Target::Las), with([pair("intensity", "u16"), pair("NormalX", "f64")]));
    }
}
