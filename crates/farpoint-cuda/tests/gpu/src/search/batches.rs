//! Batches of clouds to search, and jobs for them.

use crate::clouds::{Cloud, any_exponent};
use crate::pointers::{RowLayout, laid_out};
use farpoint::{Norm, Order, Searcher};
use farpoint_cuda::{Buffer, CudaScalar, DeviceClouds, Error, Stream};
use farpoint_generate::Kind;

/// Kind of coordinates of the clouds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CloudKind {
    Kind(Kind),
    /// Multiples of a tenth, any number of axes.
    Tied,
    Random,
    /// Many points at two places.
    Crowded,
    /// Random, 100,000 wide and off the origin.
    Wide,
    /// Coordinates so large that distances overflow.
    Huge,
    /// Coordinates of all exponents.
    Exponents,
    /// Room with rows that hold NaN or infinity.
    Bad,
}

impl CloudKind {
    fn cloud<T: CudaScalar>(self, n: usize, dims: usize, seed: u64) -> Cloud<T> {
        match self {
            Self::Kind(kind) => Cloud::of(kind, n, seed),
            Self::Tied => Cloud::random(n, dims, Some(4), seed),
            Self::Random => Cloud::random(n, dims, None, seed),
            Self::Crowded => Cloud::random(n, dims, None, seed).crowded(),
            Self::Wide => Cloud::random(n, dims, None, seed).times(1e5).plus(-3e4),
            Self::Huge => {
                let factor = if size_of::<T>() == 4 { 1e20 } else { 1e155 };
                Cloud::random(n, dims, None, seed).times(factor)
            }
            Self::Exponents => any_exponent(n, -60, 60, seed),
            Self::Bad => {
                let mut cloud = Cloud::<T>::of(Kind::Room, n, seed);
                let non_finite = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
                for (k, x) in cloud.data.iter_mut().enumerate().skip(seed as usize % 5) {
                    if k % 41 == 0 {
                        *x = T::from_f64(non_finite[k % 3]);
                    }
                }
                cloud
            }
        }
    }
}

/// A batch.
#[derive(Clone)]
pub(super) struct Spec {
    pub(super) name: String,
    pub(super) cloud_kind: CloudKind,
    pub(super) dims: usize,
    /// Rows of each cloud; padded to the largest number, or one after another.
    pub(super) lengths: [Vec<usize>; 2],
    pub(super) ragged: [bool; 2],
    pub(super) layouts: [RowLayout; 2],
    /// Set if the clouds of `y` search themselves.
    pub(super) self_search: bool,
}

impl Spec {
    pub(super) fn of(cloud_kind: CloudKind, clouds: usize, rows: [usize; 2]) -> Self {
        Self {
            name: format!("{cloud_kind:?}, {clouds} x {} in {}", rows[0], rows[1]),
            cloud_kind,
            dims: 3,
            lengths: rows.map(|rows| vec![rows; clouds]),
            ragged: [false; 2],
            layouts: [RowLayout::Rows; 2],
            self_search: false,
        }
    }

    pub(super) fn self_search(self) -> Self {
        let lengths = [self.lengths[1].clone(), self.lengths[1].clone()];
        Self { name: format!("{}, itself", self.name), lengths, self_search: true, ..self }
    }

    /// The batch several times over, so that there are enough rows for warps to search for several together.
    pub(super) fn times(self, times: usize) -> Self {
        let lengths = self.lengths.each_ref().map(|lengths| lengths.repeat(times));
        Self { name: format!("{}, {times} times", self.name), lengths, ..self }
    }

    /// Clouds of many sizes, some of them empty.
    pub(super) fn lists(ragged: [bool; 2]) -> Self {
        let lengths = [vec![700, 0, 1, 650, 33, 90, 5], vec![300, 40, 900, 0, 33, 1, 64]];
        let name = format!("lengths, ragged {ragged:?}");
        Self { name, lengths, ragged, ..Self::of(CloudKind::Kind(Kind::Room), 7, [0; 2]) }
    }

    pub(super) fn rows(&self) -> [usize; 2] {
        self.lengths.each_ref().map(|lengths| lengths.iter().copied().max().unwrap_or(0))
    }

    /// Rows of a side's batch.
    pub(super) fn all_rows(&self, side: usize) -> usize {
        match self.ragged[side] {
            true => self.lengths[side].iter().sum(),
            false => self.lengths[side].len() * self.rows()[side],
        }
    }

