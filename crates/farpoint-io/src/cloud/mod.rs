//! The cloud: coordinates to work on, and all data needed to write its rows back.

pub(crate) mod column;
pub(crate) mod coordinates;
pub(crate) mod crs;
pub(crate) mod degrees;
pub(crate) mod dtype;
pub(crate) mod header;
pub(crate) mod layout;
pub(crate) mod lines;
pub(crate) mod number;
pub(crate) mod pose;
pub(crate) mod precision;
pub(crate) mod records;
pub(crate) mod resolution;
pub(crate) mod statistics;
pub(crate) mod summary;
pub(crate) mod table;

use crate::cloud::column::{Attribute, Column, NumberType};
use crate::cloud::coordinates::{Coordinates, bounds, is_single};
use crate::cloud::crs::Crs;
use crate::cloud::header::Header;
use crate::cloud::statistics::{Statistics, Unread};
use crate::cloud::table::{Dimension, Store, Table};
use crate::format::Format;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// An attribute with more values per point is not split into columns of another format.
const WIDEST: usize = 4096;
/// Rows that are checked together.
const BLOCK: usize = 1 << 16;

/// The description of one attribute in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its name in the file.
    pub name: String,
    /// The type of its numbers.
    pub kind: NumberType,
    /// Numbers per point; 0 means a list of varying length.
    pub count: usize,
}

/// A point cloud: coordinates plus all data needed to write the kept rows back bit for bit.
#[derive(Clone)]
pub struct Cloud {
    pub(crate) coordinates: Coordinates,
    pub(crate) table: Option<Table>,
    pub(crate) header: Header,
    pub(crate) added: Vec<Attribute>,
    pub(crate) format: Option<Format>,
    pub(crate) description: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) crs: Option<Crs>,
    /// Meters per unit, as the names of a text's columns state it.
    pub(crate) unit: Option<f64>,
    pub(crate) scale: Option<[f64; 3]>,
    /// The first row of each scan, and the place of its scanner; none if all are at the origin.
    pub(crate) scanners: Vec<(u64, [f64; 3])>,
    /// Facts about all rows, if these are only some.
    pub(crate) statistics: Option<Arc<Statistics>>,
    /// Rows that were not read because no filter uses them.
    pub(crate) unread: Option<Arc<Unread>>,
}

impl std::fmt::Debug for Cloud {
    /// A description, not the millions of numbers.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cloud({}, {} points)", self.description, self.len())
    }
}

impl Cloud {
    /// A cloud of coordinates alone, not from a file.
    pub fn new(coordinates: Coordinates) -> Cloud {
        let description = format!("points in memory, {}", coordinates.kind());
        Cloud {
            coordinates,
            table: None,
            header: Header::None,
            added: Vec::new(),
            format: None,
            description,
            warnings: Vec::new(),
            crs: None,
            unit: None,
            scale: None,
            scanners: Vec::new(),
            statistics: None,
            unread: None,
        }
    }

    pub(crate) fn from_file(
        format: Format,
        description: impl Into<String>,
        coordinates: Coordinates,
    ) -> Cloud {
        Cloud { format: Some(format), description: description.into(), ..Cloud::new(coordinates) }
    }

    /// A cloud whose rows are in a table.
    pub(crate) fn from_table(
        format: Format,
        description: impl Into<String>,
        coordinates: Coordinates,
        mut table: Table,
        header: Header,
    ) -> Cloud {
        let mut cloud = Cloud::from_file(format, description, coordinates);
        let mut taken: HashSet<String> = table.dimensions.iter().map(|d| d.name.clone()).collect();
        for Dimension { name, .. } in &mut table.dimensions {
            if name.contains(char::is_control) {
                // Other readers end a name there, or the file.
                let plain = unused(&name.replace(char::is_control, "_"), &taken);
                let what = "has control characters and becomes";
                cloud
                    .warnings
                    .push(format!("the column '{}' {what} '{plain}'", name.escape_debug()));
                taken.insert(plain.clone());
                *name = plain;
            }
        }
        Cloud { table: Some(table), header, ..cloud }
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.coordinates.len()
    }

