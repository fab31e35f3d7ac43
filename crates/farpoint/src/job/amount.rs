//! Number of points to sample.

use crate::Error;

/// Number of points to sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Amount {
    /// A fixed number of points.
    Count(usize),
    /// `ceil(ratio * points)`, for a ratio in `0..=1`.
    Ratio(f64),
    /// Until the covering radius is at most this (in the unit of the coordinates). Exact samplers
    /// only.
    Spacing(f64),
    /// The whole cloud; by an exact sampler, in farthest-first order.
    All,
    /// One point per occupied cell of a cubic grid of this size (in the unit of the coordinates).
    /// [`crate::approximate::Method::Grid`] only.
    Cell(f64),
}

impl Amount {
    /// Returns the number of samples of a cloud of `points` usable points; for a spacing and for cells,
    /// the upper bound.
    ///
    /// ```
    /// use farpoint::Amount;
    /// assert_eq!(Amount::Ratio(0.25).limit(10)?, 3);
    /// assert!(Amount::Count(11).limit(10).is_err());
    /// # Ok::<(), farpoint::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::EmptyCloud`] and [`Error::TooManySamples`] if the cloud has too few points,
    /// [`Error::BadRatio`], [`Error::BadSpacing`] and [`Error::BadCell`] for numbers out of range.
    pub fn limit(self, points: usize) -> Result<usize, Error> {
        match self {
            Self::Count(0) => Ok(0),
            Self::Ratio(ratio) if !(0.0..=1.0).contains(&ratio) => Err(Error::BadRatio(ratio)),
            Self::Count(_) | Self::Spacing(_) | Self::Cell(_) if points == 0 => {
                Err(Error::EmptyCloud)
            }
            Self::Count(samples) if samples > points => {
                Err(Error::TooManySamples { samples, points })
            }
            Self::Spacing(spacing) if !(spacing >= 0.0 && spacing.is_finite()) => {
                Err(Error::BadSpacing(spacing))
            }
            Self::Cell(cell) if !(cell > 0.0 && cell.is_finite()) => Err(Error::BadCell(cell)),
            Self::Count(samples) => Ok(samples),
            Self::Ratio(ratio) => Ok((ratio * points as f64).ceil() as usize),
            Self::Spacing(_) | Self::All | Self::Cell(_) => Ok(points),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_at_most_the_number_of_points() {
        assert_eq!(Amount::Count(3).limit(10), Ok(3));
        assert_eq!(Amount::Ratio(0.241).limit(100), Ok(25));
        assert_eq!(Amount::Ratio(1.0).limit(0), Ok(0));
        assert_eq!(Amount::Spacing(0.5).limit(10), Ok(10));
        assert_eq!(Amount::All.limit(10), Ok(10));
        assert_eq!(Amount::Count(0).limit(0), Ok(0));
    }

    #[test]
    fn impossible_amounts_are_rejected() {
        assert_eq!(Amount::Count(1).limit(0), Err(Error::EmptyCloud));
        assert_eq!(Amount::Spacing(1.0).limit(0), Err(Error::EmptyCloud));
        let refused = Amount::Count(11).limit(10);
        assert_eq!(refused, Err(Error::TooManySamples { samples: 11, points: 10 }));
        for ratio in [-0.1, 1.1, f64::INFINITY] {
            assert_eq!(Amount::Ratio(ratio).limit(10), Err(Error::BadRatio(ratio)));
        }
        assert!(matches!(Amount::Ratio(f64::NAN).limit(10), Err(Error::BadRatio(_))));
        assert_eq!(Amount::Spacing(-1.0).limit(10), Err(Error::BadSpacing(-1.0)));
        assert_eq!(Amount::Cell(0.0).limit(10), Err(Error::BadCell(0.0)));
    }
}
