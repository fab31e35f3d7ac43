//! The ends of a row of numbers.

use crate::Scalar;

/// The smallest and the largest of `values`.
pub(crate) fn extremes<T: Scalar>(values: &[T]) -> Option<(T, T)> {
    // Sixteen at a time, which compilers turn into vectors.
    let mut low = [*values.first()?; 16];
    let mut high = low;
    let blocks = values.chunks_exact(16);
    let rest = blocks.remainder();
    for block in blocks.chain((!rest.is_empty()).then_some(rest)) {
        for (k, &x) in block.iter().enumerate() {
            low[k] = if x < low[k] { x } else { low[k] };
            high[k] = if x > high[k] { x } else { high[k] };
        }
    }
    let low = low.into_iter().reduce(|a, b| if b < a { b } else { a })?;
    let high = high.into_iter().reduce(|a, b| if b > a { b } else { a })?;
    Some((low, high))
}
