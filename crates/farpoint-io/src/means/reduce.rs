//! Reduction of the values of a group: the rule of each attribute, and the value.

use super::Groups;
use crate::Format;
use crate::bytes::parallel;
use crate::cloud::column::{Column, NumberType, each};
use crate::cloud::table::Dimension;
use crate::conversion::key;
use std::cmp::Ordering;

/// Attributes that name something, in the compared form of names, in any format and type.
const CATEGORIES: [&str; 42] = [
    "beam",
    "category",
    "channel",
    "class",
    "classification",
    "cluster",
    "columnindex",
    "edgeofflightline",
    "flag",
    "flags",
    "id",
    "instance",
    "instanceid",
    "keypoint",
    "label",
    "labels",
    "laserid",
    "line",
    "numberofreturns",
    "object",
    "objectid",
    "overlap",
    "pointsourceid",
    "return",
    "returnindex",
    "returnnumber",
    "returntype",
    "ring",
    "rowindex",
    "scan",
    "scandirectionflag",
    "scannerchannel",
    "segment",
    "segmentid",
    "semantic",
    "semanticid",
    "synthetic",
    "tag",
    "trackid",
    "treeid",
    "userdata",
    "withheld",
];

/// Rule that reduces the values of a group to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Their mean: of floats summed in double precision, in the order of rows; of integers rounded half to even.
    Mean,
    /// The most frequent value, the lowest of several.
    Mode,
    /// The mean of each byte: colors packed into one number.
    Channels,
    /// The first value.
    First,
}

impl Rule {
    pub(super) fn of_name(name: &str) -> Rule {
        match CATEGORIES.binary_search(&&*key(name)) {
            Ok(_) => Rule::Mode,
            Err(_) => Rule::Mean,
        }
    }

    pub(super) fn of(dimension: &Dimension, format: Option<Format>) -> Rule {
        let Dimension { name, kind, count, .. } = dimension;
        match format {
            // Places in another part of the file, and bytes of unknown meaning.
            Some(Format::Las | Format::Laz)
                if name.starts_with("wave_") || (*kind == NumberType::U8 && *count > 1) =>
            {
                Rule::First
            }
            Some(Format::Pcd | Format::Mcap)
                if matches!(&**name, "rgb" | "rgba") && kind.size() == 4 =>
            {
                Rule::Channels
            }
            _ if dimension.bits.is_some() => Rule::Mode,
            _ if name == "_" => Rule::First,
            _ => Rule::of_name(name),
        }
    }
}

/// Returns a value for each group of values that lie one group after another.
pub(super) fn reduced(column: &Column, groups: &Groups, rule: Rule) -> Column {
    if rule == Rule::Channels {
        return channels(column, groups);
    }
    each!(column, make(values) => make(parallel::values(groups.len(), |group| {
        let values = &values[groups.range(group)];
        match (rule, values) {
            (Rule::First, _) | (_, [_]) => values[0],
            (Rule::Mode, _) => mode(values),
            _ => Value::mean(values),
        }
    })))
}

/// Returns the most frequent value, the lowest of several.
fn mode<T: Value>(values: &[T]) -> T {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(T::order);
    let runs = sorted.chunk_by(|a, b| a.order(b) == Ordering::Equal);
    let longest = runs.reduce(|best, run| if run.len() > best.len() { run } else { best });
    longest.map_or(values[0], |run| run[0])
}

/// Returns the means of the bytes of packed colors.
fn channels(column: &Column, groups: &Groups) -> Column {
    let bits: Vec<u32> = match column {
        Column::F32(values) => values.iter().map(|value| value.to_bits()).collect(),
        Column::I32(values) => values.iter().map(|&value| value as u32).collect(),
        Column::U32(values) => values.clone(),
        other => return reduced(other, groups, Rule::Mean),
    };
    let means: Vec<u32> = parallel::values(groups.len(), |group| {
        let bits = &bits[groups.range(group)];
        let mean = |byte: usize| {
            let values: Vec<u8> = bits.iter().map(|bits| bits.to_le_bytes()[byte]).collect();
            Value::mean(&values)
        };
        u32::from_le_bytes(std::array::from_fn(mean))
    });
    match column {
        Column::F32(_) => Column::F32(means.into_iter().map(f32::from_bits).collect()),
        Column::I32(_) => Column::I32(means.into_iter().map(|bits| bits as i32).collect()),
        _ => Column::U32(means),
    }
}

/// Numbers of all types, as far as this module needs them.
trait Value: Copy {
    /// Returns the mean of at least one value.
    fn mean(values: &[Self]) -> Self;
    fn order(&self, other: &Self) -> Ordering;
}

