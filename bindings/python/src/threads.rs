//! Number of threads of calls that set none.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(get_num_threads, module)?)
}

/// Set by the user; 0 for none.
static SET: AtomicUsize = AtomicUsize::new(0);

#[pyfunction]
fn set_num_threads(threads: Option<usize>) {
    SET.store(threads.unwrap_or(0), Relaxed);
}

#[pyfunction]
fn get_num_threads() -> usize {
    of(None).unwrap_or_else(rayon::current_num_threads)
}

/// Returns the threads of a call: its own, those set for the process, or PyTorch's in a worker of its `DataLoader`.
/// None stands for all cores.
pub(crate) fn of(call: Option<usize>) -> Option<usize> {
    call.or_else(|| match SET.load(Relaxed) {
        0 => Python::attach(of_data_loader).unwrap_or(None),
        threads => Some(threads),
    })
}

/// Several workers share the cores, and PyTorch has set the number of threads of each, to 1 by default.
fn of_data_loader(py: Python<'_>) -> PyResult<Option<usize>> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let modules = MODULES.get_or_try_init(py, || {
        PyResult::Ok(py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.unbind())
    })?;
    let Some(data) = modules.bind(py).get_item(intern!(py, "torch.utils.data"))? else {
        return Ok(None);
    };
    if data.call_method0(intern!(py, "get_worker_info"))?.is_none() {
        return Ok(None);
    }
    let torch = py.import(intern!(py, "torch"))?;
    torch.call_method0(intern!(py, "get_num_threads"))?.extract().map(Some)
}
