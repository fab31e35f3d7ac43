//! Clouds whose trees are built once, for searches of NumPy arrays.

use super::side::{Index, SideInput};
use crate::arrays::in_precision;
use crate::batch::side_by_side;
use crate::{error, watch};
use farpoint::{Cpu, NonFinite, Points, Scalar};
use numpy::Element;
use pyo3::prelude::*;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Index>()
}

#[pymethods]
impl Index {
    #[new]
    fn new(y: SideInput<'_>, threads: Option<usize>) -> PyResult<Self> {
        let points = &y.points;
        in_precision!(points, |array| Self::build(&y, array, threads))
    }
}

impl Index {
    fn build<'py, T: Scalar + Element>(
        y: &SideInput<'py>,
        array: &Bound<'py, numpy::PyArrayDyn<T>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let side = y.side(array)?;
        let sizes: Vec<_> = side.sizes().collect();
        let long = watch::is_long(sizes.iter().map(|&size| (size, 64)));
        let trees = watch::run_batch(array.py(), long, |stop| {
            side_by_side(threads, &sizes, stop, |cloud, threads| {
                let points = &side.clouds[cloud];
                let cpu = Cpu::new().threads(threads);
                let build = || farpoint::Index::build(&cpu, points, NonFinite::Error);
                (!points.is_empty()).then(build).transpose()
            })
        })?;
        let trees = trees.map_err(|error| error::without_skipping(error, &y.about()))?;
        Ok(Self { trees: Box::new(trees), sizes })
    }
}