macro_rules! whole {
    ($($number:ty)*) => { $(
        impl Value for $number {
            /// The sum is exact, and the mean rounded half to even.
            fn mean(values: &[Self]) -> Self {
                let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
                let count = values.len() as i128;
                let (low, rest) = (sum.div_euclid(count), 2 * sum.rem_euclid(count));
                let up = rest > count || (rest == count && low & 1 == 1);
                // The mean is not beyond the values.
                (low + i128::from(up)) as Self
            }
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }
        }
    )* };
}
whole!(i8 u8 i16 u16 i32 u32 i64 u64);

impl Value for f32 {
    fn mean(values: &[Self]) -> Self {
        let sum = values.iter().fold(0.0, |sum, &value| sum + f64::from(value));
        (sum / values.len() as f64) as f32
    }
    fn order(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }
}

impl Value for f64 {
    fn mean(values: &[Self]) -> Self {
        values.iter().fold(0.0, |sum, value| sum + value) / values.len() as f64
    }
    fn order(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(column: Column, rule: Rule) -> Column {
        // Rows 0, 2 and 3 first, then row 1.
        let groups = Groups::new(&[3, 1], &[0, 1, 0, 0, u32::MAX], |place| place);
        assert_eq!(groups, Groups { rows: vec![0, 2, 3, 1], ends: vec![3, 4] });
        assert_eq!(groups.counts(), [3, 1]);
        reduced(&column.gather(&groups.rows), &groups, rule)
    }

    #[test]
    fn names_are_sorted_as_they_are_compared() {
        assert!(CATEGORIES.is_sorted());
        assert!(CATEGORIES.iter().all(|name| key(name) == *name));
        for name in ["Classification", "scalar_Label", "ring", "number_of_returns", "user_data"] {
            assert_eq!(Rule::of_name(name), Rule::Mode, "{name}");
        }
        for name in ["intensity", "t", "gps_time", "reflectivity", "red", "scan_angle"] {
            assert_eq!(Rule::of_name(name), Rule::Mean, "{name}");
        }
    }

    #[test]
    fn integers_are_rounded_half_to_even_without_overflow() {
        let two = |values: [i64; 2]| Value::mean(&values);
        assert_eq!([two([1, 2]), two([2, 3]), two([-1, -2]), two([-2, -3])], [2, 2, -2, -2]);
        assert_eq!([two([i64::MAX, i64::MAX]), two([i64::MIN, i64::MAX])], [i64::MAX, 0]);
        // Beyond 2^53, where doubles have gaps.
        let first = 1_764_208_993_123_456_789u64;
        assert_eq!(Value::mean(&[first, first + 2, first + 3]), first + 2);
        assert_eq!(
            means(Column::U8(vec![255, 7, 255, 254, 0]), Rule::Mean),
            Column::U8(vec![255, 7])
        );
    }

    #[test]
    fn floats_are_summed_in_double_precision() {
        let column = Column::F32(vec![1e8, 0.5, 1.0, -1e8, 9.0]);
        let third = (1.0f64 / 3.0) as f32;
        assert_eq!(means(column, Rule::Mean), Column::F32(vec![third, 0.5]));
        let Column::F64(with_nan) =
            means(Column::F64(vec![1.0, 2.0, f64::NAN, 1.0, 0.0]), Rule::Mean)
        else {
            panic!("the type stays");
        };
        assert!(with_nan[0].is_nan() && with_nan[1] == 2.0);
    }

    #[test]
    fn the_lowest_of_the_most_frequent_categories() {
        assert_eq!(means(Column::I16(vec![9, 1, -3, 5, 5]), Rule::Mode), Column::I16(vec![-3, 1]));
        let classes = Column::F64(vec![6.0, 1.0, 2.0, 6.0, 2.0]);
        assert_eq!(means(classes, Rule::Mode), Column::F64(vec![6.0, 1.0]));
    }

    #[test]
    fn packed_colors_are_averaged_by_channel() {
        let colors = vec![0x00ff_0000, 0x0001_0203, 0x0000_ff00, 0x0000_00ff, 0];
        let floats = Column::F32(colors.iter().map(|&bits| f32::from_bits(bits)).collect());
        let expected = [0x0055_5555, 0x0001_0203];
        assert_eq!(means(Column::U32(colors), Rule::Channels), Column::U32(expected.to_vec()));
        let expected = Column::F32(expected.into_iter().map(f32::from_bits).collect());
        assert_eq!(means(floats, Rule::Channels), expected);
    }
}