    /// First row of each cloud.
    pub(super) fn begins(&self, side: usize) -> Vec<usize> {
        let lengths = &self.lengths[side];
        let begin = |cloud: usize| match self.ragged[side] {
            true => lengths[..cloud].iter().sum(),
            false => cloud * self.rows()[side],
        };
        (0..lengths.len()).map(begin).collect()
    }

    pub(super) fn clouds<T: CudaScalar>(&self, side: usize) -> Vec<Cloud<T>> {
        let seed = |cloud: usize| (2 * cloud + if self.self_search { 1 } else { side }) as u64;
        let cloud = |(k, &n): (usize, &usize)| self.cloud_kind.cloud(n, self.dims, seed(k));
        self.lengths[side].iter().enumerate().map(cloud).collect()
    }
}

/// One side in device memory.
pub(super) struct Side<T> {
    pub(super) points: Buffer<T>,
    offsets: Buffer<i64>,
    lengths: Buffer<i64>,
    pub(super) clouds: DeviceClouds,
}

impl<T: CudaScalar> Side<T> {
    pub(super) fn new(
        stream: &Stream,
        spec: &Spec,
        side: usize,
        clouds: &[Cloud<T>],
    ) -> Result<Self, Error> {
        let (rows, ragged) = (spec.rows()[side], spec.ragged[side]);
        let (data, strides) = laid_out(spec.layouts[side], (!ragged).then_some(rows), clouds);
        let lengths: Vec<i64> = spec.lengths[side].iter().map(|&n| n as i64).collect();
        let sums: Vec<i64> = (0..=lengths.len()).map(|end| lengths[..end].iter().sum()).collect();
        let differ = spec.lengths[side].iter().any(|&n| n != rows);
        let points = Buffer::upload(stream, &data, "points")?;
        let offsets = Buffer::upload(stream, &sums, "offsets")?;
        let lengths = Buffer::upload(stream, &lengths, "lengths")?;
        let clouds = DeviceClouds {
            strides,
            offsets: ragged.then(|| offsets.pointer()),
            lengths: (differ && !ragged).then(|| lengths.pointer()),
            ..DeviceClouds::padded(points.pointer(), rows, spec.dims)
        };
        Ok(Self { points, offsets, lengths, clouds })
    }

    /// Keeps the clouds' lists alive.
    pub(super) fn lists(&self) -> usize {
        self.offsets.len() + self.lengths.len()
    }
}

/// The k nearest, with every k at which kernels differ.
pub(super) fn nearest() -> Vec<(&'static str, Searcher)> {
    let mut jobs: Vec<_> =
        [1, 3, 4, 5, 16, 17, 32, 33, 70].map(|k| ("nearest", Searcher::nearest(k))).into();
    for k in [1, 3, 4, 16, 31, 32, 64] {
        jobs.push(("nearest but itself", Searcher::nearest(k).exclude_self(true)));
    }
    jobs.push(("nearest, norm 1", Searcher::nearest(12).norm(Norm::One)));
    jobs.push(("nearest 200", Searcher::nearest(200)));
    jobs
}

/// Balls of every kind, around a radius that holds some points.
pub(super) fn balls(radius: f64) -> Vec<(&'static str, Searcher)> {
    let ball = |k: usize| Searcher::ball(radius, k);
    let near = |k: usize| ball(k).order(Order::Nearest);
    vec![
        ("ball", ball(1)),
        ("ball", ball(16)),
        ("ball", ball(32)),
        ("ball", ball(100)),
        ("ball, inclusive", ball(20).inclusive(true)),
        ("ball, itself not", ball(33).exclude_self(true)),
        ("ball with a hole", ball(24).min_radius(radius * 0.5)),
        ("ball with a hole, near", ball(40).min_radius(radius * 0.7).near(radius * 0.2)),
        ("ball, nearest", near(3)),
        ("ball, nearest", near(16)),
        ("ball, nearest", near(80)),
        ("ball, nearest, itself not", near(16).exclude_self(true)),
        ("ball, nearest, hole", near(9).min_radius(radius * 0.5)),
        ("ball, nearest, hole, norm 1", near(9).min_radius(radius * 0.5).norm(Norm::One)),
        ("ball of norm 1", ball(8).norm(Norm::One)),
        ("ball without radius", Searcher::ball(0.0, 4)),
        ("ball without radius, inclusive", Searcher::ball(0.0, 4).inclusive(true)),
        ("ball of everything", Searcher::ball(f64::INFINITY, 40).inclusive(true)),
        ("large ball", Searcher::ball(radius * 20.0, 10)),
    ]
}
