//! Constants of the C interface. Every use checks them: see `named`.
//!
//! Parameters of these types are `MaybeUninit`: C may pass any number.

use std::fmt::Debug;

/// The major version that this header belongs to.
pub const FARPOINT_VERSION_MAJOR: i32 = 0;

/// The minor version that this header belongs to.
pub const FARPOINT_VERSION_MINOR: i32 = 1;

/// The patch version that this header belongs to.
pub const FARPOINT_VERSION_PATCH: i32 = 0;

/// Outcome of a call.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_status {
    /// The call succeeded.
    FARPOINT_OK = 0,
    /// An argument, an option, or the size of a cloud is wrong; nothing was done.
    FARPOINT_INVALID_ARGUMENT = 1,
    /// Rows hold NaN or infinity. Remove them, or set `non_finite` to FARPOINT_NON_FINITE_SKIP.
    FARPOINT_NON_FINITE = 2,
    /// The progress callback canceled the call; there is no result.
    FARPOINT_CANCELED = 3,
    /// Not enough memory. If the host runs out, the process ends instead, as it does
    /// wherever Rust allocates; this status is for sizes known beforehand, and for memory of a
    /// GPU.
    FARPOINT_OUT_OF_MEMORY = 4,
    /// Not available: no such GPU, no driver, an instruction set that this processor does not have,
    /// a library that was built without CUDA.
    FARPOINT_UNAVAILABLE = 5,
    /// A GPU failed while it worked; the text tells whether to call again.
    FARPOINT_DEVICE_FAILED = 6,
    /// An error in farpoint itself; please report the text. The library can still be used.
    FARPOINT_INTERNAL = 7,
}
pub use farpoint_status::*;

/// The type of coordinates.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_scalar {
    /// `float`, 32 bits.
    FARPOINT_FLOAT32 = 0,
    /// `double`, 64 bits.
    FARPOINT_FLOAT64 = 1,
}
pub use farpoint_scalar::*;

/// Flag of farpoint_points: the bytes of each coordinate are in the opposite order of this
/// machine's.
pub const FARPOINT_BYTE_SWAPPED: u32 = 1;

/// Device of a call.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_device {
    /// The processor.
    FARPOINT_CPU = 0,
    /// The NVIDIA GPU with the number `device_number`.
    FARPOINT_CUDA = 1,
}
pub use farpoint_device::*;

/// Vector instructions. They never change a result.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_instruction_set {
    /// The best of this processor.
    FARPOINT_INSTRUCTIONS_BEST = 0,
    /// Instructions of every processor of this kind.
    FARPOINT_INSTRUCTIONS_PORTABLE = 1,
    /// AVX2.
    FARPOINT_INSTRUCTIONS_AVX2 = 2,
    /// AVX-512 (F, BW, DQ, VL).
    FARPOINT_INSTRUCTIONS_AVX512 = 3,
    /// NEON, on 64-bit ARM.
    FARPOINT_INSTRUCTIONS_NEON = 4,
}
pub use farpoint_instruction_set::*;

/// Scheduling of the threads of the pool by the system.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_scheduling {
    /// Scheduling of the thread that starts the pool.
    FARPOINT_SCHEDULING_INHERITED = 0,
    /// SCHED_FIFO: a thread runs until it waits.
    FARPOINT_SCHEDULING_FIFO = 1,
    /// SCHED_RR: threads of equal priority take turns.
    FARPOINT_SCHEDULING_ROUND_ROBIN = 2,
}
pub use farpoint_scheduling::*;

/// Handling of rows with NaN or infinity.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_non_finite {
    /// Rows with NaN or infinity are an error, FARPOINT_NON_FINITE.
    FARPOINT_NON_FINITE_ERROR = 0,
    /// Rows with NaN or infinity are left out and counted; indices still count all rows.
    FARPOINT_NON_FINITE_SKIP = 1,
}
pub use farpoint_non_finite::*;

