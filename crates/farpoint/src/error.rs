//! Errors, whose messages say what to change.

use std::fmt;

/// Every error of this crate. The messages contain the offending numbers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// More samples than points.
    TooManySamples {
        /// Samples requested.
        samples: usize,
        /// Usable points in the cloud.
        points: usize,
    },
    /// The cloud has no usable point.
    EmptyCloud,
    /// A row holds NaN or infinity.
    NonFinite {
        /// First non-finite row.
        first: usize,
        /// Number of non-finite rows.
        count: usize,
        /// Total number of rows.
        points: usize,
    },
    /// A start index outside the cloud.
    StartOutOfRange {
        /// The index.
        index: usize,
        /// Points in the cloud.
        points: usize,
    },
    /// A start index that names a row that was left out as bad.
    StartIsBad {
        /// The index.
        index: usize,
    },
    /// The same start index twice.
    StartRepeated {
        /// The index.
        index: usize,
    },
    /// An index of a row that is not selected.
    NotSelected {
        /// Kind of index: `"start"`, `"sample"` or `"nearest"`.
        what: &'static str,
        /// The index.
        index: usize,
    },
    /// A selected row outside the cloud.
    RowOutOfRange {
        /// Position in the list, from 0.
        place: usize,
        /// The row.
        row: String,
        /// Points in the cloud.
        points: usize,
    },
    /// The same row selected twice.
    RowRepeated {
        /// The row.
        row: usize,
        /// Positions in the list, from 0.
        places: [usize; 2],
    },
    /// An empty list of start indices.
    NoStart,
    /// More start indices than samples.
    TooManyStarts {
        /// Number of start indices.
        starts: usize,
        /// Samples requested.
        samples: usize,
    },
    /// A level of a network with no point, or with more points than the level before it.
    BadLevel {
        /// Number of the level, from 0.
        level: usize,
        /// Points requested.
        count: usize,
        /// Points of the level before, or of the sample.
        limit: usize,
    },
    /// Levels of a sample with several start points.
    LevelsOfStarts(usize),
    /// Too few samples for a measure.
    TooFewSamples {
        /// Number of samples.
        samples: usize,
        /// Number required.
        needed: usize,
    },
    /// A sample's index outside the cloud.
    SampleOutOfRange {
        /// The index.
        index: usize,
        /// Points in the cloud.
        points: usize,
    },
    /// A ratio that is not between 0 and 1.
    BadRatio(f64),
    /// A spacing that is negative, NaN or infinite.
    BadSpacing(f64),
    /// A search for 0 neighbors.
    NoNeighbors,
    /// A search for all neighbors in a ball, without a ball.
    NoBall,
    /// More neighbors than fit in memory.
    TooManyNeighbors(usize),
    /// A radius that is negative or NaN.
    BadRadius(f64),
    /// Zero threads.
    BadThreads(usize, String),
    /// Zero voxels per axis, or too many.
    BadVoxels(u32),
    /// A cell size of a grid that is not a positive number.
    BadCell(f64),
    /// An edge length of a voxel that is not a positive number.
    BadVoxelSize {
        /// The axis, from 0.
        axis: usize,
        /// The size.
        size: f64,
    },
    /// A point whose cell does not fit in 32 bits.
    VoxelOutOfRange {
        /// The axis, from 0.
        axis: usize,
        /// The first such row.
        row: usize,
        /// Its coordinate.
        coordinate: f64,
        /// Edge length of a voxel.
        size: f64,
        /// Origin on the axis.
        origin: f64,
    },
    /// An option that only grids have, set for another method.
    NotForMethod {
        /// The option, and a verb.
        what: &'static str,
        /// The method it was set for.
        method: &'static str,
    },
    /// An algorithm, method or option that the device does not have.
    NotOnDevice {
        /// Name of the algorithm, method or option.
        what: String,
        /// Device of the job.
        device: crate::DeviceKind,
        /// Alternatives that the device has.
        instead: String,
    },
    /// An option of an algorithm out of range.
    BadOption {
        /// The option.
        name: &'static str,
        /// The value.
        value: String,
        /// The valid values.
        range: &'static str,
    },
    /// A spacing for a sampler that keeps no distances.
    SpacingNotForMethod(&'static str),
    /// More points than indices.
    TooManyPoints(usize),
    /// Shapes, strides, lengths or offsets that do not fit each other.
    Shape(String),
    /// No memory for an array.
    OutOfMemory {
        /// Bytes of the array.
        bytes: usize,
    },
    /// Indices changed by another thread during use.
    IndicesChanged,
    /// An instruction set that this machine does not have.
    LevelUnavailable(crate::Level),
    /// The observer canceled the run.
    Cancelled(usize),
    /// The observer canceled a nearest-neighbor search.
    SearchCancelled(usize),
    /// An error in one of two clouds.
    InPair {
        /// `"first"` or `"second"`.
        which: &'static str,
        /// The error.
        source: Box<Error>,
    },
    /// An index of a nearest point outside the cloud.
    NearestOutOfRange {
        /// The row.
        row: usize,
        /// The index.
        index: usize,
        /// Points in the cloud.
        points: usize,
    },
    /// An index of a row of values that is neither -1 nor a row.
    IndexOutOfRange {
        /// Position among the indices.
        place: usize,
        /// The index.
        index: i64,
        /// Number of rows.
        rows: usize,
    },
    /// An error in a cloud of a batch.
    InBatch {
        /// Number of the cloud, from 0.
        cloud: usize,
        /// The error.
        source: Box<Error>,
    },
}

