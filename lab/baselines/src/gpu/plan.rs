//! Launch and scratch memory layout of FastPoint: 32 to 45 bytes per point in `f32`, 40 to 65 in `f64`, an index if
//! none is given, and that of the exact algorithms.

use super::quick;
use crate::{Estimator, First};
use farpoint::{PeakOptions, Sampler};
use farpoint_cuda::backend::{
    Batch, Choice, Function, Launch, Shape, Teams, aligned, blocks_at_once, building_bytes,
    enqueue, index_bytes, places, team_bytes,
};
use farpoint_cuda::{Buffer, CudaScalar, Error, Gpu, Stream};

/// Threads per block of the levels, and of one that finds radii.
pub(super) const THREADS: u32 = 512;
pub(super) const HIDDEN: u32 = 128;

/// Number of levels, and the fewest samples from which a curve can be predicted.
pub(super) const LEVELS: usize = 6;
pub(super) const MIN_SAMPLES: usize = 32;

/// Bytes of a team's header, to which the counts of its blocks are added.
pub(super) const HEADER: usize = 128;

/// Largest number of rows that an entry of a search's stack can address.
const MAX_ROWS: usize = 1 << 26;

/// The exact sampler of the first stage.
#[derive(Debug, Clone, Copy)]
pub(super) enum Exact {
    Of(Choice),
    Quick,
}

impl Exact {
    /// Refuses algorithms that GPUs don't have.
    pub(super) fn new(first: First) -> Result<Self, Error> {
        match first {
            First::Exact(algorithm) => {
                Ok(Self::Of(Choice::new(&Sampler::count(1).algorithm(algorithm))?))
            }
            First::Quick => Ok(Self::Quick),
        }
    }

    fn scratch_bytes<T: CudaScalar>(self, gpu: &Gpu, shape: Shape) -> usize {
        match self {
            Self::Of(choice) => choice.scratch_bytes::<T>(gpu, shape),
            Self::Quick => quick::scratch_bytes::<T>(gpu, shape, None),
        }
    }

    /// Queues the sampling of a batch.
    ///
    /// # Safety
    /// The addresses in `batch` and `scratch` must match `shape`, and stay valid until the stream has finished.
    pub(super) unsafe fn enqueue<T: CudaScalar>(
        self,
        stream: &Stream,
        batch: &Batch<T>,
        shape: Shape,
        scratch: Option<(u64, usize)>,
    ) -> Result<(), Error> {
        // SAFETY: both have this function's contract.
        unsafe {
            match self {
                Self::Of(choice) => enqueue(choice, stream, batch, shape, scratch),
                Self::Quick => quick::enqueue(stream, batch, shape, scratch, None),
            }
        }
    }
}

/// A sampling job and its methods.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// The algorithm of the first stage.
    pub(super) first: Exact,
    pub(super) estimator: Estimator,
    pub(super) shape: Shape,
    /// Number of start points per cloud.
    pub(super) starts: usize,
    /// Set if an index is given.
    pub(super) has_index: bool,
}

impl Work {
    /// Number of samples of the first stage.
    pub(super) fn prefix(&self) -> usize {
        self.shape.samples.div_ceil(10)
    }

    /// Returns whether there are too few samples to predict a curve; all are then exact.
    pub(super) fn is_exact(&self) -> bool {
        self.prefix() < MIN_SAMPLES
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.shape.rows > MAX_ROWS && !self.is_exact() {
            return Err(Error::Unsupported(format!(
                "clouds of {} rows exceed the limit of fastpoint on a GPU (2^26); use the CPU",
                self.shape.rows
            )));
        }
        Ok(())
    }
}

/// `struct Result` of `kernels/fastpoint/state.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Levels<T> {
    pub(super) radii: [T; LEVELS],
    pub(super) levels: u32,
}

impl<T: CudaScalar> Levels<T> {
    /// Downloads those of the first cloud from scratch memory, once the work before is done.
    pub(super) fn read(&mut self, scratch: &Buffer<u8>, at: usize) -> Result<(), Error> {
        let number = size_of::<T>();
        let mut bytes = vec![0; LEVELS * number + 4];
        scratch.read(at, &mut bytes)?;
        let (radii, levels) = bytes.split_at(LEVELS * number);
        for (radius, bytes) in self.radii.iter_mut().zip(radii.chunks_exact(number)) {
            let bits = bytes.iter().rev().fold(0, |bits: u64, &byte| bits << 8 | u64::from(byte));
            *radius = T::from_ordered_bits(bits);
        }
        self.levels = u32::from_le_bytes(levels.try_into().expect("four bytes"));
        Ok(())
    }
}

