//! Selected rows of an array's clouds, as Python passes them: row numbers, or a mask.

use crate::arrays::View;
use crate::error;
use crate::error::room;
use farpoint::backend::memory;
use farpoint::{Scalar, Selected};
use numpy::ndarray::Axis;
use numpy::{
    PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Selection of rows.
pub(super) enum Selection<'py> {
    /// Row numbers of one cloud.
    Rows(PyReadonlyArray1<'py, i64>),
    /// A value per row.
    Mask(PyReadonlyArrayDyn<'py, bool>),
}

impl<'py> Selection<'py> {
    /// Returns row numbers if the array is int64, a mask if bool.
    pub(super) fn new(array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        if let Ok(mask) = array.cast::<PyArrayDyn<bool>>() {
            return Ok(Self::Mask(mask.readonly()));
        }
        let refuse =
            |_| PyTypeError::new_err("rows must be a 1-D array of int64, or a mask of bool");
        Ok(Self::Rows(array.extract().map_err(refuse)?))
    }

    /// Returns the rows of each cloud of an array whose shape without the last axis is `rows`; `about` is for messages.
    pub(super) fn of<'a, T: Scalar>(
        &self,
        clouds: &[View<'a, T>],
        rows: &[usize],
        about: &str,
    ) -> PyResult<Vec<Selected<View<'a, T>>>> {
        let batch = rows.len() > 1;
        let wrong = |text: &str| PyValueError::new_err(format!("{text} ({about})"));
        let refused = |error| error::sampling(error, about);
        match self {
            Self::Rows(_) if batch => {
                Err(wrong("rows are of one cloud (N, D); pass a mask (B, N) for a batch"))
            }
            Self::Rows(rows) => {
                let rows = room(|| memory::collected(rows.as_array().iter().copied()))?;
                Ok(vec![Selected::rows(clouds[0], &rows).map_err(refused)?])
            }
            Self::Mask(mask) => {
                if mask.shape() != rows {
                    let tuple =
                        |shape| PyTuple::new(mask.py(), shape).map(|tuple| tuple.to_string());
                    let (actual, expected) = (tuple(mask.shape())?, tuple(rows)?);
                    return Err(wrong(&format!("the mask is of shape {actual}, not {expected}")));
                }
                let all = mask.as_array();
                let select = |(k, cloud): (usize, &View<'a, T>)| {
                    let cloud_mask = if batch { all.index_axis(Axis(0), k) } else { all.view() };
                    let mut values = room(|| memory::collected(cloud_mask.iter().copied()))?;
                    if batch {
                        values.truncate(farpoint::Points::len(cloud));
                    }
                    Selected::mask(*cloud, &values).map_err(refused)
                };
                clouds.iter().enumerate().map(select).collect()
            }
        }
    }
}
