//! Operators on the values of points: of NumPy arrays (`host`, `scatter`, `weights`), and by addresses of device memory
//! (`device`).

mod device;
mod host;
mod scatter;
mod weights;

use crate::{error, watch};
use farpoint::Cpu;
use farpoint::values::ValueShape;
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    host::add(module)?;
    scatter::add(module)?;
    weights::add(module)?;
    device::add(module)
}

/// Number of clouds, rows, places, k, channels.
type Sizes = [usize; 5];

fn shape_of([clouds, rows, places, k, channels]: Sizes) -> ValueShape {
    ValueShape { clouds, rows, places, k, channels }
}

/// Describes sizes for messages.
fn about([clouds, rows, places, k, channels]: Sizes) -> String {
    format!("values ({clouds}, {rows}, {channels}), indices ({clouds}, {places}, {k})")
}

/// Runs an operator without the GIL; `about` describes its arguments in errors.
fn run<R: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    about: impl FnOnce() -> String,
    work: impl FnOnce(&Cpu) -> Result<R, farpoint::Error> + Send,
) -> PyResult<R> {
    let cpu = watch::cpu(threads);
    py.detach(|| work(&cpu)).map_err(|error| error::sampling(error, &about()))
}

type Array<'a, 'py> = &'a Bound<'py, PyUntypedArray>;

/// Runs an operator for values of these sizes.
fn of<R: Send>(
    py: Python<'_>,
    sizes: Sizes,
    threads: Option<usize>,
    work: impl FnOnce(&Cpu, &ValueShape) -> Result<R, farpoint::Error> + Send,
) -> PyResult<R> {
    run(py, threads, || about(sizes), |cpu| work(cpu, &shape_of(sizes)))
}

/// An array of numbers of one type, held while they are read.
struct Numbers<'py, T: Element>(PyReadonlyArrayDyn<'py, T>);

impl<'py, T: Element> Numbers<'py, T> {
    /// Returns the numbers of an array; `None` if they are of another type.
    fn of(array: &Bound<'py, PyUntypedArray>) -> Option<Self> {
        Some(Self(array.cast::<PyArrayDyn<T>>().ok()?.readonly()))
    }

    /// Returns the numbers, or an error.
    fn required(array: &Bound<'py, PyUntypedArray>, what: &str) -> PyResult<Self> {
        Self::of(array).ok_or_else(|| other_type(array, what))
    }

    /// Returns another array of the same type.
    fn like(&self, array: &Bound<'py, PyUntypedArray>, what: &str) -> PyResult<Self> {
        Self::required(array, what)
    }

    fn slice(&self) -> PyResult<&[T]> {
        let refuse = |_| PyValueError::new_err("the numbers of this array are not contiguous");
        self.0.as_slice().map_err(refuse)
    }
}

fn other_type(array: &Bound<'_, PyUntypedArray>, what: &str) -> PyErr {
    use numpy::PyUntypedArrayMethods;
    pyo3::exceptions::PyTypeError::new_err(format!("{what} of another type: {}", array.dtype()))
}

/// Evaluates an expression with an array of either precision.
macro_rules! in_values {
    ($array:expr, |$v:ident| $body:expr) => {{
        let array = $array;
        if let Some($v) = $crate::values::Numbers::<f32>::of(array) {
            $body
        } else {
            let $v = $crate::values::Numbers::<f64>::required(array, "values")?;
            $body
        }
    }};
}
use in_values;

/// Evaluates an expression with indices of either width.
macro_rules! in_indices {
    ($array:expr, |$i:ident| $body:expr) => {{
        let array = $array;
        if let Some($i) = $crate::values::Numbers::<i64>::of(array) {
            $body
        } else {
            let $i = $crate::values::Numbers::<i32>::required(array, "indices")?;
            $body
        }
    }};
}
use in_indices;
