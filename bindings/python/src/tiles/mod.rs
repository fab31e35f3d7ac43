//! One cloud in tiles: the tile of a worker process, and the driver of a run over such processes.

mod conductor;
mod tile;

use crate::error::room;
use farpoint::Scalar;
use farpoint::backend::memory;
use farpoint_tiles::Error;
use numpy::{Element, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<tile::Tile>()?;
    module.add_class::<conductor::Conductor>()
}

/// Converts an error of a run: an impossible request, or a failure of a part of the run.
fn failed(error: Error) -> PyErr {
    match error {
        Error::Job(_) | Error::Mismatch(_) | Error::Encoding { .. } => {
            PyValueError::new_err(error.to_string())
        }
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}

/// Returns the coordinates of a cloud by axis; missing axes are zeros.
fn axes<T: Scalar + Element>(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<[Vec<T>; 3]> {
    use farpoint::Points;
    let (views, batch) = crate::arrays::clouds(array)?;
    let [cloud] = views.as_slice() else {
        return Err(PyValueError::new_err("tiles require a single cloud, not a batch"));
    };
    let (n, dim) = (cloud.len(), cloud.dim());
    if batch || dim > 3 {
        let about = crate::arrays::about(array.as_untyped());
        let text = format!("tiles are of one cloud with up to three axes ({about})");
        return Err(PyValueError::new_err(text));
    }
    let coordinate = |row, a| if a < dim { cloud.coordinate(row, a) } else { T::ZERO };
    let axis = |a| memory::collected((0..n).map(|row| coordinate(row, a)));
    room(|| std::array::from_fn(axis))
}

/// Refuses NaN and infinity, which callers have left out.
fn check_finite<T: Scalar>(axes: &[Vec<T>; 3]) -> PyResult<()> {
    match axes.iter().flatten().all(|x| x.is_finite()) {
        true => Ok(()),
        false => Err(PyValueError::new_err("points of tiles must be finite")),
    }
}
