//! Internals shared by the backends and bindings of this project: validated jobs, batches on threads.
//! Not part of the public interface; crates that use it pin the exact version.

pub use crate::fps::prepared::Prepared as PreparedCloud;
use crate::memory as vectors;
use crate::simd::{Program, dispatch};
use crate::{Error, Level, Scalar};

pub use crate::memory::fallible as memory;
pub use crate::neighbors::backward::{check as check_backward, placed as placed_chamfer};
pub use crate::neighbors::knn::{Found as FoundNeighbors, Limits as SearchLimits};
pub use crate::neighbors::prepared::Prepared as PreparedPair;
pub use crate::points::erased;
pub use crate::random::SplitMix64;
pub use crate::simd::{Kernel, Simd};
pub use crate::spatial::{Cells, Grid};
pub use crate::sum::total;
#[cfg(feature = "rayon")]
pub use crate::threads::{granted, granted_here, granted_of, start};
pub use crate::threads::{spawned, spread};
pub use crate::unwind::caught;
pub use crate::voxels::prepared::{Found as FoundVoxels, Prepared as PreparedVoxels};

/// Runs a kernel compiled for an instruction set.
///
/// # Panics
/// If this machine does not have it.
pub fn vectorize<T: Scalar, K: Kernel<T>>(level: Level, kernel: K) -> K::Output {
    struct Once<K>(K);
    impl<T: Scalar, K: Kernel<T>> Program<T> for Once<K> {
        type Output = K::Output;
        fn run<S: Simd<T>>(self, simd: S) -> Self::Output {
            simd.vectorize(self.0)
        }
    }
    dispatch::<T, _>(level, Once(kernel))
}

/// Loads a vector from the beginning of a slice.
///
/// # Panics
/// If the slice is shorter than a vector.
#[inline(always)]
pub fn load<T, S: Simd<T>>(simd: S, from: &[T]) -> S::V {
    assert!(from.len() >= S::LANES);
    // SAFETY: the assertion above.
    unsafe { vectors::load(simd, from, 0) }
}

/// Stores a vector at the beginning of a slice.
///
/// # Panics
/// If the slice is shorter.
#[inline(always)]
pub fn store<T, S: Simd<T>>(simd: S, to: &mut [T], value: S::V) {
    assert!(to.len() >= S::LANES);
    // SAFETY: the assertion above.
    unsafe { vectors::store(simd, to, 0, value) }
}

/// Writes the lanes of `mask` to the beginning of a slice; the rest of the vector is overwritten.
///
/// # Panics
/// If the slice is shorter than a vector.
#[inline(always)]
#[allow(clippy::disallowed_methods, reason = "the length is checked here")]
pub fn compress<T, S: Simd<T>>(simd: S, mask: u32, value: S::V, to: &mut [T]) {
    assert!(to.len() >= S::LANES);
    // SAFETY: the assertion above.
    unsafe { simd.compress(mask, value, to.as_mut_ptr()) }
}

/// Combines the rows of a padded batch into one dense array of `n` values per cloud:
/// distances, indices, or gradients (then `n` counts numbers, not points). Padding is `fill`.
///
/// # Errors
/// If a cloud has more than `n` values.
pub fn padded_rows<V: Copy, R: AsRef<[V]>>(rows: &[R], n: usize, fill: V) -> Result<Vec<V>, Error> {
    let mut dense = caught(|| Ok(memory::with_capacity(rows.len().saturating_mul(n))))?;
    for (cloud, values) in rows.iter().map(AsRef::as_ref).enumerate() {
        if values.len() > n {
            return Err(Error::Shape(format!(
                "{} values of cloud {cloud} do not fit in {n}",
                values.len()
            )));
        }
        dense.extend_from_slice(values);
        dense.resize((cloud + 1) * n, fill);
    }
    Ok(dense)
}

#[cfg(test)]
mod tests {
    use super::padded_rows;

    #[test]
    fn rows_are_padded() {
        let rows: [&[f32]; 2] = [&[1.0, 2.0], &[3.0]];
        assert_eq!(padded_rows(&rows, 3, 0.0).unwrap(), [1.0, 2.0, 0.0, 3.0, 0.0, 0.0]);
        assert!(padded_rows(&rows, 1, 0.0).is_err());
    }
}
