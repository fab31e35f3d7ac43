//! Errors, whose messages say what to change.

use thiserror::Error;

/// Every error of this crate. The messages contain the offending numbers.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// More samples than points.
    #[error(
        "cannot take {samples} samples from a cloud of {points} points; request at most {points}"
    )]
    TooManySamples {
        /// Samples requested.
        samples: usize,
        /// Usable points in the cloud.
        points: usize,
    },
    /// The cloud has no usable point.
    #[error("the cloud has no usable point")]
    EmptyCloud,
    /// A row holds NaN or infinity.
    #[error(
        "{count} of {points} rows hold NaN or infinity, the first is row {first}; \
         remove them or set `bad_rows` to skip them"
    )]
    BadRows {
        /// First bad row.
        first: usize,
        /// Number of bad rows.
        count: usize,
        /// Total number of rows.
        points: usize,
    },
    /// A start index outside the cloud.
    #[error("start index {index} is outside the cloud of {points} points (0..={})", points - 1)]
    StartOutOfRange {
        /// The index.
        index: usize,
        /// Points in the cloud.
        points: usize,
    },
    /// A start index that names a row that was left out as bad.
    #[error("start index {index} names a row with NaN or infinity; choose another")]
    StartIsBad {
        /// The index.
        index: usize,
    },
    /// The same start index twice.
    #[error("start index {index} is given twice")]
    StartRepeated {
        /// The index.
        index: usize,
    },
    /// An index of a row that is not selected.
    #[error("{what} index {index} is not one of the selected rows; pass one of them")]
    NotSelected {
        /// Kind of index: `"start"`, `"sample"` or `"nearest"`.
        what: &'static str,
        /// The index.
        index: usize,
    },
    /// A selected row outside the cloud.
    #[error(
        "row {row} at place {place} of the selected rows is outside the cloud of {points} points"
    )]
    RowOutOfRange {
        /// Position in the list, from 0.
        place: usize,
        /// The row.
        row: String,
        /// Points in the cloud.
        points: usize,
    },
    /// The same row selected twice.
    #[error(
        "row {row} is selected twice, at places {} and {} of the list; list each row once",
        places[0], places[1]
    )]
    RowRepeated {
        /// The row.
        row: usize,
        /// Positions in the list, from 0.
        places: [usize; 2],
    },
    /// An empty list of start indices.
    #[error("the list of start indices is empty; pass at least one")]
    NoStart,
    /// More start indices than samples.
    #[error("{starts} start indices do not fit in {samples} samples")]
    TooManyStarts {
        /// Number of start indices.
        starts: usize,
        /// Samples requested.
        samples: usize,
    },
    /// A level of a network with no point, or with more points than the level before it.
    #[error("level {level} has {count} points; give 1 to {limit}, as levels must not grow")]
    BadLevel {
        /// Number of the level, from 0.
        level: usize,
        /// Points requested.
        count: usize,
        /// Points of the level before, or of the sample.
        limit: usize,
    },
    /// Levels of a sample with several start points.
    #[error("levels are those of a sample from one start, and this one has {0}; sample from one")]
    LevelsOfStarts(usize),
    /// Too few samples for a measure.
    #[error("got {samples} samples, but at least {needed} are needed")]
    TooFewSamples {
        /// Number of samples.
        samples: usize,
        /// Number required.
        needed: usize,
    },
    /// A sample's index outside the cloud.
    #[error("sample index {index} is outside the cloud of {points} points")]
    SampleOutOfRange {
        /// The index.
        index: usize,
        /// Points in the cloud.
        points: usize,
    },
    /// A ratio that is not between 0 and 1.
    #[error("ratio {0} is not between 0 and 1")]
    BadRatio(f64),
    /// A spacing that is negative, NaN or infinite.
    #[error("spacing {0} is not a finite number of at least 0")]
    BadSpacing(f64),
    /// A search for 0 neighbors.
    #[error("0 neighbors requested; request at least 1")]
    NoNeighbors,
    /// A search for all neighbors in a ball, without a ball.
    #[error("a search for all neighbors in a ball has no radius; set one")]
    NoBall,
    /// More neighbors than fit in memory.
    #[error("{0} neighbors do not fit in memory; request fewer, or use smaller balls")]
    TooManyNeighbors(usize),
    /// A radius that is negative or NaN.
    #[error("radius {0} is not a number of at least 0")]
    BadRadius(f64),
    /// Zero threads.
    #[error("{0} threads cannot be used: {1}")]
    BadThreads(usize, String),
    /// Zero voxels per axis, or too many.
    #[error("nvox = {0} is outside 1..=1024")]
    BadVoxels(u32),
    /// A KD-tree that is too high.
    #[error("height {0} is above the maximum of 20 (a million buckets)")]
    BadHeight(u32),
    /// A cell size of a grid that is not a positive number.
    #[error("cell size {0} is not a finite number above 0")]
    BadCell(f64),
    /// Bits per axis of a Morton curve out of range.
    #[error("{0} bits per axis are outside 1..=21")]
    BadBits(u32),
    /// A window of 0 points.
    #[error("a window of 0 points updates nothing; use at least 1")]
    BadWindow,
    /// An option that only grids have, set for another method.
    #[error("{what} for the grid sampler, not for {method}; use a count or a ratio")]
    NotForMethod {
        /// The option, and a verb.
        what: &'static str,
        /// The method it was set for.
        method: &'static str,
    },
    /// A start for a method that does not start at a point.
    #[error(
        "a start is for npdu and fastpoint, not for {0}, which does not start at a point; remove it"
    )]
    StartNotForMethod(&'static str),
    /// An algorithm, method or option that the device does not have.
    #[error("the {device} does not have {what}; it has {instead}")]
    NotOnDevice {
        /// Name of the algorithm, method or option.
        what: String,
        /// Device of the job.
        device: crate::DeviceKind,
        /// Alternatives that the device has.
        instead: String,
    },
    /// An option of an algorithm out of range.
    #[error("{name} = {value} is outside {range}")]
    BadOption {
        /// The option.
        name: &'static str,
        /// The value.
        value: String,
        /// The valid values.
        range: &'static str,
    },
    /// A spacing for a sampler that keeps no distances.
    #[error("a spacing is for exact sampling, not for {0}; use a count or a ratio")]
    SpacingNotForMethod(&'static str),
    /// More points than indices.
    #[error("{0} points are more than the {max} that one cloud may have", max = u32::MAX - 1)]
    TooManyPoints(usize),
    /// Shapes, strides, lengths or offsets that do not fit each other.
    #[error("{0}")]
    Shape(String),
    /// No memory for an array.
    #[error(
        "cannot allocate an array of {bytes} bytes; process fewer points at a time, or request less"
    )]
    OutOfMemory {
        /// Bytes of the array.
        bytes: usize,
    },
    /// Indices changed by another thread during use.
    #[error("the indices changed while in use; do not write to them from another thread")]
    IndicesChanged,
    /// An instruction set that this machine does not have.
    #[error("the {0} instruction set is not available on this machine")]
    LevelUnavailable(crate::Level),
    /// The observer canceled the run.
    #[error("canceled after {0} samples")]
    Cancelled(usize),
    /// The observer canceled a nearest-neighbor search.
    #[error("canceled after {0} points")]
    SearchCancelled(usize),
    /// An error in one of two clouds.
    #[error("the {which} cloud: {source}")]
    InPair {
        /// `"first"` or `"second"`.
        which: &'static str,
        /// The error.
        source: Box<Error>,
    },
    /// An index of a nearest point outside the cloud.
    #[error("nearest index {index} of row {row} is outside the cloud of {points} points")]
    NearestOutOfRange {
        /// The row.
        row: usize,
        /// The index.
        index: usize,
        /// Points in the cloud.
        points: usize,
    },
    /// An index of a row of values that is neither -1 nor a row.
    #[error(
        "index {index} at place {place} of the flattened indices is outside 0..{rows}; use -1 for none"
    )]
    IndexOutOfRange {
        /// Position among the indices.
        place: usize,
        /// The index.
        index: i64,
        /// Number of rows.
        rows: usize,
    },
    /// An error in a cloud of a batch.
    #[error("cloud {cloud} of the batch: {source}")]
    InBatch {
        /// Number of the cloud, from 0.
        cloud: usize,
        /// The error.
        source: Box<Error>,
    },
}
