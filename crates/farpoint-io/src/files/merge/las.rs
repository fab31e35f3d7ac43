//! LAS and LAZ files as one: a point format that has the fields of all, the finest scale, one offset.

use super::decimal::{Axis, Mismatch, Shift, axis};
use super::sources::{Recipe, Same};
use super::{Plan, same_dimensions};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::crs::Crs;
use crate::cloud::header::{Header, LasHeader};
use crate::cloud::layout::{Layout, Storage};
use crate::cloud::resolution::step_text;
use crate::cloud::table::{Dimension, Store};
use crate::error::{Error, ParseError};
use crate::files::reader::{self, Reader};
use crate::format::Format;
use crate::formats::las::{self, Extra};
use std::cmp::Reverse;

/// System identifier of the LAS standard for merged files.
const SYSTEM: &[u8] = b"MERGE";
const PROJECTION: &[u8] = b"LASF_Projection";

/// A file with its header.
struct File<'a> {
    reader: &'a Reader,
    header: &'a LasHeader,
}

/// Plans the layout of all rows, and the conversion of each file's rows to it.
pub(super) fn plan(
    readers: &[Reader],
    crs: Option<Crs>,
    name: &str,
    mut warnings: Vec<String>,
) -> Result<Plan, Error> {
    let file = |reader| match &Reader::head(reader).header {
        Header::Las(header) => Some(File { reader, header }),
        _ => None,
    };
    let files: Vec<File<'_>> = readers.iter().filter_map(file).collect();
    let format = format(&files, &mut warnings);
    let mut header = base(&files, format);
    warn_of_times(&files, &mut warnings);
    let (dimensions, stride) = fields(&files, format, &mut header, &mut warnings)?;
    let axes = grid(readers, &files, name, &mut warnings)?;
    [header.raw.x_scale_factor, header.raw.y_scale_factor, header.raw.z_scale_factor] =
        axes.each_ref().map(|axis| axis.transform.0);
    [header.raw.x_offset, header.raw.y_offset, header.raw.z_offset] =
        axes.each_ref().map(|axis| axis.transform.1);
    let recipe = |(number, file): (usize, &File<'_>)| -> Box<dyn Recipe> {
        let shifts = axes.each_ref().map(|axis| axis.shifts[number]);
        let (input, length) = (dimensions_of(file), file.stride());
        let same = length == stride && same_dimensions(input, &dimensions);
        match same && shifts == [(1, 0); 3] {
            true => Box::new(Same),
            false => Box::new(Records::new(input, length, &dimensions, same, shifts)),
        }
    };
    let recipes = files.iter().enumerate().map(recipe).collect();
    let compressed = readers.iter().any(|reader| reader.format() == Format::Laz);
    let store = Store::Records { bytes: Vec::new().into(), stride };
    let mut head = las::cloud(header, compressed, Coordinates::F64(Vec::new()), store, Vec::new());
    (head.crs, head.warnings) = (crs, warnings);
    let layout = Layout { head, rows: Storage::Stride(0), count: 0, stride, bounds: None };
    Ok(Plan { layout, recipes })
}

impl File<'_> {
    fn stride(&self) -> usize {
        usize::from(self.header.raw.point_data_record_length)
    }

    fn extra(&self) -> &[u8] {
        las::extra_bytes(self.header).unwrap_or_default()
    }
}

fn dimensions_of<'a>(file: &File<'a>) -> &'a [Dimension] {
    file.reader.head().table.as_ref().map_or(&[], |table| &table.dimensions)
}

