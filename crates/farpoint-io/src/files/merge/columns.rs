//! Files of any formats and fields as one: columns of the types that hold the values of every file.

use super::Plan;
use super::sources::Recipe;
use crate::cloud::column::{Attribute, Column, NumberType};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::crs::Crs;
use crate::cloud::header::Header;
use crate::cloud::layout::{Layout, Storage};
use crate::cloud::table::{Dimension, Store, Table};
use crate::cloud::{Cloud, distinct};
use crate::conversion;
use crate::error::Error;
use crate::files::reader::{self, Reader};
use crate::format::Format;
use std::collections::{HashMap, HashSet};

/// Types by size; the smallest that holds two others' values comes first.
const KINDS: [NumberType; 10] = [
    NumberType::U8,
    NumberType::I8,
    NumberType::U16,
    NumberType::I16,
    NumberType::F32,
    NumberType::U32,
    NumberType::I32,
    NumberType::F64,
    NumberType::U64,
    NumberType::I64,
];
const COLORS: [&str; 4] = ["red", "green", "blue", "alpha"];

/// Places of the values of each attribute of a file, in its order, in records that start with x, y and z; and the
/// default values of attributes that it lacks.
#[derive(Debug)]
pub(super) struct Places {
    dimensions: Vec<Dimension>,
    /// The attributes of this file, by name.
    names: HashSet<String>,
}

/// An attribute of the merged cloud.
struct Field<'a> {
    name: String,
    kind: NumberType,
    /// The first file that has it.
    first_file: &'a str,
    files: usize,
    /// Number of files before the first one without it.
    first_files: usize,
}

pub(super) fn plan(
    readers: &[Reader],
    crs: Option<Crs>,
    mut warnings: Vec<String>,
) -> Result<Plan, Error> {
    let mut fields: Vec<Field<'_>> = Vec::new();
    let mut places = HashMap::new();
    let mut attribute_names = Vec::with_capacity(readers.len());
    for (file, reader) in readers.iter().enumerate() {
        let attributes = named(reader, &mut warnings);
        for (name, kind) in &attributes {
            let place = *places.entry(name.clone()).or_insert(fields.len());
            if place == fields.len() {
                let (name, first_file) = (name.clone(), reader.name());
                fields.push(Field { name, kind: *kind, first_file, files: 0, first_files: 0 });
            }
            fields[place].join(file, reader.name(), *kind, &mut warnings)?;
        }
        attribute_names.push(attributes.into_iter().map(|(name, _)| name).collect());
    }
    warn_of_missing(readers, &fields, &mut warnings);
    let single = readers.iter().all(Reader::is_single);
    let axis = if single { NumberType::F32 } else { NumberType::F64 };
    let axes = ["x", "y", "z"].map(|name| (name.to_owned(), axis));
    let mut at = 0;
    let dimension = |(name, kind): (String, NumberType)| {
        let dimension = Dimension::new(name, kind, at);
        at += kind.size();
        dimension
    };
    let fields = fields.into_iter().map(|field| (field.name, field.kind));
    let dimensions: Vec<Dimension> = axes.into_iter().chain(fields).map(dimension).collect();
    let recipe =
        |names| Box::new(Places { dimensions: dimensions.clone(), names }) as Box<dyn Recipe>;
    let recipes = attribute_names.into_iter().map(recipe).collect();
    let head =
        Cloud { crs, warnings, scale: scale(readers), ..head(readers, dimensions, at, single) };
    let layout = Layout { head, rows: Storage::Stride(0), count: 0, stride: at, bounds: None };
    Ok(Plan { layout, recipes })
}

fn head(readers: &[Reader], dimensions: Vec<Dimension>, stride: usize, single: bool) -> Cloud {
    let store = Store::Records { bytes: Vec::new().into(), stride };
    let table = Table { dimensions, store, big_endian: false, xyz: [0, 1, 2] };
    let none = match single {
        true => Coordinates::F32(Vec::new()),
        false => Coordinates::F64(Vec::new()),
    };
    let formats = super::formats(readers);
    // Colors are unpacked and names are common, unlike in any format that keeps stored rows.
    let format = if formats.len() == 1 { formats[0] } else { Format::Ply };
    let names: Vec<String> = formats.iter().map(ToString::to_string).collect();
    let description = format!("merged from {}", names.join(", "));
    Cloud::from_table(format, description, none, table, Header::None)
}

