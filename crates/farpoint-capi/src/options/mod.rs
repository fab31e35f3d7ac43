//! Options in structures that hold their size, so that later versions can add members.

mod run;

mod sample;

mod approximate;

mod matching;

mod search;

mod voxel;

mod thread;

pub use approximate::farpoint_approximate_options;
pub use matching::farpoint_match_options;
pub use run::farpoint_run_options;
pub(crate) use run::run;
pub use sample::farpoint_sample_options;
pub use search::farpoint_search_options;
pub use thread::farpoint_thread_options;
pub use voxel::farpoint_voxel_options;

use crate::arguments::{list, lookup, text};
use crate::constants::*;
use crate::status::{Failure, invalid};
use farpoint::backend::memory;
use farpoint::{Algorithm, Amount, Method, Norm, Start};
use std::ffi::c_char;
use std::mem::MaybeUninit;

/// An options structure and its version: `$last` is the last member of version 0.1; members that
/// are added later follow it.
macro_rules! options {
    ($name:ident, last: $last:ident) => {
        // SAFETY: C's layout, the size first; numbers, and addresses and functions that may be NULL.
        unsafe impl $crate::arguments::Versioned for $name {
            const NAME: &str = stringify!($name);
            const FIRST: usize = {
                const fn size<S, M: Copy>(_: fn(&S) -> M) -> usize {
                    size_of::<M>()
                }
                std::mem::offset_of!($name, $last) + size(|options: &$name| options.$last)
            };
        }
    };
}
use options;

/// Returns the start of a sampler; the default if C sets none.
///
/// # Safety
/// There are as many starts as counted, if there are any.
///
/// # Errors
/// If a random start is set, too, or a seed without one.
unsafe fn start(
    starts: *const usize,
    count: usize,
    random: i32,
    seed: u64,
) -> Result<Option<Start>, Failure> {
    match (count, random) {
        (0, 0) => {
            refuse_unused("a start that is not random", &[], &[("seed", seed != 0)]).map(|()| None)
        }
        (0, _) => Ok(Some(Start::Random(seed))),
        (_, 0) => {
            // SAFETY: by this function's contract.
            let starts = unsafe { list(starts, count, "starts") }?;
            Ok(Some(Start::Indices(memory::collected(starts.iter().copied()))))
        }
        _ => Err(invalid("starts and random_start are both set; set one of them")),
    }
}

/// Refuses members that are set and not used: something else was meant.
///
/// # Errors
/// Names the first of them.
fn refuse_unused(what: &str, used: &[&str], members: &[(&str, bool)]) -> Result<(), Failure> {
    let unused = |&&(member, set): &&(&str, bool)| set && !used.contains(&member);
    members.iter().find(unused).map_or(Ok(()), |(member, _)| {
        Err(invalid(format!("{member} is set, which {what} does not use; leave it 0")))
    })
}

/// Parses an algorithm.
///
/// # Safety
/// NULL, or a text of C.
///
/// # Errors
/// If the text is no algorithm.
unsafe fn algorithm(name: *const c_char) -> Result<Algorithm, Failure> {
    // SAFETY: by this function's contract.
    match unsafe { text(name, "algorithm") }? {
        None => Ok(Algorithm::Auto),
        Some(text) => {
            text.parse().map_err(|error: farpoint::ParseError| invalid(error.to_string()))
        }
    }
}

/// Refuses an amount of nothing: a structure in which it was forgotten.
///
/// # Errors
/// If that is the amount.
fn nonzero(amount: Amount) -> Result<Amount, Failure> {
    let member = match amount {
        Amount::Count(0) => "count",
        Amount::Ratio(0.0) => "ratio",
        _ => return Ok(amount),
    };
    Err(invalid(format!(
        "{member} is 0, which would be a sample of no points; set {member}, or another amount"
    )))
}

fn norm(number: i32) -> Result<Norm, Failure> {
    match number {
        0 | 2 => Ok(Norm::Two),
        1 => Ok(Norm::One),
        other => Err(invalid(format!("norm is {other}; use 1 or 2, or 0 for 2"))),
    }
}

fn method(number: MaybeUninit<farpoint_search_method>) -> Result<Method, Failure> {
    let methods = [
        (FARPOINT_SEARCH_AUTO, Method::Auto),
        (FARPOINT_SEARCH_REFERENCE, Method::Reference),
        (FARPOINT_SEARCH_PLAIN, Method::Plain),
        (FARPOINT_SEARCH_BRUTE, Method::Brute),
        (FARPOINT_SEARCH_TREE, Method::Tree),
    ];
    lookup(number, "method", &methods)
}