/// Number as the shortest text that reads back as it: as one of single precision if it is one, with an exponent if
/// it is tiny or huge.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let single = self.0 as f32;
        let is_single = f64::from(single) == self.0;
        let text = if is_single { format!("{single:?}") } else { format!("{:?}", self.0) };
        f.write_str(text.strip_suffix(".0").unwrap_or(&text))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManySamples { samples, points } => write!(
                f,
                "cannot take {samples} samples from a cloud of {points} points; request at most {points}"
            ),
            Self::EmptyCloud => f.write_str("the cloud has no usable point"),
            Self::NonFinite { first, count, points } => write!(
                f,
                "{count} of {points} rows hold NaN or infinity, the first is row {first}; \
                 remove them or set `non_finite` to skip them"
            ),
            Self::StartOutOfRange { index, points } => write!(
                f,
                "start index {index} is outside the cloud of {points} points (0..={})",
                points - 1
            ),
            Self::StartIsBad { index } => {
                write!(f, "start index {index} names a row with NaN or infinity; choose another")
            }
            Self::StartRepeated { index } => write!(f, "start index {index} is given twice"),
            Self::NotSelected { what, index } => {
                write!(f, "{what} index {index} is not one of the selected rows; pass one of them")
            }
            Self::RowOutOfRange { place, row, points } => write!(
                f,
                "row {row} at place {place} of the selected rows is outside the cloud of {points} points"
            ),
            Self::RowRepeated { row, places } => write!(
                f,
                "row {row} is selected twice, at places {} and {} of the list; list each row once",
                places[0], places[1]
            ),
            Self::NoStart => f.write_str("the list of start indices is empty; pass at least one"),
            Self::TooManyStarts { starts, samples } => {
                write!(f, "{starts} start indices do not fit in {samples} samples")
            }
            Self::BadLevel { level, count, limit } => write!(
                f,
                "level {level} has {count} points; request 1 to {limit}, as levels must not grow"
            ),
            Self::LevelsOfStarts(value) => write!(
                f,
                "levels are those of a sample from one start, and this one has {value}; sample from one"
            ),
            Self::TooFewSamples { samples, needed } => {
                write!(f, "got {samples} samples, but at least {needed} are needed")
            }
            Self::SampleOutOfRange { index, points } => {
                write!(f, "sample index {index} is outside the cloud of {points} points")
            }
            Self::BadRatio(value) => write!(f, "ratio {} is not between 0 and 1", Short(*value)),
            Self::BadSpacing(value) => {
                write!(f, "spacing {} is not a finite number of at least 0", Short(*value))
            }
            Self::NoNeighbors => f.write_str("0 neighbors requested; request at least 1"),
            Self::NoBall => {
                f.write_str("a search for all neighbors in a ball has no radius; set one")
            }
            Self::TooManyNeighbors(value) => write!(
                f,
                "{value} neighbors do not fit in memory; request fewer, or use smaller balls"
            ),
            Self::BadRadius(value) => {
                write!(f, "radius {} is not a number of at least 0", Short(*value))
            }
            Self::BadThreads(value, reason) => {
                write!(f, "{value} threads cannot be used: {reason}")
            }
            Self::BadVoxels(value) => write!(f, "nvox = {value} is outside 1..=1024"),
            Self::BadCell(value) => {
                write!(f, "cell size {} is not a finite number above 0", Short(*value))
            }
            Self::BadVoxelSize { axis, size } => write!(
                f,
                "voxel size {} of axis {axis} is not a finite number above 0 in the precision of the points",
                Short(*size)
            ),
            Self::VoxelOutOfRange { axis, row, coordinate, size, origin } => write!(
                f,
                "row {row} is too far away for voxels of {} from {} along axis {axis}: coordinate {} \
         lies in a cell beyond 32 bits; use larger voxels, or an origin near the points",
                Short(*size),
                Short(*origin),
                Short(*coordinate)
            ),
            Self::NotForMethod { what, method } => {
                write!(f, "{what} for the grid sampler, not for {method}; use a count or a ratio")
            }
            Self::NotOnDevice { what, device, instead } => {
                write!(f, "the {device} does not have {what}; it has {instead}")
            }
            Self::BadOption { name, value, range } => {
                write!(f, "{name} = {value} is outside {range}")
            }
            Self::SpacingNotForMethod(value) => write!(
                f,
                "a spacing is for exact sampling, not for {value}; use a count or a ratio"
            ),
            Self::TooManyPoints(value) => write!(
                f,
                "{value} points are more than the {max} that one cloud may have",
                max = u32::MAX - 1
            ),
            Self::Shape(value) => write!(f, "{value}"),
            Self::OutOfMemory { bytes } => write!(
                f,
                "cannot allocate an array of {bytes} bytes; process fewer points at a time, or request less"
            ),
            Self::IndicesChanged => f.write_str(
                "the indices changed while in use; do not write to them from another thread",
            ),
            Self::LevelUnavailable(value) => {
                write!(f, "the {value} instruction set is not available on this machine")
            }
            Self::Cancelled(value) => write!(f, "canceled after {value} samples"),
            Self::SearchCancelled(value) => write!(f, "canceled after {value} points"),
            Self::InPair { which, source } => write!(f, "the {which} cloud: {source}"),
            Self::NearestOutOfRange { row, index, points } => write!(
                f,
                "nearest index {index} of row {row} is outside the cloud of {points} points"
            ),
            Self::IndexOutOfRange { place, index, rows } => write!(
                f,
                "index {index} at place {place} of the flattened indices is outside 0..{rows}; use -1 for none"
            ),
            Self::InBatch { cloud, source } => write!(f, "cloud {cloud} of the batch: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::InPair { source, .. } | Self::InBatch { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let single = |value: f32| f64::from(value);
        for (value, text) in [
            (single(1e-12), "1e-12"),
            (single(0.1), "0.1"),
            (0.1, "0.1"),
            (1e-300, "1e-300"),
            (-1.0, "-1"),
            (1234567.0, "1234567"),
            (1e300, "1e300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(Short(value).to_string(), text);
            for error in [
                Error::BadRatio(value),
                Error::BadSpacing(value),
                Error::BadRadius(value),
                Error::BadCell(value),
                Error::BadVoxelSize { axis: 1, size: value },
            ] {
                assert!(error.to_string().contains(&format!(" {text} ")), "{error}");
            }
        }
    }
}
