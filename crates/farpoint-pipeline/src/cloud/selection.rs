//! Selection of points of a cloud: those that a filter leaves, or that are listed.

use super::points::finite;
use crate::{Points, each_precision};
use std::collections::HashSet;

/// Some points of a cloud.
#[derive(Debug)]
pub struct InputPoints<'a> {
    /// All of them.
    pub points: Points<'a>,
    /// Rows that are used, unless all are; of these, rows with NaN or infinity are still to be left out.
    pub used: Option<RowSelection>,
    /// Number of rows selected from: all, or those that were listed.
    pub of: usize,
}

/// Rows of a cloud that are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowSelection {
    /// Rows whose value is true, of one value per row.
    Mask(Vec<bool>),
    /// These, each once; ties go to the row listed first.
    Rows(Vec<usize>),
}

impl RowSelection {
    /// Returns the number of rows.
    pub fn count(&self) -> usize {
        match self {
            Self::Mask(mask) => mask.iter().filter(|used| **used).count(),
            Self::Rows(rows) => rows.len(),
        }
    }

    fn has(&self, row: usize) -> bool {
        match self {
            Self::Mask(mask) => mask.get(row) == Some(&true),
            Self::Rows(rows) => rows.contains(&row),
        }
    }

    /// Returns the rows of `listed`, in its order, that are used here too.
    fn intersect(&self, listed: Self) -> Self {
        let row_set: HashSet<usize> = match self {
            Self::Mask(_) => HashSet::new(),
            Self::Rows(rows) => rows.iter().copied().collect(),
        };
        let has = |row: usize| match self {
            Self::Mask(mask) => mask.get(row) == Some(&true),
            Self::Rows(_) => row_set.contains(&row),
        };
        match listed {
            Self::Mask(mask) => {
                let both = mask.iter().enumerate().map(|(row, used)| *used && has(row));
                Self::Mask(both.collect())
            }
            Self::Rows(rows) => Self::Rows(rows.into_iter().filter(|&row| has(row)).collect()),
        }
    }
}

/// Evaluates the same expression for points of either precision, `$some` being those that are used, `$all` the slice
/// of all. The expression is a `Result` whose error is made from [`farpoint::Error`].
#[macro_export]
macro_rules! each_chosen {
    ($chosen:expr, $all:ident, $some:ident => $body:expr) => {
        $crate::each_precision!(&$chosen.points, all => {
            let $all = &all[..];
            let selected = match &$chosen.used {
                None => None,
                Some($crate::RowSelection::Mask(mask)) => Some(farpoint::Selected::mask($all, mask)),
                Some($crate::RowSelection::Rows(rows)) => Some(farpoint::Selected::rows($all, rows)),
            };
            match selected.transpose() {
                Ok(selected) => {
                    // Without its type, so that the expression is compiled once per precision.
                    let $some: &dyn farpoint::Points<_> = match &selected {
                        Some(selected) => selected,
                        None => &$all,
                    };
                    $body
                }
                Err(error) => Err(error.into()),
            }
        })
    };
}

impl InputPoints<'_> {
    /// Returns the number of rows that are left out by choice.
    pub fn left_out(&self) -> usize {
        self.used.as_ref().map_or(0, |used| self.of - used.count())
    }

    /// Returns whether a row is used and holds neither NaN nor infinity; `None` if there is no such row.
    pub fn is_usable(&self, row: usize) -> Option<bool> {
        let chosen = self.used.as_ref().is_none_or(|used| used.has(row));
        each_precision!(&self.points, points => points.get(row).map(|at| chosen && finite(at)))
    }

    /// Returns the number of rows that are used and hold neither NaN nor infinity.
    pub fn usable(&self) -> usize {
        match &self.used {
            None => self.points.len() - self.points.unusable(),
            Some(RowSelection::Rows(rows)) => each_precision!(&self.points, points => {
                rows.iter().filter(|row| points.get(**row).is_some_and(finite)).count()
            }),
            Some(RowSelection::Mask(mask)) => each_precision!(&self.points, points => {
                points.iter().zip(mask).filter(|(row, used)| **used && finite(row)).count()
            }),
        }
    }

    /// Returns the first row that is used and holds neither NaN nor infinity.
    pub fn first_usable(&self) -> Option<usize> {
        match &self.used {
            None => self.points.first_usable(),
            Some(RowSelection::Mask(_)) => {
                (0..self.points.len()).find(|&row| self.is_usable(row) == Some(true))
            }
            Some(RowSelection::Rows(rows)) => each_precision!(&self.points, points => {
                rows.iter().copied().find(|&row| points.get(row).is_some_and(finite))
            }),
        }
    }

    /// Selects the listed rows of these, each of which is a row of the cloud.
    pub fn among(self, listed: RowSelection) -> Self {
        let of = listed.count();
        let used = match &self.used {
            None => listed,
            Some(used) => used.intersect(listed),
        };
        Self { used: Some(used), of, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_masks_meet() {
        let (mask, rows) =
            (RowSelection::Mask(vec![true, false, true, true]), RowSelection::Rows(vec![3, 1, 0]));
        assert_eq!(mask.intersect(rows.clone()), RowSelection::Rows(vec![3, 0]));
        assert_eq!(
            rows.intersect(mask.clone()),
            RowSelection::Mask(vec![true, false, false, true])
        );
        assert_eq!(
            rows.intersect(RowSelection::Rows(vec![0, 2, 3])),
            RowSelection::Rows(vec![0, 3])
        );
        assert_eq!(mask.intersect(mask.clone()), mask);
        // A row beyond the mask is not used.
        assert_eq!(mask.intersect(RowSelection::Rows(vec![9, 2])), RowSelection::Rows(vec![2]));
    }
}
