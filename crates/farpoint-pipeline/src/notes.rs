//! What a user should know of a file, beside its result: the library prints nothing.

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The result may not be what is expected.
    Warning,
    /// How it came about.
    Note,
}

/// Warnings and notes in the order in which they arose.
#[derive(Clone, Debug, Default)]
pub struct Notes(Vec<(Kind, String)>);

impl Notes {
    /// Adds a warning.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.0.push((Kind::Warning, text.into()));
    }

    /// Adds a note.
    pub fn note(&mut self, text: impl Into<String>) {
        self.0.push((Kind::Note, text.into()));
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, &str)> {
        self.0.iter().map(|(kind, text)| (*kind, text.as_str()))
    }
}