/// Amount of samples.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_amount {
    /// `count` samples, at least 1.
    FARPOINT_COUNT = 0,
    /// `ceil(ratio * points)` samples, for a `ratio` above 0 and up to 1.
    FARPOINT_RATIO = 1,
    /// Samples until every point is within `spacing` of one. Exact sampling only.
    FARPOINT_SPACING = 2,
    /// All points; by exact sampling in farthest-first order, of which every prefix is a sample.
    FARPOINT_ALL = 3,
    /// One point per occupied cell of a grid of cells of the size `cell`. FARPOINT_METHOD_GRID and
    /// farpoint_centroids() only.
    FARPOINT_CELL = 4,
}
pub use farpoint_amount::*;

/// Methods of approximate sampling.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_approximate_method {
    /// Points drawn without replacement, all equally likely.
    FARPOINT_METHOD_RANDOM = 0,
    /// One point of each occupied cell of a cubic grid.
    FARPOINT_METHOD_GRID = 1,
}
pub use farpoint_approximate_method::*;

/// Point of a cell that is kept.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_keep {
    /// The nearest to its center.
    FARPOINT_KEEP_CENTER = 0,
    /// The one of lowest index.
    FARPOINT_KEEP_FIRST = 1,
    /// A random one, drawn by `method_seed`.
    FARPOINT_KEEP_RANDOM = 2,
}
pub use farpoint_keep::*;

/// Point that stands for those of a voxel.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_reduce {
    /// Their mean.
    FARPOINT_REDUCE_MEAN = 0,
    /// The one of lowest index.
    FARPOINT_REDUCE_FIRST = 1,
    /// The nearest to the voxel's center, the lowest index among equals.
    FARPOINT_REDUCE_CENTER = 2,
    /// A random one, drawn by `seed` and the voxel's cell.
    FARPOINT_REDUCE_RANDOM = 3,
}
pub use farpoint_reduce::*;

/// Search method. It never changes a result.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_search_method {
    /// The fastest for the input at hand.
    FARPOINT_SEARCH_AUTO = 0,
    /// The obvious loop, which all others are tested against. CPU only.
    FARPOINT_SEARCH_REFERENCE = 1,
    /// All pairs, each distance by its definition. CUDA only.
    FARPOINT_SEARCH_PLAIN = 2,
    /// All pairs, by vectors.
    FARPOINT_SEARCH_BRUTE = 3,
    /// Through trees.
    FARPOINT_SEARCH_TREE = 4,
}
pub use farpoint_search_method::*;

/// Kind of neighbors.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_search_kind {
    /// The `k` nearest, wherever they are.
    FARPOINT_NEAREST = 0,
    /// Points within `radius`.
    FARPOINT_BALL = 1,
    /// Points within `radius`, which (as the other radii) is compared with raw distances:
    /// squared with norm 2.
    FARPOINT_RAW_BALL = 2,
}
pub use farpoint_search_kind::*;

/// Neighbors in a ball that are kept if there are more than `k`, and their order.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum farpoint_ball_order {
    /// Lowest index first.
    FARPOINT_BY_INDEX = 0,
    /// Nearest first.
    FARPOINT_BY_DISTANCE = 1,
}
pub use farpoint_ball_order::*;

/// An enumeration of C.
///
/// # Safety
/// It is `repr(i32)`.
pub(crate) unsafe trait Enumeration: Copy + Debug {}

macro_rules! enumerations {
    ($($name:ident),* $(,)?) => {
        $(
            // SAFETY: it is, above.
            unsafe impl Enumeration for $name {}
        )*
    };
}
enumerations!(
    farpoint_status,
    farpoint_scalar,
    farpoint_device,
    farpoint_instruction_set,
    farpoint_scheduling,
    farpoint_non_finite,
    farpoint_amount,
    farpoint_approximate_method,
    farpoint_keep,
    farpoint_reduce,
    farpoint_search_method,
    farpoint_search_kind,
    farpoint_ball_order,
);
