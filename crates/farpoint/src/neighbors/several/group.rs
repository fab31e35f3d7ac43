//! Up to 64 queries that go through a search together, each with its candidates so far.

use super::limits::Limits;
use super::output::Output;
use crate::Scalar;
use crate::memory;
use crate::neighbors::block::Block;
use crate::neighbors::metric::{Metric, bound};
use crate::simd::Simd;
use crate::spatial::{LEAF, NONE};

/// The queries, and the keys of what may be their neighbors.
#[repr(align(64))]
pub(super) struct Group<'a, 'b, T: Scalar> {
    /// The largest distance that still helps each query; -1 in places without a query.
    limit: [T; LEAF],
    /// Keys of each query.
    counts: [u32; LEAF],
    /// Of each query, the point that is the query itself and does not count.
    own: [u32; LEAF],
    queries: Block<'a, T>,
    len: usize,
    limits: Limits<T>,
    /// Places for keys of each query: more than `k`, so that only now and then the best are picked out.
    room: usize,
    keys: &'b mut [T::Key],
}

/// Most neighbors for which limits are seeded; with more, that takes longer than it saves.
const SEEDED: usize = 33;

/// The distances of a block, aligned for vectors.
#[repr(align(64))]
struct Distances<T>([T; LEAF]);

impl<'a, 'b, T: Scalar> Group<'a, 'b, T> {
    /// `keys` is memory to be used, of any length.
    #[inline(always)]
    pub(super) fn new(
        queries: Block<'a, T>,
        output: &Output<'_, T>,
        keys: &'b mut Vec<T::Key>,
    ) -> Self {
        let (len, limits) = (queries.len(), output.limits);
        let room = limits.k + limits.k / 2 + 2 * LEAF;
        keys.resize(room * LEAF, T::LAST_KEY);
        let mut limit = [limits.most; LEAF];
        limit[len..].fill(T::from_f64(-1.0));
        let mut own = [NONE; LEAF];
        for (own, &query) in own.iter_mut().zip(&queries.points[..len]) {
            *own = output.own(query).unwrap_or(NONE);
        }
        Self { limit, counts: [0; LEAF], own, queries, len, limits, room, keys }
    }

    /// Number of queries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All queries, of which there is one.
    pub(super) fn all(&self) -> u64 {
        u64::MAX >> (LEAF - self.len)
    }

    /// The largest distance that helps any query; negative if none does.
    #[inline(always)]
    pub(super) fn worst<S: Simd<T>>(&self, simd: S) -> T {
        let mut worst = simd.splat(T::from_f64(-1.0));
        for at in (0..LEAF).step_by(S::LANES) {
            // SAFETY: whole vectors of an array of `LEAF` numbers.
            worst = simd.max(worst, unsafe { memory::load(simd, &self.limit, at) });
        }
        simd.largest(worst)
    }

    /// The queries for which a box may hold a neighbor.
    #[inline(always)]
    pub(super) fn reached<S: Simd<T>, M: Metric>(&self, simd: S, around: [[S::V; 3]; 2]) -> u64 {
        let zero = simd.splat(T::ZERO);
        let numbers = &self.queries.numbers[..3 * LEAF];
        let mut reached = 0;
        for at in (0..LEAF).step_by(S::LANES) {
            // SAFETY: whole vectors of rows of `LEAF` numbers, of which there are three, and of
            // `limit`.
            let (query, limit) = unsafe {
                let row = |axis: usize| memory::load(simd, numbers, axis * LEAF + at);
                ([row(0), row(1), row(2)], memory::load(simd, &self.limit, at))
            };
            let bound = bound::<T, S, M>(simd, [query; 2], around, zero);
            reached |= u64::from(simd.le(bound, limit)) << at;
        }
        reached
    }

