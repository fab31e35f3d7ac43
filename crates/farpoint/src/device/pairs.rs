//! Runs of a [`Matcher`] or a [`Searcher`]: on the CPU by its own methods, on a device by `on`. Every search
//! exists for one pair of clouds and for many.

use super::{Device, On};
use crate::{
    Chamfer, Cpu, Error, Matcher, Nearest, Neighbors, Points, Scalar, Searcher, WithinBall,
};

/// Defines the methods of a job and of [`On`] for one search: `one`, and for many pairs.
macro_rules! pairs {
    (
        $path:literal, $job:ident.$one:ident($a:ident, $b:ident) -> $found:ident, $many:ident,
        $what:literal,
        errors $errors:literal,
        watched $watched:literal,
        $(#[$example:meta])*
    ) => {
        impl $job {
            #[doc = concat!($what, ", on the CPU with all threads.")]
            ///
            /// # Errors
            #[doc = $errors]
            pub fn $one<T: Scalar, A, B>(&self, $a: &A, $b: &B) -> Result<$found<T>, Error>
            where
                A: Points<T> + ?Sized,
                B: Points<T> + ?Sized,
            {
                self.on(&Cpu::new()).$one($a, $b)
            }

            #[doc = concat!("[`", $path, "`] for many pairs of clouds, spread over")]
            /// all threads. A pair's result does not depend on its batch.
            ///
            /// [`crate::padded`] and [`crate::ragged`] make clouds of batches in one array.
            $(#[$example])*
            ///
            /// # Errors
            #[doc = concat!("As [`", $path, "`], in an [`Error::InBatch`] that names")]
            /// the first pair at fault.
            pub fn $many<T: Scalar, A: Points<T>, B: Points<T>>(
                &self,
                $a: &[A],
                $b: &[B],
            ) -> Result<Vec<$found<T>>, Error> {
                self.on(&Cpu::new()).$many($a, $b)
            }
        }

        impl<D: ?Sized> On<'_, $job, D> {
            #[doc = concat!($what, ".")]
            ///
            #[doc = $watched]
            ///
            /// # Errors
            #[doc = concat!("As [`", $path, "`], and failures of the device.")]
            pub fn $one<T: Scalar, A, B>(self, $a: &A, $b: &B) -> Result<$found<T>, D::Error>
            where
                D: Device<T>,
                A: Points<T> + ?Sized,
                B: Points<T> + ?Sized,
            {
                self.device.$one(self.job, $a, $b, self.observer)
            }

            #[doc = concat!("[`On::", stringify!($one), "`] for many pairs of clouds; a result does not")]
            /// depend on its batch.
            ///
            /// # Errors
            #[doc = concat!("As [`On::", stringify!($one), "`], naming the first pair at fault.")]
            pub fn $many<T: Scalar, A: Points<T>, B: Points<T>>(
                self,
                $a: &[A],
                $b: &[B],
            ) -> Result<Vec<$found<T>>, D::Error>
            where
                D: Device<T>,
            {
                self.device.$many(self.job, $a, $b, self.observer)
            }
        }
    };
}

pairs! {
    "Matcher::nearest", Matcher.nearest(a, b) -> Nearest, nearest_batch,
    "For each point of `a` the nearest of `b`",
    errors "On non-finite rows, clouds with different numbers of coordinates, and if `b` is empty and `a` is not: \
        0 queries have 0 results.",
    watched "Progress counts points whose nearest neighbor was found.",
}

pairs! {
    "Matcher::chamfer", Matcher.chamfer(a, b) -> Chamfer, chamfer_batch,
    "Both directions: for each point of either cloud the nearest of the other",
    errors "As [`Matcher::nearest`], and if either cloud is empty.",
    watched "Progress counts points of both clouds whose nearest neighbor was found.",
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
}

pairs! {
    "Searcher::search", Searcher.search(x, y) -> Neighbors, search_batch,
    "The neighbors in `y` of each point of `x`, at most `k`",
    errors "As [`Searcher::check`] and [`Matcher::nearest`].",
    watched "Progress counts points whose neighbors were found.",
    ///
    /// ```
    /// use farpoint::{Searcher, ragged};
    /// // Clouds of one and two points, searched for in clouds of two points and one.
    /// let (x, y) = ([0.0f32, 9.0, 5.0], [1.0f32, 2.0, 7.0]);
    /// let x = ragged(&x, 1, &[0, 1, 3])?;
    /// let y = ragged(&y, 1, &[0, 2, 3])?;
    /// let found = Searcher::nearest(2).search_batch(&x, &y)?;
    /// assert_eq!(found[0].all_indices, [0, 1]);
    /// assert_eq!(found[1].counts, [1, 1]);
    /// # Ok::<(), farpoint::Error>(())
    /// ```
}

pairs! {
    "Searcher::within", Searcher.within(x, y) -> WithinBall, within_batch,
    "All points of `y` in the ball of each point of `x`, whatever `k` is",
    errors "As [`Searcher::check_within`]; [`Error::TooManyNeighbors`]; else as [`Searcher::search`].",
    watched "Progress counts every point twice: when its neighbors are counted, and when they are written.",
}
