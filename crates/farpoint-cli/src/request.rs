//! Requests built from the options of commands.

use crate::args::{
    self, Approximate, Convert, Estimator, Filters, Input, Keep, Method, NpduOrder, Order, Run,
    Sample, View, Where, Writing,
};
use anyhow::{Result, anyhow, bail};
use farpoint::approximate;
use farpoint_pipeline::{self as files, Limits, Request, Rows, Wanted};

impl args::Wanted {
    /// Returns the requested number of points.
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
    /// Builds the request for each file.
    pub(crate) fn request(&self) -> Result<Request> {
        let memory = self.memory.map(|size| size.0);
        let wanted = self.wanted.asked()?;
        let request = sampled(wanted, &self.input, &self.filters, &self.run, &self.place)?;
        Ok(Request {
            method: method(&self.run, Some(&self.approximate)),
            sorted: self.output.sorted,
            limits: Limits { memory, spool: self.spool.clone(), resume: self.resume },
            statistics: self.stats,
            ..written(request, &self.output.writing)?
        })
    }
}

impl Order {
    /// Builds the request for each file.
    pub(crate) fn request(&self) -> Result<Request> {
        let Self { input, filters, run, place, .. } = self;
        written(sampled(Wanted::Order, input, filters, run, place)?, &self.output.writing)
    }
}

impl View {
    /// Builds the request for the file.
    pub(crate) fn request(&self) -> Result<Request> {
        let Self { input, filters, run, place, .. } = self;
        sampled(Wanted::AtMost(self.points.0), input, filters, run, place)
    }
}

impl Convert {
    /// Builds the request for each file.
    pub(crate) fn request(&self) -> Result<Request> {
        Ok(Request {
            reading: self.reading.options(),
            rows: Rows { drop_zeros: self.drop_zeros, single: false },
            filter: self.filters.filter().map_err(|wrong| anyhow!(wrong))?,
            command: true,
            ..written(Request::new(Wanted::All), &self.writing)?
        })
    }
}

/// Builds a request for points of the input.
fn sampled(
    wanted: Wanted,
    input: &Input,
    filters: &Filters,
    run: &Run,
    place: &Where,
) -> Result<Request> {
    Ok(Request {
        reading: input.reading.options(),
        rows: Rows { drop_zeros: input.rows.drop_zeros, single: input.rows.f32 },
        filter: filters.filter().map_err(|wrong| anyhow!(wrong))?,
        listed: run.selection.listed(),
        method: method(run, None),
        start: run.start.as_ref().map(|start| start.with_seed(run.seed.unwrap_or(0))),
        place: place.place(),
        command: true,
        ..Request::new(wanted)
    })
}

/// Adds the options of the writer to a request.
fn written(request: Request, writing: &Writing) -> Result<Request> {
    let (scale, copc) = (writing.scale, writing.levels()?);
    Ok(Request { writing: writing.options(None), scale, copc, ..request })
}

/// Returns the sampler of the options.
fn method(run: &Run, given: Option<&Approximate>) -> files::Method {
    let method = match run.sampler.method {
        Method::Exact(algorithm) => return files::Method::Exact(algorithm),
        Method::Approximate(method) => given.map_or(method, |given| with(method, given, run)),
    };
    match given.and_then(|given| given.keep) {
        Some(Keep::Centroid) => files::Method::Centroids(method),
        _ => files::Method::Approximate(method),
    }
}

/// Applies the options to a method.
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

/// Converts the option. Centroids have a job of their own, which does not use this.
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
