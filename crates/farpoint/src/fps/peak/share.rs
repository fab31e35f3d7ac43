//! Distribution of the parts of a band among threads.

use super::solve::{Band, Solver};
use crate::Scalar;
use crate::memory::{Buffer, Shared};
use crate::simd::Simd;
use crate::threads::{Team, Waits};

/// Solves the parts of a band, each by one thread at a time.
pub(super) fn share<T: Scalar, S: Simd<T>>(
    simd: S,
    team: &Team,
    band: &Band<'_, T>,
    solvers: &mut [Solver<T>],
) {
    let parts = solvers.len();
    let (solvers, waits) = (Shared::new(solvers), team.waits());
    team.each(parts, |first, _| {
        let start_next = || {
            let begin = |k: &usize| band.candidates[*k].begin();
            let part = (first..parts).chain(0..first).find(begin)?;
            // SAFETY: the thread that starts a part has its solver alone.
            let solver = unsafe { &mut solvers.part(part..part + 1)[0] };
            solver.find_reachable_parts(band, part);
            Some((part, solver))
        };
        work(simd, band, waits, start_next);
    });
}

/// Solves parts of a band until all that this thread has started are done and none is left to start.
fn work<'s, T: Scalar, S: Simd<T>>(
    simd: S,
    band: &Band<'_, T>,
    waits: Waits<'_>,
    start_next: impl Fn() -> Option<(usize, &'s mut Solver<T>)>,
) {
    let mut started_parts: Buffer<(usize, &mut Solver<T>)> = Buffer::default();
    let mut wait = waits.start();
    loop {
        let mut progress = false;
        for (part, solver) in &mut started_parts {
            progress |= solver.advance::<S, true>(simd, band, *part);
        }
        started_parts.retain(|(_, solver)| !solver.is_done());
        if progress {
            std::mem::replace(&mut wait, waits.start()).end();
        } else if let Some(one) = start_next() {
            started_parts.push(one);
        } else if started_parts.is_empty() || !wait.poll() {
            return wait.end();
        }
    }
}
