//! The request that the options of a command make.

use crate::args::{Approximate, Convert, Order, Reading, Rows, Run, Sample, Writing};
use crate::job;
use anyhow::{Result, anyhow, bail};
use farpoint_pipeline::{Request, Wanted};

impl Sample {
    /// What to do with each file.
    pub(crate) fn request(&self) -> Result<Request> {
        let amounts = &self.wanted;
        let wanted = match (&amounts.count, &amounts.ratio, amounts.cell, amounts.spacing) {
            (Some(count), ..) => Wanted::Count(count.0),
            (_, Some(ratio), ..) => Wanted::Ratio(ratio.0),
            (_, _, Some(cell), _) => Wanted::Cell(cell),
            (.., Some(spacing)) => Wanted::Spacing(spacing),
            _ => bail!("no amount is given; add --count, --ratio or --spacing"),
        };
        let writing = &self.output.writing;
        let given = Some(&self.approximate);
        Ok(Request {
            filter: self.filters.filter().map_err(|wrong| anyhow!(wrong))?,
            sorted: self.output.sorted,
            copc: writing.levels()?,
            ..request(wanted, (&self.input.reading, self.input.rows), &self.run, given, writing)
        })
    }
}

impl Order {
    /// What to do with each file.
    pub(crate) fn request(&self) -> Result<Request> {
        let writing = &self.output.writing;
        let reading = (&self.input.reading, self.input.rows);
        Ok(Request {
            filter: self.filters.filter().map_err(|wrong| anyhow!(wrong))?,
            copc: writing.levels()?,
            ..request(Wanted::Order, reading, &self.run, None, writing)
        })
    }
}

impl Convert {
    /// What to do with each file.
    pub(crate) fn request(&self) -> Result<Request> {
        let writing = &self.writing;
        Ok(Request {
            reading: self.reading.options(),
            rows: farpoint_pipeline::Rows { drop_zeros: self.drop_zeros, single: false },
            filter: self.filter()?,
            writing: writing.options(None),
            scale: writing.scale,
            copc: writing.levels()?,
            ..Request::new(Wanted::All)
        })
    }
}

fn request(
    wanted: Wanted,
    (reading, rows): (&Reading, Rows),
    run: &Run,
    given: Option<&Approximate>,
    writing: &Writing,
) -> Request {
    Request {
        reading: reading.options(),
        rows: farpoint_pipeline::Rows { drop_zeros: rows.drop_zeros, single: rows.f32 },
        method: job::method(run, given),
        start: run.start.as_ref().map(|start| start.with_seed(run.seed.unwrap_or(0))),
        writing: writing.options(None),
        scale: writing.scale,
        ..Request::new(wanted)
    }
}
