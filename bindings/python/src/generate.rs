//! Generated scenes with classes, as arrays of NumPy.

use farpoint_generate::{Labeled, Paint, Setting, UNLABELED};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(generate_labelled, module)?)?;
    module.add_function(wrap_pyfunction!(labelled_classes, module)?)
}

/// Generates a scene of `points` points: `points` float32 (N, 3) in meters, `colors` uint8 (N, 3) or `intensity`
/// float32 (N,), `classes` int64 (N,) with -1 for points without a class. The arrays are the same on every machine.
#[pyfunction]
#[pyo3(signature = (kind, points, seed))]
fn generate_labelled<'py>(
    py: Python<'py>,
    kind: &str,
    points: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let setting = setting(kind)?;
    let scene = py.detach(|| farpoint_generate::labeled(setting, points, seed));
    let Labeled { points, paint, classes, .. } = scene;
    let arrays = PyDict::new(py);
    arrays.set_item("points", rows(py, points)?)?;
    match paint {
        Paint::Colors(colors) => arrays.set_item("colors", rows(py, colors)?)?,
        Paint::Intensity(values) => arrays.set_item("intensity", values.into_pyarray(py))?,
    }
    let numbered = |class: u8| if class == UNLABELED { -1 } else { i64::from(class) };
    let classes: Vec<_> = classes.into_iter().map(numbered).collect();
    arrays.set_item("classes", classes.into_pyarray(py))?;
    Ok(arrays)
}

/// Returns the names of the classes of a kind of scene, by number.
#[pyfunction]
fn labelled_classes(kind: &str) -> PyResult<Vec<&'static str>> {
    Ok(setting(kind)?.classes().to_vec())
}

fn setting(kind: &str) -> PyResult<Setting> {
    let selected = Setting::ALL.into_iter().find(|setting| setting.name() == kind);
    selected.ok_or_else(|| {
        let names: Vec<_> = Setting::ALL.iter().map(|setting| setting.name()).collect();
        let text = format!("unknown kind of scene '{kind}'; choose {}", names.join(" or "));
        PyValueError::new_err(text)
    })
}

/// Returns rows of three as an array (N, 3).
fn rows<T: numpy::Element>(py: Python<'_>, rows: Vec<[T; 3]>) -> PyResult<Bound<'_, PyAny>> {
    let count = rows.len();
    let flat: Bound<'_, PyArray1<T>> = rows.into_flattened().into_pyarray(py);
    Ok(flat.reshape([count, 3])?.into_any())
}
