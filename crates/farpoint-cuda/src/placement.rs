//! Memory of a cloud that is sampled by several GPUs, or does not fit one.

/// Memory that sampling a cloud takes, and its location: [`Gpus::placement`](crate::Gpus::placement).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placement {
    /// Bytes of coordinates, samples and scratch memory, on all GPUs and in host memory.
    pub bytes: usize,
    /// Bytes of these in host memory because they do not fit on the GPUs, otherwise 0. The more, the slower.
    pub host: usize,
}
