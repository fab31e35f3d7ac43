//! A cloud for repeated searches: checked and copied once, with a tree built once.

use super::prepared::threads_for_points;
use crate::cloud::WorkingCopy;
use crate::scalar::compiled_once;
use crate::spatial::BoxTree;
use crate::threads::on_threads;
use crate::unwind::caught;
use crate::{Cpu, Error, NonFinite, Points, Scalar, Subset};
use std::any::Any;
use std::fmt;

/// A cloud with the tree by which the CPU searches it, built once for
/// several searches, such as the three of a network.
///
/// An index is [`Points`], and can be used wherever clouds are: as the first cloud, the second, or both,
/// in batches, on any device. A search on a [`Cpu`] then uses its cloud and tree as they are. The
/// result is the same without.
///
/// ```
/// use farpoint::{Index, Matcher, Searcher};
///
/// let index = Index::new(&[[3.0f32], [1.0], [-1.0], [9.0]])?;
/// assert_eq!(index.search(&Searcher::nearest(2), &[[0.0f32]])?.indices(0), [1, 2]);
/// assert_eq!(index.nearest(&Matcher::new(), &[[8.0f32]])?.indices, [3]);
/// let others = index.search_self(&Searcher::nearest(1).exclude_self(true))?;
/// assert_eq!(others.all_indices, [1, 0, 1, 0]);
/// # Ok::<(), farpoint::Error>(())
/// ```
pub struct Index<T> {
    pub(super) cloud: WorkingCopy<T>,
    pub(super) tree: BoxTree<T>,
    rows: usize,
    dims: usize,
}

compiled_once! {
    fn build<'a, T: Scalar>(
        cpu: &'a Cpu,
        points: &'a dyn Points<T>,
        non_finite: NonFinite,
    ) -> Result<Index<T>, Error> {
        let threads = threads_for_points(cpu.threads, points.len())?;
        caught(|| {
            on_threads(threads, || {
                let cloud = WorkingCopy::new(points, non_finite, threads)?;
                if cloud.len == 0 {
                    return Err(Error::EmptyCloud);
                }
                let tree = BoxTree::new(&cloud, threads);
                Ok(Index { cloud, tree, rows: points.len(), dims: points.dim() })
            })
        })
    }
}

impl<T: Scalar> Index<T> {
    /// Builds the index on all threads. Rows with NaN or infinity are an error.
    ///
    /// # Errors
    /// On non-finite rows, and on a cloud without points.
    pub fn new<P: Points<T> + ?Sized>(points: &P) -> Result<Self, Error> {
        Self::build(&Cpu::new(), points, NonFinite::Error)
    }

    /// Builds the index on the threads of `cpu`. Rows that are left out remain so in every search, whatever
    /// [`NonFinite`] it has for other clouds; indices still count all rows.
    ///
    /// # Errors
    /// Same as [`Index::new`].
    pub fn build<P: Points<T> + ?Sized>(
        cpu: &Cpu,
        points: &P,
        non_finite: NonFinite,
    ) -> Result<Self, Error> {
        build(cpu, &points, non_finite)
    }

    /// Returns the number of rows left out because they hold NaN or infinity.
    pub fn dropped(&self) -> usize {
        self.rows - self.cloud.len
    }

    /// Returns the index behind points, if they are one.
    pub(super) fn of(points: &dyn Points<T>) -> Option<&Self> {
        points.index()?.downcast_ref()
    }
}

/// The points from which the index was built; rows that were left out are NaN.
impl<T: Scalar> Points<T> for Index<T> {
    fn len(&self) -> usize {
        self.rows
    }
    fn dim(&self) -> usize {
        self.dims
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        match self.cloud.point_at(index) {
            Some(point) => self.cloud.axes[axis][point as usize],
            None => T::from_f64(f64::NAN),
        }
    }
    fn subset(&self) -> Option<&Subset> {
        self.cloud.subset()
    }
    fn index(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl<T: Scalar> fmt::Debug for Index<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Index of {} points with {} coordinates", self.rows, self.dims)
    }
}
