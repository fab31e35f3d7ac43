//! Where a cloud lies that is sampled by several GPUs, or has no room on one.

/// What a cloud takes to be sampled, and where that lies: [`Gpus::placement`](crate::Gpus::placement).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placement {
    /// Bytes of coordinates, samples and scratch memory, on all GPUs and in host memory.
    pub bytes: usize,
    /// Bytes of these in host memory, as the GPUs have no room for them; 0 if they have. The more this is, the longer
    /// it takes.
    pub host: usize,
}
