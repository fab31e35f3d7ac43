//! Options of a nearest-neighbor search.

use super::{Method, NonFinite, Norm};

/// A nearest-neighbor search: norm and method.
///
/// ```
/// use farpoint::Matcher;
///
/// let (a, b) = ([[0.0f32, 0.0], [3.0, 4.0]], [[0.0f32, 1.0]]);
/// let nearest = Matcher::new().nearest(&a, &b)?;
/// assert_eq!(nearest.raw_distances, [1.0, 18.0]); // squared
/// assert_eq!(nearest.indices, [0, 0]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// A job does not say where it runs. Its own methods run it on the CPU with all threads;
/// [`Matcher::on`] names another device, which gives the same result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Matcher {
    /// Search method.
    pub method: Method,
    /// Norm.
    pub norm: Norm,
    /// Treatment of NaN and infinity.
    pub non_finite: NonFinite,
}

impl Matcher {
    /// Creates a job with squared Euclidean distances and the fastest method.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the method; [`Method::Auto`] by default.
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Sets the norm; [`Norm::Two`] by default.
    pub fn norm(self, norm: Norm) -> Self {
        Self { norm, ..self }
    }

    /// Sets the treatment of NaN and infinity; an error by default. Rows left out are no point's nearest,
    /// and have none: their distance is NaN, their index [`crate::Nearest::NONE`].
    pub fn non_finite(self, non_finite: NonFinite) -> Self {
        Self { non_finite, ..self }
    }
}
