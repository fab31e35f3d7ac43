//! Up to 64 queries that are searched together, each with its candidates so far.

use super::best::Sorted;
use super::limits::Limits;
use super::output::{Output, Task};
use super::pending::Pending;
use super::seed::Seed;
use crate::Scalar;
use crate::memory;
use crate::neighbors::block::{Block, Reaching, all, largest, latest};
use crate::neighbors::descent::{Part, block, box_corners, children};
use crate::neighbors::gather;
use crate::neighbors::metric::Metric;
use crate::neighbors::work;
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, LEAF, NONE};
use std::marker::PhantomData;

/// Queries of a leaf, and the keys of their candidates.
#[repr(align(64))]
pub(super) struct Group<'a, T: Scalar> {
    /// The largest distance that still helps each query; -1 in places without a query.
    limit: [T; LEAF],
    /// The largest point that still helps each query at its limit, or by index at any distance; [`NONE`] while all
    /// do, 0 in places without a query.
    last: [u32; LEAF],
    /// True if `last` is known for any query.
    known: bool,
    /// True if all queries have the keys of the first.
    shared: bool,
    /// Number of keys of each query, or of its neighbors if no keys are kept.
    counts: [u32; LEAF],
    seed: Seed<T>,
    /// Number of leaves to seed with.
    seeds: usize,
    /// For each query, the point that is the query itself and does not count.
    excluded: [u32; LEAF],
    queries: Block<'a, T>,
    len: usize,
    limits: Limits<T>,
    /// Capacity for keys of each query: more than `k`, so that the best are selected only now and then.
    room: usize,
    keys: Vec<T::Key>,
    sorted: Sorted<T>,
    output: &'a Output<'a, T>,
    task: Task,
    pending: Pending<T>,
}

/// Number of leaves from which limits are seeded before any of them is visited.
const SEEDS: usize = 3;

/// The distances of a block, aligned for vectors.
#[repr(align(64))]
struct Distances<T>([T; LEAF]);

impl<'a, T: Scalar> gather::Group<'a, T> for Group<'a, T> {
    #[inline(always)]
    fn begin(&mut self, queries: Block<'a, T>) {
        self.queries = queries;
        self.len = queries.len();
        let (k, choose) = (self.limits.k, self.task == Task::Choose);
        if choose {
            // Without a limit yet, selecting the best makes one.
            let spare = if self.limits.maximum < T::INFINITY { LEAF } else { LEAF / 2 };
            self.room = k + k / 2 + spare + LEAF;
            if self.keys.len() < self.room * LEAF {
                memory::resize(&mut self.keys, self.room * LEAF, T::LAST_KEY);
            }
        }
        self.limit = [if choose && k == 0 { T::from_f64(-1.0) } else { self.limits.maximum }; LEAF];
        self.limit[self.len..].fill(T::from_f64(-1.0));
        self.last = [NONE; LEAF];
        self.last[self.len..].fill(0);
        self.known = false;
        self.shared = false;
        self.counts = [0; LEAF];
        for (excluded, &query) in self.excluded.iter_mut().zip(&queries.points[..self.len]) {
            *excluded = self.output.excluded(query).unwrap_or(NONE);
        }
        // A smallest distance leaves points out, which must not lower the limit.
        let Limits { maximum, minimum, by_index, .. } = self.limits;
        let can_seed = choose && !by_index && minimum <= T::ZERO && k > 0;
        // All in a ball are found whatever `k` is.
        let seed_len = k.saturating_add(usize::from(self.output.exclude_self));
        // In a ball there is a limit already.
        let seeds = if maximum < T::INFINITY { 1 } else { SEEDS };
        self.seeds = if can_seed && self.seed.begin(seed_len) { seeds } else { 0 };
    }

    fn reuse(&mut self, queries: Block<'a, T>) -> bool {
        self.shared = self.task == Task::Choose && !self.output.exclude_self;
        if self.shared {
            (self.queries, self.len) = (queries, queries.len());
        }
        self.shared
    }

    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn visit_block<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        dims: usize,
        first: bool,
    ) {
        if first && self.seeds > 0 {
            self.seed.lower::<S, M>(simd, &mut self.limit, self.queries, block, dims);
        }
        self.search_block::<S, M>(simd, block, all(self.len), dims);
    }

    /// Visits the nearest parts of the tree first. Parts out of reach of every query are left out; within a leaf,
    /// only those queries compute distances whose limit reaches it.
    #[inline(always)]
    fn descend<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        queries: &BoxTree<T>,
        leaf: usize,
        targets: &BoxTree<T>,
    ) {
        let query_corners = box_corners(simd, queries, 0, leaf);
        self.pending.begin(targets);
        let (mut worst, mut latest) = (largest(simd, &self.limit), NONE);
        // The first leaves set limits before any of them is visited.
        let (mut first, mut held) = ([Part::top(targets); SEEDS], 0);
        let mut seeding = self.seeds > 0;
        loop {
            let next = self.pending.next(worst);
            match next {
                Some(next) if next.level > 0 => {
                    if next.lowest > latest && self.reached::<S, M>(simd, targets, next) == 0 {
                        continue;
                    }
                    let each = |part| self.pending.add(part);
                    children::<T, S, M>(simd, targets, query_corners, worst, next, each);
                }
                Some(next) if seeding => {
                    let (limit, target_block) = (&mut self.limit, block(targets, next.entry));
                    self.seed.lower::<S, M>(simd, limit, self.queries, target_block, targets.dims);
                    first[held] = next;
                    held += 1;
                    seeding = held < self.seeds;
                    worst = largest(simd, &self.limit);
                }
                next => {
                    seeding = false;
                    for leaf in first[..std::mem::take(&mut held)].iter().copied().chain(next) {
                        self.visit::<S, M>(simd, targets, leaf);
                    }
                    if next.is_none() {
                        self.pending.end(worst);
                        return;
                    }
                    worst = largest(simd, &self.limit);
                    latest = if self.known { self::latest(&self.last) } else { NONE };
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn write<S: Simd<T>>(&mut self, simd: S) {
        for lane in 0..self.len {
            let of = if self.shared { 0 } else { lane };
            let (query, count) = (self.queries.points[lane], self.counts[of]);
            // SAFETY: the query is of the group, which no other thread writes for.
            unsafe {
                match self.task {
                    Task::Count => self.output.set_count(query, count),
                    Task::Choose => {
                        let list = &mut self.keys[of * self.room..][..count as usize];
                        let count = self.sorted.select_best(simd, list, self.limits.k);
                        self.output.set(query, &list[..count]);
                        self.counts[of] = count as u32;
                    }
                    Task::Keep => self.sort(simd, query),
                }
            }
        }
    }
}

/// Visits a block: one function for all pairs and for trees.
struct SearchBlock<'a, 'b, 'g, T: Scalar, M> {
    group: &'a mut Group<'g, T>,
    block: Block<'b, T>,
    query_mask: u64,
    dims: usize,
    metric: PhantomData<M>,
}

impl<T: Scalar, M: Metric> Kernel<T> for SearchBlock<'_, '_, '_, T, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { group, block, query_mask, dims, .. } = self;
        assert!(block.has(dims) && group.queries.has(dims));
        // SAFETY: the assertion.
        unsafe {
            match dims {
                3 => group.pairs::<S, M, true>(simd, block, query_mask, 3),
                _ => group.pairs::<S, M, false>(simd, block, query_mask, dims),
            }
        }
    }
}

