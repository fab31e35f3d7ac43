//! Algorithms of farthest point sampling: names, options, and the devices that implement them.

use super::options::{self, AlgorithmOption, PeakOptions, RadiusOptions};
use crate::parse::{ParseError, by_name};
use crate::{DeviceKind, Error, parse};
use std::fmt;
use std::str::FromStr;

/// The algorithms. All return the same indices; they differ in speed and in the devices that have them.
///
/// The text form is the name, with options after a colon; `fuse-update=off` is read as `fuse_update=false`:
///
/// ```
/// use farpoint::{Algorithm, RadiusOptions};
///
/// let algorithm: Algorithm = "radius:nvox=24,point_skip=false".parse()?;
/// assert_eq!(algorithm, Algorithm::Radius(RadiusOptions::default().nvox(24).point_skip(false)));
/// assert_eq!(algorithm.to_string(), "radius:nvox=24,point_skip=false");
/// # Ok::<(), farpoint::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Algorithm {
    /// The fastest for the input at hand, by the measured rules of the device.
    Auto,
    /// Straightforward loop that defines the result. CPU only.
    Reference,
    /// Brute force: vectorized and on all cores, or the textbook kernel of one block per cloud.
    Naive,
    /// RadiusFPS: spherical voxel pruning and point skip on the CPU, two fused kernels on a GPU.
    Radius(RadiusOptions),
    /// One sample at a time through a wide box tree. CPU only.
    Tree,
    /// Thousands of samples at a time.
    Peak(PeakOptions),
    /// All points in registers, one launch, one exchange per sample. GPU only.
    Persistent,
}

impl Algorithm {
    /// All algorithms with default options, `Auto` first.
    pub const ALL: [Self; 7] = [
        Self::Auto,
        Self::Reference,
        Self::Naive,
        Self::Radius(RadiusOptions::DEFAULT),
        Self::Tree,
        Self::Peak(PeakOptions::DEFAULT),
        Self::Persistent,
    ];

    /// Options of every algorithm.
    pub const OPTIONS: [&'static [AlgorithmOption]; 2] = [RadiusOptions::TABLE, PeakOptions::TABLE];

    /// Returns [`Algorithm::Radius`] with default options.
    pub const fn radius() -> Self {
        Self::Radius(RadiusOptions::DEFAULT)
    }

    /// Returns [`Algorithm::Peak`] with default options.
    pub const fn peak() -> Self {
        Self::Peak(PeakOptions::DEFAULT)
    }

    /// Returns the algorithms that a kind of device has, with default options.
    pub fn of(device: DeviceKind) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |algorithm| algorithm.runs_on(device))
    }

    /// Returns the name, without options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Reference => "reference",
            Self::Naive => "naive",
            Self::Radius(_) => "radius",
            Self::Tree => "tree",
            Self::Peak(_) => "peak",
            Self::Persistent => "persistent",
        }
    }

    /// Returns whether a kind of device has this algorithm.
    pub fn runs_on(self, device: DeviceKind) -> bool {
        match self {
            Self::Auto | Self::Naive | Self::Radius(_) | Self::Peak(_) => true,
            Self::Reference | Self::Tree => device == DeviceKind::Cpu,
            Self::Persistent => device == DeviceKind::Gpu,
        }
    }

    /// Returns the options of this algorithm.
    pub fn options(self) -> &'static [AlgorithmOption] {
        match self {
            Self::Radius(_) => RadiusOptions::TABLE,
            Self::Peak(_) => PeakOptions::TABLE,
            _ => &[],
        }
    }

    /// Returns the same algorithm with the named option set.
    ///
    /// # Errors
    /// If the algorithm has no such option, or `value` is not valid for it.
    pub fn set(mut self, name: &str, value: &str) -> Result<Self, ParseError> {
        match &mut self {
            Self::Radius(options) => options.set(name, value)?,
            Self::Peak(options) => options.set(name, value)?,
            _ => return Err(options::unknown(self.name(), name, &[])),
        }
        Ok(self)
    }

    /// Returns names and values of the options that are not at their default.
    fn changed(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Radius(options) => options.changed(),
            Self::Peak(options) => options.changed(),
            _ => Vec::new(),
        }
    }

    /// Checks that a kind of device has this algorithm and the options that are set, and that these
    /// are in range. Every device calls it.
    ///
    /// # Errors
    /// [`Error::NotOnDevice`], [`Error::BadVoxels`], [`Error::BadOption`].
    pub fn check(self, device: DeviceKind) -> Result<(), Error> {
        if !self.runs_on(device) {
            let has: Vec<_> = Self::of(device).map(Self::name).collect();
            let what = format!("the algorithm {}", self.name());
            return Err(Error::NotOnDevice { what, device, instead: has.join(", ") });
        }
        for (name, _) in self.changed() {
            let applies =
                |option: &&AlgorithmOption| option.device.is_none_or(|kind| kind == device);
            if !self.options().iter().filter(applies).any(|option| option.name == name) {
                let what = format!("the option {name} of {}", self.name());
                let has: Vec<_> = self.options().iter().filter(applies).map(|o| o.name).collect();
                let instead = if has.is_empty() { "none".into() } else { has.join(", ") };
                return Err(Error::NotOnDevice { what, device, instead });
            }
        }
        self.in_range()
    }

    fn in_range(self) -> Result<(), Error> {
        match self {
            Self::Radius(RadiusOptions { nvox: Some(nvox), .. }) if !(1..=1024).contains(&nvox) => {
                Err(Error::BadVoxels(nvox))
            }
            Self::Peak(PeakOptions { gamma: Some(gamma), .. }) if !(0.0..1.0).contains(&gamma) => {
                Err(Error::BadOption { name: "gamma", value: gamma.to_string(), range: "0.0..1.0" })
            }
            Self::Peak(PeakOptions { team: Some(0), .. }) => {
                Err(Error::BadOption { name: "team", value: "0".into(), range: "1.." })
            }
            _ => Ok(()),
        }
    }

    /// Returns the publication of this algorithm.
    pub fn source(self) -> &'static str {
        match self {
            Self::Auto | Self::Tree | Self::Peak(_) | Self::Persistent => "this project",
            Self::Reference | Self::Naive => "Eldar et al., IEEE Trans. Image Process. 6(9), 1997",
            Self::Radius(_) => "RadiusFPS, arXiv 2606.06255, 2026",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed = self.changed();
        if changed.is_empty() {
            return f.pad(self.name());
        }
        let options: Vec<_> =
            changed.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.pad(&format!("{}:{}", self.name(), options.join(",")))
    }
}

