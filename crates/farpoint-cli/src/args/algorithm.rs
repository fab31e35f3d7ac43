//! `--algorithm`: samplers by name, with options as text. The help is built from the library's tables, so that new
//! algorithms and options appear there too.

use crate::hints::did_you_mean;
use farpoint::{Algorithm, AlgorithmOption, DeviceKind, approximate};
use std::fmt;
use std::str::FromStr;

/// A sampler: an exact algorithm with its options, or an approximate one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Method {
    Exact(Algorithm),
    Approximate(approximate::Method),
}

impl Method {
    /// The grid with default options.
    pub(crate) const GRID: Self =
        Self::Approximate(approximate::Method::Grid { keep: approximate::Keep::Center });

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact(algorithm) => algorithm.name(),
            Self::Approximate(method) => method.name(),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(algorithm) => algorithm.fmt(f),
            Self::Approximate(method) => method.fmt(f),
        }
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.split(':').next().unwrap_or_default();
        let is_exact = Algorithm::ALL.iter().any(|algorithm| algorithm.name() == name);
        match text.parse::<Algorithm>() {
            Ok(algorithm) => return Ok(Self::Exact(algorithm)),
            Err(error) if is_exact || error.is_moved() => return Err(error.to_string()),
            Err(_) => {}
        }
        text.parse().map(Self::Approximate).map_err(|_| {
            let names = Algorithm::ALL.map(Algorithm::name).into_iter();
            let hint = did_you_mean(name, names.chain(approximate::Method::ALL.map(|m| m.name())));
            format!("choose one of {} (exact) or {} (approximate){hint}", exact(), approximate())
        })
    }
}

/// Returns the names of the exact algorithms, with the device if not all devices have it.
fn exact() -> String {
    let name = |algorithm: &Algorithm| {
        let kinds = [DeviceKind::Cpu, DeviceKind::Gpu];
        let kinds_with: Vec<_> =
            kinds.into_iter().filter(|kind| algorithm.runs_on(*kind)).collect();
        match kinds_with[..] {
            [device] => format!("{} ({device})", algorithm.name()),
            _ => algorithm.name().to_owned(),
        }
    };
    Algorithm::ALL.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn approximate() -> String {
    approximate::Method::ALL.map(|method| method.name()).join(", ")
}

/// Returns the help of `--algorithm` with the options of all algorithms.
pub(super) fn long_help() -> String {
    let option = |option: &AlgorithmOption| {
        let words: Vec<_> = option.help.split_whitespace().collect();
        let text = words.join(" ").replace('`', "");
        let device = option.device.map_or(String::new(), |kind| format!(" ({kind})"));
        let (name, value) =
            (option.name.replace('_', "-"), option.value.replace("true|false", "on|off"));
        format!("\n- {}:{name}={value}{device}: {text}", option.algorithm)
    };
    let options: String = Algorithm::OPTIONS.into_iter().flatten().map(option).collect();
    format!(
        "Exact, all giving the same points: {}. Approximate (sample only): {}. Options follow a colon, several \
         separated by commas:\n{options}",
        exact(),
        approximate()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_the_library_is_explained() {
        let help = long_help();
        for option in Algorithm::OPTIONS.into_iter().flatten() {
            let name = format!("{}:{}=", option.algorithm, option.name.replace('_', "-"));
            assert!(help.contains(&name), "{name}: {help}");
        }
    }

    #[test]
    fn names_of_all_samplers_are_known() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(Method::Exact(algorithm)));
        }
        assert!(matches!("grid".parse(), Ok(Method::Approximate(_))));
        for moved in ["quick", "quick:height=9", "fastpoint:fit", "npdu", "morton"] {
            assert!(moved.parse::<Method>().unwrap_err().contains("lab/baselines"), "{moved}");
        }
        let error = "fast".parse::<Method>().unwrap_err();
        assert!(error.contains("tree (CPU)") && error.contains("persistent (GPU)"), "{error}");
    }
}
