//! Samplers by name, as `farpoint compare` takes them.

use crate::hints::did_you_mean;
use farpoint::approximate::{Estimator, Keep, Method, Order};
use farpoint::{Algorithm, DeviceKind};
use std::fmt;
use std::str::FromStr;

/// A value of `--algorithms`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SamplerName {
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

/// Name of [`SamplerName::Centroids`].
const CENTROIDS: &str = "grid:centroid";

impl fmt::Display for SamplerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(algorithm) => algorithm.fmt(f),
            Self::Approximate(_, name) => f.pad(name),
            Self::Centroids => f.pad(CENTROIDS),
        }
    }
}

impl FromStr for SamplerName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == CENTROIDS {
            return Ok(Self::Centroids);
        }
        if let Some((name, method)) = NAMES.into_iter().find(|(known, _)| *known == name) {
            return Ok(Self::Approximate(method, name));
        }
        let exact = name.parse::<Algorithm>().ok();
        exact
            .filter(|algorithm| algorithm.check(DeviceKind::Cpu).is_ok())
            .map(Self::Exact)
            .ok_or_else(|| {
                let exact: Vec<_> = Algorithm::of(DeviceKind::Cpu).map(Algorithm::name).collect();
                let exact = exact.join(", ");
                let approximate = NAMES.map(|(name, _)| name).join(", ");
                let known = exact.split(", ").chain(approximate.split(", ")).chain([CENTROIDS]);
                let hint = did_you_mean(name, known);
                format!(
                    "choose among {exact} (exact), {approximate}, {CENTROIDS} (approximate){hint}"
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in ["auto", "quick", "grid", "grid:centroid", "npdu:morton", "fastpoint:fit"] {
            assert_eq!(name.parse::<SamplerName>().unwrap().to_string(), name);
        }
        assert!("grid:last".parse::<SamplerName>().unwrap_err().contains("grid:first"));
    }
}
