//! `--algorithm` and the options of algorithms: arguments built from the library's tables, so that
//! new algorithms and options appear here too.

use crate::hints::did_you_mean;
use clap::builder::{StyledStr, ValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
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

/// The arguments that choose a sampler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SamplerChoice {
    pub(crate) method: Method,
}

/// Name of the argument that the others add to.
const ALGORITHM: &str = "algorithm";

/// Returns every option once.
fn options() -> Vec<&'static AlgorithmOption> {
    Algorithm::OPTIONS.into_iter().flatten().collect()
}

/// Returns whether an option is a switch, on by default.
fn is_switch(option: &AlgorithmOption) -> bool {
    option.value == "true|false"
}

/// Returns the option's name on the command line: `nvox`, `no-point-skip`.
fn flag(option: &AlgorithmOption) -> String {
    let name = option.name.replace('_', "-");
    if is_switch(option) { format!("no-{name}") } else { name }
}

/// Returns the library's help in one sentence, with its algorithm and device.
fn help(option: &AlgorithmOption) -> String {
    let words: Vec<_> = option.help.split_whitespace().collect();
    let text = words.join(" ").replace('`', "");
    let text = text.trim_end_matches('.');
    let (first, rest) = text.split_at(1.min(text.len()));
    let device = option.device.map_or(String::new(), |kind| format!(" on the {kind}"));
    let negation = if is_switch(option) { "do not " } else { "" };
    format!("{}{device}: {negation}{}{rest}", option.algorithm, first.to_lowercase())
}

impl clap::Args for SamplerChoice {
    fn augment_args(command: Command) -> Command {
        let about = format!(
            "Exact, all giving the same points: {}; options may follow, as in radius:nvox=24. \
             Approximate (sample only): {}",
            exact(),
            approximate()
        );
        let algorithm = Arg::new(ALGORITHM)
            .long(ALGORITHM)
            .value_name("A")
            .help_heading("Sampling")
            .default_value(Algorithm::Auto.name())
            .value_parser(ValueParser::new(|text: &str| text.parse::<Method>()))
            .help(StyledStr::from(about));
        options().into_iter().fold(command.arg(algorithm), |command, option| {
            let arg = Arg::new(option.name).long(flag(option)).help(StyledStr::from(help(option)));
            let arg = arg.help_heading("Exact algorithms");
            command.arg(match is_switch(option) {
                true => arg.action(ArgAction::SetTrue),
                false => arg.value_name(option.value).allow_negative_numbers(true),
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SamplerChoice {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let invalid = |text: String| clap::Error::raw(ErrorKind::ValueValidation, text);
        let method = matches.get_one::<Method>(ALGORITHM).copied();
        let mut method = method.unwrap_or(Method::Exact(Algorithm::Auto));
        for option in options() {
            let Some(value) = option_text(matches, option) else { continue };
            let Method::Exact(algorithm) = method else {
                return Err(invalid(format!(
                    "--{} is for exact algorithms, and --algorithm {method} is approximate; leave \
                     it out",
                    flag(option)
                )));
            };
            if algorithm.name() != option.algorithm {
                return Err(invalid(format!(
                    "--{} is for --algorithm {}, not {}; add it, or remove it",
                    flag(option),
                    option.algorithm,
                    algorithm.name()
                )));
            }
            let updated = algorithm.set(option.name, &value);
            method = Method::Exact(
                updated.map_err(|error| invalid(format!("--{} {value}: {error}", flag(option))))?,
            );
        }
        Ok(Self { method })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the text of an option, if it is set.
fn option_text(matches: &ArgMatches, option: &AlgorithmOption) -> Option<String> {
    match is_switch(option) {
        true => matches.get_flag(option.name).then(|| "false".to_owned()),
        false => matches.get_one::<String>(option.name).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args;

    fn parsed(arguments: &str) -> Result<Method, String> {
        let command = SamplerChoice::augment_args(Command::new("farpoint").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments.split_whitespace());
        let matches = matches.map_err(|error| error.to_string())?;
        let choice =
            SamplerChoice::from_arg_matches(&matches).map_err(|error| error.to_string())?;
        Ok(choice.method)
    }

    #[test]
    fn every_option_of_the_library_is_an_argument() {
        for option in options() {
            let value = match option.value {
                "N" => " 7",
                "X" => " 0.5",
                _ => "",
            };
            let parsed_method =
                parsed(&format!("--algorithm {} --{}{value}", option.algorithm, flag(option)));
            let text = if is_switch(option) { "false" } else { value.trim() };
            let expected = format!("{}:{}={text}", option.algorithm, option.name);
            assert_eq!(parsed_method.map(|method| method.to_string()), Ok(expected));
        }
    }

    #[test]
    fn names_of_all_samplers_are_known() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(Method::Exact(algorithm)));
        }
        assert!(matches!("grid".parse(), Ok(Method::Approximate(_))));
        assert_eq!(parsed(""), Ok(Method::Exact(Algorithm::Auto)));
        for moved in ["quick", "quick:height=9", "fastpoint:fit", "npdu", "morton"] {
            assert!(moved.parse::<Method>().unwrap_err().contains("lab/baselines"), "{moved}");
        }
        let error = "fast".parse::<Method>().unwrap_err();
        assert!(error.contains("tree (CPU)") && error.contains("persistent (GPU)"), "{error}");
    }

    #[test]
    fn options_of_other_samplers_are_refused() {
        for (arguments, words) in [
            ("--nvox 8", "--algorithm radius, not auto"),
            ("--algorithm grid --nvox 8", "approximate"),
            ("--algorithm radius --nvox many", "--nvox many: invalid value 'many' for nvox"),
            ("--algorithm tree:nvox=8", "tree has no option"),
        ] {
            let error = parsed(arguments).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