/// Offsets into scratch memory, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) teams: Teams,
    pub(super) header: usize,
    /// Size per cloud.
    pub(super) arrays: usize,
    pub(super) headers: usize,
    pub(super) first_indices: usize,
    pub(super) first_values: usize,
    pub(super) first_starts: usize,
    pub(super) results: usize,
    pub(super) found: usize,
    pub(super) known: usize,
    pub(super) memory: usize,
    pub(super) index: usize,
    /// Scratch memory of the launches before and after, one after another.
    pub(super) inner: usize,
    pub(super) inner_bytes: usize,
    pub(super) bytes: usize,
}

/// Bytes of a cloud's arrays: `place_arrays` of `kernels/fastpoint/state.cuh`.
fn arrays<T: CudaScalar>(rows: usize) -> usize {
    let (number, places) = (size_of::<T>(), places(rows));
    let arrays =
        [number * places, 4 * places, 4 * places, places / 8, 4 * rows, rows.div_ceil(32) * 4];
    arrays.into_iter().map(aligned).sum()
}

impl Plan {
    pub(super) fn new<T: CudaScalar>(gpu: &Gpu, work: &Work) -> Result<Self, Error> {
        if work.is_exact() {
            let bytes = work.first.scratch_bytes::<T>(gpu, work.shape);
            return Ok(Self::of::<T>(work, Teams { team: 1, count: 1 }, bytes));
        }
        let (function, launch) = kernel::<T>(gpu, work.shape.dims)?;
        let blocks = blocks_at_once(gpu, function, launch)?;
        let teams = Teams::new(blocks, work.shape.clouds, work.shape.rows, None);
        let first = Shape { samples: work.prefix() + 1, ..work.shape };
        let inner = [
            work.first.scratch_bytes::<T>(gpu, first),
            team_bytes::<T>(gpu, work.shape, &PeakOptions::default()),
            building_bytes(work.shape.clouds, work.shape.rows),
        ];
        Ok(Self::of::<T>(work, teams, inner.into_iter().max().unwrap_or(0)))
    }

    fn of<T: CudaScalar>(work: &Work, teams: Teams, inner_bytes: usize) -> Self {
        let Shape { clouds, rows, .. } = work.shape;
        let (number, slots) = (size_of::<T>(), clouds * (work.prefix() + 1));
        let (header, arrays) = (aligned(HEADER + 4 * teams.team), arrays::<T>(rows));
        let index = if work.has_index { 0 } else { index_bytes::<T>(clouds, rows) };
        let mut end = 0;
        let mut next = |bytes: usize| {
            let begin = end;
            end += if work.is_exact() { 0 } else { aligned(bytes) };
            begin
        };
        let plan = Self {
            teams,
            header,
            arrays,
            headers: next(header * teams.count),
            first_indices: next(8 * slots),
            first_values: next(number * slots),
            first_starts: next(8 * clouds),
            results: next(size_of::<Levels<T>>() * clouds),
            found: next(4 * clouds),
            known: next(number * clouds * rows),
            memory: next(arrays * clouds),
            index: next(index),
            inner: next(0),
            inner_bytes,
            bytes: 0,
        };
        Self { bytes: plan.inner + inner_bytes, ..plan }
    }
}

/// Returns the kernel of the levels.
pub(super) fn kernel<T: CudaScalar>(gpu: &Gpu, dims: usize) -> Result<(Function, Launch), Error> {
    let name = if dims > 3 { "fastpoint_high" } else { "fastpoint" };
    Ok((gpu.function::<T>("fastpoint", name)?, Launch::new(1, THREADS).cooperative()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(samples: usize) -> Work {
        Work {
            first: Exact::new(First::Exact(farpoint::Algorithm::Auto)).unwrap(),
            estimator: Estimator::Network,
            shape: Shape { clouds: 2, rows: 124_668, dims: 3, samples },
            starts: 1,
            has_index: true,
        }
    }

    #[test]
    fn scratch_sizes_match_the_documentation() {
        let teams = Teams { team: 132, count: 2 };
        let a_point = |bytes: usize| bytes as f64 / (2.0 * 124_668.0);
        let narrow = Plan::of::<f32>(&work(31_167), teams, 0).bytes;
        let wide = Plan::of::<f64>(&work(31_167), teams, 0).bytes;
        assert!((32.0..45.0).contains(&a_point(narrow)), "{}", a_point(narrow));
        assert!((40.0..65.0).contains(&a_point(wide)), "{}", a_point(wide));
        assert_eq!(Plan::of::<f32>(&work(310), teams, 77).bytes, 77);
    }

    #[test]
    fn oversized_clouds_are_rejected() {
        let mut large = work(1 << 20);
        assert!(large.check().is_ok());
        large.shape.rows = MAX_ROWS + 1;
        assert!(large.check().unwrap_err().to_string().contains("67108865 rows"));
        assert!(Exact::new(First::Exact(farpoint::Algorithm::Tree)).is_err());
    }
}
