//! A tile that answers requests.

use super::{axes, check_finite};
use crate::error::room;
use crate::watch::without_gil;
use farpoint::Scalar;
use farpoint::backend::memory;
use farpoint_tiles::{
    ByteWorker, Column, Corners, MemoryStore, Pages, Store, StoreError, TileOptions, cut,
};
use numpy::{Element, PyArrayDyn, PyReadonlyArray1, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Points of a page.
const PAGE: usize = 256;
/// Rows are below `2^ROW_BITS`.
const ROW_BITS: u32 = 40;

/// The points of one tile, in memory, with a log that is an object of Python.
#[pyclass(frozen, module = "farpoint._native")]
pub(super) struct Tile(Mutex<Box<dyn ByteWorker>>);

#[pymethods]
impl Tile {
    /// `points` (N, D), `rows` (N,) of the whole cloud. `log` has `records()`, `append(bytes)`,
    /// `record(number)`, `truncate(records)` and `sync()`, as `farpoint_tiles::Store` describes them. With
    /// `threads`, the tile uses those of its process.
    #[new]
    fn new(
        py: Python<'_>,
        points: &Bound<'_, PyUntypedArray>,
        rows: PyReadonlyArray1<'_, u64>,
        log: Py<PyAny>,
        threads: bool,
    ) -> PyResult<Self> {
        let rows = rows.as_slice()?;
        let worker = crate::arrays::in_precision!(points, |array| {
            worker(py, array, rows, log, TileOptions::default().threads(threads))
        })?;
        Ok(Self(Mutex::new(worker)))
    }

    /// Answers a request, both as `farpoint_tiles::message` encodes them; without the GIL.
    fn answer<'py>(&self, py: Python<'py>, request: &[u8]) -> Bound<'py, PyBytes> {
        let reply = without_gil(py, || {
            // A tile whose thread has panicked says so by itself: it is requested to begin anew.
            let mut worker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            worker.answer_bytes(request)
        });
        PyBytes::new(py, &reply)
    }
}

fn worker<T: Scalar + Element>(
    py: Python<'_>,
    array: &Bound<'_, PyArrayDyn<T>>,
    rows: &[u64],
    log: Py<PyAny>,
    options: TileOptions,
) -> PyResult<Box<dyn ByteWorker>> {
    let axes = axes(array)?;
    let n = axes[0].len();
    if rows.len() != n || n >= u32::MAX as usize {
        let text = format!("a tile cannot have {n} points with {} rows", rows.len());
        return Err(PyValueError::new_err(text));
    }
    if let Some(row) = rows.iter().find(|&&row| row >> ROW_BITS != 0) {
        let text = format!("row {row} is too large: rows must be below 2^{ROW_BITS}");
        return Err(PyValueError::new_err(text));
    }
    check_finite(&axes)?;
    let memory = without_gil(py, || room(|| store(&axes, rows)))?;
    Ok(Box::new(farpoint_tiles::Tile::new(Logged { memory, log }, options)))
}

/// Returns the points in page order.
fn store<T: Scalar>(axes: &[Vec<T>; 3], rows: &[u64]) -> MemoryStore<T> {
    let order = cut::pages(axes, PAGE);
    let column = if size_of::<T>() == 4 { Column::F32 } else { Column::F64 };
    let bytes = |axis: &Vec<T>| -> Vec<u8> {
        let ordered = order.iter().map(|&k| axis[k as usize].to_f64());
        match column {
            Column::F32 => memory::collected(ordered.flat_map(|x| (x as f32).to_le_bytes())),
            _ => memory::collected(ordered.flat_map(f64::to_le_bytes)),
        }
    };
    let at = axes.each_ref().map(bytes);
    let rows = memory::collected(order.iter().map(|&k| rows[k as usize]));
    MemoryStore::new([column; 3], at, rows, PAGE)
}

/// Points in memory, the log in Python.
struct Logged<T> {
    memory: MemoryStore<T>,
    log: Py<PyAny>,
}

impl<T> Logged<T> {
    fn call<R>(
        &self,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Result<R, StoreError> {
        Python::attach(|py| work(self.log.bind(py)).map_err(|error| error.to_string().into()))
    }
}

impl<T: Scalar> Store<T> for Logged<T> {
    fn points(&self) -> usize {
        self.memory.points()
    }

    fn page_points(&self) -> usize {
        self.memory.page_points()
    }

    fn corners(&mut self) -> Result<Option<Vec<Corners<T>>>, StoreError> {
        self.memory.corners()
    }

    fn read(
        &mut self,
        pages: Range<usize>,
        values: bool,
        into: &mut Pages<T>,
    ) -> Result<(), StoreError> {
        self.memory.read(pages, values, into)
    }

    fn write_values(&mut self, first: usize, values: &[T]) -> Result<(), StoreError> {
        self.memory.write_values(first, values)
    }

    fn records(&self) -> u64 {
        // The log counts its records in memory; if even that fails, so does the next call, with its reason.
        self.call(|log| log.call_method0("records")?.extract()).unwrap_or(0)
    }

    fn append(&mut self, record: &[u8]) -> Result<(), StoreError> {
        self.call(|log| log.call_method1("append", (PyBytes::new(log.py(), record),)).map(drop))
    }

    fn record(&mut self, number: u64) -> Result<Vec<u8>, StoreError> {
        self.call(|log| Ok(log.call_method1("record", (number,))?.extract::<&[u8]>()?.to_vec()))
    }

    fn truncate(&mut self, records: u64) -> Result<(), StoreError> {
        self.call(|log| log.call_method1("truncate", (records,)).map(drop))
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.call(|log| log.call_method0("sync").map(drop))
    }
}
