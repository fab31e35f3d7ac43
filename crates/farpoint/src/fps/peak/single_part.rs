//! Solver for a band that is one part, of points with three axes: no thread waits, so candidates that a
//! sample lowers are lowered by the very vectors that find them.

use super::candidates::Candidates;
use super::solve::{Band, Solver};
use crate::Scalar;
use crate::distance::squared;
use crate::memory::Padded;
use crate::simd::{Kernel, Simd};

impl<T: Scalar> Solver<T> {
    /// Decides all candidates of the only part of a band.
    pub(super) fn solve_single_part<S: Simd<T>>(&mut self, simd: S, band: &Band<'_, T>) {
        let candidates = &band.candidates[0];
        self.values.resize(candidates.len());
        self.values.copy_from_slice(&candidates.value);
        while let Some((key, place)) = self.next() {
            let value = self.values[place as usize];
            if value != T::key_value(key) {
                self.requeue(candidates, place, value);
                continue;
            }
            let sample = candidates.sample(place, value);
            self.values[place as usize] = T::ZERO;
            candidates.grid.search(sample.at, &mut self.runs);
            let (runs, values) = (&self.runs[..], &mut self.values);
            simd.vectorize(Lower { candidates, runs, at: sample.at, beta: band.beta, values });
            self.accepted.push(key);
            self.list.push(sample.at, sample.slot);
        }
    }
}

/// Lowers the distances of the candidates in `runs` by a sample; those that fall to `beta` leave with 0.
struct Lower<'a, T: Scalar> {
    candidates: &'a Candidates<T>,
    runs: &'a [(u32, u32)],
    at: [T; 3],
    beta: T,
    values: &'a mut Padded<T>,
}

impl<T: Scalar> Kernel<T> for Lower<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { candidates, runs, at: [x, y, z], beta, values } = self;
        let at = [simd.splat(x), simd.splat(y), simd.splat(z)];
        let (beta, zero) = (simd.splat(beta), simd.splat(T::ZERO));
        for &(start, end) in runs {
            for place in (start as usize..end as usize).step_by(S::LANES) {
                // Lanes beyond the run are other candidates, which are lowered as well, or no longer read. All that
                // are undecided come after the sample.
                // SAFETY: `place` is a candidate's, and all rows are as long as there are candidates.
                unsafe {
                    let load = |a: usize| candidates.at[a].load(simd, place);
                    let squared = squared(simd, [load(0), load(1), load(2)], at);
                    let old = values.load(simd, place);
                    if simd.lt(squared, old) != 0 {
                        let (_, low) = simd.replace_lt(beta, zero, squared, squared);
                        let (_, new) = simd.replace_lt(squared, old, old, low);
                        values.store(simd, place, new);
                    }
                }
            }
        }
    }
}
