//! Numbers of cases: all if `FARPOINT_THOROUGH=1` is set, else about a fifth of the same, in the same
//! order.
#![allow(dead_code, reason = "the tests of each crate use a part")]

use proptest::test_runner::{Config, RngSeed};

/// Returns whether all cases run.
pub(crate) fn thorough() -> bool {
    std::env::var_os("FARPOINT_THOROUGH").is_some_and(|value| value == "1")
}

/// Returns `all`, or a fifth of it.
pub(crate) fn count(all: u32) -> u32 {
    if thorough() { all } else { all.div_ceil(5) }
}

/// Returns all, or every `step`th from `first` on.
pub(crate) fn some<T>(
    first: usize,
    step: usize,
    all: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = T> {
    let (first, step) = if thorough() { (0, 1) } else { (first, step) };
    all.into_iter().skip(first).step_by(step)
}

/// Configures `all` random cases, or the first fifth of them: the same in every run.
pub(crate) fn random(all: u32) -> Config {
    let rng_seed = RngSeed::Fixed(1);
    Config { cases: count(all), failure_persistence: None, rng_seed, ..Config::default() }
}
