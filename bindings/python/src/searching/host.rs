//! Several neighbors of the points of NumPy arrays.

use super::Request;
use super::side::{Indexed, Side, SideInput};
use crate::arrays::in_precision;
use crate::batch::side_by_side;
use crate::error::room;
use crate::{error, watch};
use farpoint::backend::memory;
use farpoint::{Cpu, Error, Neighbors, Observer, Points, Scalar, WithinBall};
use numpy::{Element, IntoPyArray, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(search, module)?)?;
    module.add_function(wrap_pyfunction!(within, module)?)
}

/// Returns the neighbors in `y` of each point of `x`: distances `(.., k)` of the norm (2: squared),
/// indices and counts. In places without a neighbor infinity and -1; rows of padding have 0 and -1.
#[pyfunction]
fn search<'py>(
    x: SideInput<'py>,
    y: SideInput<'py>,
    request: Request,
) -> PyResult<Bound<'py, PyTuple>> {
    let (a, b) = (&x.points, &y.points);
    in_precision!(a, b, |a, b| {
        let sides = [x.side(a)?, y.side(b)?];
        let about = format!("{} and {}", x.about(), y.about());
        search_arrays(a.py(), &sides, &request, &about)
    })
}

fn search_arrays<'py, T: Scalar + Element>(
    py: Python<'py>,
    sides: &[Side<'_, T>; 2],
    request: &Request,
    about: &str,
) -> PyResult<Bound<'py, PyTuple>> {
    let (job, k) = (request.searcher()?, request.k.unwrap_or(0));
    check(sides, k, request, about)?;
    job.check().map_err(|error| error::without_skipping(error, about))?;
    let results = each(py, request.threads, sides, |cpu, x, y, observer| {
        job.on(cpu).observe(observer).search(x, y)
    })?;
    let results = results.map_err(|error| error::without_skipping(error, about))?;
    let [x, y] = sides;
    let shape = [&x.shape[..], &[k]].concat();
    let (distances, indices, counts) = py.detach(|| room(|| whole(results, x, y, k)))?;
    let distances = distances.into_pyarray(py).reshape(&shape[..])?;
    let (indices, counts) = match request.narrow {
        true => (narrow(py, indices, &shape)?, narrow(py, counts, &x.shape)?),
        false => (wide(py, indices, &shape)?, wide(py, counts, &x.shape)?),
    };
    (distances, indices, counts).into_pyobject(py)
}

/// Refuses sides that do not fit each other, and results that can't be.
fn check<T: Scalar>(
    [x, y]: &[Side<'_, T>; 2],
    k: usize,
    request: &Request,
    about: &str,
) -> PyResult<()> {
    let refuse = |text: String| Err(PyValueError::new_err(format!("{text} ({about})")));
    let (xs, ys) = (x.clouds.len(), y.clouds.len());
    if xs != ys || x.shape.len() != y.shape.len() || x.ragged != y.ragged {
        return refuse(format!("{xs} clouds cannot be searched in {ys}"));
    }
    if x.rows.checked_mul(k).is_none_or(|places| places > isize::MAX as usize / 16) {
        return refuse(format!("{k} neighbors of {} rows are too many", x.rows));
    }
    if request.narrow && y.rows > i32::MAX as usize {
        return refuse(format!("indices of 32 bits do not reach all {} rows", y.rows));
    }
    Ok(())
}

/// Runs `one` for every pair, without the GIL; Ctrl-C is checked if it may take long. Clouds without a
/// point are skipped.
fn each<T: Scalar, R: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    [x, y]: &[Side<'_, T>; 2],
    one: impl Fn(&Cpu, &Indexed<'_, T>, &Indexed<'_, T>, Observer<'_>) -> Result<R, Error> + Send + Sync,
) -> PyResult<Result<Vec<Option<R>>, Error>> {
    let long = watch::is_long(x.sizes().zip(y.sizes()));
    let sizes: Vec<_> = x.sizes().zip(y.sizes()).map(|(x, y)| x.saturating_add(y)).collect();
    watch::run_batch(py, long, |stop| {
        side_by_side(threads, &sizes, stop, |cloud, threads| {
            let (x, y) = (&x.clouds[cloud], &y.clouds[cloud]);
            let observer = &mut |_| stop.answer();
            let one = || one(&Cpu::new().threads(threads), x, y, observer);
            (!x.is_empty()).then(one).transpose()
        })
    })
}

/// Returns distances, indices and counts of the whole.
fn whole<T: Scalar>(
    results: Vec<Option<Neighbors<T>>>,
    x: &Side<'_, T>,
    y: &Side<'_, T>,
    k: usize,
) -> (Vec<T>, Vec<u32>, Vec<u32>) {
    if let [Some(only)] = &results[..]
        && only.len() == x.rows
    {
        let only = results.into_iter().flatten().next().expect("one");
        return (only.all_distances, only.all_indices, only.counts);
    }
    let numbers = x.rows.saturating_mul(k);
    let mut distances = memory::zeros(numbers);
    let mut indices = memory::filled(numbers, Neighbors::<T>::NONE);
    let mut counts = memory::zeros(x.rows);
    for (cloud, neighbors) in results.iter().enumerate() {
        let Some(neighbors) = neighbors else { continue };
        let (first, base) = (x.firsts[cloud], y.base(cloud) as u32);
        let places = first * k..(first + neighbors.len()) * k;
        distances[places.clone()].copy_from_slice(&neighbors.all_distances);
        counts[first..first + neighbors.len()].copy_from_slice(&neighbors.counts);
        for (to, &index) in indices[places].iter_mut().zip(&neighbors.all_indices) {
            *to = if index == Neighbors::<T>::NONE { index } else { base + index };
        }
    }
    (distances, indices, counts)
}

/// Returns an array of the same 32 bits; the number that stands for none becomes -1.
fn narrow<'py>(py: Python<'py>, values: Vec<u32>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let array = values.into_pyarray(py).reshape(shape)?;
    array.call_method1("view", ("i4",))
}

/// Returns an array of 64 bits; -1 for none.
fn wide<'py>(py: Python<'py>, values: Vec<u32>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let whole = |&value: &u32| if value == u32::MAX { -1 } else { i64::from(value) };
    let values = py.detach(|| room(|| memory::collected(values.iter().map(whole))))?;
    Ok(values.into_pyarray(py).reshape(shape)?.into_any())
}

