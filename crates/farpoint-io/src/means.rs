//! One point for each of several groups of points, such as those of voxels: numbers are averaged, categories chosen by
//! the majority, everything else is that of the group's first point.

use crate::Format;
use crate::bytes::parallel;
use crate::cloud::Cloud;
use crate::cloud::column::{Attribute, Column, NumberType, each};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::Header;
use crate::cloud::table::{Dimension, Split, Store, Table, Tokens};
use crate::conversion::key;
use crate::formats::las::transforms;
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

/// Whole numbers up to this are exact as doubles.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Groups of rows of a cloud. No group is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The rows, one group after another.
    rows: Vec<usize>,
    /// End of each group.
    ends: Vec<usize>,
}

impl Groups {
    /// Creates groups of `counts` rows from the group of each place; places of a number that is no group are left out.
    /// `row` returns the row at a place.
    pub fn new(counts: &[u32], groups: &[u32], row: impl Fn(usize) -> usize) -> Groups {
        let mut sum = 0;
        let start = |count: &u32| {
            sum += *count as usize;
            sum - *count as usize
        };
        let mut next: Vec<usize> = counts.iter().map(start).collect();
        let mut rows = vec![0; sum];
        for (place, &group) in groups.iter().enumerate() {
            if let Some(next) = next.get_mut(group as usize) {
                rows[*next] = row(place);
                *next += 1;
            }
        }
        Groups { rows, ends: next }
    }

    /// Returns the number of groups.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of rows of each group.
    pub fn counts(&self) -> Vec<u32> {
        (0..self.len()).map(|group| self.range(group).len() as u32).collect()
    }

    fn range(&self, group: usize) -> std::ops::Range<usize> {
        let start = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[group]
    }

    /// Returns the first row of a group.
    fn first(&self, group: usize) -> usize {
        self.rows[self.range(group).start]
    }
}

