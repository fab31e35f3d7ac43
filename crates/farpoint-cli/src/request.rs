//! Requests built from the options of commands.

use crate::args::{
    self, Convert, DeviceOptions, Filters, Input, Keep, Method, Order, Run, Sample, View, Writing,
};
use crate::many;
use anyhow::{Result, anyhow, bail};
use farpoint::approximate;
use farpoint_io::ReadOptions;
use farpoint_pipeline::{self as files, Limits, Request, Rows, SampleSize};

impl args::AmountArgs {
    /// Returns the requested number of points.
    pub(crate) fn requested(&self) -> Result<SampleSize> {
        Ok(match (&self.count, &self.ratio, self.cell, self.spacing) {
            (Some(count), ..) => SampleSize::Count(count.0),
            (_, Some(ratio), ..) => SampleSize::Ratio(ratio.0),
            (_, _, Some(cell), _) => SampleSize::Cell { size: cell.0, min_points: 1 },
            (.., Some(spacing)) => SampleSize::Spacing(spacing),
            _ => bail!("no amount is given; add --count, --ratio or --spacing"),
        })
    }
}

impl args::Limits {
    /// Returns the limits of the request.
    fn limits(&self) -> Limits {
        let memory = self.memory.map(|size| size.0);
        Limits { memory, spool: self.spool.clone(), resume: self.resume }
    }
}

impl Sample {
    /// Builds the request for each file.
    pub(crate) fn request(&self) -> Result<Request> {
        self.request_of(self.input.reading.options()?)
    }

    /// Builds the request for points that are read with these options.
    pub(crate) fn request_of(&self, reading: ReadOptions) -> Result<Request> {
        let of_many = self.many.merge || many::has_many_files(&self.input.input, &self.many);
        let size = match (self.amount.requested()?, self.approximate.min_points) {
            (SampleSize::Cell { size, .. }, Some(min_points)) => {
                SampleSize::Cell { size, min_points }
            }
            // Several files are of all sizes.
            (SampleSize::Count(count), _) if of_many => SampleSize::AtMost(count),
            (size, _) => size,
        };
        let request = sampling_request(size, &self.input, &self.filters, &self.run, &self.place)?;
        Ok(Request {
            reading,
            method: self
                .run
                .algorithm
                .with(self.approximate.keep_point, self.run.seed.unwrap_or(0)),
            sorted: self.output.sorted,
            limits: self.limits.limits(),
            statistics: self.stats,
            ..with_writer(request, &self.output.writing)?
        })
    }
}

impl Order {
    /// Builds the request for each file.
    pub(crate) fn request(&self) -> Result<Request> {
        let Self { input, filters, run, place, .. } = self;
        with_writer(
            Request {
                reading: input.reading.options()?,
                limits: self.limits.limits(),
                ..sampling_request(SampleSize::Order, input, filters, run, place)?
            },
            &self.output.writing,
        )
    }
}

impl View {
    /// Builds the request for the file.
    pub(crate) fn request(&self) -> Result<Request> {
        let Self { input, filters, run, place, .. } = self;
        let size = SampleSize::AtMost(self.points.0);
        let request = sampling_request(size, input, filters, run, place)?;
        Ok(Request { reading: input.reading.options()?, ..request })
    }
}

impl Convert {
    /// Builds the request for each file.
    pub(crate) fn request(&self) -> Result<Request> {
        Ok(Request {
            reading: self.reading.options()?,
            rows: Rows { drop_zeros: self.drop_zeros, single: false },
            filter: self.filters.filter().map_err(|error| anyhow!(error))?,
            command: true,
            ..with_writer(Request::new(SampleSize::All), &self.writing)?
        })
    }
}

/// Builds a request for points of the input, without the options of reading it.
fn sampling_request(
    size: SampleSize,
    input: &Input,
    filters: &Filters,
    run: &Run,
    place: &DeviceOptions,
) -> Result<Request> {
    Ok(Request {
        rows: Rows { drop_zeros: input.rows.drop_zeros, single: input.rows.f32 },
        filter: filters.filter().map_err(|error| anyhow!(error))?,
        listed: run.selection.listed(),
        method: run.algorithm.with(None, 0),
        start: run.start.as_ref().map(|start| start.with_seed(run.seed.unwrap_or(0))),
        place: place.place(),
        command: true,
        ..Request::new(size)
    })
}

/// Adds the options of the writer to a request.
fn with_writer(request: Request, writing: &Writing) -> Result<Request> {
    let (scale, copc) = (writing.scale, writing.levels()?);
    Ok(Request { writing: writing.options(None), scale, copc, ..request })
}

impl Method {
    /// Returns the sampler with a point of a cell and a seed.
    pub(crate) fn with(self, keep: Option<Keep>, seed: u64) -> files::Method {
        use approximate::Method;
        let method = match self {
            Self::Exact(algorithm) => return files::Method::Exact(algorithm),
            Self::Approximate(Method::Random { .. }) => Method::Random { seed },
            Self::Approximate(Method::Grid { keep: center }) => {
                Method::Grid { keep: keep.map_or(center, |keep| keep.of_cell(seed)) }
            }
            Self::Approximate(other) => other,
        };
        match keep {
            Some(Keep::Centroid) => files::Method::Centroids(method),
            _ => files::Method::Approximate(method),
        }
    }
}