    /// Lowers every query's limit to the distance of its k-th nearest point in a block, if that has so
    /// many. The queries are lanes here and the best distances are sorted by minima and maxima, so that
    /// no branch has to be predicted.
    #[inline(always)]
    pub(super) fn seed<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        dims: usize,
    ) {
        assert!(block.numbers.len() >= dims * LEAF && self.queries.numbers.len() >= dims * LEAF);
        let own = self.own.iter().any(|&own| own != NONE);
        let (wanted, there) = (self.limits.k + usize::from(own), block.len());
        // A smallest distance leaves points out, which must not lower the limit.
        let all_count = self.limits.least <= T::ZERO;
        if there < wanted || wanted > SEEDED || self.limits.by_index || !all_count {
            return;
        }
        for at in (0..LEAF).step_by(S::LANES) {
            let mut best = [simd.splat(T::INFINITY); SEEDED];
            for place in 0..there {
                // SAFETY: the assertion; places below `LEAF`.
                let mut distance = unsafe {
                    let part = |axis: usize| {
                        let of = simd.splat(*block.numbers.get_unchecked(axis * LEAF + place));
                        M::parts(
                            simd,
                            memory::load(simd, self.queries.numbers, axis * LEAF + at),
                            of,
                        )
                    };
                    let mut sum = simd.add(simd.add(part(0), part(1)), part(2));
                    for axis in 3..dims {
                        sum = simd.add(sum, part(axis));
                    }
                    sum
                };
                for kept in &mut best[..wanted] {
                    let less = simd.min(distance, *kept);
                    distance = simd.max(distance, *kept);
                    *kept = less;
                }
            }
            // SAFETY: whole vectors of `limit`.
            unsafe {
                let limit = memory::load(simd, &self.limit, at);
                memory::store(simd, &mut self.limit, at, simd.min(limit, best[wanted - 1]));
            }
        }
    }

    /// Looks through a block for the queries of `wanted`.
    #[inline(always)]
    pub(super) fn meet<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        mut wanted: u64,
        dims: usize,
    ) {
        assert!(block.numbers.len() >= dims * LEAF && self.queries.numbers.len() >= dims * LEAF);
        let there = u64::MAX >> (LEAF - block.len().max(1));
        let mut distances = Distances([T::ZERO; LEAF]);
        while wanted != 0 {
            let lane = wanted.trailing_zeros() as usize;
            wanted &= wanted - 1;
            let limit = simd.splat(self.limit[lane]);
            let mut near = 0;
            for at in (0..LEAF).step_by(S::LANES) {
                // SAFETY: the assertion; lanes and places below `LEAF`.
                let distance = unsafe {
                    let part = |axis: usize| {
                        let of =
                            simd.splat(*self.queries.numbers.get_unchecked(axis * LEAF + lane));
                        M::parts(simd, memory::load(simd, block.numbers, axis * LEAF + at), of)
                    };
                    let mut sum = simd.add(simd.add(part(0), part(1)), part(2));
                    for axis in 3..dims {
                        sum = simd.add(sum, part(axis));
                    }
                    memory::store(simd, &mut distances.0, at, sum);
                    sum
                };
                near |= u64::from(simd.le(distance, limit)) << at;
            }
            near &= there;
            if near != 0 {
                self.offer(lane, near, &distances.0, block.points);
            }
        }
    }

    /// Adds the candidates in `near`, and leaves the best when there are many.
    #[inline(always)]
    fn offer(&mut self, lane: usize, mut near: u64, distances: &[T; LEAF], points: &[u32; LEAF]) {
        let list = &mut self.keys[lane * self.room..][..self.room];
        let mut count = self.counts[lane] as usize;
        let least = self.limits.least;
        while near != 0 {
            let place = near.trailing_zeros() as usize;
            near &= near - 1;
            let (distance, point) = (distances[place], points[place]);
            // Written in any case, so that there is no branch.
            list[count] = self.limits.key_of(distance, point);
            let counts = (distance >= least) | (distance <= T::ZERO);
            count += usize::from(counts & (point != self.own[lane]));
        }
        if count > self.room - LEAF {
            count = pick(&mut list[..count], self.limits.k);
            if !self.limits.by_index {
                self.limit[lane] = T::near_value(list[count - 1]);
            }
        }
        self.counts[lane] = count as u32;
    }

    /// Writes the neighbors of all queries.
    ///
    /// # Safety
    /// While this runs, no other thread may write what it found for one of these queries.
    #[inline(always)]
    pub(super) unsafe fn write(&mut self, output: &Output<'_, T>) {
        for lane in 0..self.len {
            let list = &mut self.keys[lane * self.room..][..self.counts[lane] as usize];
            let count = pick(list, self.limits.k);
            list[..count].sort_unstable();
            // SAFETY: the query is of the group, which no other thread writes for.
            unsafe { output.set(self.queries.points[lane], &list[..count]) };
        }
    }
}

/// Brings the `k` smallest keys to the front, the largest of them last; how many there are.
#[inline(always)]
fn pick<K: Ord>(list: &mut [K], k: usize) -> usize {
    if list.len() > k {
        list.select_nth_unstable(k - 1);
    }
    list.len().min(k)
}
