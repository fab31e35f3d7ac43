//! What `sample`, `order` and `view` ask of the library, from their options.

use crate::args::{Approximate, Estimator, Keep, Method, NpduOrder, Run, StartAt};
use anyhow::{Result, bail};
use farpoint::Start;
use farpoint::approximate::{self, Order};
use farpoint_pipeline::{self as files, Chosen};

/// The sampler that the options ask for.
pub(crate) fn method(run: &Run, given: Option<&Approximate>) -> files::Method {
    let method = match run.sampler.method {
        Method::Exact(algorithm) => return files::Method::Exact(algorithm),
        Method::Approximate(method) => given.map_or(method, |given| with(method, given, run)),
    };
    match given.and_then(|given| given.keep) {
        Some(Keep::Centroid) => files::Method::Centroids(method),
        _ => files::Method::Approximate(method),
    }
}

/// A method with the options that were given.
fn with(method: approximate::Method, given: &Approximate, run: &Run) -> approximate::Method {
    use approximate::Method;
    let seed = run.seed.unwrap_or(0);
    match method {
        Method::Random { .. } => Method::Random { seed },
        Method::Grid { .. } => Method::Grid { keep: keep(given.keep, seed) },
        Method::Morton { bits } => Method::Morton { bits: given.bits.unwrap_or(bits) },
        Method::Npdu { .. } => Method::Npdu {
            window: given.window.map(|window| window as usize),
            order: given.npdu_order.map_or(Order::Input, order),
        },
        Method::FastPoint { first, .. } => Method::FastPoint {
            first: given.first_stage.unwrap_or(first),
            estimator: match given.estimator {
                Some(Estimator::Fit) => approximate::Estimator::Fit,
                _ => approximate::Estimator::Network,
            },
        },
        other => other,
    }
}

/// Centroids have a job of their own, which does not use this.
fn keep(keep: Option<Keep>, seed: u64) -> approximate::Keep {
    match keep {
        Some(Keep::First) => approximate::Keep::First,
        Some(Keep::Random) => approximate::Keep::Random(seed),
        Some(Keep::Center | Keep::Centroid) | None => approximate::Keep::Center,
    }
}

fn order(order: NpduOrder) -> Order {
    match order {
        NpduOrder::Input => Order::Input,
        NpduOrder::Morton => Order::Morton,
        NpduOrder::Neighbors => Order::Neighbors,
    }
}

/// The start that was requested, if any.
pub(crate) fn start(input: &Chosen<'_>, run: &Run, drop_zeros: bool) -> Result<Option<Start>> {
    let Some(start) = &run.start else { return Ok(None) };
    if let (StartAt::Rows(rows), true) = (start, drop_zeros || input.used.is_some())
        && let Some(row) = rows.iter().find(|row| input.is_usable(**row) == Some(false))
    {
        let what = match run.selection.given() {
            Some(option) => format!("{option} does not name that row"),
            None if drop_zeros => "--drop-zeros leaves that row out".to_owned(),
            None => "the filters leave that row out".to_owned(),
        };
        bail!("--start {row}: {what}, or it holds NaN or infinity");
    }
    Ok(Some(start.with_seed(run.seed.unwrap_or(0))))
}
