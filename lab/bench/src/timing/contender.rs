//! What can be timed.

use anyhow::Result;

/// One run of a contender.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// Samples to choose.
    pub(crate) samples: usize,
    /// Which of the contender's inputs.
    pub(crate) set: usize,
    /// Whether the result is used; a contender whose result is far away can leave it there otherwise.
    pub(crate) checked: bool,
}

/// What a run gave.
pub(crate) struct Once {
    /// What was chosen; may be empty unless the result is used.
    pub(crate) indices: Vec<usize>,
    pub(crate) seconds: f64,
    /// The algorithm that ran.
    pub(crate) algorithm: &'static str,
    /// Memory, where the run itself knows it: a GPU's.
    pub(crate) bytes: Option<usize>,
}

/// One way to do the work.
pub(crate) struct Contender<'a> {
    /// The algorithm requested.
    pub(crate) name: &'static str,
    /// What is special about it, like "nvox=24".
    pub(crate) variant: String,
    pub(crate) samples: usize,
    pub(crate) threads: usize,
    /// Whether every sample takes equally long, so that the whole may be computed from a part.
    pub(crate) linear: bool,
    /// Whether it must choose what the other exact ones choose.
    pub(super) exact: bool,
    /// Inputs of the same size, which runs take in turn.
    pub(super) sets: usize,
    run: Box<dyn Fn(Turn) -> Result<Once> + Sync + 'a>,
}

impl<'a> Contender<'a> {
    /// A contender on one thread and one input.
    pub(crate) fn new(
        name: &'static str,
        samples: usize,
        run: impl Fn(Turn) -> Result<Once> + Sync + 'a,
    ) -> Self {
        let (variant, run) = (String::new(), Box::new(run));
        Self { name, variant, samples, threads: 1, linear: false, exact: true, sets: 1, run }
    }

    pub(crate) fn variant(mut self, variant: impl Into<String>) -> Self {
        self.variant = variant.into();
        self
    }

    pub(crate) fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    pub(crate) fn linear(mut self, linear: bool) -> Self {
        self.linear = linear;
        self
    }

    pub(crate) fn sets(mut self, sets: usize) -> Self {
        self.sets = sets.max(1);
        self
    }

    /// Its indices need not be those of others.
    pub(crate) fn approximate(mut self) -> Self {
        self.exact = false;
        self
    }

    pub(super) fn once(&self, turn: Turn) -> Result<Once> {
        (self.run)(turn)
    }
}
