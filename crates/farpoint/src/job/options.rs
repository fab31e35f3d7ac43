//! Options of algorithms. An option is defined by one entry here: its field, its setter, its name
//! on the command line and in Python, and its help all follow from that.

use crate::DeviceKind;
use crate::parse::ParseError;

/// An option of an algorithm, as help texts show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AlgorithmOption {
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Name of the option, as in `"radius:nvox=24"`.
    pub name: &'static str,
    /// Form of its value: `N`, or `true|false`.
    pub value: &'static str,
    /// Help text.
    pub help: &'static str,
    /// Kind of device that has it; all if `None`.
    pub device: Option<DeviceKind>,
}

/// The text of an option: a number, `true` or `false` (also `on` or `off`), or `auto` for what farpoint chooses.
trait Value: Sized + PartialEq {
    fn read(text: &str) -> Option<Self>;
    fn write(&self) -> String;
}

impl Value for bool {
    fn read(text: &str) -> Option<Self> {
        match text {
            "true" | "on" => Some(true),
            "false" | "off" => Some(false),
            _ => None,
        }
    }
    fn write(&self) -> String {
        self.to_string()
    }
}

impl<N: std::str::FromStr + ToString + PartialEq> Value for Option<N> {
    fn read(text: &str) -> Option<Self> {
        if text == "auto" { Some(None) } else { text.parse().ok().map(Some) }
    }
    fn write(&self) -> String {
        self.as_ref().map_or_else(|| "auto".into(), N::to_string)
    }
}

macro_rules! options {
    ($(#[$about:meta])* $name:ident of $algorithm:literal {
        $( $(#[doc = $help:literal])+ $field:ident: $type:ty = $default:expr, $value:literal, $device:expr; )+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[doc = $help])+ pub $field: $type, )+
        }

        impl Default for $name {
            fn default() -> Self {
                Self::DEFAULT
            }
        }

        impl $name {
            pub(super) const DEFAULT: Self = Self { $( $field: $default, )+ };

            $( $(#[doc = $help])+ pub fn $field(self, $field: impl Into<$type>) -> Self {
                Self { $field: $field.into(), ..self }
            } )+

            pub(super) const TABLE: &'static [AlgorithmOption] = &[$( AlgorithmOption {
                algorithm: $algorithm,
                name: stringify!($field),
                value: $value,
                help: concat!($($help),+),
                device: $device,
            }, )+];

            /// Sets an option by its name; an error if there is none of that name, or the text does not fit.
            pub(super) fn set(&mut self, name: &str, text: &str) -> Result<(), ParseError> {
                match &*name.replace('-', "_") {
                    $( stringify!($field) => match <$type as Value>::read(text) {
                        Some(value) => self.$field = value,
                        None => return Err(wrong_value(name, text, $value)),
                    }, )+
                    _ => return Err(unknown($algorithm, name, Self::TABLE)),
                }
                Ok(())
            }

            /// Returns names and texts of the options that are not at their default.
            pub(super) fn changed(&self) -> Vec<(&'static str, String)> {
                let default = Self::default();
                let mut changed = Vec::new();
                $( if self.$field != default.$field {
                    changed.push((stringify!($field), self.$field.write()));
                } )+
                changed
            }
        }
    };
}

options! {
    /// Options of [`Algorithm::Radius`](super::Algorithm::Radius); every combination gives the same
    /// indices.
    RadiusOptions of "radius" {
        /// Voxels along the longest axis (the paper's `n_vox`), 1 to 1024; chosen by measured rules
        /// unless set.
        nvox: Option<u32> = None, "N", None;
        /// Skip whole voxels by their bounding sphere (eq. 25).
        radius_pruning: bool = true, "true|false", Some(DeviceKind::Cpu);
        /// Skip points by one coordinate (eq. 28).
        point_skip: bool = true, "true|false", Some(DeviceKind::Cpu);
        /// Find the farthest point in one kernel instead of one per step (the paper's algorithm 3).
        fuse_selection: bool = true, "true|false", Some(DeviceKind::Gpu);
        /// Prune and update voxels in one kernel instead of one per step (algorithm 4).
        fuse_update: bool = true, "true|false", Some(DeviceKind::Gpu);
    }
}

options! {
    /// Options of [`Algorithm::Peak`](super::Algorithm::Peak); they change its speed, never its
    /// result.
    PeakOptions of "peak" {
        /// A band is what lies above this times the largest squared distance, in `0.0..1.0`; chosen by
        /// measured rules unless set.
        gamma: Option<f64> = None, "X", Some(DeviceKind::Gpu);
        /// Samples taken before the first band; chosen by measured rules unless set.
        single: Option<u32> = None, "N", Some(DeviceKind::Gpu);
        /// Blocks that work on one cloud; chosen by measured rules unless set.
        team: Option<u32> = None, "N", Some(DeviceKind::Gpu);
    }
}

fn wrong_value(name: &str, text: &str, value: &str) -> ParseError {
    let expected = match value {
        "N" => "a whole number or auto",
        "X" => "a number or auto",
        _ => "on or off",
    };
    ParseError::new(format!("invalid value '{text}' for {name}; use {expected}"))
}

/// Error for an option name that the algorithm does not have.
pub(super) fn unknown(algorithm: &str, name: &str, table: &[AlgorithmOption]) -> ParseError {
    let names: Vec<_> = table.iter().map(|option| option.name).collect();
    ParseError::new(match &names[..] {
        [] => format!("{algorithm} has no option '{name}'; it has none"),
        names => format!("{algorithm} has no option '{name}'; it has {}", names.join(", ")),
    })
}