    /// Returns whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the coordinates of every row; rows with NaN are kept as they were read.
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }

    /// The format it was read from; `None` for a cloud created in memory.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The format as text, such as `PLY binary_little_endian` or `LAZ 1.2, point format 3`.
    pub fn description(&self) -> String {
        self.description.clone()
    }

    /// The coordinate reference system, if the file states one.
    pub fn crs(&self) -> Option<&Crs> {
        self.crs.as_ref()
    }

    /// Returns the meters per unit of x and y, if the file or its format states it: meters in E57, the unit of a
    /// projected coordinate reference system, or that in the header of a text (`X_ft`).
    pub fn meters_per_unit(&self) -> Option<f64> {
        match self.format {
            Some(Format::E57) => Some(1.0),
            _ => self.crs().map_or(self.unit, |crs| crs.meters),
        }
    }

    /// Returns the scale of the stored coordinates of each axis, if the format states one (LAS, LAZ, E57).
    pub fn scale(&self) -> Option<[f64; 3]> {
        self.scale
    }

    /// Returns whether the point `at` of a row was (0, 0, 0) to its scanner, before the pose of the scan (E57, PTX).
    pub fn is_zero(&self, row: u64, at: [f64; 3]) -> bool {
        let scans = self.scanners.partition_point(|(first, _)| *first <= row);
        at == scans.checked_sub(1).map_or([0.0; 3], |scan| self.scanners[scan].1)
    }

    /// Returns the epoch of its GPS times, as [`Summary::gps_time`](crate::Summary::gps_time); `None` unless it is
    /// that of a LAS file.
    pub fn gps_time(&self) -> Option<&'static str> {
        match &self.header {
            Header::Las(header) => self.column("gps_time").map(|_| header.gps_time()),
            _ => None,
        }
    }

    /// Returns the attributes in file order, x, y and z among them, then the added columns.
    pub fn fields(&self) -> Vec<Field> {
        let mut fields: Vec<Field> = match &self.table {
            Some(table) => table.dimensions.iter().map(Field::from).collect(),
            None => ["x", "y", "z"]
                .map(|name| Field { name: name.into(), kind: self.coordinates.kind(), count: 1 })
                .into(),
        };
        fields.extend(self.added.iter().map(|a| Field {
            name: a.name.clone(),
            kind: a.column.kind(),
            count: 1,
        }));
        fields
    }

    /// Returns the values of the attribute of that name, one for each row; the first value of one that has several.
    /// `None` if there is none, or it is no number.
    pub fn column(&self, name: &str) -> Option<Column> {
        if let Some(added) = self.added.iter().find(|a| a.name == name) {
            return Some(added.column.clone());
        }
        self.column_at(name, &(0..self.len()).collect::<Vec<_>>())
    }

    /// Like [`Cloud::column`], at the given rows.
    pub(crate) fn column_at(&self, name: &str, rows: &[usize]) -> Option<Column> {
        if let Some(added) = self.added.iter().find(|a| a.name == name) {
            return Some(added.column.gather(rows));
        }
        let table = self.table.as_ref()?;
        let dimension = table.dimensions.iter().position(|dimension| dimension.name == name)?;
        table.column(dimension, 0, rows)
    }

    /// Returns the attributes with one value per point at the given rows, each like [`Cloud::column`], in the order
    /// of [`Cloud::fields`]; without those that are no numbers.
    pub fn columns(&self, rows: &[usize]) -> impl Iterator<Item = (&str, Column)> {
        let tokens = self.table.as_ref().and_then(|table| table.tokens(rows));
        let dimensions = self
            .table
            .iter()
            .flat_map(|table| (0..table.dimensions.len()).map(move |i| (table, i)));
        let stored = dimensions.filter_map(move |(table, i)| {
            let column = || table.column_of(i, 0, rows, tokens.as_deref());
            let dimension = &table.dimensions[i];
            Some((&*dimension.name, (dimension.count == 1).then(column)??))
        });
        stored.chain(self.added.iter().map(|a| (&*a.name, a.column.gather(rows))))
    }

    /// Adds an attribute, one value for each row of the cloud. If the name is taken, a number is
    /// appended.
    ///
    /// # Panics
    /// If there are not as many values as points.
    pub fn add_column(&mut self, name: &str, values: Column) {
        self.add_columns([(name.to_owned(), values)]);
    }

    /// Like [`Cloud::add_column`], for several.
    pub(crate) fn add_columns(&mut self, columns: impl IntoIterator<Item = (String, Column)>) {
        let mut taken: HashSet<String> = self.fields().into_iter().map(|f| f.name).collect();
        for (name, column) in columns {
            assert_eq!(column.len(), self.len(), "a column has one value for each point");
            let name = unused(&name, &taken);
            taken.insert(name.clone());
            self.added.push(Attribute { name, column });
        }
    }

    /// Warnings of the reader, for example about a second element that was left out.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the numbers of COPC nodes that were read and that exist, if [`crate::read_for`] left some unread.
    pub fn nodes_read(&self) -> Option<[usize; 2]> {
        self.unread.as_ref().map(|unread| [unread.read.len(), unread.nodes])
    }

    /// Returns the cloud as it was read, without the columns added since then.
    pub fn without_added(&self) -> Cloud {
        Cloud { added: Vec::new(), ..self.clone() }
    }

    /// Returns the columns added since it was read, at the given rows, with their names.
    ///
    /// # Panics
    /// If a row is not in the cloud.
    pub fn added_columns(&self, rows: &[usize]) -> Vec<(String, Column)> {
        self.added(rows).into_iter().map(|a| (a.name, a.column)).collect()
    }

    /// The added columns at the given rows.
    pub(crate) fn added(&self, rows: &[usize]) -> Vec<Attribute> {
        let gather =
            |a: &Attribute| Attribute { name: a.name.clone(), column: a.column.gather(rows) };
        self.added.iter().map(gather).collect()
    }

    /// Every attribute except x, y, z at the given rows, under its name in the file.
    pub(crate) fn attributes(&self, rows: &[usize], warnings: &mut Vec<String>) -> Vec<Attribute> {
        let mut attributes = Vec::new();
        if let Some(table) = &self.table {
            let text = matches!(self.header, Header::Text(_));
            let tokens = table.tokens(rows);
            for (i, dimension) in table.dimensions.iter().enumerate() {
                if table.xyz.contains(&i) || dimension.name == "_" {
                    continue;
                }
                if dimension.count > WIDEST {
                    warnings.push(format!(
                        "'{}' has {} values a point and is left out",
                        dimension.name, dimension.count
                    ));
                    continue;
                }
                for k in 0..dimension.count {
                    match table.column_of(i, k, rows, tokens.as_deref()) {
                        Some(column) => {
                            let name = component_name(&dimension.name, dimension.count, k);
                            let column =
                                if text { narrowed(&name, column, warnings) } else { column };
                            attributes.push(Attribute { name, column });
                        }
                        None => warnings
                            .push(format!("'{}' is not a number and is left out", dimension.name)),
                    }
                }
                if dimension.count == 0 && dimension.list.is_some() {
                    warnings.push(format!("'{}' is a list and is left out", dimension.name));
                }
            }
        }
        attributes.extend(self.added(rows));
        distinct(&mut attributes, ["x", "y", "z"].map(String::from).into());
        attributes
    }

    /// Returns whether a value of the attribute of that name passes the test, in any row of the cloud.
    pub(crate) fn any_value(&self, name: &str, test: &(dyn Fn(f64) -> bool + Sync)) -> bool {
        if let Some(added) = self.added.iter().find(|a| a.name == name) {
            return passes(&added.column, test);
        }
        if let Some(statistics) = &self.statistics {
            return statistics.values.get(name).is_some_and(|values| values.any(test));
        }
        if let Some(unread) = &self.unread {
            let read = unread.read.iter().any(|rows| self.any_in(rows.clone(), name, test));
            return read
                || unread.statistics().values.get(name).is_some_and(|values| values.any(test));
        }
        self.any_in(0..self.len(), name, test)
    }

    /// Like [`Cloud::any_value`], for some rows of the table.
    fn any_in(&self, rows: Range<usize>, name: &str, test: &(dyn Fn(f64) -> bool + Sync)) -> bool {
        let Some(table) = &self.table else { return false };
        let dimensions = &mut table.dimensions.iter();
        let Some(dimension) = dimensions.position(|s| s.name == name && s.count == 1) else {
            return false;
        };
        rows.clone().step_by(BLOCK).any(|start| {
            let rows: Vec<usize> = (start..rows.end.min(start + BLOCK)).collect();
            table.column(dimension, 0, &rows).is_some_and(|column| passes(&column, test))
        })
    }

    /// Returns the minimum and maximum finite value of each axis over all rows; `None` without a point.
    pub(crate) fn bounds(&self) -> Option<[[f64; 3]; 2]> {
        match self.statistics_of_all() {
            Some(statistics) => statistics.bounds,
            None => bounds(&self.coordinates),
        }
    }

    /// Returns whether float32 holds all coordinates exactly, in all rows.
    pub(crate) fn is_single(&self) -> bool {
        match self.statistics_of_all() {
            Some(statistics) => statistics.single,
            None => is_single(&self.coordinates),
        }
    }

    /// Returns the facts about all rows, if only some are here.
    fn statistics_of_all(&self) -> Option<&Statistics> {
        let unread = || self.unread.as_ref().map(|unread| unread.statistics());
        self.statistics.as_deref().or_else(unread)
    }

    /// Returns whether rows are stored as text.
    pub(crate) fn has_lines(&self) -> bool {
        matches!(&self.table, Some(Table { store: Store::Lines { .. }, .. }))
    }
}

