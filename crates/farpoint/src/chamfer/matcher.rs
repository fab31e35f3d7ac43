//! The interface: what to ask for.

use super::watch::Watch;
use super::{Chamfer, Gradients, Nearest, backward, batch, run};
use crate::{BadRows, Error, Level, Observer, Points, Scalar};
use std::fmt;
use std::str::FromStr;

/// Ways to find nearest points. All give the same; they differ in speed only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// The fastest for the input at hand, by measured rules.
    Auto,
    /// The obvious loop that everything else is compared with.
    Reference,
    /// All pairs, vectorized.
    Brute,
    /// Through box trees of both clouds.
    Tree,
}

impl Method {
    /// Every method, `Auto` first.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Reference, Self::Brute, Self::Tree];

    /// The name used in messages and benchmarks.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Reference => "reference",
            Self::Brute => "brute",
            Self::Tree => "tree",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            format!("'{name}' is no method; choose one of auto, reference, brute, tree")
        })
    }
}

/// How distances are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Norm {
    /// Sums of absolute differences.
    One,
    /// Euclidean; squared where not said otherwise.
    #[default]
    Two,
}

/// A search for nearest points: by which norm, by which means.
///
/// ```
/// use farpoint::Matcher;
///
/// let (a, b) = ([[0.0f32, 0.0], [3.0, 4.0]], [[0.0f32, 1.0]]);
/// let nearest = Matcher::new().nearest(&a[..], &b[..])?;
/// assert_eq!(nearest.raw_distances, [1.0, 18.0]); // squared
/// assert_eq!(nearest.indices, [0, 0]);
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matcher {
    pub(super) method: Option<Method>,
    pub(super) norm: Norm,
    pub(super) threads: Option<usize>,
    pub(super) level: Option<Level>,
    pub(super) bad_rows: BadRows,
}

impl Matcher {
    /// Squared Euclidean distances, the fastest method, all threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which method; `Auto` unless told.
    pub fn method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// Which norm; `Norm::Two` unless told.
    pub fn norm(mut self, norm: Norm) -> Self {
        self.norm = norm;
        self
    }

    /// How many threads; those of the current rayon pool unless told. One never touches rayon;
    /// a number other than the pool's starts threads for this run. The result never depends on
    /// it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Which instruction set; the best of this machine unless told. The result never depends
    /// on it.
    pub fn level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// What to do with NaN and infinity; an error unless told. Rows left out are nobody's
    /// nearest, and have none: their distance is NaN, their index [`Nearest::NONE`].
    pub fn bad_rows(mut self, bad_rows: BadRows) -> Self {
        self.bad_rows = bad_rows;
        self
    }

