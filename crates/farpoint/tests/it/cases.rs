//! Numbers of cases: about a fifth of all, in the same order; twice as many if `FARPOINT_THOROUGH=1` is set, and all if
//! `FARPOINT_THOROUGH=all` is, as before a release; half as many with `few`, as under emulation.
#![allow(dead_code, reason = "the tests of each crate use a part")]

use proptest::test_runner::{Config, RngSeed};

/// Tenths of all cases that run.
fn tenths() -> usize {
    match std::env::var("FARPOINT_THOROUGH").as_deref() {
        Ok("all") => 10,
        Ok("1") => 4,
        Ok("few") => 1,
        _ => 2,
    }
}

/// Returns whether more cases run than in a quick run.
pub(crate) fn thorough() -> bool {
    tenths() > 2
}

/// Returns the number of cases to run of `all`.
pub(crate) fn count(all: u32) -> u32 {
    (all * tenths() as u32).div_ceil(10)
}

/// Returns all, or every `step`th from `first` on, or with other numbers of cases about twice or half as many of these.
pub(crate) fn some<T>(
    first: usize,
    step: usize,
    all: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = T> {
    let (first, step) = match tenths() {
        10 => (0, 1),
        4 => (first % step.div_ceil(2), step.div_ceil(2)),
        1 => (first, 2 * step),
        _ => (first, step),
    };
    all.into_iter().skip(first).step_by(step)
}

/// Configures `all` random cases, or the first fifth of them: the same in every run.
pub(crate) fn random(all: u32) -> Config {
    let rng_seed = RngSeed::Fixed(1);
    Config { cases: count(all), failure_persistence: None, rng_seed, ..Config::default() }
}
