//! The requests that the options of commands make.

use crate::args::{
    self, Approximate, Convert, Estimator, Input, Keep, Method, NpduOrder, Order, Run, Sample,
    View, Writing,
};
use anyhow::{Result, anyhow, bail};
use farpoint::approximate;
use farpoint_pipeline::{self as files, Limits, Request, Rows, Wanted};

impl args::Wanted {
    /// How many points are asked for.
    pub(crate) fn asked(&self) -> Result<Wanted> {
        Ok(match (&self.count, &self.ratio, self.cell, self.spacing) {
            (Some(count), ..) => Wanted::Count(count.0),
            (_, Some(ratio), ..) => Wanted::Ratio(ratio.0),
            (_, _, Some(cell), _) => Wanted::Cell(cell),
            (.., Some(spacing)) => Wanted::Spacing(spacing),
            _ => bail!("no amount is given; add --count, --ratio or --spacing"),
        })
    }
}

impl Sample {
    /// What to do with each file.
    pub(crate) fn request(&self) -> Result<Request> {
        let memory = self.memory.map(|size| size.0);
        Ok(Request {
            filter: self.filters.filter().map_err(|wrong| anyhow!(wrong))?,
            method: method(&self.run, Some(&self.approximate)),
            sorted: self.output.sorted,
            place: self.place.place(),
            limits: Limits { memory, spool: self.spool.clone(), resume: self.resume },
            statistics: self.stats,
            ..written(self.wanted.asked()?, &self.output.writing)?.of(&self.input, &self.run)
        })
    }
}

impl Order {
    /// What to do with each file.
    pub(crate) fn request(&self) -> Result<Request> {
        Ok(Request {
            filter: self.filters.filter().map_err(|wrong| anyhow!(wrong))?,
            place: self.place.place(),
            ..written(Wanted::Order, &self.output.writing)?.of(&self.input, &self.run)
        })
    }
}

impl View {
    /// What to do with the file.
    pub(crate) fn request(&self) -> Result<Request> {
        let request = Request::new(Wanted::AtMost(self.points.0));
        Ok(Request {
            filter: self.filters.filter().map_err(|wrong| anyhow!(wrong))?,
            place: self.place.place(),
            ..Asked(Request { command: true, ..request }).of(&self.input, &self.run)
        })
    }
}

impl Convert {
    /// What to do with each file.
    pub(crate) fn request(&self) -> Result<Request> {
        Ok(Request {
            reading: self.reading.options(),
            rows: Rows { drop_zeros: self.drop_zeros, single: false },
            filter: self.filters.filter().map_err(|wrong| anyhow!(wrong))?,
            ..written(Wanted::All, &self.writing)?.0
        })
    }
}

/// A request that says what is wanted.
struct Asked(Request);

/// What is wanted, and how it is written.
fn written(wanted: Wanted, writing: &Writing) -> Result<Asked> {
    Ok(Asked(Request {
        writing: writing.options(None),
        scale: writing.scale,
        copc: writing.levels()?,
        command: true,
        ..Request::new(wanted)
    }))
}

impl Asked {
    /// The same, with what is read and how the sampler runs.
    fn of(self, input: &Input, run: &Run) -> Request {
        Request {
            reading: input.reading.options(),
            rows: Rows { drop_zeros: input.rows.drop_zeros, single: input.rows.f32 },
            listed: run.selection.listed(),
            method: method(run, None),
            start: run.start.as_ref().map(|start| start.with_seed(run.seed.unwrap_or(0))),
            ..self.0
        }
    }
}

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
            order: given.npdu_order.map_or(approximate::Order::Input, order),
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

fn order(order: NpduOrder) -> approximate::Order {
    match order {
        NpduOrder::Input => approximate::Order::Input,
        NpduOrder::Morton => approximate::Order::Morton,
        NpduOrder::Neighbors => approximate::Order::Neighbors,
    }
}
