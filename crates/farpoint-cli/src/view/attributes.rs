//! The attributes of a cloud as the page stores them: one or two bytes per point.

use farpoint_io::{Cloud, Column, NumberType, class_name};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Largest values of one byte and of two, less the one that means "no value".
const BYTE: f64 = 254.0;
const TWO: f64 = 65_534.0;
/// Greatest number of distinct whole numbers that are classes.
const CLASSES: usize = 32;
/// Class from which a byte per point and a color are no use.
const WIDEST: usize = 256;

/// An attribute of many values.
pub(super) struct Attribute {
    name: String,
    pub(super) bytes: usize,
    offset: f64,
    scale: f64,
    whole: bool,
    class: bool,
    limits: [f64; 2],
    /// Distinct values of classes.
    values: Vec<f64>,
    pub(super) data: Vec<u8>,
}

/// Attributes of a cloud, without coordinates.
#[derive(Default)]
pub(super) struct Attributes {
    /// Red, green and blue per point.
    pub(super) rgb: Option<Vec<u8>>,
    pub(super) varying: Vec<Attribute>,
    /// Attributes with one value for all points.
    pub(super) constant: Vec<(String, f64)>,
}

impl Attributes {
    /// Encodes the attributes of these rows.
    pub(super) fn of(cloud: &Cloud, rows: &[usize]) -> Self {
        let columns: Vec<_> = cloud.columns(rows).collect();
        let color = color(&columns);
        let color_names = color.as_ref().map(|(_, names)| names.clone()).unwrap_or_default();
        let mut attributes = Self { rgb: color.map(|(rgb, _)| rgb), ..Self::default() };
        let is_axis = |name: &str| ["x", "y", "z"].contains(&name.to_ascii_lowercase().as_str());
        for (name, column) in &columns {
            if !is_axis(name) && *name != "_" && !color_names.contains(name) {
                attributes.add(name, column);
            }
        }
        attributes
    }

    fn add(&mut self, name: &str, column: &Column) {
        let values: Vec<f64> = (0..column.len()).map(|row| column.get(row)).collect();
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (low, high) = finite()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low > high {
            return;
        }
        if low == high && finite().count() == values.len() {
            self.constant.push((name.to_owned(), low));
            return;
        }
        self.varying.push(Attribute::of(name, &values, low, high));
    }
}

impl Attribute {
    fn of(name: &str, values: &[f64], low: f64, high: f64) -> Self {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let whole = high - low <= TWO && finite().all(|value| value.fract() == 0.0);
        let bytes = if whole && high - low <= BYTE { 1 } else { 2 };
        let scale = if whole { 1.0 } else { ((high - low) / TWO).max(f64::MIN_POSITIVE) };
        let mut data = Vec::with_capacity(bytes * values.len());
        for value in values {
            let stored = match value.is_finite() {
                true => ((value - low) / scale).round() as u16,
                false => u16::MAX,
            };
            data.extend_from_slice(&stored.to_le_bytes()[..bytes]);
        }
        let values: Vec<f64> = match bytes {
            1 => finite().map(|value| value as i64).collect::<BTreeSet<_>>(),
            _ => BTreeSet::new(),
        }
        .into_iter()
        .map(|value| value as f64)
        .collect();
        let named = name.to_ascii_lowercase().contains("class");
        let class = (1..=if named { WIDEST } else { CLASSES }).contains(&values.len());
        let limits = limits(finite().collect());
        let name = name.to_owned();
        Self { name, bytes, offset: low, scale, whole, class, limits, values, data }
    }

    /// Returns the bytes of a number if most numbers of two bytes are near the one before, as times are.
    pub(super) fn near(&self) -> Option<usize> {
        let number = |value: &[u8]| i32::from(value[0]) + 256 * i32::from(value[1]);
        let follows = |pair: &&[u8]| (number(&pair[2..]) - number(pair)).abs() < 128;
        let pairs = || self.data.windows(4).step_by(2);
        (self.bytes == 2 && 2 * pairs().filter(follows).count() > pairs().len()).then_some(2)
    }

    /// Describes the attributes to the page; `asprs` if classes are those of LAS files, which have an epoch of GPS time.
    pub(super) fn json(&self, asprs: bool, epoch: Option<&str>) -> Value {
        let named = asprs && self.name == "classification";
        let name = |value: &f64| (value.to_string(), class_name(*value as u64).into());
        let epoch = epoch.filter(|_| self.name == "gps_time");
        let time = epoch.map(|epoch| if epoch == "week" { epoch } else { "standard" });
        let names: Map<String, Value> = self.values.iter().filter(|_| named).map(name).collect();
        json!({
            "name": self.name,
            "kind": if self.class { "class" } else { "number" },
            "names": names,
            "bytes": self.bytes,
            "offset": self.offset,
            "scale": self.scale,
            "whole": self.whole,
            "limits": self.limits,
            "unit": if time.is_some() { "s" } else { "" },
            "time": time,
        })
    }
}

/// Returns the values at 2 and 98 percent.
fn limits(mut values: Vec<f64>) -> [f64; 2] {
    let mut at = |share: f64| {
        let place = ((values.len() - 1) as f64 * share).round() as usize;
        *values.select_nth_unstable_by(place, f64::total_cmp).1
    };
    let limits = [at(0.02), at(0.98)];
    if limits[0] < limits[1] { limits } else { [at(0.0), at(1.0)] }
}