impl FromStr for Algorithm {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let mut algorithm = by_name("algorithm", &Self::ALL, Self::name, name)?;
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').ok_or_else(|| {
                parse::ParseError::new(format!("invalid option '{option}'; write name=value"))
            })?;
            algorithm = algorithm.set(name.trim(), value.trim())?;
        }
        Ok(algorithm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_options_are_read_back() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
            assert_eq!(algorithm.to_string(), algorithm.name());
        }
        for text in ["peak:gamma=0.5,team=3", "radius:fuse_update=false"] {
            assert_eq!(text.parse::<Algorithm>().unwrap().to_string(), text);
        }
        assert_eq!("radius:nvox=auto".parse(), Ok(Algorithm::radius()));
        for (text, read) in [
            ("radius:fuse-update=off,point-skip=on", "radius:fuse_update=false"),
            ("radius:nvox=9,point-skip=off", "radius:nvox=9,point_skip=false"),
        ] {
            assert_eq!(text.parse::<Algorithm>(), read.parse());
        }
    }

    #[test]
    fn unknown_algorithms_and_options_are_named() {
        let error = |text: &str| text.parse::<Algorithm>().unwrap_err().to_string();
        assert!(
            error("fast").starts_with("unknown algorithm 'fast'; choose one of auto, reference")
        );
        assert!(error("tree:nvox=3").contains("tree has no option 'nvox'"));
        assert!(error("radius:voxels=3").contains("it has nvox, radius_pruning"));
        assert!(error("radius:nvox").contains("write name=value"));
        assert!(error("radius:nvox=many").contains("invalid value 'many' for nvox; use a whole"));
        assert!(error("radius:point_skip=1").contains("use on or off"));
    }

    #[test]
    fn devices_reject_what_they_do_not_support() {
        let refused = |text: &str, device| {
            text.parse::<Algorithm>().unwrap().check(device).unwrap_err().to_string()
        };
        for (text, device) in [("persistent", DeviceKind::Cpu), ("tree", DeviceKind::Gpu)] {
            assert!(refused(text, device).contains("auto, "), "{}", refused(text, device));
        }
        assert!(refused("radius:fuse_update=false", DeviceKind::Cpu).contains("fuse_update"));
        assert!(refused("radius:point_skip=false", DeviceKind::Gpu).contains("point_skip"));
        assert!(refused("peak:gamma=0.5", DeviceKind::Cpu).ends_with("it has none"));
        assert!(refused("radius:nvox=0", DeviceKind::Gpu).contains("nvox = 0"));
        assert!(refused("peak:gamma=1", DeviceKind::Gpu).contains("gamma = 1"));
        for kind in [DeviceKind::Cpu, DeviceKind::Gpu] {
            assert!(Algorithm::of(kind).all(|algorithm| algorithm.check(kind).is_ok()));
        }
    }
}
