//! Runs one sampler.

use crate::args::SamplerName;
use farpoint::approximate::{ApproximateSampler, Keep, Method};
use farpoint::{Algorithm, Cpu, Sampler, Scalar};
use farpoint_pipeline::named;
use serde_json::Value;

/// Input of every sampler.
pub(super) struct SamplerInput<'a, T> {
    pub(super) points: &'a [[T; 3]],
    pub(super) samples: usize,
    pub(super) seed: u64,
    pub(super) threads: usize,
}

/// A sample and its description.
pub(super) struct SamplerResult<T> {
    pub(super) title: String,
    pub(super) exact: bool,
    pub(super) chosen: Chosen<T>,
    pub(super) details: Vec<(String, Value)>,
    ineffective: Option<f64>,
}

pub(super) enum Chosen<T> {
    Rows(Vec<usize>),
    /// Coordinates that are not points of the cloud.
    Places(Vec<[T; 3]>),
}

impl<T: Scalar> SamplerInput<'_, T> {
    fn cpu(&self) -> Cpu {
        Cpu::new().threads(self.threads)
    }

    fn exact(&self, algorithm: Algorithm) -> Sampler {
        Sampler::count(self.samples).algorithm(algorithm)
    }

    pub(super) fn sample(
        &self,
        sampler_name: SamplerName,
    ) -> Result<SamplerResult<T>, farpoint::Error> {
        match sampler_name {
            SamplerName::Exact(algorithm) => {
                let sample = self.exact(algorithm).on(&self.cpu()).sample(self.points)?;
                Ok(SamplerResult {
                    title: format!("farthest point ({})", sample.algorithm),
                    exact: true,
                    chosen: Chosen::Rows(sample.indices),
                    details: Vec::new(),
                    ineffective: None,
                })
            }
            SamplerName::Approximate(method, name) => {
                let method = seeded(method, self.seed);
                let sampler = ApproximateSampler::count(method, self.samples);
                let sample = sampler.on(&self.cpu()).sample(self.points)?;
                Ok(SamplerResult {
                    title: name.to_owned(),
                    exact: false,
                    chosen: Chosen::Rows(sample.indices),
                    details: named(&sample.details),
                    ineffective: sample.statistics.ineffective(),
                })
            }
            SamplerName::Centroids => {
                let grid = Method::Grid { keep: Keep::Center };
                let sampler = ApproximateSampler::count(grid, self.samples);
                let made = sampler.on(&self.cpu()).centroids(self.points)?;
                Ok(SamplerResult {
                    title: sampler_name.to_string(),
                    exact: false,
                    chosen: Chosen::Places(made.coordinates.as_chunks().0.to_vec()),
                    details: vec![("cell".to_owned(), made.cell.into())],
                    ineffective: None,
                })
            }
        }
    }

    /// Returns the share of the computed distances that changed nothing. Exact algorithms count in a
    /// run of their own, which is not timed.
    pub(super) fn ineffective(
        &self,
        sampler_name: SamplerName,
        result: &SamplerResult<T>,
    ) -> Result<Option<f64>, farpoint::Error> {
        match sampler_name {
            SamplerName::Exact(algorithm) => {
                let job = self.exact(algorithm).statistics(true);
                let sample = job.on(&self.cpu()).sample(self.points)?;
                Ok(sample.statistics.and_then(|statistics| statistics.ineffective()))
            }
            _ => Ok(result.ineffective),
        }
    }
}

fn seeded(method: Method, seed: u64) -> Method {
    match method {
        Method::Random { .. } => Method::Random { seed },
        Method::Grid { keep: Keep::Random(_) } => Method::Grid { keep: Keep::Random(seed) },
        method => method,
    }
}
