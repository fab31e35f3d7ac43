//! Methods, their options, and their names.

use anyhow::{Context, Error, Result, bail, ensure};
use farpoint::{Algorithm, Amount, NonFinite, Sampler, Start};
use std::fmt;
use std::str::FromStr;

/// A sampler. The text form is the name, with options after a colon: `npdu:order=morton,window=64`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// QuickFPS (Han et al., IEEE TCAD 42(11), 2023): the exact sample, over the buckets of a KD-tree.
    Quick {
        /// Height of the tree, at most 20; by the number of points if `None`.
        height: Option<u32>,
    },
    /// EdgePC (Ying et al., ISCA 2023): points at equal intervals along a Morton curve.
    Morton {
        /// Bits per axis, 1 to 21: 10 as published.
        bits: u32,
    },
    /// Nearest-point-distance-updating (Li et al., 2022): only a window around each new sample is brought up to date.
    Npdu {
        /// Points per window; `16 N / M` if `None`.
        window: Option<usize>,
        /// Order of the points that windows are runs of.
        order: Order,
    },
    /// FastPoint (ICCV 2025): a tenth of the samples exactly, a curve of selection distances predicted from them, then all
    /// points at falling distances taken from that curve, and the rest by exact updates.
    FastPoint {
        /// Exact sampler of its first stage.
        first: First,
        /// Estimator that predicts the curve.
        estimator: Estimator,
    },
}

/// The order in which [`Method::Npdu`] takes windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Order of the input.
    Input,
    /// Along a Morton curve of 21 bits per axis.
    Morton,
    /// No order: the window is the nearest neighbors in space, lowest index among equals.
    Neighbors,
}

/// The exact sampler of FastPoint's first stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum First {
    /// An algorithm of farpoint.
    Exact(Algorithm),
    /// QuickFPS.
    Quick,
}

/// Estimator of selection distances of [`Method::FastPoint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// A small network, trained by this project on its own curves.
    Network,
    /// A curve fitted to the first samples, without weights.
    Fit,
}

impl Method {
    /// All methods with default options.
    pub const ALL: [Self; 4] = [
        Self::Quick { height: None },
        Self::FastPoint { first: First::Exact(Algorithm::Auto), estimator: Estimator::Network },
        Self::Npdu { window: None, order: Order::Input },
        Self::Morton { bits: 10 },
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick { .. } => "quick",
            Self::Morton { .. } => "morton",
            Self::Npdu { .. } => "npdu",
            Self::FastPoint { .. } => "fastpoint",
        }
    }

    /// Returns whether GPUs have it, too.
    pub fn has_kernels(self) -> bool {
        matches!(self, Self::Quick { .. } | Self::FastPoint { .. })
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match (self, name) {
            (Self::Quick { height }, "height") => *height = Some(value.parse()?),
            (Self::Morton { bits }, "bits") => *bits = value.parse()?,
            (Self::Npdu { window, .. }, "window") => *window = Some(value.parse()?),
            (Self::Npdu { order, .. }, "order") => {
                *order = match value {
                    "input" => Order::Input,
                    "morton" => Order::Morton,
                    "neighbors" => Order::Neighbors,
                    _ => bail!("use input, morton or neighbors"),
                };
            }
            (Self::FastPoint { estimator, .. }, "estimator") => {
                *estimator = match value {
                    "network" => Estimator::Network,
                    "fit" => Estimator::Fit,
                    _ => bail!("use network or fit"),
                };
            }
            (Self::FastPoint { first, .. }, "first") => {
                *first = match value {
                    "quick" => First::Quick,
                    _ => First::Exact(value.parse()?),
                };
            }
            (method, _) => bail!(
                "{} has {}",
                method.name(),
                match method {
                    Self::Quick { .. } => "height",
                    Self::Morton { .. } => "bits",
                    Self::Npdu { .. } => "window, order",
                    Self::FastPoint { .. } => "first, estimator",
                }
            ),
        }
        Ok(())
    }

    /// Checks that options are in range.
    ///
    /// # Errors
    /// On a height above 20, bits outside 1 to 21, an empty window.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Quick { height: Some(height) } => {
                ensure!(height <= 20, "height = {height} is outside 0 to 20");
            }
            Self::Morton { bits } => {
                ensure!((1..=21).contains(&bits), "bits = {bits} is outside 1 to 21");
            }
            Self::Npdu { window, .. } => {
                ensure!(window != Some(0), "a window of 0 points is empty")
            }
            _ => {}
        }
        Ok(())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let method = Self::ALL.into_iter().find(|method| method.name() == name);
        let known = || Self::ALL.map(Self::name).join(", ");
        let mut method =
            method.with_context(|| format!("there is no baseline '{name}', but {}", known()))?;
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            method.set(name, value).with_context(|| format!("the option '{option}'"))?;
        }
        method.check()?;
        Ok(method)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A sampling job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Method, with its options.
    pub method: Method,
    /// Number of points to sample, or their share.
    pub amount: Amount,
    /// First point or points; [`Method::Morton`] has none. `Npdu` treats them as samples that it chose itself,
    /// `FastPoint` takes them before its levels.
    pub start: Start,
    /// Treatment of NaN and infinity.
    pub non_finite: NonFinite,
    /// Number of threads; all if `None`. The result never depends on it.
    pub threads: Option<usize>,
}

impl Job {
    /// Creates a job from the first point on, by all threads.
    pub fn new(method: Method, amount: Amount) -> Self {
        let (start, non_finite) = (Start::First, NonFinite::Error);
        Self { method, amount, start, non_finite, threads: None }
    }

    /// Returns the exact job of the same points, whose checks are those of this one.
    pub(crate) fn exact(&self) -> Sampler {
        Sampler::new(self.amount).start(self.start.clone()).non_finite(self.non_finite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_options_are_read() {
        for method in Method::ALL {
            assert_eq!(method.name().parse::<Method>().unwrap(), method);
        }
        let npdu: Method = "npdu:order=morton,window=64".parse().unwrap();
        assert_eq!(npdu, Method::Npdu { window: Some(64), order: Order::Morton });
        let fastpoint: Method = "fastpoint:first=quick,estimator=fit".parse().unwrap();
        assert_eq!(fastpoint, Method::FastPoint { first: First::Quick, estimator: Estimator::Fit });
        for (text, says) in [
            ("fps", "quick, fastpoint, npdu, morton"),
            ("quick:height=21", "0 to 20"),
            ("morton:bits=0", "1 to 21"),
            ("npdu:window=0", "empty"),
            ("quick:window=3", "quick has height"),
            ("npdu:order=up", "input, morton"),
        ] {
            let error = format!("{:#}", text.parse::<Method>().unwrap_err());
            assert!(error.contains(says), "{error}");
        }
    }
}
