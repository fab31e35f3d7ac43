//! What is asked of a search for several neighbors.

use super::{BadRows, Method, Norm};
use crate::Error;

/// A search for several neighbors of each point: the k nearest, or those within a ball.
///
/// [`Searcher::search`] keeps at most `k` neighbors of a point, [`Searcher::within`] all of a ball.
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
    /// Most neighbors of a point. A search for all in a ball does not look at it.
    pub k: usize,
    /// The ball around a point in which neighbors lie; anywhere unless set.
    pub ball: Option<Ball>,
    /// Whether the row of the same number does not count: a cloud is searched for its own neighbors.
    pub exclude_self: bool,
    /// Which method.
    pub method: Method,
    /// Which norm.
    pub norm: Norm,
    /// What to do with NaN and infinity.
    pub bad_rows: BadRows,
}

/// The ball of a [`Searcher`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Ball {
    /// Points nearer than this are neighbors.
    pub radius: f64,
    /// Points nearer than this are none, unless `near` says otherwise.
    pub min_radius: f64,
    /// Points up to this far away are neighbors whatever `min_radius` is: 0, the very place, unless set.
    pub near: f64,
    /// Whether the three are distances as they are computed, that is squares with [`Norm::Two`].
    pub raw: bool,
    /// Whether points at the very radius are neighbors.
    pub inclusive: bool,
    /// Which neighbors are kept where there are more than `k`, and in which order.
    pub order: Order,
}

/// Which neighbors in a ball are kept, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Order {
    /// Those of lowest index, as PointNet++ does.
    #[default]
    Index,
    /// The nearest.
    Nearest,
}

impl Searcher {
    /// The `k` nearest.
    pub fn nearest(k: usize) -> Self {
        Self {
            k,
            ball: None,
            exclude_self: false,
            method: Method::default(),
            norm: Norm::default(),
            bad_rows: BadRows::default(),
        }
    }

    /// At most `k` points nearer than `radius`, those of lowest index.
    pub fn ball(radius: f64, k: usize) -> Self {
        let (min_radius, near, raw, inclusive) = (0.0, 0.0, false, false);
        let ball = Ball { radius, min_radius, near, raw, inclusive, order: Order::Index };
        Self { ball: Some(ball), ..Self::nearest(k) }
    }

    /// [`Searcher::ball`] whose radii are distances as they are computed: squares with [`Norm::Two`].
    /// What is given is rounded to the points' type and compared as it is.
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

    /// Points nearer than this are no neighbors, unless they are at the very place. For balls.
    pub fn min_radius(self, min_radius: f64) -> Self {
        Self { ball: self.ball.map(|ball| Ball { min_radius, ..ball }), ..self }
    }

    /// Points up to this far away are neighbors whatever [`Searcher::min_radius`] is; those at the very
    /// place are unless set. For balls.
    pub fn near(self, near: f64) -> Self {
        Self { ball: self.ball.map(|ball| Ball { near, ..ball }), ..self }
    }

    /// Whether points at the very radius are neighbors; they are not unless set. For balls.
    pub fn inclusive(self, inclusive: bool) -> Self {
        Self { ball: self.ball.map(|ball| Ball { inclusive, ..ball }), ..self }
    }

    /// Which neighbors in a ball are kept; those of lowest index unless set. For balls.
    pub fn order(self, order: Order) -> Self {
        Self { ball: self.ball.map(|ball| Ball { order, ..ball }), ..self }
    }

    /// Whether the row of the same number does not count; it does unless set.
    pub fn exclude_self(self, exclude_self: bool) -> Self {
        Self { exclude_self, ..self }
    }

    /// Which method; [`Method::Auto`] unless set.
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Which norm; [`Norm::Two`] unless set.
    pub fn norm(self, norm: Norm) -> Self {
        Self { norm, ..self }
    }

    /// What to do with NaN and infinity; an error unless set. Rows left out are no neighbors, and have
    /// none.
    pub fn bad_rows(self, bad_rows: BadRows) -> Self {
        Self { bad_rows, ..self }
    }

    /// Refuses numbers that no search can have. Every device calls it.
    ///
    /// # Errors
    /// [`Error::NoNeighbors`] and [`Error::BadRadius`].
    pub fn check(&self) -> Result<(), Error> {
        if self.k == 0 {
            return Err(Error::NoNeighbors);
        }
        self.ball.map_or(Ok(()), |ball| ball.check())
    }

    /// The same for a search for all in the ball, whatever `k` is.
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
