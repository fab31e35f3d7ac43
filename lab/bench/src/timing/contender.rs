//! Contenders: work that can be timed.

use anyhow::Result;

/// One run of a contender.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// Number of samples to choose.
    pub(crate) samples: usize,
    /// Index of the contender's input.
    pub(crate) set: usize,
    /// Set if the result is used; otherwise a contender may skip fetching a remote result.
    pub(crate) checked: bool,
}

/// Result of a run.
pub(crate) struct Once {
    /// The chosen indices; may be empty unless the result is used.
    pub(crate) indices: Vec<usize>,
    pub(crate) seconds: f64,
    /// The algorithm that ran.
    pub(crate) algorithm: &'static str,
    /// Memory, if the run itself knows it: a GPU's.
    pub(crate) bytes: Option<usize>,
}

/// One way to do the work.
pub(crate) struct Contender<'a> {
    /// Algorithm requested.
    pub(crate) name: &'static str,
    /// Description of its options, like "nvox=24".
    pub(crate) variant: String,
    pub(crate) samples: usize,
    pub(crate) threads: usize,
    /// Set if every sample takes equally long, so that the whole may be computed from a part.
    pub(crate) linear: bool,
    /// Set if it must choose the same points as the other exact ones.
    pub(super) exact: bool,
    /// Number of inputs of the same size, which runs take in turn.
    pub(super) sets: usize,
    run: Box<dyn Fn(Turn) -> Result<Once> + Sync + 'a>,
}

impl<'a> Contender<'a> {
    /// Creates a contender on one thread and one input.
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

    /// Permits indices that differ from those of others.
    pub(crate) fn approximate(mut self) -> Self {
        self.exact = false;
        self
    }

    pub(super) fn once(&self, turn: Turn) -> Result<Once> {
        (self.run)(turn)
    }
}
