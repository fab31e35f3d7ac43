//! What can be relied on of a sampler before it runs.

/// What a sampler promises. [`crate::Algorithm::traits`] and [`crate::approximate::Method::traits`]
/// give it; help texts and documents are made from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traits {
    /// Whether the sample is the farthest point sample of [`crate::reference()`], one by one.
    pub exact: bool,
    /// Whether it is only good where neighbors in space are neighbors in the input's order.
    pub needs_order: bool,
    /// Whether as many points come back as are wanted.
    pub exact_count: bool,
    /// Whether it gives the same on every run, machine and number of threads.
    pub deterministic: bool,
    /// Where it was published.
    pub source: &'static str,
}
