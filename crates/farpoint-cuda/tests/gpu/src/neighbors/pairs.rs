//! Pairs of clouds to match.

use crate::clouds::Cloud;
use farpoint_cuda::CudaScalar;
use farpoint_generate::Kind;

/// Two clouds.
#[derive(Clone)]
pub(crate) struct Pair<T> {
    pub(crate) a: Cloud<T>,
    pub(crate) b: Cloud<T>,
}

/// Kind of coordinates of a pair, for any number of axes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PairKind {
    Random,
    /// Four values per axis: many ties, and duplicates.
    Tied,
    /// Each cloud one point, repeated.
    Equal,
    /// Many points at two places.
    Crowded,
    /// All points on a line.
    Line,
    /// Far apart compared with their size.
    Apart,
    /// Squares that overflow to infinity.
    Huge,
    /// Some squares overflow and some don't.
    NearlyHuge,
    /// Numbers below the smallest normal one.
    Subnormal,
    /// Squares that vanish.
    Tiny,
    /// A million from the origin.
    Offset,
    /// A point far from all others.
    Outlier,
}

impl PairKind {
    pub(crate) const ALL: [Self; 12] = [
        Self::Random,
        Self::Tied,
        Self::Equal,
        Self::Crowded,
        Self::Line,
        Self::Apart,
        Self::Huge,
        Self::NearlyHuge,
        Self::Subnormal,
        Self::Tiny,
        Self::Offset,
        Self::Outlier,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Tied => "tied",
            Self::Equal => "equal",
            Self::Crowded => "crowded",
            Self::Line => "line",
            Self::Apart => "far apart",
            Self::Huge => "huge",
            Self::NearlyHuge => "nearly huge",
            Self::Subnormal => "subnormal",
            Self::Tiny => "tiny",
            Self::Offset => "far from the origin",
            Self::Outlier => "with an outlier",
        }
    }

    /// A pair of `n` and `m` points of `dims` coordinates.
    pub(crate) fn pair<T: CudaScalar>(self, [n, m]: [usize; 2], dims: usize, seed: u64) -> Pair<T> {
        let single = T::SUFFIX == "f32";
        let of = |tied| {
            let [a, b] = [(n, 2 * seed), (m, 2 * seed + 1)];
            [a, b].map(|(n, seed)| Cloud::<T>::random(n, dims, tied, seed))
        };
        let scaled = |narrow: f64, wide: f64| {
            of(None).map(|cloud| cloud.plus(-0.5).times(if single { narrow } else { wide }))
        };
        let [a, b] = match self {
            Self::Random => of(None),
            Self::Tied => of(Some(4)),
            Self::Equal => {
                let [a, b] = of(Some(1));
                [a, b.plus(0.3)]
            }
            Self::Crowded => of(None).map(Cloud::crowded),
            Self::Line => of(None).map(|mut cloud| {
                cloud.data.chunks_exact_mut(dims).for_each(|row| row[1..].fill(T::ZERO));
                cloud
            }),
            Self::Apart => {
                let [a, b] = of(None);
                [a, b.plus(100.0)]
            }
            Self::Huge => scaled(3e25, 3e190),
            Self::NearlyHuge => scaled(3e19, 2e154),
            Self::Subnormal => scaled(1e-42, 1e-318),
            Self::Tiny => scaled(1e-21, 1e-161),
            Self::Offset => of(None).map(|cloud| cloud.plus(1e6)),
            Self::Outlier => of(None).map(|mut cloud| {
                cloud.data[0] = T::from_f64(1e12);
                cloud
            }),
        };
        Pair { a, b }
    }
}

/// Two different clouds of a kind; of large ones the second is the first, moved and shuffled by
/// its own seed.
pub(crate) fn made<T: CudaScalar>(kind: Kind, [n, m]: [usize; 2], seed: u64) -> Pair<T> {
    Pair { a: Cloud::of(kind, n, 2 * seed), b: Cloud::of(kind, m, 2 * seed + 1) }
}

/// A cloud, and the same moved by 0.1 along every axis.
pub(crate) fn moved<T: CudaScalar>(kind: Kind, n: usize, seed: u64) -> Pair<T> {
    let a = Cloud::<T>::of(kind, n, seed);
    Pair { b: a.clone().plus(0.1), a }
}
