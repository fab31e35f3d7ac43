//! An index for repeated searches of a cloud, in either precision.

use crate::run::{Either, Number, Precision, of_either};
use crate::status::{Failure, invalid};
use farpoint::{Index, Points};

/// A cloud with the tree by which the CPU searches it, for repeated searches.
///
/// Made by farpoint_index_build(), freed by farpoint_index_free(). It has a copy of the points. It
/// never changes, so any number of threads may search it at a time.
pub struct farpoint_index(pub(crate) Either<Index<f32>, Index<f64>>);

/// Any thread may search an index, several at a time.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<farpoint_index>();
};

/// Number, dimensions and precision of the points of an index.
pub(crate) type Shape = (usize, usize, Precision);

impl farpoint_index {
    pub(crate) fn shape(&self) -> Shape {
        let precision = match self.0 {
            Either::Single(_) => Precision::Single,
            Either::Double(_) => Precision::Double,
        };
        of_either!(&self.0, index => (index.len(), index.dim(), precision))
    }

    /// Returns the index if it has the described shape.
    ///
    /// # Errors
    /// If it has another.
    pub(crate) fn of_shape<T: Number>(&self, described: Shape) -> Result<&Index<T>, Failure> {
        let index = of_either!(&self.0, index => index.index());
        match index.and_then(|index| index.downcast_ref()) {
            Some(index) if described == self.shape() => Ok(index),
            _ => {
                let (count, dimensions, precision) = self.shape();
                Err(invalid(format!(
                    "points of an index are described otherwise than it, which has {count} points of {dimensions} coordinates of type {}; leave what farpoint_index_points() returns as it is",
                    precision.name()
                )))
            }
        }
    }
}
