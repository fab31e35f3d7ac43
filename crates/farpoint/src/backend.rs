//! What backends and bindings of this project share with the CPU: checked jobs, batches on threads.
//! Not for users: crates that use it pin the exact version.

use crate::Error;
pub use crate::fps::prepared::Prepared as PreparedCloud;

pub use crate::approximate::estimator;
pub use crate::neighbors::backward::check as check_backward;
pub use crate::neighbors::prepared::Prepared as PreparedPair;
pub use crate::neighbors::several::{Found as FoundNeighbors, Limits as SearchLimits};
pub use crate::random::SplitMix64;
pub use crate::sum::total;
pub use crate::threads::spread;

/// Puts what belongs to the clouds of a padded batch into one dense array of `n` values per cloud:
/// distances, indices, or gradients (then `n` counts numbers, not points). Padding gets `fill`.
///
/// # Errors
/// If a cloud has more than `n` values.
pub fn padded_rows<V: Copy, R: AsRef<[V]>>(rows: &[R], n: usize, fill: V) -> Result<Vec<V>, Error> {
    let mut dense = Vec::with_capacity(rows.len() * n);
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
