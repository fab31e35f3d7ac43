//! Methods and norms of nearest-neighbor searches.

use crate::parse::{ParseError, by_name};
use crate::{DeviceKind, Error};
use std::fmt;
use std::str::FromStr;

/// Methods of nearest-neighbor search. All return the same result; they differ in speed and in the devices
/// that have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Method {
    /// The fastest for the input at hand, by the measured rules of the device.
    #[default]
    Auto,
    /// Straightforward loop that defines the result. CPU only.
    Reference,
    /// All pairs, each distance by the exact formula alone. GPU only.
    Plain,
    /// All pairs, vectorized; on a GPU, scored with a proven error bound first.
    Brute,
    /// Through box trees of both clouds.
    Tree,
}

impl Method {
    /// All methods, `Auto` first.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Reference, Self::Plain, Self::Brute, Self::Tree];

    /// Returns the name on the command line and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Reference => "reference",
            Self::Plain => "plain",
            Self::Brute => "brute",
            Self::Tree => "tree",
        }
    }

    /// Returns the methods that a kind of device has.
    pub fn of(device: DeviceKind) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |method| method.runs_on(device))
    }

    /// Returns whether a kind of device has this method.
    pub fn runs_on(self, device: DeviceKind) -> bool {
        match self {
            Self::Auto | Self::Brute | Self::Tree => true,
            Self::Reference => device == DeviceKind::Cpu,
            Self::Plain => device == DeviceKind::Gpu,
        }
    }

    /// Checks that a kind of device has this method. Every device calls it.
    ///
    /// # Errors
    /// [`Error::NotOnDevice`].
    pub fn check(self, device: DeviceKind) -> Result<(), Error> {
        if self.runs_on(device) {
            return Ok(());
        }
        let has: Vec<_> = Self::of(device).map(Self::name).collect();
        let what = format!("the method {}", self.name());
        Err(Error::NotOnDevice { what, device, instead: has.join(", ") })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = ParseError;

    fn from_str(name: &str) -> Result<Self, ParseError> {
        by_name("method", &Self::ALL, Self::name, name)
    }
}

/// Norm by which distances are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Norm {
    /// Sum of absolute differences.
    One,
    /// Euclidean; squared unless stated otherwise.
    #[default]
    Two,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_devices_reject_what_they_do_not_support() {
        for method in Method::ALL {
            assert_eq!(method.name().parse(), Ok(method));
        }
        let error = Method::Plain.check(DeviceKind::Cpu).unwrap_err().to_string();
        assert!(error.contains("plain") && error.contains("auto, reference, brute, tree"));
        assert!(Method::Reference.check(DeviceKind::Gpu).is_err());
    }
}