/// What becomes of the values of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
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
    fn of_name(name: &str) -> Rule {
        match CATEGORIES.binary_search(&&*key(name)) {
            Ok(_) => Rule::Mode,
            Err(_) => Rule::Mean,
        }
    }

    fn of(dimension: &Dimension, format: Option<Format>) -> Rule {
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

impl Cloud {
    /// Returns a cloud with a point for each group, at these centers, whose attributes have the types of this one.
    ///
    /// # Panics
    /// If there are not as many centers as groups, or a row is not in the cloud.
    pub fn means(&self, groups: &Groups, centers: Coordinates) -> Cloud {
        assert_eq!(centers.len(), groups.len(), "a center for each group");
        let mut warnings = Vec::new();
        let table = self.table.as_ref().map(|table| self.table_of_means(table, groups, &centers));
        let (table, header, attributes) = match table {
            // Rows of differing length are written anew, like those of another format.
            Some(None) => (None, Header::None, self.attributes(&groups.rows, &mut warnings)),
            table => (table.flatten(), self.header.clone(), self.added(&groups.rows)),
        };
        let reduce = |Attribute { name, column }| {
            let column = reduced(&column, groups, Rule::of_name(&name));
            Attribute { name, column }
        };
        Cloud {
            coordinates: centers,
            table,
            header,
            added: attributes.into_iter().map(reduce).collect(),
            format: self.format,
            description: self.description.clone(),
            warnings,
            crs: self.crs.clone(),
            scale: self.scale,
            statistics: None,
            unread: None,
        }
    }

    fn table_of_means(
        &self,
        table: &Table,
        groups: &Groups,
        centers: &Coordinates,
    ) -> Option<Table> {
        let fixed = |dimension: &Dimension| dimension.list.is_none();
        if !table.dimensions.iter().all(fixed) {
            return None;
        }
        let tokens = table.tokens(&groups.rows);
        let column = |dimension: usize, k: usize| {
            let stored = || table.stored_column(dimension, k, &groups.rows, tokens.as_deref());
            self.column_of_means(table, dimension, &stored, groups, centers)
        };
        let store = match &table.store {
            Store::Records { stride, .. } => records(table, *stride, groups, column),
            Store::Lines { split, .. } => lines(table, *split, groups, column),
            Store::Spans { .. } => return None,
        };
        Some(Table { dimensions: table.dimensions.clone(), store, ..*table })
    }

    /// Returns a value of a dimension for each group as it is stored, from the `values` of all rows; `None` if it is
    /// that of the first point.
    fn column_of_means(
        &self,
        table: &Table,
        dimension: usize,
        values: &dyn Fn() -> Option<Column>,
        groups: &Groups,
        centers: &Coordinates,
    ) -> Option<Column> {
        let about = &table.dimensions[dimension];
        if let Some(axis) = table.xyz.iter().position(|&place| place == dimension) {
            let all: Vec<usize> = (0..groups.len()).collect();
            let transform = match &self.header {
                Header::Las(header) => Some(transforms(&header.raw)[axis]),
                _ => about.scale,
            };
            return Some(stored(&centers.axis(axis, &all), about.kind, transform));
        }
        let rule = Rule::of(about, self.format);
        if rule == Rule::First {
            return None;
        }
        let column = values()?;
        // Text has no types: whole numbers stay whole.
        let whole = matches!(self.header, Header::Text(_)) && column.whole_within(-WHOLE, WHOLE);
        let column = if whole { column.cast(NumberType::I64) } else { column };
        Some(reduced(&column, groups, rule))
    }
}

/// Returns coordinates as a file stores them.
fn stored(values: &Column, kind: NumberType, transform: Option<(f64, f64)>) -> Column {
    if matches!(kind, NumberType::F32 | NumberType::F64) && transform.is_none() {
        return values.cast(kind);
    }
    let (scale, offset) = transform.unwrap_or((1.0, 0.0));
    let number = |k: usize| ((values.get(k) - offset) / scale).round_ties_even();
    Column::F64(parallel::values(values.len(), number)).cast(kind)
}

/// Returns records that begin as those of the groups' first points.
fn records(
    table: &Table,
    stride: usize,
    groups: &Groups,
    column: impl Fn(usize, usize) -> Option<Column>,
) -> Store {
    let mut bytes = Vec::with_capacity(groups.len() * stride);
    (0..groups.len()).for_each(|group| bytes.extend_from_slice(table.row(groups.first(group))));
    // Coordinates come last: fields of broken messages may overlap them.
    let rest = (0..table.dimensions.len()).filter(|place| !table.xyz.contains(place));
    for place in rest.chain(table.xyz) {
        let dimension = &table.dimensions[place];
        for k in 0..dimension.count {
            let Some(column) = column(place, k) else { continue };
            let at = dimension.offset + k * dimension.kind.size();
            match dimension.bits {
                None => column.write_into(0, &mut bytes, stride, at, table.big_endian),
                Some((first, number)) => {
                    let mask = (((1u16 << number) - 1) << first) as u8;
                    for (group, record) in bytes.chunks_exact_mut(stride).enumerate() {
                        let bits = (column.get(group) as u8) << first;
                        record[at] = record[at] & !mask | bits & mask;
                    }
                }
            }
        }
    }
    Store::Records { bytes: bytes.into(), stride }
}

/// Returns lines of text; values that are no numbers are those of the groups' first points.
fn lines(
    table: &Table,
    split: Split,
    groups: &Groups,
    column: impl Fn(usize, usize) -> Option<Column>,
) -> Store {
    let places = table.dimensions.iter().enumerate();
    let columns: Vec<Option<Column>> = places
        .flat_map(|(place, about)| (0..about.count).map(move |k| (place, k)))
        .map(|(place, k)| column(place, k))
        .collect();
    let written = match split {
        Split::Any if !groups.is_empty() => Split::detect(table.row(groups.first(0))),
        split => split,
    };
    let written = match written {
        Split::Comma | Split::Semicolon => written,
        Split::Space | Split::Mixed | Split::Any => Split::Space,
    };
    let (mut bytes, mut spans) = (Vec::new(), Vec::with_capacity(groups.len()));
    for group in 0..groups.len() {
        let start = bytes.len();
        let mut tokens = Tokens::new(table.row(groups.first(group)), split);
        for (k, column) in columns.iter().enumerate() {
            let token = tokens.next().unwrap_or_default();
            if k > 0 {
                bytes.push(written.byte());
            }
            match column {
                Some(column) => column.push_text(group, &mut bytes),
                None => bytes.extend_from_slice(token),
            }
        }
        spans.push((start, bytes.len()));
    }
    Store::Lines { bytes: bytes.into(), spans, split: written }
}

/// Returns a value for each group of values that lie one group after another.
fn reduced(column: &Column, groups: &Groups, rule: Rule) -> Column {
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