/// Returns the point format that has the fields of all, except waveforms: these are found by their place in a file.
fn format(files: &[File<'_>], warnings: &mut Vec<String>) -> u8 {
    let any = |formats: &[u8]| files.iter().any(|file| formats.contains(&file.header.format));
    if let (true, Some(first)) =
        (files.len() > 1, files.iter().find(|file| [4, 5, 9, 10].contains(&file.header.format)))
    {
        warnings.push(format!("{}: waveforms are left out", first.reader.name()));
    } else if files.len() == 1 {
        return files[0].header.format;
    }
    let color = any(&[2, 3, 5, 7, 8, 10]);
    match (any(&[6, 7, 8, 9, 10]), any(&[8, 10]), color, any(&[1, 3, 4, 5])) {
        (true, true, ..) => 8,
        (true, _, true, _) => 7,
        (true, ..) => 6,
        (_, _, true, true) => 3,
        (_, _, true, false) => 2,
        (.., true) => 1,
        _ => 0,
    }
}

/// Returns the header that the merged cloud's is made from: of a file whose version has the point format, and that
/// states the coordinate system if one does.
fn base(files: &[File<'_>], format: u8) -> LasHeader {
    let fits = |file: &&File<'_>| (file.header.format >= 6) == (format >= 6);
    let rank = |file: &&File<'_>| {
        let version = file.header.raw.version;
        (file.reader.crs().is_none(), Reverse((version.major, version.minor)))
    };
    let Some(file) = files.iter().filter(fits).min_by_key(rank) else {
        unreachable!("the format is one of those that files have")
    };
    let mut header = file.header.clone();
    header.format = format;
    if files.len() > 1 {
        header.raw.file_source_id = 0;
        header.raw.system_identifier = [0; 32];
        header.raw.system_identifier[..SYSTEM.len()].copy_from_slice(SYSTEM);
    }
    if file.reader.crs().is_none()
        && let Some(other) = files.iter().find(|file| file.reader.crs().is_some())
    {
        let records = other.header.records.iter().filter(|record| record.user == PROJECTION);
        header.records.extend(records.cloned());
        let later = other.header.extended.iter().filter(|record| record.user == PROJECTION);
        header.extended.extend(later.cloned());
    }
    header
}

/// Warns of GPS times that count differently, which can't be told apart any more.
fn warn_of_times(files: &[File<'_>], warnings: &mut Vec<String>) {
    let timed = |file: &&File<'_>| ![0, 2].contains(&file.header.format);
    let epoch = |file: &File<'_>| (file.header.gps_time(), file.header.time_offset());
    let mut all = files.iter().filter(timed);
    let Some(first) = all.next() else { return };
    if let Some(other) = all.find(|file| epoch(file) != epoch(first)) {
        let text = |file: &File<'_>| {
            let offset = file.header.time_offset();
            let offset = offset.map_or(String::new(), |n| format!(" (less {n} million seconds)"));
            format!("{}{offset} in {}", file.header.gps_time(), file.reader.name())
        };
        warnings.push(format!(
            "GPS times are {} and {}; they stay as they are",
            text(first),
            text(other)
        ));
    }
}

/// Returns the dimensions and the length of the merged records; warns about missing fields.
fn fields(
    files: &[File<'_>],
    format: u8,
    header: &mut LasHeader,
    warnings: &mut Vec<String>,
) -> Result<(Vec<Dimension>, usize), Error> {
    let first = &files[0];
    let same_layout = |file: &File<'_>| {
        file.header.format == first.header.format
            && file.stride() == first.stride()
            && same_dimensions(dimensions_of(file), dimensions_of(first))
    };
    if format == first.header.format && files.iter().all(same_layout) {
        return Ok((dimensions_of(first).to_vec(), first.stride()));
    }
    let mut extras: Vec<(Extra<'_>, &str)> = Vec::new();
    for file in files {
        for extra in las::extras(file.header.format, file.stride(), file.extra()) {
            let name = file.reader.name();
            match extras
                .iter()
                .find(|(known, _)| known.dimensions[0].name == extra.dimensions[0].name)
            {
                None => extras.push((extra, name)),
                Some((known, first_file)) => check_same(known, &extra, first_file, name)?,
            }
        }
    }
    let data: Vec<u8> = extras.iter().flat_map(|(extra, _)| extra.without_limits()).collect();
    let length: usize = extras.iter().map(|(extra, _)| extra.size()).sum();
    let stride = las::base_length(format) + length;
    las::describe_extras(header, &data)
        .map_err(|ParseError { what, fix, .. }| Error::merge(first.reader.name(), &what, &fix))?;
    let short = u16::try_from(stride).map_err(|_| {
        let what = format!("all fields together take {stride} bytes a point, too many for LAS");
        Error::merge(first.reader.name(), &what, "leave out files, or write PLY first")
    })?;
    header.raw.point_data_record_length = short;
    let dimensions = las::dimensions(format, stride, Some(&data));
    warn_of_missing(files, &dimensions, warnings);
    Ok((dimensions, stride))
}

/// Checks that two descriptions of one name are of one field.
fn check_same(
    known: &Extra<'_>,
    other: &Extra<'_>,
    first_file: &str,
    name: &str,
) -> Result<(), Error> {
    let (a, b) = (&known.dimensions[0], &other.dimensions[0]);
    if (a.kind, a.count, a.scale) == (b.kind, b.count, b.scale) {
        return Ok(());
    }
    let what =
        format!("the field '{}' is {}, and in {first_file} {}", a.name, of_type(b), of_type(a));
    let fix = "rename it in one of the files, or bring both into one type and scale";
    Err(Error::merge(name, &what, fix))
}

/// Returns the type of an extra dimension with all that two files may differ in.
fn of_type(dimension: &Dimension) -> String {
    let Dimension { kind, count, .. } = dimension;
    match dimension.scale {
        Some((scale, offset)) => format!("{kind} x {count} at scale {scale} and offset {offset}"),
        None => format!("{kind} x {count} without a scale"),
    }
}

/// Warns of fields that some files lack, and names their default values.
fn warn_of_missing(files: &[File<'_>], dimensions: &[Dimension], warnings: &mut Vec<String>) {
    for dimension in dimensions {
        let lacks = |file: &&File<'_>| source(dimensions_of(file), dimension).is_none();
        let without: Vec<&str> =
            files.iter().filter(lacks).map(|file| file.reader.name()).collect();
        // Flags that older formats do not know need no warning.
        let new = ["overlap", "scanner_channel"].contains(&dimension.name.as_str());
        if let (Some(first), false) = (without.first(), new) {
            let others = match without.len() {
                1 => String::new(),
                n => format!(" and {} more", n - 1),
            };
            warnings
                .push(format!("'{}' is missing in {first}{others} and 0 there", dimension.name));
        }
    }
    for file in files {
        let nothing = dimensions_of(file).iter().find(|dimension| dimension.name == "extra_bytes");
        if let Some(dimension) =
            nothing.filter(|_| !dimensions.iter().any(|s| s.name == "extra_bytes"))
        {
            warnings.push(format!(
                "{}: {} bytes per point without a description are left out",
                file.reader.name(),
                dimension.count
            ));
        }
    }
}

/// Returns scale and offset of each axis, and the conversion of each file's integers to them.
fn grid(
    readers: &[Reader],
    files: &[File<'_>],
    name: &str,
    warnings: &mut Vec<String>,
) -> Result<[Axis; 3], Error> {
    let bounds = readers.iter().map(Reader::bounds).reduce(super::joined).flatten();
    let mut axes = Vec::with_capacity(3);
    for place in 0..3 {
        let file_transforms: Vec<_> =
            files.iter().map(|file| las::transforms(&file.header.raw)[place]).collect();
        let bounds = bounds.map(|[low, high]| [low[place], high[place]]);
        let found = axis(&file_transforms, bounds)
            .map_err(|mismatch| refused(mismatch, files, &file_transforms, name))?;
        let finest =
            file_transforms.iter().map(|(scale, _)| scale.abs()).fold(f64::INFINITY, f64::min);
        if found.transform.0 < finest {
            warnings.push(format!(
                "{} is stored at the scale {}, finer than in any file, because of their offsets",
                ["x", "y", "z"][place],
                step_text(found.transform.0)
            ));
        }
        axes.push(found);
    }
    let [x, y, z] = <[Axis; 3]>::try_from(axes).unwrap_or_else(|_| unreachable!("three axes"));
    Ok([x, y, z])
}

fn refused(
    mismatch: Mismatch,
    files: &[File<'_>],
    file_transforms: &[(f64, f64)],
    name: &str,
) -> Error {
    match mismatch {
        Mismatch::NoDecimal(file) => {
            let (scale, offset) = file_transforms[file];
            let what = format!(
                "its scale {scale} and offset {offset} are not decimal numbers that can be combined with those \
                 of {}",
                files[usize::from(file == 0).min(files.len() - 1)].reader.name()
            );
            Error::merge(files[file].reader.name(), &what, "write it with `scale=0.001` first")
        }
        Mismatch::TooFar(step) => {
            let what = format!(
                "the files reach too far for coordinates in steps of {} in 32 bits, which would keep all of them as \
                 they are",
                step_text(step)
            );
            Error::merge(
                name,
                &what,
                "write the finest with a larger `scale` first, or merge fewer",
            )
        }
    }
}

/// Returns the dimension of a file's records for a dimension of the merged ones.
fn source<'a>(input: &'a [Dimension], target: &Dimension) -> Option<&'a Dimension> {
    let named = |name: &str| input.iter().find(|dimension| dimension.name == name);
    named(&target.name).or_else(|| match target.name.as_str() {
        "scan_angle" => named("scan_angle_rank"),
        _ => None,
    })
}

/// Conversion of one value.
#[derive(Clone, Copy, Debug)]
enum Move {
    Bytes {
        from: usize,
        to: usize,
        size: usize,
    },
    /// A value of some bits: first bit and mask of the source, first bit of the target.
    Bits {
        from: usize,
        first: u8,
        mask: u8,
        to: usize,
        start: u8,
    },
    /// Whole degrees become steps of 0.006.
    Angle {
        from: usize,
        to: usize,
    },
}

/// Conversion of the records of a file to those of the cloud.
#[derive(Debug)]
pub(super) struct Records {
    /// Bytes of a record of the file.
    length: usize,
    moves: Vec<Move>,
    shifts: [Shift; 3],
}

impl Records {
    fn new(
        input: &[Dimension],
        length: usize,
        dimensions: &[Dimension],
        same: bool,
        shifts: [Shift; 3],
    ) -> Records {
        let moves = match same {
            true => vec![Move::Bytes { from: 0, to: 0, size: length }],
            false => dimensions.iter().filter_map(|to| moved(source(input, to)?, to)).collect(),
        };
        Records { length, moves, shifts }
    }

    /// Converts records to the layout of all, `stride` bytes each. The error is the row of a coordinate that 32 bits
    /// don't hold.
    fn converted(&self, records: &[u8], stride: usize) -> Result<Vec<u8>, u64> {
        let mut out = vec![0; records.len() / self.length * stride];
        let pairs = records.chunks_exact(self.length).zip(out.chunks_exact_mut(stride));
        for (row, (from, to)) in pairs.enumerate() {
            self.moves.iter().for_each(|one| one.apply(from, to));
            for (axis, &(factor, plus)) in self.shifts.iter().enumerate() {
                let at = 4 * axis;
                let stored = from[at..].first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes));
                let new = i128::from(stored) * i128::from(factor) + i128::from(plus);
                let new = i32::try_from(new).map_err(|_| row as u64)?;
                to[at..at + 4].copy_from_slice(&new.to_le_bytes());
            }
        }
        Ok(out)
    }
}

impl Recipe for Records {
    fn records(
        &self,
        file: &Reader,
        rows: &reader::Rows<'_>,
        stride: usize,
    ) -> Result<Vec<u8>, Error> {
        self.converted(rows.records().unwrap_or_default(), stride).map_err(|row| {
            let what = format!("row {} lies outside the bounds in its header", rows.first() + row);
            let fix = "the files need a larger scale: write them with `scale` first";
            Error::merge(file.name(), &what, fix)
        })
    }
}

fn moved(input: &Dimension, to: &Dimension) -> Option<Move> {
    let bits = |dimension: &Dimension| dimension.bits.unwrap_or((0, 8));
    match (input.name == to.name, input.bits.or(to.bits)) {
        (false, _) => Some(Move::Angle { from: input.offset, to: to.offset }),
        (true, None) => {
            let size = input.kind.size() * input.count;
            Some(Move::Bytes { from: input.offset, to: to.offset, size })
        }
        (true, Some(_)) => {
            let (first, number) = bits(input);
            let mask = ((1u16 << number) - 1) as u8;
            Some(Move::Bits { from: input.offset, first, mask, to: to.offset, start: bits(to).0 })
        }
    }
}

impl Move {
    fn apply(self, input: &[u8], out: &mut [u8]) {
        match self {
            Move::Bytes { from, to, size } => {
                out[to..to + size].copy_from_slice(&input[from..from + size]);
            }
            Move::Bits { from, first, mask, to, start } => {
                out[to] |= ((input[from] >> first) & mask) << start;
            }
            Move::Angle { from, to } => {
                let steps = (f64::from(input[from] as i8) / 0.006).round() as i16;
                out[to..to + 2].copy_from_slice(&steps.to_le_bytes());
            }
        }
    }
}
