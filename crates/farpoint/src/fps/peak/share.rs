//! Distribution of the parts of a band among threads.

use super::solve::{Band, Solver};
use crate::Scalar;
use crate::memory::Shared;
use crate::simd::Simd;
use crate::threads::{Team, Waits};
use std::sync::atomic::{AtomicBool, Ordering};

/// Solves the parts of a band, each by one thread at a time.
pub(super) fn share<T: Scalar, S: Simd<T>>(
    simd: S,
    team: &Team,
    band: &Band<'_, T>,
    solvers: &mut [Solver<T>],
) {
    let parts = solvers.len();
    let begun: Vec<_> = (0..parts).map(|_| AtomicBool::new(false)).collect();
    let (solvers, waits) = (Shared::new(solvers), team.waits());
    team.each(parts, |first, _| {
        let begin_one = || {
            let begin = |k: usize| begun[k].swap(true, Ordering::Relaxed);
            let free = |k: &usize| !begun[*k].load(Ordering::Relaxed) && !begin(*k);
            let part = (first..parts).chain(0..first).find(free)?;
            // SAFETY: whoever begins a part has its solver alone.
            let solver = unsafe { &mut solvers.part(part..part + 1)[0] };
            solver.meet(band, part);
            Some((part, solver))
        };
        work(simd, band, waits, begin_one);
    });
}

/// Solves parts of a band until all that this thread has begun are done and none is left to begin.
fn work<'s, T: Scalar, S: Simd<T>>(
    simd: S,
    band: &Band<'_, T>,
    waits: Waits<'_>,
    begin_one: impl Fn() -> Option<(usize, &'s mut Solver<T>)>,
) {
    let mut own: Vec<(usize, &mut Solver<T>)> = Vec::new();
    let mut wait = waits.start();
    loop {
        let mut progress = false;
        for (part, solver) in &mut own {
            progress |= solver.advance::<S, true>(simd, band, *part);
        }
        own.retain(|(_, solver)| !solver.is_done());
        if progress {
            std::mem::replace(&mut wait, waits.start()).end();
        } else if let Some(one) = begin_one() {
            own.push(one);
        } else if own.is_empty() || !wait.poll() {
            return wait.end();
        }
    }
}
