//! Results of other devices.

use super::limits::Limits;
use crate::{Neighbors, Scalar, Searcher, WithinBall};

/// Result of a search for the best `k`, of one pair of clouds: all rows, including those left out.
pub struct Found<T> {
    /// `k` per row.
    pub distances: Vec<T>,
    /// `k` per row, [`Neighbors::NONE`] for none.
    pub indices: Vec<u32>,
    /// One per row.
    pub counts: Vec<u32>,
    /// Number of rows left out.
    pub dropped: usize,
}

impl<T: Scalar> Found<T> {
    /// Returns the result; `None` if it can't be one of a search in `targets` rows.
    pub fn neighbors(self, searcher: &Searcher, targets: usize) -> Option<Neighbors<T>> {
        let Self { distances, indices, counts, dropped } = self;
        let k = searcher.k;
        let all = counts.len().checked_mul(k)?;
        let row = |(row, &count): (usize, &u32)| {
            let (present, none) = indices[row * k..][..k].split_at_checked(count as usize)?;
            let valid = present.iter().all(|&index| (index as usize) < targets)
                && none.iter().all(|&index| index == Neighbors::<T>::NONE);
            valid.then_some(())
        };
        if distances.len() != all || indices.len() != all {
            return None;
        }
        counts.iter().enumerate().try_for_each(|place| row(place).ok_or(())).ok()?;
        let norm = searcher.norm;
        Some(Neighbors { all_distances: distances, all_indices: indices, counts, k, norm, dropped })
    }

    /// Returns the result of a search for all in balls, with row starts `offsets`; `None` if it can't be one.
    pub fn within(
        self,
        searcher: &Searcher,
        offsets: Vec<usize>,
        targets: usize,
    ) -> Option<WithinBall<T>> {
        let Self { distances, indices, dropped, .. } = self;
        let all = *offsets.last()?;
        let valid = indices.iter().all(|&index| (index as usize) < targets)
            && distances.iter().all(|&distance| distance <= Limits::<T>::of(searcher).maximum);
        if !valid || indices.len() != all || distances.len() != all {
            return None;
        }
        let norm = searcher.norm;
        Some(WithinBall { indices, raw_distances: distances, offsets, norm, dropped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(indices: &[u32], counts: &[u32]) -> Option<Neighbors<f32>> {
        let (indices, counts) = (indices.to_vec(), counts.to_vec());
        Found { distances: vec![0.0; indices.len()], indices, counts, dropped: 0 }
            .neighbors(&Searcher::nearest(2), 5)
    }

    #[test]
    fn impossible_results_are_rejected() {
        let none = Neighbors::<f32>::NONE;
        assert_eq!(found(&[4, 0, 1, none], &[2, 1]).unwrap().indices(1), [1]);
        assert!(found(&[4, 5, 1, none], &[2, 1]).is_none());
        assert!(found(&[4, 0, 1, none], &[2, 2]).is_none());
        assert!(found(&[4, 0, 1, 2], &[2, 1]).is_none());
        assert!(found(&[4, 0, 1, 2], &[2, 3]).is_none() && found(&[1], &[1]).is_none());
    }
}
