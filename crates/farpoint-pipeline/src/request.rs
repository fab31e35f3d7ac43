//! A request: the input, the rows, the amount, the sampler, its device and limits, and the outputs.

use crate::{DeviceOptions, Length, RowList, Rows};
use farpoint::approximate::{self, Keep};
use farpoint::{Algorithm, Amount, NonFinite, Reduce, Start, VoxelGrid};
use farpoint_io::{Copc, Filter, ReadOptions, WriteOptions};
use std::path::{Path, PathBuf};

/// Amount of points to choose; lengths are in the unit of each file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleSize {
    /// This number.
    Count(usize),
    /// This share of the rows that can be used.
    Ratio(f64),
    /// This number, or all if there are fewer.
    AtMost(usize),
    /// Until every point is within this distance of a chosen one.
    Spacing(Length),
    /// One for each occupied cell of a grid (the approximate sampler `grid`).
    Cell {
        /// Size of the cells along each axis.
        size: [Length; 3],
        /// Cells of fewer points are left out.
        min_points: u32,
    },
    /// All, farthest first, with the distance of each to those before it in a column `spacing`.
    Order,
    /// All, in their order, without sampling: files are converted. Rows with NaN stay.
    All,
}

impl SampleSize {
    /// Returns its lengths.
    pub(crate) fn lengths(self) -> Vec<Length> {
        match self {
            Self::Spacing(length) => vec![length],
            Self::Cell { size, .. } => size.into(),
            _ => Vec::new(),
        }
    }

    /// Returns the amount in a file whose unit is `unit` meters.
    pub fn amount(self, unit: f64) -> Amount {
        match self {
            Self::Count(count) | Self::AtMost(count) => Amount::Count(count),
            Self::Ratio(ratio) => Amount::Ratio(ratio),
            Self::Spacing(length) => Amount::Spacing(length.in_units_of(unit)),
            Self::Cell { size: [size, ..], .. } => Amount::Cell(size.in_units_of(unit)),
            Self::Order | Self::All => Amount::All,
        }
    }
}

/// A sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Exact: all give the same points.
    Exact(Algorithm),
    /// Not exact.
    Approximate(approximate::Method),
    /// Positions that are not points of the file.
    Centroids(approximate::Method),
}

/// Inputs and outputs.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The input, or several.
    pub inputs: &'a [PathBuf],
    /// True if these are one cloud.
    pub merge: bool,
    /// Path of the chosen points.
    pub output: Option<&'a Path>,
    /// Path of their rows.
    pub indices: Option<&'a Path>,
}

/// Resource limits of a run. They change no output.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Bytes of memory; a share of the free memory unless set.
    pub memory: Option<u64>,
    /// The folder of the spool; one beside the output unless set.
    pub spool: Option<PathBuf>,
    /// True to resume a run that was interrupted in that folder.
    pub resume: bool,
}

/// Request for a sample of a file. Two runs of equal requests give equal outputs.
#[derive(Clone, Debug)]
pub struct Request {
    /// Options of reading.
    pub reading: ReadOptions,
    /// Selection of the rows that are used, and their precision.
    pub rows: Rows,
    /// Selection of the rows that are used, by position and attributes.
    pub filter: Filter,
    /// Selection of the rows that are used, by a file that lists them.
    pub listed: Option<RowList>,
    /// Amount of points to choose.
    pub size: SampleSize,
    /// The sampler.
    pub method: Method,
    /// Start of the sample; the first row that can be used unless set.
    pub start: Option<Start>,
    /// True if chosen points are written in the order of the input.
    pub sorted: bool,
    /// Options of writing.
    pub writing: WriteOptions,
    /// Scale of the coordinates in LAS and LAZ.
    pub scale: Option<Length>,
    /// Options of COPC levels, without distances. Outputs named `.copc.laz` have levels in any case, unless their
    /// format is set; others if this is set, and their format.
    pub copc: Option<Copc>,
    /// Device of the sampler.
    pub place: DeviceOptions,
    /// Resource limits of the run.
    pub limits: Limits,
    /// True if operations of the sampler are counted.
    pub statistics: bool,
    /// True for the command line with one cloud: messages name its options.
    pub command: bool,
}

impl Request {
    /// Creates a request for an amount with all defaults.
    pub fn new(size: SampleSize) -> Self {
        Self {
            reading: ReadOptions::default(),
            rows: Rows::default(),
            filter: Filter::default(),
            size,
            method: Method::Exact(Algorithm::Auto),
            start: None,
            sorted: false,
            writing: WriteOptions::default(),
            scale: None,
            copc: None,
            listed: None,
            place: DeviceOptions::cpu(),
            limits: Limits::default(),
            statistics: false,
            command: false,
        }
    }