impl<'a, T: Scalar> Group<'a, T> {
    pub(super) fn new(output: &'a Output<'a, T>) -> Self {
        Self {
            limit: [T::ZERO; LEAF],
            last: [NONE; LEAF],
            known: false,
            shared: false,
            counts: [0; LEAF],
            seed: Seed::new(),
            seeds: 0,
            excluded: [NONE; LEAF],
            queries: Block::EMPTY,
            len: 0,
            limits: output.limits,
            room: 0,
            keys: Vec::new(),
            sorted: Sorted::new(output.limits.by_index),
            output,
            task: output.task(),
            pending: Pending::new(),
        }
    }

    /// Returns the queries that may find something in a part.
    #[inline(always)]
    fn reached<S: Simd<T>, M: Metric>(&self, simd: S, targets: &BoxTree<T>, part: Part<T>) -> u64 {
        let corners = box_corners(simd, targets, part.level, part.entry);
        let reaching = self.queries.reaching::<S, M>(simd, &self.limit, corners);
        match self.known {
            false => reaching.within,
            true if self.limits.by_index => {
                Reaching { nearer: 0, ..reaching }.at_most(&self.last, part.lowest)
            }
            true => reaching.at_most(&self.last, part.lowest),
        }
    }

    /// Visits a leaf for those queries that may find something there.
    #[inline(always)]
    fn visit<S: Simd<T>, M: Metric>(&mut self, simd: S, targets: &BoxTree<T>, leaf: Part<T>) {
        let reached = self.reached::<S, M>(simd, targets, leaf);
        self.search_block::<S, M>(simd, block(targets, leaf.entry), reached, targets.dims);
    }

