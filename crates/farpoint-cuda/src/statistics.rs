//! What a run took.

/// Time and memory of the launch that a result came from. The clouds of a batch share one
/// launch, and these.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// Seconds of the kernels, by CUDA events around them; without copies to and from the
    /// device and without allocation.
    pub seconds: f64,
    /// Seconds of copying and checking the input on the host, and of handing it over.
    pub upload_seconds: f64,
    /// Seconds of fetching the answer and translating it.
    pub download_seconds: f64,
    /// Bytes of device memory of the input.
    pub input_bytes: usize,
    /// Bytes of device memory of the answer.
    pub answer_bytes: usize,
    /// Bytes of device memory that the algorithm used besides.
    pub scratch_bytes: usize,
    /// What the algorithm counted, by name: sums over all clouds of the launch. Empty for those
    /// that count nothing.
    pub counts: Vec<(&'static str, u64)>,
}
