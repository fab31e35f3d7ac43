//! Runs one sampler.

use crate::args::SamplerName;
use farpoint::approximate::ApproximateSampler;
use farpoint::{Algorithm, Cpu, Sampler, Scalar};
use farpoint_pipeline::{Method, named};
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
        let title = sampler_name.to_string();
        match sampler_name.method(self.seed) {
            Method::Exact(algorithm) => {
                let sample = self.exact(algorithm).on(&self.cpu()).sample(self.points)?;
                Ok(SamplerResult {
                    title: format!("farthest point ({})", sample.algorithm),
                    exact: true,
                    chosen: Chosen::Rows(sample.indices),
                    details: Vec::new(),
                })
            }
            Method::Approximate(method) => {
                let sampler = ApproximateSampler::count(method, self.samples);
                let sample = sampler.on(&self.cpu()).sample(self.points)?;
                let details = named(&sample.details);
                let chosen = Chosen::Rows(sample.indices);
                Ok(SamplerResult { title, exact: false, chosen, details })
            }
            Method::Centroids(method) => {
                let sampler = ApproximateSampler::count(method, self.samples);
                let made = sampler.on(&self.cpu()).centroids(self.points)?;
                let details = vec![("cell".to_owned(), made.cell.into())];
                let chosen = Chosen::Places(made.coordinates.as_chunks().0.to_vec());
                Ok(SamplerResult { title, exact: false, chosen, details })
            }
        }
    }

    /// Returns the share of the computed distances that changed nothing, of exact algorithms. They count in a run of
    /// their own, which is not timed.
    pub(super) fn ineffective(
        &self,
        sampler_name: SamplerName,
    ) -> Result<Option<f64>, farpoint::Error> {
        let Method::Exact(algorithm) = sampler_name.method(self.seed) else { return Ok(None) };
        let job = self.exact(algorithm).statistics(true);
        let sample = job.on(&self.cpu()).sample(self.points)?;
        Ok(sample.statistics.and_then(|statistics| statistics.ineffective()))
    }
}
