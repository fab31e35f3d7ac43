//! What can be relied on of a sampler before it runs.

use crate::Algorithm;

/// What a sampler promises. [`Algorithm::traits`] and [`crate::approximate::Method::traits`]
/// give it; help texts and documents are made from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traits {
    /// Whether the sample is the farthest point sample of [`crate::reference()`], one by one.
    pub exact: bool,
    /// Whether it is only good where neighbors in space are neighbors in the input's order.
    pub needs_order: bool,
    /// Whether as many points come back as were asked for.
    pub exact_count: bool,
    /// Whether it gives the same on every run, machine and number of threads.
    pub deterministic: bool,
    /// Where it was published.
    pub source: &'static str,
}

impl Algorithm {
    /// What this algorithm promises.
    pub fn traits(self) -> Traits {
        let source = match self {
            Self::Auto | Self::Tree | Self::Peak => "this project",
            Self::Reference | Self::Naive => "Eldar et al., IEEE Trans. Image Process. 6(9), 1997",
            Self::Radius => "RadiusFPS, arXiv 2606.06255, 2026",
            Self::Quick => "QuickFPS, Han et al., IEEE TCAD 42(11), 2023",
        };
        Traits { exact: true, needs_order: false, exact_count: true, deterministic: true, source }
    }
}
