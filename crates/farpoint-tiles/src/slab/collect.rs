//! Finds the candidates of a band.

use super::{FANOUT, LEAF, PART, Slab};
use crate::{Entry, Key, TileId};
use farpoint::Scalar;
use farpoint::backend::{Kernel, Simd, load, memory, vectorize};
use rayon::prelude::*;

/// Maximum number of parts searched before candidates are counted: 131,072 points.
const PARTS_AT_ONCE: usize = 8;

/// Points in a part.
const PART_POINTS: usize = PART * LEAF;

/// Candidates, each with its slot.
pub(crate) type Collected<T> = Vec<(Entry<T>, u32)>;

impl<T: Scalar> Slab<T> {
    /// Adds all points whose key is before the floor, except those marked in `held` (one bit a slot; none if it is
    /// empty). Keeps only the first `max_len` of them, and returns the floor above which these are all.
    pub(crate) fn collect(
        &self,
        floor: Key,
        tile: TileId,
        held: &[u64],
        max_len: usize,
        into: &mut Collected<T>,
    ) -> Key {
        let mut floor = floor;
        let high = |part: &usize| self.parts[*part].largest >= floor.value();
        let parts: Vec<usize> = (0..self.parts.len()).filter(high).collect();
        let share = self.threads && parts.len() > 1;
        let tasks = if share { 4 * rayon::current_num_threads() } else { 1 };
        for batch in parts.chunks((max_len / PART_POINTS).clamp(1, PARTS_AT_ONCE)) {
            let collect = |parts: &[usize], into: &mut Collected<T>| {
                for &part in parts {
                    vectorize(self.level, Collect { slab: self, part, floor, tile, held, into });
                }
            };
            if share {
                let tasks = batch.par_chunks(batch.len().div_ceil(tasks));
                let found: Vec<Collected<T>> = tasks
                    .map(|parts| {
                        let mut found = Collected::new();
                        collect(parts, &mut found);
                        found
                    })
                    .collect();
                found.into_iter().for_each(|found| memory::extend(into, found));
            } else {
                collect(batch, into);
            }
            if into.len() > 2 * max_len {
                floor = keep_first(into, max_len);
            }
        }
        if into.len() > max_len { keep_first(into, max_len) } else { floor }
    }
}

/// Keeps the first `max_len` candidates; returns the key of the first one left out.
pub(crate) fn keep_first<T: Scalar>(candidates: &mut Collected<T>, max_len: usize) -> Key {
    let key = |(entry, _): &(Entry<T>, u32)| entry.key();
    let floor = key(candidates.select_nth_unstable_by_key(max_len, key).1);
    candidates.truncate(max_len);
    floor
}

struct Collect<'a, T> {
    slab: &'a Slab<T>,
    part: usize,
    floor: Key,
    tile: TileId,
    held: &'a [u64],
    into: &'a mut Collected<T>,
}

impl<T: Scalar> Kernel<T> for Collect<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { slab, part, floor, tile, held, into } = self;
        let beta: T = floor.value();
        let bound = simd.splat(beta);
        let nodes = part * FANOUT..((part + 1) * FANOUT).min(slab.nodes.len());
        for node in nodes {
            if slab.nodes[node].largest < beta {
                continue;
            }
            let leaves = node * FANOUT..((node + 1) * FANOUT).min(slab.leaves.len());
            for leaf in leaves {
                if slab.tops[leaf].largest < beta {
                    continue;
                }
                let numbers = &slab.leaves[leaf];
                for lane in (0..LEAF).step_by(S::LANES) {
                    let value = load(simd, &numbers.value[lane..]);
                    let mut over = simd.le(bound, value);
                    while over != 0 {
                        let lane = lane + over.trailing_zeros() as usize;
                        over &= over - 1;
                        let slot = leaf * LEAF + lane;
                        let is_held =
                            held.get(slot / 64).is_some_and(|h| h >> (slot % 64) & 1 == 1);
                        // Only at exactly the floor's value do rows matter.
                        let value = numbers.value[lane];
                        if is_held || value <= beta && Key::new(value, slab.rows[slot]) >= floor {
                            continue;
                        }
                        let at = [0, 1, 2].map(|a| numbers.at[a][lane]);
                        let index = slab.rows[slot];
                        memory::push(into, (Entry { at, value, index, tile }, slot as u32));
                    }
                }
            }
        }
    }
}
