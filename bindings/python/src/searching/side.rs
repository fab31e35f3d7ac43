//! One side of a search: the clouds of an array, padded or concatenated.

use crate::arrays::{View, about, clouds, cut};
use crate::error::room;
use farpoint::backend::memory;
use farpoint::{Points, Scalar};
use numpy::{Element, PyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::any::Any;

/// An array `(n, d)` or `(b, n, d)`, the number of rows used of each cloud, or the offsets of the clouds of an
/// array `(n, d)`.
#[derive(FromPyObject)]
pub(super) struct SideInput<'py> {
    pub(super) points: Bound<'py, PyUntypedArray>,
    lengths: Option<Vec<usize>>,
    offsets: Option<Vec<i64>>,
    tree: Option<Py<Index>>,
}

/// The trees of all clouds of one side.
#[pyclass(frozen, weakref, module = "farpoint._native")]
pub(super) struct Index {
    /// `Vec<Option<farpoint::Index<T>>>`: none for clouds without a point.
    pub(super) trees: Box<dyn Any + Send + Sync>,
    /// Rows of each cloud.
    pub(super) sizes: Vec<usize>,
}

impl Index {
    /// Returns the tree of each cloud, if they are of these clouds: of this precision and these numbers of rows.
    fn trees<T: Scalar>(
        &self,
        sizes: impl Iterator<Item = usize>,
    ) -> Option<&[Option<farpoint::Index<T>>]> {
        let trees: &Vec<Option<farpoint::Index<T>>> = self.trees.downcast_ref()?;
        sizes.eq(self.sizes.iter().copied()).then_some(trees)
    }
}

/// A cloud, and its tree if there is one already.
#[derive(Clone, Copy)]
pub(super) struct Indexed<'a, T: Scalar> {
    points: View<'a, T>,
    tree: Option<&'a farpoint::Index<T>>,
}

impl<T: Scalar> Points<T> for Indexed<'_, T> {
    fn len(&self) -> usize {
        self.points.len()
    }
    fn dim(&self) -> usize {
        self.points.dim()
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self.points.coordinate(index, axis)
    }
    fn index(&self) -> Option<&dyn Any> {
        self.tree.map(|tree| tree as &dyn Any)
    }
}

/// The clouds of one side.
pub(super) struct Side<'a, T: Scalar> {
    pub(super) clouds: Vec<Indexed<'a, T>>,
    /// First row of each cloud in the whole, clouds side by side if they are padded.
    pub(super) firsts: Vec<usize>,
    /// Rows of the whole, padding among them.
    pub(super) rows: usize,
    /// Shape of the array without coordinates.
    pub(super) shape: Vec<usize>,
    /// True if the clouds are concatenated, so that indices are rows of the whole.
    pub(super) ragged: bool,
}

impl<'py> SideInput<'py> {
    pub(super) fn about(&self) -> String {
        about(&self.points)
    }

    /// Returns the clouds in the precision of `array`, which is `points`.
    pub(super) fn side<'a, T: Scalar + Element>(
        &'a self,
        array: &'a Bound<'py, PyArrayDyn<T>>,
    ) -> PyResult<Side<'a, T>> {
        let shape = array.shape()[..array.ndim().max(1) - 1].to_vec();
        let rows = shape.iter().product();
        if let Some(offsets) = &self.offsets {
            let (views, false) = clouds(array)? else {
                let text = "offsets are for an array of shape (N, D)";
                return Err(PyValueError::new_err(format!("{text} ({})", self.about())));
            };
            let ends = ends(offsets, rows, &self.about())?;
            let part = |pair: &[usize]| views[0].part(pair[0], pair[1]);
            let clouds = self.indexed(ends.windows(2).map(part).collect())?;
            let firsts = ends[..ends.len() - 1].to_vec();
            return Ok(Side { clouds, firsts, rows, shape, ragged: true });
        }
        let (clouds, batch) = cut(array, self.lengths.as_deref())?;
        let each = if batch { shape[1] } else { rows };
        let firsts = (0..clouds.len()).map(|cloud| cloud * each).collect();
        let clouds = self.indexed(clouds)?;
        Ok(Side { clouds, firsts, rows, shape, ragged: false })
    }
}

impl SideInput<'_> {
    /// Returns the clouds with their trees.
    fn indexed<'a, T: Scalar>(&'a self, clouds: Vec<View<'a, T>>) -> PyResult<Vec<Indexed<'a, T>>> {
        let Some(index) = &self.tree else {
            return Ok(clouds.into_iter().map(|points| Indexed { points, tree: None }).collect());
        };
        let trees = index.get().trees::<T>(clouds.iter().map(Points::len)).ok_or_else(|| {
            let text = "the index is of other clouds";
            PyValueError::new_err(format!("{text} ({})", self.about()))
        })?;
        let cloud =
            |(points, tree): (View<'a, T>, &'a Option<_>)| Indexed { points, tree: tree.as_ref() };
        Ok(clouds.into_iter().zip(trees).map(cloud).collect())
    }
}

impl<T: Scalar> Side<'_, T> {
    /// Returns the offset of indices within a cloud.
    pub(super) fn base(&self, cloud: usize) -> usize {
        if self.ragged { self.firsts[cloud] } else { 0 }
    }

    /// Returns the number of points of each cloud.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> {
        self.clouds.iter().map(Points::len)
    }
}

/// Checks for offsets that ascend from 0 to the number of rows, and returns them as numbers of rows.
fn ends(offsets: &[i64], rows: usize, about: &str) -> PyResult<Vec<usize>> {
    let refuse = |text: String| Err(PyValueError::new_err(format!("{text} ({about})")));
    let Some((&first, &last)) = offsets.first().zip(offsets.last()) else {
        return refuse("offsets are empty; one more is needed than there are clouds".into());
    };
    if first != 0 {
        return refuse(format!("offsets begin with {first}; they must begin with 0"));
    }
    if let Some(at) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        let (before, after) = (offsets[at], offsets[at + 1]);
        let place = at + 1;
        return refuse(format!(
            "offset {place} is {after}, below {before} before it; offsets ascend"
        ));
    }
    if last != rows as i64 {
        return refuse(format!("offsets end with {last}; they must end with the {rows} rows"));
    }
    room(|| memory::collected(offsets.iter().map(|&offset| offset as usize)))
}
