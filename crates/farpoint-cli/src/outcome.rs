//! What a sampler of any kind, on any device, came to: what reports and files are made from.

use farpoint::approximate::Details;
use farpoint::{Level, Measured, Sample, Scalar, Statistics};
use farpoint_io::Cloud;
use serde_json::{Value, json};

/// A sample of either precision.
pub(crate) struct Outcome {
    pub(crate) indices: Vec<usize>,
    /// Selection distances; none of approximate samplers.
    pub(crate) distances: Vec<f64>,
    pub(crate) covering_radius: f64,
    /// The algorithm that ran.
    pub(crate) algorithm: String,
    pub(crate) ran_on: RanOn,
    /// Whether this is the farthest point sample.
    pub(crate) exact: bool,
    pub(crate) dropped: usize,
    /// Points that are not of the input; `indices` are its rows then.
    pub(crate) made: Option<Cloud>,
    /// What the sampler reports of its sample, under names that fit a table.
    pub(crate) details: Vec<(String, Value)>,
    /// What was counted and measured, if requested, under names that fit a table.
    pub(crate) statistics: Option<Vec<(String, Figure)>>,
    pub(crate) seconds: f64,
}

/// What did the work.
pub(crate) enum RanOn {
    Cpu {
        threads: usize,
        /// None where no vectors are used.
        level: Option<Level>,
    },
    Gpu {
        name: String,
    },
}

/// A statistic.
pub(crate) enum Figure {
    Count(u64),
    Seconds(f64),
    /// For JSON alone.
    List(Vec<u32>),
}

impl Outcome {
    /// Of an exact algorithm; `gpu` is the name of the GPU that did it.
    pub(crate) fn exact<T: Scalar>(sample: Sample<T>, gpu: Option<&str>, seconds: f64) -> Self {
        let ran_on = match (sample.ran_on, gpu) {
            (farpoint::RanOn::Cpu { threads, level }, _) => {
                RanOn::Cpu { threads, level: Some(level) }
            }
            (_, gpu) => RanOn::Gpu { name: gpu.unwrap_or("GPU").to_owned() },
        };
        Self {
            distances: (0..sample.len()).map(|k| sample.distance(k).to_f64()).collect(),
            covering_radius: sample.covering_radius().to_f64(),
            indices: sample.indices,
            algorithm: sample.algorithm.name().to_owned(),
            ran_on,
            exact: true,
            dropped: sample.dropped,
            made: None,
            details: Vec::new(),
            statistics: sample.statistics.as_ref().map(figures),
            seconds,
        }
    }
}

/// All numbers of a run, by name.
pub(crate) fn figures(statistics: &Statistics) -> Vec<(String, Figure)> {
    let figure = |(name, measured): (&str, Measured)| {
        let figure = match measured {
            Measured::Seconds(seconds) => Figure::Seconds(seconds),
            Measured::Count(count) | Measured::Bytes(count) => Figure::Count(count),
            _ => return None,
        };
        Some((name.to_owned(), figure))
    };
    let mut all: Vec<_> = statistics.named().into_iter().filter_map(figure).collect();
    if !statistics.effective_by_step.is_empty() {
        let steps = statistics.effective_by_step.clone();
        all.push(("effective by step".into(), Figure::List(steps)));
    }
    all
}

/// What a method reports of its sample, under names that fit a table.
pub(crate) fn named(details: &Details) -> Vec<(String, Value)> {
    let all = match details {
        Details::Grid { cell, cells } => vec![("cell", json!(cell)), ("cells", json!(cells))],
        Details::Npdu { window } => vec![("window", json!(window))],
        Details::FastPoint(coverage) => vec![
            ("exact first samples", json!(coverage.prefix)),
            ("found by levels", json!(coverage.found)),
            ("spacing of levels", json!(coverage.spacing)),
            ("radii", json!(coverage.radii)),
        ],
        _ => Vec::new(),
    };
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