impl From<&Dimension> for Field {
    fn from(dimension: &Dimension) -> Field {
        Field {
            name: dimension.name.clone(),
            kind: if dimension.scale.is_some() { NumberType::F64 } else { dimension.kind },
            count: dimension.count,
        }
    }
}

/// Returns whether one of the values passes.
fn passes(column: &Column, test: &(dyn Fn(f64) -> bool + Sync)) -> bool {
    (0..column.len()).any(|i| test(column.get(i)))
}

fn component_name(name: &str, count: usize, k: usize) -> String {
    match count {
        1 => name.to_owned(),
        _ => format!("{name}_{k}"),
    }
}

/// Returns `name`, or `name_2`, `name_3`, ... if that is taken.
pub(crate) fn unused(name: &str, taken: &HashSet<String>) -> String {
    if !taken.contains(name) {
        return name.to_owned();
    }
    // After a few tries a number above all counts, so that thousands of equal names take no time.
    let numbers = (2..10).chain(taken.len()..);
    let candidates = numbers.map(|number| format!("{name}_{number}"));
    candidates.into_iter().find(|c| !taken.contains(c)).unwrap_or_default()
}

/// Gives every attribute a name that is neither in `taken` nor used by an earlier one.
pub(crate) fn distinct(attributes: &mut [Attribute], mut taken: HashSet<String>) {
    for a in attributes {
        a.name = unused(&a.name, &taken);
        taken.insert(a.name.clone());
    }
}

/// Text has no types: whole numbers become i32, colors between 0 and 255 become u8.
fn narrowed(name: &str, column: Column, warnings: &mut Vec<String>) -> Column {
    let missing = column.nans();
    if missing > 0 {
        let of = column.len();
        warnings
            .push(format!("'{name}' has no number in {missing} of {of} points and is NaN there"));
    }
    let color = ["r", "g", "b", "red", "green", "blue", "alpha"];
    if color.contains(&name.to_ascii_lowercase().as_str()) && column.whole_within(0.0, 255.0) {
        return column.cast(NumberType::U8);
    }
    match column.whole_within(f64::from(i32::MIN), f64::from(i32::MAX)) {
        true => column.cast(NumberType::I32),
        false => column,
    }
}