    /// Returns the grid in a file whose unit is `unit` meters, if the size of its cells is requested.
    pub fn grid(&self, unit: f64) -> Option<VoxelGrid> {
        let SampleSize::Cell { size, min_points } = self.size else { return None };
        let reduce = match self.method {
            Method::Centroids(_) => Reduce::Mean,
            Method::Approximate(approximate::Method::Grid { keep }) => match keep {
                Keep::First => Reduce::First,
                Keep::Random(seed) => Reduce::Random(seed),
                _ => Reduce::Center,
            },
            _ => return None,
        };
        let grid = VoxelGrid::per_axis(size.map(|size| size.in_units_of(unit)));
        Some(grid.reduce(reduce).min_points(min_points).non_finite(NonFinite::Skip))
    }

    /// Returns whether an output becomes COPC.
    pub fn is_copc(&self, output: &Path) -> bool {
        match self.writing.format {
            Some(_) => self.copc.is_some(),
            None => Copc::is_named(output),
        }
    }

    /// Returns the options of COPC levels, without distances, if an output becomes COPC.
    pub(crate) fn levels(&self, output: &Path) -> Option<Copc> {
        self.is_copc(output).then(|| self.copc.clone().unwrap_or_else(|| Copc::new([])))
    }

    /// Returns a digest of all that changes outputs, in 16 digits: not of the exact algorithm and its device.
    pub fn digest(&self) -> String {
        let Self { reading, rows, filter, size, method, start, .. } = self;
        let Self { sorted, writing, scale, copc, listed, .. } = self;
        let method = match method {
            Method::Exact(_) => "exact".to_owned(),
            Method::Approximate(method) => format!("{method:?}"),
            Method::Centroids(method) => format!("centroids {method:?}"),
        };
        let text =
            format!("1 {reading:?} {rows:?} {size:?} {method} {start:?} {writing:?} {scale:?}");
        let text = if filter.is_empty() { text } else { format!("{text} {filter}") };
        let text = listed.iter().fold(text, |text, listed| format!("{text} {listed:?}"));
        let text = if *sorted { text + " sorted" } else { text };
        let text = copc.iter().fold(text, |text, copc| format!("{text} {copc:?}"));
        // FNV-1a: options are few, and nobody gains by a collision.
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_a_grid_in_the_unit_of_the_file() {
        let length = |text: &str| text.parse::<Length>().unwrap();
        let size = SampleSize::Cell { size: ["3.048m", "2", "50cm"].map(length), min_points: 4 };
        let request = |method| Request { method, ..Request::new(size) };
        let keep = |keep| request(Method::Approximate(approximate::Method::Grid { keep }));
        for (request, reduce) in [
            (keep(Keep::Center), Reduce::Center),
            (keep(Keep::First), Reduce::First),
            (keep(Keep::Random(8)), Reduce::Random(8)),
            (request(Method::Centroids(approximate::Method::ALL[1])), Reduce::Mean),
        ] {
            let feet = VoxelGrid::per_axis([10.0, 2.0, 0.5 / 0.3048]).reduce(reduce).min_points(4);
            assert_eq!(request.grid(0.3048), Some(feet.non_finite(NonFinite::Skip)));
        }
        assert_eq!(request(Method::Exact(Algorithm::Auto)).grid(1.0), None);
        assert_eq!(Request::new(SampleSize::Count(3)).grid(1.0), None);
    }

    #[test]
    fn digests_tell_options_apart_but_not_exact_algorithms() {
        let options = Request::new(SampleSize::Ratio(0.25));
        let peak = Request { method: Method::Exact(Algorithm::Naive), ..options.clone() };
        assert_eq!(options.digest(), peak.digest());
        let random = approximate::Method::Random { seed: 0 };
        let others = [
            Request::new(SampleSize::Ratio(0.5)),
            Request::new(SampleSize::Count(1)),
            Request::new(SampleSize::Cell { size: ["1".parse().unwrap(); 3], min_points: 1 }),
            Request::new(SampleSize::Cell { size: ["1".parse().unwrap(); 3], min_points: 2 }),
            Request { start: Some(Start::Index(1)), ..options.clone() },
            Request { method: Method::Approximate(random), ..options.clone() },
            Request { method: Method::Centroids(random), ..options.clone() },
            Request { scale: "1mm".parse().ok(), ..options.clone() },
            Request { sorted: true, ..options.clone() },
            Request { copc: Some(Copc::new([])), ..options.clone() },
            Request { copc: Some(Copc::new([]).node_points(1000)), ..options.clone() },
            Request {
                filter: Filter::default().keep("classification=2".parse().unwrap()),
                ..options.clone()
            },
            Request { rows: Rows { drop_zeros: true, single: false }, ..options.clone() },
        ];
        let mut digests: Vec<_> = others.iter().map(Request::digest).collect();
        digests.push(options.digest());
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), others.len() + 1);
    }
}
