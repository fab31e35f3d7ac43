//! Sampling: of NumPy arrays (`host`), of concatenated clouds (`ragged`), and by addresses of device
//! memory (`device`). The arguments of all of them are converted to jobs here.

mod answer;
mod device;
mod host;
mod ragged;
mod selection;

use crate::{arrays, error};
use farpoint::backend::SplitMix64;
use farpoint::{Algorithm, Amount, Error, Sampler, Start};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cloud_seed, module)?)?;
    module.add_function(wrap_pyfunction!(random_start, module)?)?;
    module.add_function(wrap_pyfunction!(limit, module)?)?;
    module.add("ALGORITHMS", Algorithm::ALL.map(Algorithm::name).to_vec())?;
    host::add(module)?;
    ragged::add(module)?;
    device::add(module)
}

/// Returns the amount of one of count, ratio and spacing, or all points.
fn amount(count: Option<usize>, ratio: Option<f64>, spacing: Option<f64>) -> Amount {
    match (count, ratio, spacing) {
        (Some(count), ..) => Amount::Count(count),
        (_, Some(ratio), _) => Amount::Ratio(ratio),
        (.., Some(spacing)) => Amount::Spacing(spacing),
        _ => Amount::All,
    }
}

/// Returns the number of samples of a cloud of `rows` rows; for a spacing the most that there can be.
#[pyfunction]
#[pyo3(signature = (rows, count = None, ratio = None))]
fn limit(rows: usize, count: Option<usize>, ratio: Option<f64>) -> PyResult<usize> {
    let limit = amount(count, ratio, None).limit(rows);
    limit.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns a job for either device.
fn job(amount: Amount, algorithm: &str) -> PyResult<Sampler> {
    let algorithm: Algorithm = algorithm.parse().map_err(error::name)?;
    Ok(Sampler::new(amount).algorithm(algorithm))
}

/// Returns the start of cloud `k`, of starts with a row for all clouds or a row per cloud.
fn start_of(starts: &PyReadonlyArray2<'_, i64>, k: usize) -> PyResult<Start> {
    let count = starts.shape()[0];
    let starts = starts.as_array();
    let Some(of_cloud) = starts.outer_iter().nth(if count == 1 { 0 } else { k }) else {
        return Err(PyValueError::new_err(format!("{count} starts, none for cloud {k}")));
    };
    let rows = arrays::indices(of_cloud, "start index")?;
    Ok(match rows[..] {
        [row] => Start::Index(row),
        _ => Start::Indices(rows),
    })
}

/// Returns the seed of cloud `cloud` of a batch: clouds draw one after another from the seed's generator, whose state
/// moves by this step.
#[pyfunction]
fn cloud_seed(seed: u64, cloud: u64) -> u64 {
    seed.wrapping_add(cloud.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Returns the row that a seed starts from in a cloud of `len` rows, the first of a batch or none.
#[pyfunction]
fn random_start(seed: u64, len: u64) -> PyResult<u64> {
    match len {
        0 => Err(PyValueError::new_err(Error::EmptyCloud.to_string())),
        len => Ok(SplitMix64::new(seed).below(len)),
    }
}
