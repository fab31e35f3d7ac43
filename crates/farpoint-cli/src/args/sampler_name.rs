//! Samplers by name, as `farpoint compare` takes them.

use super::{Keep, Method};
use clap::ValueEnum;
use farpoint::DeviceKind;
use std::fmt;
use std::str::FromStr;

/// A value of `--algorithms`: a sampler, or the grid with a point of a cell, as in `grid:first`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SamplerName {
    method: Method,
    keep: Option<Keep>,
}

impl SamplerName {
    /// Returns the sampler with a seed.
    pub(crate) fn method(self, seed: u64) -> farpoint_pipeline::Method {
        self.method.with(self.keep, seed)
    }
}

impl fmt::Display for SamplerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.keep {
            None => self.method.fmt(f),
            Some(keep) => f.pad(&format!("{}:{}", self.method, keep.name())),
        }
    }
}

impl FromStr for SamplerName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if let Some(keep) = name.strip_prefix("grid:") {
            let names: Vec<_> = Keep::value_variants().iter().map(|keep| keep.name()).collect();
            let keep = Keep::from_str(keep, false).map_err(|_| {
                format!("the point of a cell is one of grid:{}", names.join(", grid:"))
            })?;
            return Ok(Self { method: Method::GRID, keep: Some(keep) });
        }
        let method: Method = name.parse()?;
        if let Method::Exact(algorithm) = method {
            algorithm.check(DeviceKind::Cpu).map_err(|error| error.to_string())?;
        }
        Ok(Self { method, keep: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in ["auto", "radius:nvox=9", "grid", "grid:centroid", "grid:first", "random"] {
            assert_eq!(name.parse::<SamplerName>().unwrap().to_string(), name);
        }
        for (name, words) in [
            ("grid:last", "grid:first"),
            ("persistent", "CPU"),
            ("fast", "choose one of"),
            ("npdu:morton", "lab/baselines"),
        ] {
            let error = name.parse::<SamplerName>().unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
