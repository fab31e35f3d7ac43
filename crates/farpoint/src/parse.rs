//! Parsing of names: the one error of every `FromStr` of this crate.

use std::fmt;

/// An unknown name, or an invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError(String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseError {}

impl ParseError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Names of samplers that earlier versions had.
const MOVED: [&str; 4] = ["quick", "fastpoint", "npdu", "morton"];

/// Returns the one of `all` that has this name; `what` is the kind of thing in the error.
pub(crate) fn by_name<T: Copy>(
    what: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
    name: &str,
) -> Result<T, ParseError> {
    all.iter().copied().find(|&one| name_of(one) == name).ok_or_else(|| {
        if MOVED.contains(&name) {
            return ParseError(format!(
                "'{name}' is now in the repository's laboratory: lab/baselines"
            ));
        }
        let names: Vec<_> = all.iter().map(|&one| name_of(one)).collect();
        ParseError(format!("unknown {what} '{name}'; choose one of {}", names.join(", ")))
    })
}
