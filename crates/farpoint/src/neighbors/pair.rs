//! Two clouds in the form that the CPU searches: checked and copied now, or before as an [`Index`], with the
//! structure of a method.

use super::auto;
use super::brute::Blocks;
use super::index::Index;
use super::prepared::{check_filled, copy, share, threads_for};
use crate::cloud::WorkingCopy;
use crate::spatial::BoxTree;
use crate::threads::{both, on_threads};
use crate::watch::Watch;
use crate::{Error, Method, NonFinite, Points, Scalar};

/// Two clouds without their non-finite rows. Only the first may be empty, and the second with it.
pub(super) struct Pair<'a, T> {
    pub(super) clouds: [&'a WorkingCopy<T>; 2],
    /// Trees of indices.
    trees: [Option<&'a BoxTree<T>>; 2],
    /// True if the second cloud is the first: structures of one serve for both.
    same: bool,
    /// Rows of the caller's clouds, including bad ones.
    pub(super) rows: [usize; 2],
    pub(super) threads: usize,
}

/// Structure that a method needs of both clouds.
#[derive(Clone, Copy)]
pub(super) enum Structure<'a, T> {
    Reference,
    Brute([&'a Blocks<T>; 2]),
    Tree([&'a BoxTree<T>; 2]),
}

impl<T> Structure<'_, T> {
    /// Returns the structure for the search in the other direction.
    pub(super) fn reversed(self) -> Self {
        match self {
            Self::Reference => Self::Reference,
            Self::Brute([a, b]) => Self::Brute([b, a]),
            Self::Tree([a, b]) => Self::Tree([b, a]),
        }
    }
}

/// Checks and copies each cloud that is not an [`Index`], then works on both clouds on `threads` threads.
pub(super) fn with<T: Scalar, R: Send>(
    threads: Option<usize>,
    non_finite: NonFinite,
    both_ways: bool,
    a: &dyn Points<T>,
    b: &dyn Points<T>,
    work: impl FnOnce(&Pair<'_, T>) -> Result<R, Error> + Send,
) -> Result<R, Error> {
    let threads = threads_for(threads, a, b)?;
    let indexes = [Index::of(a), Index::of(b)];
    on_threads(threads, || {
        let share = share(threads, a.len(), b.len());
        let (first, second) = both(
            threads,
            || indexes[0].is_none().then(|| copy(non_finite, a, share, "first")).transpose(),
            || indexes[1].is_none().then(|| copy(non_finite, b, share, "second")).transpose(),
        );
        let (first, second) = (first?, second?);
        let [one, other] = indexes.map(|index| index.map(|index| &index.cloud));
        let clouds = [first.as_ref().or(one), second.as_ref().or(other)];
        let clouds = clouds.map(|cloud| cloud.expect("an index or a copy"));
        check_filled(both_ways, clouds)?;
        let trees = indexes.map(|index| index.map(|index| &index.tree));
        let (same, rows) = (clouds[0].equals(clouds[1]), [a.len(), b.len()]);
        let found = work(&Pair { clouds, trees, same, rows, threads });
        give_back(threads, first, second);
        found
    })
}

/// Drops each on the thread that most likely made it: threads keep memory for their next run.
fn give_back<X: Send>(threads: usize, a: X, b: X) {
    both(threads, || drop(a), || drop(b));
}

impl<T: Scalar> Pair<'_, T> {
    /// Returns the number of rows of a cloud that were left out.
    pub(super) fn dropped(&self, side: usize) -> usize {
        self.rows[side] - self.clouds[side].len
    }

    /// Builds the structure of a method, unless the watch stops it, and works with it.
    ///
    /// # Errors
    /// [`Error::SearchCancelled`], and the errors of `work`.
    pub(super) fn build<R: Send>(
        &self,
        method: Method,
        watch: &Watch<'_>,
        work: impl FnOnce(Structure<'_, T>) -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        if !watch.step(0) {
            return Err(Error::SearchCancelled(0));
        }
        let [a, b] = self.clouds;
        let needs_tree = [self.tree(0).is_none(), self.tree(1).is_none() && !self.same];
        // The loop over no queries needs no structure, which empty clouds have not.
        let method = if a.len == 0 { Method::Reference } else { method };
        match auto::choose(method, [a.len, b.len], needs_tree) {
            Method::Auto | Method::Plain => unreachable!("resolved, and checked"),
            Method::Reference => work(Structure::Reference),
            Method::Brute => {
                let first = Blocks::new(a);
                let second = (!self.same).then(|| Blocks::new(b));
                work(Structure::Brute([&first, second.as_ref().unwrap_or(&first)]))
            }
            Method::Tree => {
                let share = if needs_tree[0] && needs_tree[1] {
                    share(self.threads, a.len, b.len)
                } else {
                    self.threads
                };
                let build =
                    |side: usize| needs_tree[side].then(|| BoxTree::new(self.clouds[side], share));
                let (first, second) = both(self.threads, || build(0), || build(1));
                let one = self.tree(0).or(first.as_ref()).expect("there, or built");
                let other = self.tree(1).or(second.as_ref()).unwrap_or(one);
                let found = work(Structure::Tree([one, other]));
                give_back(self.threads, first, second);
                found
            }
        }
    }

    /// Returns the tree of an index.
    fn tree(&self, side: usize) -> Option<&BoxTree<T>> {
        self.trees[side].or(if self.same { self.trees[1 - side] } else { None })
    }
}
