//! Voxel downsampling: of NumPy arrays, and by addresses of device memory (`device`).

mod device;

use crate::arrays::{View, about, cut, in_precision};
use crate::batch::side_by_side;
use crate::error::room;
use crate::{error, watch};
use farpoint::backend::memory;
use farpoint::{NonFinite, Origin, Points, Reduce, Scalar, VoxelGrid, Voxels};
use numpy::ndarray::Array2;
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(voxels, module)?)?;
    device::add(module)
}

/// The job of every cloud: the attributes of Python's `Voxelization`.
#[derive(FromPyObject)]
struct Request {
    size: Vec<f64>,
    /// Zero if None, the smallest coordinates if empty.
    origin: Option<Vec<f64>>,
    reduce: String,
    seed: u64,
    sort: bool,
    min_points: u32,
    /// Number of rows used of each cloud of a padded batch.
    lengths: Option<Vec<usize>>,
    /// First row of each cloud of a ragged batch, then the number of rows.
    offsets: Option<Vec<usize>>,
    threads: Option<usize>,
    skip_non_finite: bool,
}

/// Points from which a call can be stopped by Ctrl-C.
const LONG: usize = 1_000_000;

/// Voxel of each row or -1, points and row of each voxel, and its coordinates and cell.
type VoxelArrays<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyAny>,
    Bound<'py, PyArray2<i32>>,
);

/// Returns the voxels of each cloud of an array `(n, d)` or `(b, n, d)`. Numbers of voxels and rows count from the
/// first of each cloud.
#[pyfunction]
fn voxels<'py>(
    points: &Bound<'py, PyUntypedArray>,
    request: Request,
) -> PyResult<Vec<VoxelArrays<'py>>> {
    in_precision!(points, |array| request.run(array))
}

impl Request {
    fn run<'py, T: Scalar + Element>(
        &self,
        array: &Bound<'py, PyArrayDyn<T>>,
    ) -> PyResult<Vec<VoxelArrays<'py>>> {
        let (py, about) = (array.py(), about(array.as_untyped()));
        let (views, batch) = cut(array, self.lengths.as_deref())?;
        let views = match &self.offsets {
            None => views,
            Some(_) if batch => {
                return Err(PyValueError::new_err(format!(
                    "offsets are for points (N, D) ({about})"
                )));
            }
            Some(offsets) => parts(&views[0], offsets)
                .map_err(|text| PyValueError::new_err(format!("{text} ({about})")))?,
        };
        let sizes: Vec<_> = views.iter().map(View::len).collect();
        let (job, long) = (self.job()?, sizes.iter().any(|&n| n >= LONG));
        let results = watch::run_batch(py, long, |stop| {
            side_by_side(self.threads, &sizes, stop, |cloud, threads| {
                let cpu = watch::cpu(Some(threads));
                job.on(&cpu).observe(&mut |_| stop.answer()).downsample(&views[cloud])
            })
        })?;
        let results = results.map_err(|error| error::sampling(error, &about))?;
        results.into_iter().map(|voxels| to_arrays(py, voxels)).collect()
    }

    fn job(&self) -> PyResult<VoxelGrid> {
        let reduce = match self.reduce.as_str() {
            "mean" => Reduce::Mean,
            "first" => Reduce::First,
            "center" => Reduce::Center,
            "random" => Reduce::Random(self.seed),
            other => {
                return Err(PyValueError::new_err(format!(
                    "reduce is {other:?}; it must be \"mean\", \"first\", \"center\" or \"random\""
                )));
            }
        };
        let origin = match &self.origin {
            None => Origin::Zero,
            Some(origin) if origin.is_empty() => Origin::Min,
            Some(origin) => Origin::At(origin.clone()),
        };
        let non_finite = if self.skip_non_finite { NonFinite::Skip } else { NonFinite::Error };
        let job = VoxelGrid::per_axis(self.size.as_slice()).origin(origin).reduce(reduce);
        Ok(job.sorted(self.sort).min_points(self.min_points).non_finite(non_finite))
    }
}

/// Returns the clouds between these offsets.
fn parts<'a, T: Scalar>(all: &View<'a, T>, offsets: &[usize]) -> Result<Vec<View<'a, T>>, String> {
    let ordered = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if !ordered || offsets.first() != Some(&0) || offsets.last() != Some(&all.len()) {
        return Err(format!("offsets must rise from 0 to {}, not {offsets:?}", all.len()));
    }
    Ok(offsets.windows(2).map(|ends| all.part(ends[0], ends[1])).collect())
}

fn to_arrays<T: Scalar + Element>(py: Python<'_>, voxels: Voxels<T>) -> PyResult<VoxelArrays<'_>> {
    let shape = (voxels.len(), voxels.dims);
    let wide = |numbers: &[u32]| {
        // `Voxels::NONE` becomes -1.
        let number = |&number: &u32| if number == u32::MAX { -1 } else { i64::from(number) };
        room(|| memory::collected(numbers.iter().map(number))).map(|wide| wide.into_pyarray(py))
    };
    let (inverse, counts, rows) =
        (wide(&voxels.inverse)?, wide(&voxels.counts)?, wide(&voxels.rows)?);
    let coordinates = Array2::from_shape_vec(shape, voxels.coordinates).expect("dims per voxel");
    let cells = Array2::from_shape_vec(shape, voxels.cells).expect("dims per voxel");
    let coordinates = coordinates.into_pyarray(py).into_any();
    Ok((inverse, counts, rows, coordinates, cells.into_pyarray(py)))
}