/// Returns all neighbors within a ball: distances and indices, concatenated, and the start of each row.
#[pyfunction]
fn within<'py>(
    x: SideInput<'py>,
    y: SideInput<'py>,
    request: Request,
) -> PyResult<Bound<'py, PyTuple>> {
    let (a, b) = (&x.points, &y.points);
    in_precision!(a, b, |a, b| {
        let sides = [x.side(a)?, y.side(b)?];
        let about = format!("{} and {}", x.about(), y.about());
        within_arrays(a.py(), &sides, &request, &about)
    })
}

fn within_arrays<'py, T: Scalar + Element>(
    py: Python<'py>,
    sides: &[Side<'_, T>; 2],
    request: &Request,
    about: &str,
) -> PyResult<Bound<'py, PyTuple>> {
    let job = request.searcher()?;
    check(sides, 0, request, about)?;
    job.check_within().map_err(|error| error::without_skipping(error, about))?;
    let results = each(py, request.threads, sides, |cpu, x, y, observer| {
        job.on(cpu).observe(observer).within(x, y)
    })?;
    let results = results.map_err(|error| error::without_skipping(error, about))?;
    let (distances, indices, offsets) =
        py.detach(|| room(|| joined(results, &sides[0], &sides[1])))?;
    let shape = [indices.len()];
    let indices =
        if request.narrow { narrow(py, indices, &shape)? } else { wide(py, indices, &shape)? };
    (distances.into_pyarray(py), indices, offsets.into_pyarray(py)).into_pyobject(py)
}

/// Concatenates the neighbors of all rows of the whole; rows of padding have none.
fn joined<T: Scalar>(
    results: Vec<Option<WithinBall<T>>>,
    x: &Side<'_, T>,
    y: &Side<'_, T>,
) -> (Vec<T>, Vec<u32>, Vec<i64>) {
    let total = results.iter().flatten().map(|neighbors| neighbors.indices.len()).sum();
    let (mut distances, mut indices) = (memory::with_capacity(total), memory::with_capacity(total));
    let mut offsets = memory::with_capacity(x.rows + 1);
    for (cloud, neighbors) in results.into_iter().enumerate() {
        let Some(neighbors) = neighbors else { continue };
        let (base, before) = (y.base(cloud) as u32, indices.len());
        // Rows that pad the cloud before have nothing.
        offsets.resize(x.firsts[cloud], before as i64);
        offsets
            .extend(neighbors.offsets[..neighbors.len()].iter().map(|&row| (before + row) as i64));
        distances.extend_from_slice(&neighbors.raw_distances);
        indices.extend(neighbors.indices.iter().map(|&index| base + index));
    }
    offsets.resize(x.rows + 1, indices.len() as i64);
    (distances, indices, offsets)
}
