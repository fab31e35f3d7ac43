//! The squared distance, written once for all vector code: `(dx*dx + dy*dy) + dz*dz`, further
//! axes added left to right, each operation rounded separately.

use crate::simd::Simd;

/// Returns `(a - b)^2`.
#[inline(always)]
pub(crate) fn square<T, S: Simd<T>>(simd: S, a: S::V, b: S::V) -> S::V {
    let difference = simd.sub(a, b);
    simd.mul(difference, difference)
}

/// Returns squared distances over the first three axes.
#[inline(always)]
pub(crate) fn squared<T, S: Simd<T>>(simd: S, a: [S::V; 3], b: [S::V; 3]) -> S::V {
    let two = simd.add(square(simd, a[0], b[0]), square(simd, a[1], b[1]));
    simd.add(two, square(simd, a[2], b[2]))
}
