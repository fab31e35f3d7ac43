use crate::progress::farpoint_progress_callback;
use std::ffi::{c_char, c_void};

/// What is asked of an approximate sampler. All zero but `size`: 0 points, drawn at random.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_approximate_options {
    /// `sizeof(farpoint_approximate_options)`: tells the library which members there are.
    pub size: usize,
    /// Threads to work on: see farpoint_run_options.
    pub threads: usize,
    /// FARPOINT_CPU or FARPOINT_CUDA.
    pub device: i32,
    /// Which GPU, from 0; 0 for the CPU.
    pub device_number: i32,
    /// FARPOINT_INSTRUCTIONS_BEST or another. Never changes a result.
    pub instruction_set: i32,
    /// FARPOINT_BAD_ROWS_ERROR or FARPOINT_BAD_ROWS_SKIP.
    pub bad_rows: i32,
    /// Called now and then; may cancel. NULL if nobody listens.
    pub progress: farpoint_progress_callback,
    /// Passed to `progress`.
    pub user: *mut c_void,
    /// FARPOINT_METHOD_RANDOM or another.
    pub method: i32,
    /// How many points: FARPOINT_COUNT, FARPOINT_RATIO, FARPOINT_ALL, or FARPOINT_CELL.
    pub amount: i32,
    /// Points, with FARPOINT_COUNT.
    pub count: usize,
    /// Share of the points, with FARPOINT_RATIO.
    pub ratio: f64,
    /// Size of a cell in the unit of the coordinates, with FARPOINT_CELL.
    pub cell: f64,
    /// Rows to start from, for FARPOINT_METHOD_NPDU and FARPOINT_METHOD_FASTPOINT. NULL: the first
    /// usable row.
    pub starts: *const usize,
    /// Number of `starts`.
    pub start_count: usize,
    /// The seed of `random_start`.
    pub seed: u64,
    /// The seed of FARPOINT_METHOD_RANDOM and FARPOINT_KEEP_RANDOM.
    pub method_seed: u64,
    /// Not 0 to start at a point drawn by `seed`.
    pub random_start: i32,
    /// Which point of a cell FARPOINT_METHOD_GRID keeps: FARPOINT_KEEP_CENTER or another.
    pub keep: i32,
    /// In which order the windows of FARPOINT_METHOD_NPDU lie: FARPOINT_WINDOW_INPUT or another.
    pub window_order: i32,
    /// How FARPOINT_METHOD_FASTPOINT predicts: FARPOINT_ESTIMATOR_NETWORK or another.
    pub estimator: i32,
    /// Points of a window of FARPOINT_METHOD_NPDU; 0: 16 times the points per sample.
    pub window: usize,
    /// Bits per axis of FARPOINT_METHOD_MORTON, 1 to 21; 0: 10.
    pub bits: usize,
    /// The exact algorithm that FARPOINT_METHOD_FASTPOINT begins with, as in farpoint_sample_options.
    pub algorithm: *const c_char,
    /// Rows of the cloud that are to be sampled, as in farpoint_sample_options. NULL: all rows.
    pub rows: *const usize,
    /// Number of `rows`.
    pub row_count: usize,
    /// One byte per point, as in farpoint_sample_options. NULL: all rows.
    pub mask: *const u8,
}