    /// Visits a block for the queries of `query_mask`.
    #[inline(always)]
    fn search_block<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        query_mask: u64,
        dims: usize,
    ) {
        work::add(query_mask.count_ones());
        simd.vectorize(SearchBlock {
            group: self,
            block,
            query_mask,
            dims,
            metric: PhantomData::<M>,
        });
    }

    /// # Safety
    /// The queries and the block must have `dims` rows of coordinates, three if `PLAIN`.
    #[inline(always)]
    unsafe fn pairs<S: Simd<T>, M: Metric, const PLAIN: bool>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        mut query_mask: u64,
        dims: usize,
    ) {
        let valid = all(block.len());
        let mut distances = Distances([T::ZERO; LEAF]);
        while query_mask != 0 {
            let lane = query_mask.trailing_zeros() as usize;
            query_mask &= query_mask - 1;
            let limit = simd.splat(self.limit[lane]);
            let mut near = 0;
            for at in (0..LEAF).step_by(S::LANES) {
                // SAFETY: as the caller ensures; lanes and places below `LEAF`, of which vectors are parts.
                let distance = unsafe {
                    let found = block.distances::<S, M, PLAIN>(simd, at, self.queries, lane, dims);
                    memory::store(simd, &mut distances.0, at, found);
                    found
                };
                near |= u64::from(simd.le(distance, limit)) << at;
            }
            near &= valid;
            if near == 0 {
                continue;
            }
            match self.task {
                Task::Count => self.count(lane, near, &distances.0, block.points),
                Task::Choose => self.offer(simd, lane, near, &distances.0, block.points),
                Task::Keep => self.keep(lane, near, &distances.0, block.points),
            }
        }
    }

    /// Counts the candidates in `near`.
    #[inline(always)]
    fn count(&mut self, lane: usize, mut near: u64, distances: &[T; LEAF], points: &[u32; LEAF]) {
        while near != 0 {
            let place = near.trailing_zeros() as usize;
            near &= near - 1;
            let counts = self.limits.reaches(distances[place]);
            self.counts[lane] += u32::from(counts & (points[place] != self.excluded[lane]));
        }
    }

    /// Writes the candidates in `near` to their final places.
    #[inline(always)]
    fn keep(&mut self, lane: usize, mut near: u64, distances: &[T; LEAF], points: &[u32; LEAF]) {
        let query = self.queries.points[lane];
        // SAFETY: the query is of the group, which no other thread writes for, and nothing is borrowed when
        // this returns.
        let Some((to, indices)) = (unsafe { self.output.room(query) }) else { return };
        while near != 0 {
            let place = near.trailing_zeros() as usize;
            near &= near - 1;
            let (distance, point) = (distances[place], points[place]);
            if self.limits.reaches(distance) & (point != self.excluded[lane]) {
                let count = &mut self.counts[lane];
                (to[*count as usize], indices[*count as usize]) = (distance, point);
                *count += 1;
            }
        }
    }

    /// Sorts all neighbors of a query.
    ///
    /// # Safety
    /// While this runs, no other thread may write for the query.
    #[inline(always)]
    unsafe fn sort<S: Simd<T>>(&mut self, simd: S, query: u32) {
        // SAFETY: as the caller ensures; the borrow ends before `set` writes.
        let Some((distances, points)) = (unsafe { self.output.room(query) }) else { return };
        let found = distances.iter().zip(&*points);
        self.keys.clear();
        let key = |(&distance, &point): (&T, &u32)| self.limits.key_of(distance, point);
        memory::extend(&mut self.keys, found.map(key));
        let count = self.sorted.select_best(simd, &mut self.keys, points.len());
        // SAFETY: as the caller ensures.
        unsafe { self.output.set(query, &self.keys[..count]) };
    }

    /// Adds the candidates in `near`, and keeps only the best when there are many.
    #[inline(always)]
    fn offer<S: Simd<T>>(
        &mut self,
        simd: S,
        lane: usize,
        mut near: u64,
        distances: &[T; LEAF],
        points: &[u32; LEAF],
    ) {
        let (limits, excluded) = (self.limits, self.excluded[lane]);
        let list = &mut self.keys[lane * self.room..][..self.room];
        let mut count = self.counts[lane] as usize;
        // Most searches leave nothing out.
        if excluded == NONE && limits.minimum <= T::ZERO && !limits.by_index {
            while near != 0 {
                let place = near.trailing_zeros() as usize;
                near &= near - 1;
                list[count] = distances[place].near_key(points[place]);
                count += 1;
            }
        }
        while near != 0 {
            let place = near.trailing_zeros() as usize;
            near &= near - 1;
            let (distance, point) = (distances[place], points[place]);
            // Written in any case, so that there is no branch.
            list[count] = limits.key_of(distance, point);
            count += usize::from(limits.reaches(distance) & (point != excluded));
        }
        if count > self.room - LEAF {
            count = self.sorted.select_best(simd, &mut list[..count], limits.k);
            let (distance, point) = limits.found(list[count - 1]);
            if !limits.by_index {
                self.limit[lane] = distance;
            }
            self.last[lane] = point;
            self.known = true;
        }
        self.counts[lane] = count as u32;
    }
}
