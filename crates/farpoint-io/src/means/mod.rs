//! One point for each of several groups of points, such as those of voxels: numbers are averaged, categories chosen by
//! the majority, everything else is that of the group's first point.

mod reduce;

use crate::bytes::parallel;
use crate::cloud::Cloud;
use crate::cloud::column::{Attribute, Column, NumberType};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::Header;
use crate::cloud::table::{Dimension, Split, Store, Table, Tokens};
use crate::formats::las::transforms;
use reduce::{Rule, reduced};

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
            unit: self.unit,
            scale: self.scale,
            scanners: Vec::new(),
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
