//! The samplers by name, and how each is run.

use crate::outcome::named;
use farpoint::approximate::{ApproximateSampler, Estimator, Keep, Method, Order};
use farpoint::{Algorithm, Cpu, DeviceKind, Sampler, Scalar};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// A value of `--algorithms`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Which {
    Exact(Algorithm),
    Approximate(Method, &'static str),
    /// Centroids of a grid.
    Centroids,
}

/// The approximate samplers by name, without their seeds.
const NAMES: [(&str, Method); 11] = [
    ("fastpoint", FASTPOINT),
    ("fastpoint:fit", Method::FastPoint { first: Algorithm::Auto, estimator: Estimator::Fit }),
    ("npdu", Method::Npdu { window: None, order: Order::Input }),
    ("npdu:morton", Method::Npdu { window: None, order: Order::Morton }),
    ("npdu:neighbors", Method::Npdu { window: None, order: Order::Neighbors }),
    ("grid", Method::Grid { keep: Keep::Center }),
    ("grid:first", Method::Grid { keep: Keep::First }),
    ("grid:random", Method::Grid { keep: Keep::Random(0) }),
    ("morton", Method::Morton { bits: 10 }),
    ("morton:21", Method::Morton { bits: 21 }),
    ("random", Method::Random { seed: 0 }),
];

const FASTPOINT: Method =
    Method::FastPoint { first: Algorithm::Auto, estimator: Estimator::Network };

const CENTROIDS: &str = "grid:centroid";

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(algorithm) => algorithm.fmt(f),
            Self::Approximate(_, name) => f.pad(name),
            Self::Centroids => f.pad(CENTROIDS),
        }
    }
}

impl FromStr for Which {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == CENTROIDS {
            return Ok(Self::Centroids);
        }
        if let Some((name, method)) = NAMES.into_iter().find(|(known, _)| *known == name) {
            return Ok(Self::Approximate(method, name));
        }
        let exact = name.parse::<Algorithm>().ok();
        exact.filter(|which| which.check(DeviceKind::Cpu).is_ok()).map(Self::Exact).ok_or_else(
            || {
                let exact: Vec<_> = Algorithm::of(DeviceKind::Cpu).map(Algorithm::name).collect();
                let exact = exact.join(", ");
                let approximate = NAMES.map(|(name, _)| name).join(", ");
                format!("choose among {exact} (exact), {approximate}, {CENTROIDS} (approximate)")
            },
        )
    }
}

/// What is asked of every sampler.
pub(super) struct Job<'a, T> {
    pub(super) points: &'a [[T; 3]],
    pub(super) samples: usize,
    pub(super) seed: u64,
    pub(super) threads: usize,
}

/// A sample as it was taken.
pub(super) struct Taken<T> {
    pub(super) title: String,
    pub(super) exact: bool,
    pub(super) chosen: Chosen<T>,
    pub(super) details: Vec<(String, Value)>,
    in_vain: Option<f64>,
}

pub(super) enum Chosen<T> {
    Rows(Vec<usize>),
    /// Not points of the cloud.
    Places(Vec<[T; 3]>),
}

impl<T: Scalar> Job<'_, T> {
    fn cpu(&self) -> Cpu {
        Cpu::new().threads(self.threads)
    }

    fn exact(&self, algorithm: Algorithm) -> Sampler {
        Sampler::count(self.samples).algorithm(algorithm)
    }

    pub(super) fn take(&self, which: Which) -> Result<Taken<T>, farpoint::Error> {
        match which {
            Which::Exact(algorithm) => {
                let sample = self.exact(algorithm).on(&self.cpu()).sample(self.points)?;
                Ok(Taken {
                    title: format!("farthest point ({})", sample.algorithm),
                    exact: true,
                    chosen: Chosen::Rows(sample.indices),
                    details: Vec::new(),
                    in_vain: None,
                })
            }
            Which::Approximate(method, name) => {
                let method = seeded(method, self.seed);
                let sampler = ApproximateSampler::count(method, self.samples);
                let sample = sampler.on(&self.cpu()).sample(self.points)?;
                Ok(Taken {
                    title: name.to_owned(),
                    exact: false,
                    chosen: Chosen::Rows(sample.indices),
                    details: named(&sample.details),
                    in_vain: sample.statistics.ineffective(),
                })
            }
            Which::Centroids => {
                let grid = Method::Grid { keep: Keep::Center };
                let sampler = ApproximateSampler::count(grid, self.samples);
                let made = sampler.on(&self.cpu()).centroids(self.points)?;
                Ok(Taken {
                    title: CENTROIDS.to_owned(),
                    exact: false,
                    chosen: Chosen::Places(made.coordinates.as_chunks().0.to_vec()),
                    details: vec![("cell".to_owned(), made.cell.into())],
                    in_vain: None,
                })
            }
        }
    }

    /// Share of the computed distances that changed nothing. Exact algorithms count in a
    /// run of their own, which is not timed.
    pub(super) fn in_vain(
        &self,
        which: Which,
        taken: &Taken<T>,
    ) -> Result<Option<f64>, farpoint::Error> {
        match which {
            Which::Exact(algorithm) => {
                let job = self.exact(algorithm).statistics(true);
                let sample = job.on(&self.cpu()).sample(self.points)?;
                Ok(sample.statistics.and_then(|statistics| statistics.ineffective()))
            }
            _ => Ok(taken.in_vain),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in ["auto", "quick", "grid", "grid:centroid", "npdu:morton", "fastpoint:fit"] {
            assert_eq!(name.parse::<Which>().unwrap().to_string(), name);
        }
        assert!("grid:last".parse::<Which>().unwrap_err().contains("grid:first"));
    }
}
