//! The compiled module of the Python package `farpoint`. It has no algorithms: it passes arrays of Python to
//! the crates beside it, and returns their results and errors.
//!
//! From the top down, each using only those below it:
//!
//! * `sampling`, `approximate`, `measures`, `neighbors`, `searching`, `values`, `voxels`, `files`, `many_files`, `tiles`,
//!   `command`: the functions that Python calls.
//! * `batch`, `watch`, `threads`: batches; progress and Ctrl-C; the number of threads. `shape_cache`: cache of calls.
//! * `device`: clouds in device memory. `tensors`: PyTorch tensors. `arrays`: NumPy, DLPack, our own device memory.
//! * `error`: errors as exceptions.
//!
//! The public interface, with its documentation, is Python: `python/farpoint`.

mod approximate;
mod arrays;
mod batch;
mod command;
mod device;
mod error;
mod files;
mod limited;
mod many_files;
mod measures;
mod neighbors;
mod sampling;
mod searching;
mod shape_cache;
mod tensors;
mod threads;
mod tiles;
mod values;
mod voxels;
mod watch;

use pyo3::prelude::*;

// Without the GIL this is as safe as with it: classes are frozen and what they hold is `Sync`; there is no state
// of the module's own; the GIL protects nothing here, since it is released for all work. Arrays are borrowed
// through rust-numpy, whose records of borrows are locked on free-threaded Python, and read as raw memory, which
// another thread may write to in either case (see `arrays::view`).
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CudaUnavailable", module.py().get_type::<error::CudaUnavailable>())?;
    arrays::add(module)?;
    device::add(module)?;
    tensors::add(module)?;
    threads::add(module)?;
    shape_cache::add(module)?;
    sampling::add(module)?;
    approximate::add(module)?;
    measures::add(module)?;
    neighbors::add(module)?;
    searching::add(module)?;
    values::add(module)?;
    voxels::add(module)?;
    files::add(module)?;
    many_files::add(module)?;
    limited::add(module)?;
    tiles::add(module)?;
    command::add(module)
}