    /// For each point of `a` the nearest of `b`.
    ///
    /// Errors on empty clouds, bad rows, and clouds with different numbers of coordinates.
    pub fn nearest<T: Scalar, A, B>(&self, a: &A, b: &B) -> Result<Nearest<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        run::nearest(self, a, b, &Watch::off())
    }

    /// [`Matcher::nearest`] that tells `observer` of progress; it can cancel the search. In what
    /// it is told, `samples` are points whose nearest was found, and `wanted` is their number in
    /// the end; there is no covering radius, which is infinite. It hears nothing while clouds are
    /// copied and structures are built, which takes seconds for tens of millions of points.
    pub fn nearest_with<T: Scalar, A, B>(
        &self,
        a: &A,
        b: &B,
        observer: Observer<'_>,
    ) -> Result<Nearest<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        run::nearest(self, a, b, &Watch::new(observer, a.len()))
    }

    /// Both directions: for each point of either cloud the nearest of the other.
    ///
    /// Errors as [`Matcher::nearest`].
    pub fn chamfer<T: Scalar, A, B>(&self, a: &A, b: &B) -> Result<Chamfer<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        run::chamfer(self, a, b, &Watch::off())
    }

    /// [`Matcher::chamfer`] that tells `observer` of progress, as [`Matcher::nearest_with`].
    pub fn chamfer_with<T: Scalar, A, B>(
        &self,
        a: &A,
        b: &B,
        observer: Observer<'_>,
    ) -> Result<Chamfer<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        run::chamfer(self, a, b, &Watch::new(observer, a.len().saturating_add(b.len())))
    }

    /// [`Matcher::nearest`] for many pairs of clouds, spread over the cores. A pair's result
    /// does not depend on its batch. The error names the first pair at fault.
    ///
    /// [`crate::padded`] and [`crate::ragged`] make clouds of batches in one array.
    pub fn nearest_batch<T: Scalar, A: Points<T>, B: Points<T>>(
        &self,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<Nearest<T>>, Error> {
        batch::nearest(self, a, b, &Watch::off())
    }

    /// [`Matcher::nearest_batch`] that tells `observer` of the progress of all pairs together, as
    /// [`Matcher::nearest_with`].
    pub fn nearest_batch_with<T: Scalar, A: Points<T>, B: Points<T>>(
        &self,
        a: &[A],
        b: &[B],
        observer: Observer<'_>,
    ) -> Result<Vec<Nearest<T>>, Error> {
        batch::nearest(self, a, b, &Watch::new(observer, batch::points(a)))
    }

    /// [`Matcher::chamfer`] for many pairs of clouds, as [`Matcher::nearest_batch`].
    ///
    /// ```
    /// use farpoint::{Matcher, padded};
    /// // Two pairs of one and two points; the last row of `a` is padding.
    /// let (a, b) = ([0.0f32, 9.0, 5.0, 0.0], [1.0f32, 2.0, 7.0, 4.0]);
    /// let a = padded(&a, [2, 2, 1], Some(&[2, 1]))?;
    /// let b = padded(&b, [2, 2, 1], None)?;
    /// let chamfers = Matcher::new().chamfer_batch(&a, &b)?;
    /// assert_eq!(chamfers[0].a_to_b.raw_distances, [1.0, 49.0]);
    /// assert_eq!(chamfers[1].a_to_b.raw_distances, [1.0]);
    /// # Ok::<(), farpoint::Error>(())
    /// ```
    pub fn chamfer_batch<T: Scalar, A: Points<T>, B: Points<T>>(
        &self,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<Chamfer<T>>, Error> {
        batch::chamfer(self, a, b, &Watch::off())
    }

    /// [`Matcher::chamfer_batch`] that tells `observer` of the progress of all pairs together, as
    /// [`Matcher::nearest_with`].
    pub fn chamfer_batch_with<T: Scalar, A: Points<T>, B: Points<T>>(
        &self,
        a: &[A],
        b: &[B],
        observer: Observer<'_>,
    ) -> Result<Vec<Chamfer<T>>, Error> {
        let wanted = batch::points(a).saturating_add(batch::points(b));
        batch::chamfer(self, a, b, &Watch::new(observer, wanted))
    }

    /// The gradients of both clouds: [`crate::chamfer::backward()`] on the threads that this
    /// matcher is told. The norm is that of `chamfer`.
    pub fn backward<T: Scalar, A, B>(
        &self,
        chamfer: &Chamfer<T>,
        a: &A,
        b: &B,
        grad_a: &[T],
        grad_b: &[T],
    ) -> Result<Gradients<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        backward::run(self.threads, chamfer, a, b, [grad_a, grad_b])
    }
}

/// For each point of `a` the squared distance to its nearest of `b`, and which that is.
///
/// [`Matcher`] has the options, and says what is an error.
pub fn nearest<T: Scalar, A, B>(a: &A, b: &B) -> Result<Nearest<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    Matcher::new().nearest(a, b)
}

/// The nearest points in both directions, and all that is computed from them.
///
/// ```
/// let (a, b) = ([[0.0f32, 0.0], [3.0, 4.0]], [[0.0f32, 1.0]]);
/// let chamfer = farpoint::chamfer(&a[..], &b[..])?;
/// assert_eq!(chamfer.sum(), (1.0 + 18.0) / 2.0 + 1.0);
/// assert_eq!(chamfer.hausdorff(), 18f32.sqrt());
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// [`Matcher`] has the options, and says what is an error.
pub fn chamfer<T: Scalar, A, B>(a: &A, b: &B) -> Result<Chamfer<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    Matcher::new().chamfer(a, b)
}
