//! The numbers by which C names things. Whoever takes one checks it: see `named`.

/// The major version that this header belongs to.
pub const FARPOINT_VERSION_MAJOR: i32 = 0;
/// The minor version that this header belongs to.
pub const FARPOINT_VERSION_MINOR: i32 = 1;
/// The patch version that this header belongs to.
pub const FARPOINT_VERSION_PATCH: i32 = 0;

/// Status: the call did what it was asked for.
pub const FARPOINT_OK: i32 = 0;
/// Status: an argument, an option, or the size of a cloud is wrong; nothing was done.
pub const FARPOINT_INVALID_ARGUMENT: i32 = 1;
/// Status: rows hold NaN or infinity. Remove them, or set `bad_rows` to FARPOINT_BAD_ROWS_SKIP.
pub const FARPOINT_BAD_ROWS: i32 = 2;
/// Status: the progress callback canceled the call; there is no result.
pub const FARPOINT_CANCELED: i32 = 3;
/// Status: not enough memory. Where the host has too little, the process ends instead, as it does
/// wherever Rust allocates; what is refused here is what is known beforehand, and memory of a GPU.
pub const FARPOINT_OUT_OF_MEMORY: i32 = 4;
/// Status: what was asked for is not there: no such GPU, no driver, an instruction set that this
/// processor does not have, a library that was built without CUDA.
pub const FARPOINT_UNAVAILABLE: i32 = 5;
/// Status: a GPU failed while it worked; the text says whether to call again.
pub const FARPOINT_DEVICE_FAILED: i32 = 6;
/// Status: an error in farpoint itself; please report the text. The library can still be used.
pub const FARPOINT_INTERNAL: i32 = 7;

/// Scalar type: `float`, 32 bits.
pub const FARPOINT_FLOAT32: i32 = 0;
/// Scalar type: `double`, 64 bits.
pub const FARPOINT_FLOAT64: i32 = 1;

/// Flag of farpoint_points: the bytes of each coordinate are in the order that is not this
/// machine's.
pub const FARPOINT_BYTE_SWAPPED: u32 = 1;

/// Device: the processor.
pub const FARPOINT_CPU: i32 = 0;
/// Device: the GPU of NVIDIA with the number `device_number`.
pub const FARPOINT_CUDA: i32 = 1;

/// Instruction set: the best of this processor.
pub const FARPOINT_INSTRUCTIONS_BEST: i32 = 0;
/// Instruction set: what every processor of this kind has.
pub const FARPOINT_INSTRUCTIONS_PORTABLE: i32 = 1;
/// Instruction set: AVX2.
pub const FARPOINT_INSTRUCTIONS_AVX2: i32 = 2;
/// Instruction set: AVX-512 (F, BW, DQ, VL).
pub const FARPOINT_INSTRUCTIONS_AVX512: i32 = 3;

/// Bad rows: rows with NaN or infinity are an error, FARPOINT_BAD_ROWS.
pub const FARPOINT_BAD_ROWS_ERROR: i32 = 0;
/// Bad rows: rows with NaN or infinity are left out and counted; indices still count all rows.
pub const FARPOINT_BAD_ROWS_SKIP: i32 = 1;

/// Amount: `count` samples, at least 1.
pub const FARPOINT_COUNT: i32 = 0;
/// Amount: `ceil(ratio * points)` samples, for a `ratio` above 0 and up to 1.
pub const FARPOINT_RATIO: i32 = 1;
/// Amount: as many samples as it takes until every point is within `spacing` of one. Exact sampling
/// only.
pub const FARPOINT_SPACING: i32 = 2;
/// Amount: all points; by exact sampling in farthest-first order, of which every prefix is a sample.
pub const FARPOINT_ALL: i32 = 3;
/// Amount: one point per occupied cell of a grid of cells of the size `cell`. FARPOINT_METHOD_GRID
/// and farpoint_centroids() only.
pub const FARPOINT_CELL: i32 = 4;

/// Approximate method: points drawn without replacement, all equally likely.
pub const FARPOINT_METHOD_RANDOM: i32 = 0;
/// Approximate method: one point of each occupied cell of a cubic grid.
pub const FARPOINT_METHOD_GRID: i32 = 1;
/// Approximate method: points at even steps along a Morton curve.
pub const FARPOINT_METHOD_MORTON: i32 = 2;
/// Approximate method: farthest point sampling that updates a window around each sample only.
pub const FARPOINT_METHOD_NPDU: i32 = 3;
/// Approximate method: FastPoint, which predicts the distances of later samples from the first.
pub const FARPOINT_METHOD_FASTPOINT: i32 = 4;

/// Which point of a cell is kept: the nearest to its center.
pub const FARPOINT_KEEP_CENTER: i32 = 0;
/// Which point of a cell is kept: the one of lowest index.
pub const FARPOINT_KEEP_FIRST: i32 = 1;
/// Which point of a cell is kept: a random one, drawn by `method_seed`.
pub const FARPOINT_KEEP_RANDOM: i32 = 2;

/// Order of windows: that of the input, good for scans as they are recorded.
pub const FARPOINT_WINDOW_INPUT: i32 = 0;
/// Order of windows: along a Morton curve.
pub const FARPOINT_WINDOW_MORTON: i32 = 1;
/// Order of windows: none; a window is the nearest neighbors in space.
pub const FARPOINT_WINDOW_NEIGHBORS: i32 = 2;

/// Estimator of FastPoint: a small network.
pub const FARPOINT_ESTIMATOR_NETWORK: i32 = 0;
/// Estimator of FastPoint: a fitted curve.
pub const FARPOINT_ESTIMATOR_FIT: i32 = 1;

/// Search method: the fastest for the input at hand.
pub const FARPOINT_SEARCH_AUTO: i32 = 0;
/// Search method: the obvious loop that everything is compared with. CPU only.
pub const FARPOINT_SEARCH_REFERENCE: i32 = 1;
/// Search method: all pairs, each measured by the rule alone. CUDA only.
pub const FARPOINT_SEARCH_PLAIN: i32 = 2;
/// Search method: all pairs, by vectors.
pub const FARPOINT_SEARCH_BRUTE: i32 = 3;
/// Search method: through trees.
pub const FARPOINT_SEARCH_TREE: i32 = 4;

/// Which neighbors: the `k` nearest, wherever they are.
pub const FARPOINT_NEAREST: i32 = 0;
/// Which neighbors: those within `radius`.
pub const FARPOINT_BALL: i32 = 1;
/// Which neighbors: those within `radius`, which (as the other radii) is compared with distances as
/// they are computed: squared with norm 2.
pub const FARPOINT_RAW_BALL: i32 = 2;

/// Which neighbors in a ball are kept if there are more than `k`, and in which order: those of
/// lowest index.
pub const FARPOINT_BY_INDEX: i32 = 0;
/// Which neighbors in a ball are kept if there are more than `k`, and in which order: the nearest.
pub const FARPOINT_BY_DISTANCE: i32 = 1;
