//! Parsing of names: the one error of every `FromStr` of this crate.

use std::fmt;

/// An unknown name, or an invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    text: String,
    is_moved: bool,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ParseError {}

impl ParseError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_moved: false }
    }

    /// Returns whether the name is one of an earlier version; the text says where it is now.
    pub fn is_moved(&self) -> bool {
        self.is_moved
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
        if MOVED.contains(&name) && ["algorithm", "approximate sampler"].contains(&what) {
            let text = format!("'{name}' is now in the repository's laboratory: lab/baselines");
            return ParseError { text, is_moved: true };
        }
        let names: Vec<_> = all.iter().map(|&one| name_of(one)).collect();
        ParseError::new(format!("unknown {what} '{name}'; choose one of {}", names.join(", ")))
    })
}
