//! Spreading rows over threads. What a thread writes never depends on how many there are.

use crate::memory::Shared;
use crate::threads::{self, count_for, for_each_chunk, on_threads};
use crate::{Cpu, Error};
use std::ops::Range;

/// Numbers that one thread handles as fast as several would.
const SMALL: usize = 1 << 15;

/// Numbers of a part, at least.
const LEAST: usize = 1 << 12;

/// Fills rows of `width` numbers, side by side on the threads of a CPU: `fill` is given the number of a
/// first row, and some rows from there on. `work` counts the numbers read and written.
pub(super) fn rows<A: Send>(
    cpu: &Cpu,
    work: usize,
    output: &mut [A],
    width: usize,
    fill: impl Fn(usize, &mut [A]) + Send + Sync,
) -> Result<(), Error> {
    let threads = threads_for(cpu, work)?;
    if output.is_empty() {
        return Ok(());
    }
    let each = stretch(output.len() / width, width, threads);
    on_threads(threads, || {
        for_each_chunk(output, each * width, threads, |part, rows| fill(part * each, rows));
        Ok(())
    })
}

/// The same for two arrays with a row of as many numbers each.
pub(super) fn rows_of_two<A: Send, B: Send>(
    cpu: &Cpu,
    work: usize,
    (a, b): (&mut [A], &mut [B]),
    width: usize,
    fill: impl Fn(usize, &mut [A], &mut [B]) + Send + Sync,
) -> Result<(), Error> {
    let threads = threads_for(cpu, work)?;
    if a.is_empty() {
        return Ok(());
    }
    let each = stretch(a.len() / width, width, threads);
    on_threads(threads, || {
        assert_eq!(a.len(), b.len(), "a row of each");
        let b = Shared::new(b);
        for_each_chunk(a, each * width, threads, |part, a| {
            let first = part * each * width;
            // SAFETY: chunks are apart, and within the array, which is as long as the other.
            let b = unsafe { b.part(first..first + a.len()) };
            fill(part * each, a, b);
        });
        Ok(())
    })
}

/// Fills rows of `width` numbers that are put together from all over a list: one part per thread, since
/// each part reads the list. `fill` is given the rows of its part by number.
pub(super) fn destinations<A: Send>(
    cpu: &Cpu,
    work: usize,
    output: &mut [A],
    width: usize,
    fill: impl Fn(Range<usize>, &mut [A]) + Send + Sync,
) -> Result<(), Error> {
    let threads = threads_for(cpu, work)?;
    if output.is_empty() {
        return Ok(());
    }
    let each = (output.len() / width).div_ceil(threads);
    on_threads(threads, || {
        for_each_chunk(output, each * width, threads, |part, rows| {
            let first = part * each;
            fill(first..first + rows.len() / width, rows);
        });
        Ok(())
    })
}

/// The first of several things that is wrong.
pub(super) fn first<A: Sync>(
    cpu: &Cpu,
    things: &[A],
    wrong: impl Fn(&A) -> bool + Send + Sync,
) -> Result<Option<usize>, Error> {
    let threads = threads_for(cpu, things.len())?;
    let each = stretch(things.len(), 1, threads);
    on_threads(threads, || {
        let found = threads::each(things.len().div_ceil(each), threads, |part| {
            let mut things = things[part * each..].iter().take(each);
            things.position(&wrong).map(|at| part * each + at)
        });
        Ok(found.into_iter().flatten().next())
    })
}

fn threads_for(cpu: &Cpu, work: usize) -> Result<usize, Error> {
    let wanted = count_for(work >= SMALL, cpu.threads)?;
    Ok(if work >= SMALL { wanted } else { 1 })
}

/// Rows of a part: several parts a thread, for threads that are slower than others.
fn stretch(rows: usize, width: usize, threads: usize) -> usize {
    rows.div_ceil(4 * threads).max(LEAST.div_ceil(width)).max(1)
}
