//! Without rayon: all work is done by the calling thread, in order.

use crate::Error;

/// Runs `work` here, whatever number of threads is wanted.
pub(crate) fn on_threads<R: Send>(
    _threads: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    work()
}

/// One, unless none is wanted, which is an error.
pub(crate) fn count(wanted: Option<usize>) -> Result<usize, Error> {
    match wanted {
        Some(0) => Err(Error::BadThreads(0, "ask for at least one".into())),
        _ => Ok(1),
    }
}

/// One piece of work after the other.
pub(crate) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

/// There are no threads that could help a team.
pub(super) mod helpers {
    pub(crate) const THREADS: bool = false;

    #[derive(Default)]
    pub(crate) struct Own;

    pub(crate) fn call(_count: usize, _help: impl Fn()) -> Own {
        Own
    }
}

/// The parallel iterators that this crate uses, in order on one thread.
pub(crate) mod prelude {
    /// What rayon's iterators are here.
    pub(crate) struct InOrder<I>(I);

    impl<I: Iterator> InOrder<I> {
        pub(crate) fn enumerate(self) -> InOrder<std::iter::Enumerate<I>> {
            InOrder(self.0.enumerate())
        }
        pub(crate) fn zip<J: IntoIterator>(
            self,
            other: J,
        ) -> InOrder<std::iter::Zip<I, J::IntoIter>> {
            InOrder(self.0.zip(other))
        }
        pub(crate) fn map<R, F: FnMut(I::Item) -> R>(self, f: F) -> InOrder<std::iter::Map<I, F>> {
            InOrder(self.0.map(f))
        }
        pub(crate) fn for_each(self, f: impl FnMut(I::Item)) {
            self.0.for_each(f);
        }
        pub(crate) fn reduce(
            self,
            identity: impl FnOnce() -> I::Item,
            f: impl FnMut(I::Item, I::Item) -> I::Item,
        ) -> I::Item {
            self.0.fold(identity(), f)
        }
        pub(crate) fn collect<C: FromIterator<I::Item>>(self) -> C {
            self.0.collect()
        }
    }

    impl<I: Iterator> IntoIterator for InOrder<I> {
        type Item = I::Item;
        type IntoIter = I;

        fn into_iter(self) -> I {
            self.0
        }
    }

    pub(crate) trait IntoParallelIterator: IntoIterator + Sized {
        fn into_par_iter(self) -> InOrder<Self::IntoIter> {
            InOrder(self.into_iter())
        }
    }

    impl<I: IntoIterator> IntoParallelIterator for I {}

    pub(crate) trait ParallelSlice<T> {
        fn par_chunks(&self, size: usize) -> InOrder<std::slice::Chunks<'_, T>>;
        fn par_chunks_mut(&mut self, size: usize) -> InOrder<std::slice::ChunksMut<'_, T>>;
        fn par_iter_mut(&mut self) -> InOrder<std::slice::IterMut<'_, T>>;
        fn par_sort_unstable(&mut self)
        where
            T: Ord;
    }

    impl<T> ParallelSlice<T> for [T] {
        fn par_chunks(&self, size: usize) -> InOrder<std::slice::Chunks<'_, T>> {
            InOrder(self.chunks(size))
        }
        fn par_chunks_mut(&mut self, size: usize) -> InOrder<std::slice::ChunksMut<'_, T>> {
            InOrder(self.chunks_mut(size))
        }
        fn par_iter_mut(&mut self) -> InOrder<std::slice::IterMut<'_, T>> {
            InOrder(self.iter_mut())
        }
        fn par_sort_unstable(&mut self)
        where
            T: Ord,
        {
            self.sort_unstable();
        }
    }
}
