//! Properties of samplers that are known before they run.

/// Properties of a sampler, returned by [`crate::Algorithm::traits`] and
/// [`crate::approximate::Method::traits`]; help texts and documents are made from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traits {
    /// True if the sample is the farthest point sample of [`crate::reference()`], one by one.
    pub exact: bool,
    /// True if it is only good if neighbors in space are neighbors in the input's order.
    pub needs_order: bool,
    /// True if it returns exactly the requested number of points.
    pub exact_count: bool,
    /// True if it returns the same on every run, machine and number of threads.
    pub deterministic: bool,
    /// Publication of the algorithm.
    pub source: &'static str,
}
