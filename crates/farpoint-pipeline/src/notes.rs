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
    pub(crate) fn add(&mut self, kind: Kind, text: &str) {
        self.0.push((kind, text.to_owned()));
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, &str)> {
        self.0.iter().map(|(kind, text)| (*kind, text.as_str()))
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Files that are to be one cloud are opened.
    Opening,
    /// A cloud is read whole.
    Reading,
    /// Rows of several files are compared.
    Comparing,
    /// Points are chosen.
    Sampling,
    /// The chosen points are written.
    Writing,
    /// Their rows are written.
    Indices,
    /// Nothing that takes time.
    Between,
}

/// Hears what happens while a request is planned and carried out.
pub trait Watch: Sync {
    /// Hears that a stage begins, which ends the one before it, and what it is about.
    fn stage(&self, _stage: Stage, _what: &str) {}

    /// Hears a warning or a note.
    fn tell(&self, _kind: Kind, _text: &str) {}

    /// Hears a warning.
    fn warn(&self, text: &str) {
        self.tell(Kind::Warning, text);
    }

    /// Hears a note.
    fn note(&self, text: &str) {
        self.tell(Kind::Note, text);
    }

    /// Hears the warnings of a file.
    fn warnings(&self, of: &str, warnings: &[String]) {
        warnings.iter().for_each(|warning| self.warn(&format!("{of}: {warning}")));
    }

    /// Hears what was done, for who wants to know all, and how.
    fn did(&self, _what: &str, _how: &str) {}

    /// Hears how many of how many samples are chosen; returns whether to go on.
    fn step(&self, _samples: usize, _wanted: usize) -> bool {
        self.goes_on()
    }

    /// Returns whether to go on.
    fn goes_on(&self) -> bool {
        true
    }
}