/// Returns the colors of the rows as bytes, and the names of the attributes that hold them.
fn color<'a>(columns: &[(&'a str, Column)]) -> Option<(Vec<u8>, Vec<&'a str>)> {
    const TRIPLES: [[&str; 3]; 3] = [
        ["red", "green", "blue"],
        ["r", "g", "b"],
        ["diffuse_red", "diffuse_green", "diffuse_blue"],
    ];
    let find =
        |wanted_name: &str| columns.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted_name));
    for triple in TRIPLES {
        let [Some(red), Some(green), Some(blue)] = triple.map(find) else { continue };
        let rgb = bytes([&red.1, &green.1, &blue.1]);
        return Some((rgb, vec![red.0, green.0, blue.0]));
    }
    let (packed, column) = ["rgb", "rgba"].into_iter().find_map(find)?;
    let bits = |row: usize| match column {
        Column::F32(values) => Some(values[row].to_bits()),
        Column::U32(values) => Some(values[row]),
        _ => None,
    };
    let mut rgb = Vec::with_capacity(3 * column.len());
    for row in 0..column.len() {
        let [blue, green, red, _] = bits(row)?.to_le_bytes();
        rgb.extend_from_slice(&[red, green, blue]);
    }
    Some((rgb, vec![packed]))
}

/// Converts colors of any range to bytes: 8 bits, 16 bits, or shares of 1.
fn bytes(columns: [&Column; 3]) -> Vec<u8> {
    let max = columns.iter().flat_map(|column| (0..column.len()).map(|row| column.get(row)));
    let max = max.filter(|value| value.is_finite()).fold(0.0, f64::max);
    let float =
        columns.iter().any(|column| matches!(column.kind(), NumberType::F32 | NumberType::F64));
    let scale = match max {
        _ if float && max <= 1.0 => 255.0,
        _ if max > 255.0 => 1.0 / 257.0,
        _ => 1.0,
    };
    let mut rgb = Vec::with_capacity(3 * columns[0].len());
    for row in 0..columns[0].len() {
        // A missing color is black: the cast takes NaN to 0.
        rgb.extend(columns.iter().map(|column| (column.get(row) * scale).round() as u8));
    }
    rgb
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint_io::Coordinates;

    fn cloud(columns: &[(&str, Column)]) -> Cloud {
        let mut cloud = Cloud::new(Coordinates::F32(vec![[0.0; 3]; columns[0].1.len()]));
        columns.iter().for_each(|(name, column)| cloud.add_column(name, column.clone()));
        cloud
    }

    #[test]
    fn whole_numbers_are_kept_as_they_are() {
        let classes = Column::U8(vec![2, 6, 5, 2]);
        let far = Column::I32(vec![-3, 40_000, 7, 0]);
        let found =
            Attributes::of(&cloud(&[("classification", classes), ("far", far)]), &[3, 1, 0]);
        let [class, far] = &found.varying[..] else { panic!("two attributes") };
        assert_eq!((class.offset, class.bytes, &class.data[..]), (2.0, 1, &[0, 4, 0][..]));
        assert!(class.class && class.whole);
        assert_eq!(class.json(true, None)["names"]["6"], "building");
        // Of the rows 3, 1 and 0: 0, 40,000 and -3.
        assert_eq!((far.offset, far.bytes, far.whole), (-3.0, 2, true));
        let stored: Vec<u16> =
            far.data.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        assert_eq!(stored, [3, 40_003, 0]);
    }

    #[test]
    fn missing_values_have_a_number_of_their_own() {
        let found =
            Attributes::of(&cloud(&[("v", Column::F32(vec![0.5, f32::NAN, 1.5]))]), &[0, 1, 2]);
        let v = &found.varying[0];
        assert_eq!(v.data, [0, 0, 255, 255, 254, 255]);
        assert!((v.offset + v.scale * TWO - 1.5).abs() < 1e-9);
    }

    #[test]
    fn one_value_is_told_once() {
        let found = Attributes::of(&cloud(&[("s", Column::U16(vec![7; 3]))]), &[0, 1]);
        assert!(found.varying.is_empty());
        assert_eq!(found.constant, [("s".to_owned(), 7.0)]);
    }

    #[test]
    fn colors_of_all_kinds() {
        let three = |make: fn(usize) -> Column| {
            cloud(&[("red", make(0)), ("green", make(1)), ("blue", make(2))])
        };
        let rgb = |cloud: &Cloud| Attributes::of(cloud, &[0, 1]).rgb.expect("a color");
        let wide = |k: usize| Column::U16([[65_535, 0], [257, 514], [0, 65_535]][k].to_vec());
        assert_eq!(rgb(&three(wide)), [255, 1, 0, 0, 2, 255]);
        let share = |k: usize| Column::F32([[1.0, 0.0], [0.5, 0.2], [0.0, f32::NAN]][k].to_vec());
        assert_eq!(rgb(&three(share)), [255, 128, 0, 0, 51, 0]);
        let packed = cloud(&[("rgb", Column::F32(vec![f32::from_bits(0x0010_2030); 2]))]);
        assert_eq!(rgb(&packed), [0x10, 0x20, 0x30, 0x10, 0x20, 0x30]);
    }
}