/// Returns the finest scale, if all files state one.
fn scale(readers: &[Reader]) -> Option<[f64; 3]> {
    let steps = readers.iter().map(|reader| reader.head().scale());
    let finest = |a: [f64; 3], b: [f64; 3]| std::array::from_fn(|axis| a[axis].min(b[axis]));
    steps.collect::<Option<Vec<_>>>()?.into_iter().reduce(finest)
}

impl Field<'_> {
    /// Adds file `number`, whose attribute has this type.
    fn join(
        &mut self,
        file: usize,
        name: &str,
        kind: NumberType,
        warnings: &mut Vec<String>,
    ) -> Result<(), Error> {
        self.first_files += usize::from(self.first_files == file);
        self.files += 1;
        if kind == self.kind {
            return Ok(());
        }
        let what = format!("'{}' is {kind}, and {} in {}", self.name, self.kind, self.first_file);
        if COLORS.contains(&self.name.as_str()) {
            let what = format!("{what}: colors of other depths");
            return Err(Error::merge(name, &what, "convert one of the files first"));
        }
        let holds = |wide: &NumberType| kind.fits_in(*wide) && self.kind.fits_in(*wide);
        let Some(wide) = KINDS.into_iter().find(holds) else {
            let what = format!("{what}; no type holds the values of both");
            return Err(Error::merge(name, &what, "convert one of the files first"));
        };
        if !kind.fits_in(self.kind) || !self.kind.fits_in(wide) || wide != self.kind {
            warnings.push(format!("{name}: {what}; it becomes {wide}"));
        }
        self.kind = wide;
        Ok(())
    }
}

fn warn_of_missing(readers: &[Reader], fields: &[Field<'_>], warnings: &mut Vec<String>) {
    for field in fields.iter().filter(|field| field.files < readers.len()) {
        let others = match readers.len() - field.files - 1 {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let (name, value) = (&field.name, if is_float(field.kind) { "NaN" } else { "0" });
        let first = readers[field.first_files].name();
        warnings.push(format!("'{name}' is missing in {first}{others} and {value} there"));
    }
}

fn is_float(kind: NumberType) -> bool {
    matches!(kind, NumberType::F32 | NumberType::F64)
}

/// Returns the names and types of a file's attributes.
fn named(reader: &Reader, warnings: &mut Vec<String>) -> Vec<(String, NumberType)> {
    let head = reader.head();
    // The types of a text are known by its values alone.
    let all: Vec<usize> = if head.has_lines() { (0..head.len()).collect() } else { Vec::new() };
    let found = attributes(head, &all, &mut |warning| {
        warnings.push(format!("{}: {warning}", reader.name()));
    });
    found.into_iter().map(|a| (a.name, a.column.kind())).collect()
}

/// Returns the attributes of these rows under their common names.
fn attributes(cloud: &Cloud, rows: &[usize], warn: &mut dyn FnMut(String)) -> Vec<Attribute> {
    let mut warnings = Vec::new();
    let mut all = cloud.attributes(rows, &mut warnings);
    warnings.into_iter().for_each(warn);
    if cloud.format == Some(Format::Pcd) {
        all = conversion::unpacked(all);
    }
    conversion::rename(&mut all);
    distinct(&mut all, ["x", "y", "z"].map(String::from).into());
    all
}

impl Recipe for Places {
    fn records(
        &self,
        _: &Reader,
        rows: &reader::Rows<'_>,
        stride: usize,
    ) -> Result<Vec<u8>, Error> {
        let points = rows.coordinates()?;
        let (cloud, range) = rows.cloud();
        let chosen: Vec<usize> = range.collect();
        let found = attributes(&cloud, &chosen, &mut |_| {}).into_iter();
        let mut found: HashMap<_, _> =
            found.filter(|a| self.names.contains(&a.name)).map(|a| (a.name, a.column)).collect();
        let mut out = vec![0; rows.len() * stride];
        let all: Vec<usize> = (0..rows.len()).collect();
        for (place, dimension) in self.dimensions.iter().enumerate() {
            let column = match place {
                0..3 => Some(points.axis(place, &all)),
                _ => found.remove(&dimension.name),
            };
            let column = column.unwrap_or_else(|| missing(dimension.kind, rows.len()));
            column.cast(dimension.kind).write_into(0, &mut out, stride, dimension.offset, false);
        }
        Ok(out)
    }
}

/// Returns the default values of an attribute that a file lacks.
fn missing(kind: NumberType, rows: usize) -> Column {
    match is_float(kind) {
        true => Column::F64(vec![f64::NAN; rows]),
        false => Column::U8(vec![0; rows]),
    }
}
