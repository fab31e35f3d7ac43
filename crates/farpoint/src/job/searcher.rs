//! Options of k-nearest-neighbor and ball searches.

use super::{Method, NonFinite, Norm};
use crate::Error;

/// A search for several neighbors of each point: the k nearest, or those within a ball.
///
/// [`Searcher::search`] keeps at most `k` neighbors of a point, [`Searcher::within`] all in its ball.
///
/// ```
/// use farpoint::Searcher;
///
/// let (x, y) = ([[0.0f32]], [[3.0f32], [1.0], [-1.0], [9.0]]);
/// let nearest = Searcher::nearest(3).search(&x, &y)?;
/// assert_eq!(nearest.indices(0), [1, 2, 0]); // equally near: the lower index first
/// assert_eq!(nearest.raw_distances(0), [1.0, 1.0, 9.0]); // squared
///
/// let ball = Searcher::ball(2.0, 3).search(&x, &y)?;
/// assert_eq!(ball.indices(0), [1, 2]);
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Searcher {
    /// Maximum number of neighbors per point. Ignored by searches for all neighbors in a ball.
    pub k: usize,
    /// Ball around a point in which neighbors lie; unlimited by default.
    pub ball: Option<Ball>,
    /// True if the point itself is excluded when a cloud is searched for its own neighbors.
    pub exclude_self: bool,
    /// Search method.
    pub method: Method,
    /// Norm.
    pub norm: Norm,
    /// Treatment of NaN and infinity.
    pub non_finite: NonFinite,
}

/// The ball of a [`Searcher`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Ball {
    /// Points nearer than this are neighbors.
    pub radius: f64,
    /// Points nearer than this are not neighbors, unless `near` includes them.
    pub min_radius: f64,
    /// Points up to this far away are neighbors whatever `min_radius` is; 0, coincident points, by default.
    pub near: f64,
    /// True if the three are distances as computed, that is squares with [`Norm::Two`].
    pub raw: bool,
    /// True if points exactly at the radius are neighbors.
    pub inclusive: bool,
    /// Neighbors that are kept if there are more than `k`, and their order.
    pub order: Order,
}

/// Selection and order of the neighbors in a ball.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Order {
    /// The lowest indices, as in PointNet++.
    #[default]
    Index,
    /// The nearest.
    Nearest,
}

impl Searcher {
    /// Creates a search for the `k` nearest.
    pub fn nearest(k: usize) -> Self {
        Self {
            k,
            ball: None,
            exclude_self: false,
            method: Method::default(),
            norm: Norm::default(),
            non_finite: NonFinite::default(),
        }
    }

    /// Creates a search for at most `k` points nearer than `radius`, the lowest indices first.
    pub fn ball(radius: f64, k: usize) -> Self {
        let (min_radius, near, raw, inclusive) = (0.0, 0.0, false, false);
        let ball = Ball { radius, min_radius, near, raw, inclusive, order: Order::Index };
        Self { ball: Some(ball), ..Self::nearest(k) }
    }

    /// [`Searcher::ball`] with radii that are distances as computed: squares with [`Norm::Two`].
    /// They are rounded to the points' type and compared as they are.
    ///
    /// ```
    /// use farpoint::Searcher;
    ///
    /// let (x, y) = ([[0.0f32]], [[1.0f32], [2.0], [3.0]]);
    /// assert_eq!(Searcher::raw_ball(9.0, 3).search(&x, &y)?.indices(0), [0, 1]); // d * d < 9
    /// # Ok::<(), farpoint::Error>(())
    /// ```
    pub fn raw_ball(limit: f64, k: usize) -> Self {
        let ball = Self::ball(limit, k).ball.map(|ball| Ball { raw: true, ..ball });
        Self { ball, ..Self::nearest(k) }
    }

    /// Excludes points nearer than this, unless they coincide with the query. For balls.
    pub fn min_radius(self, min_radius: f64) -> Self {
        Self { ball: self.ball.map(|ball| Ball { min_radius, ..ball }), ..self }
    }

    /// Includes points up to this far away whatever [`Searcher::min_radius`] is; 0, coincident points, by
    /// default. For balls.
    pub fn near(self, near: f64) -> Self {
        Self { ball: self.ball.map(|ball| Ball { near, ..ball }), ..self }
    }

    /// Sets whether points exactly at the radius are neighbors; they are not by default. For balls.
    pub fn inclusive(self, inclusive: bool) -> Self {
        Self { ball: self.ball.map(|ball| Ball { inclusive, ..ball }), ..self }
    }

    /// Sets which neighbors in a ball are kept; the lowest indices by default. For balls.
    pub fn order(self, order: Order) -> Self {
        Self { ball: self.ball.map(|ball| Ball { order, ..ball }), ..self }
    }

    /// Sets whether the row with the query's own number is excluded; it is not by default.
    pub fn exclude_self(self, exclude_self: bool) -> Self {
        Self { exclude_self, ..self }
    }

    /// Sets the method; [`Method::Auto`] by default.
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Sets the norm; [`Norm::Two`] by default.
    pub fn norm(self, norm: Norm) -> Self {
        Self { norm, ..self }
    }

    /// Sets the treatment of NaN and infinity; an error by default. Rows left out are no neighbors, and have
    /// none.
    pub fn non_finite(self, non_finite: NonFinite) -> Self {
        Self { non_finite, ..self }
    }

    /// Rejects options that are invalid for every search. Every device calls it.
    ///
    /// # Errors
    /// [`Error::NoNeighbors`] and [`Error::BadRadius`].
    pub fn check(&self) -> Result<(), Error> {
        if self.k == 0 {
            return Err(Error::NoNeighbors);
        }
        self.ball.map_or(Ok(()), |ball| ball.check())
    }

    /// Like [`Searcher::check`], for a search for all in the ball, whatever `k` is.
    ///
    /// # Errors
    /// [`Error::NoBall`] and [`Error::BadRadius`].
    pub fn check_within(&self) -> Result<(), Error> {
        self.ball.ok_or(Error::NoBall)?.check()
    }
}

impl Ball {
    fn check(self) -> Result<(), Error> {
        let radii = [self.radius, self.min_radius, self.near];
        match radii.into_iter().find(|radius| radius.is_nan() || *radius < 0.0) {
            Some(radius) => Err(Error::BadRadius(radius)),
            None => Ok(()),
        }
    }
}
