//! Some rows of a cloud, by number or by mask.

use super::{Points, RawPoints};
use crate::unwind::caught;
use crate::{Error, Scalar, memory};
use std::fmt::Display;
use std::sync::Arc;

/// Some rows of a cloud. The result is the one for a cloud of these rows alone, but with indices
/// of the whole cloud: every index in a result is a row of the whole cloud, and so is
/// every index passed in, such as a start.
///
/// Rows keep the order in which they are listed: among equals the row that is listed first is taken, and
/// [`crate::Start::First`] is the first of them. A mask lists its rows ascending. Results per point
/// (such as [`crate::Nearest::raw_distances`]) are per selected row, in the order of the list.
///
/// ```
/// use farpoint::{Sampler, Selected};
///
/// let line: Vec<[f32; 1]> = (0..100).map(|i| [i as f32]).collect();
/// let some = Selected::rows(&line, &[40, 10, 20, 30])?;
/// assert_eq!(Sampler::count(3).sample(&some)?.indices, [40, 10, 20]);
/// let even: Vec<bool> = (0..100).map(|i| i % 2 == 0).collect();
/// assert_eq!(Sampler::count(2).sample(&Selected::mask(&line, &even)?)?.indices, [0, 98]);
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Selected<P> {
    points: P,
    /// Their rows in `points`.
    places: Arc<Vec<u32>>,
    subset: Subset,
}

impl<P> Selected<P> {
    /// Selects the points of these numbers, each at most once, in this order. In points that are themselves a
    /// selection of a cloud, they are numbers in that selection; results name rows of the whole cloud.
    ///
    /// # Errors
    /// If a number is not that of a point, or is listed twice.
    pub fn rows<T: Scalar, R>(points: P, rows: &[R]) -> Result<Self, Error>
    where
        P: Points<T>,
        R: Copy + Display + TryInto<usize>,
    {
        let len = countable(points.len())?;
        let place = |(place, &row): (usize, &R)| match row.try_into() {
            Ok(row) if row < len => Ok(row as u32),
            _ => Err(Error::RowOutOfRange { place, row: row.to_string(), points: len }),
        };
        caught(|| {
            let places = memory::try_collected(rows.iter().enumerate().map(place))?;
            let order = order(&places)?;
            Self::of(points, places.into(), order)
        })
    }

    /// Selects the points whose value in the mask, one per point, is true or not 0.
    ///
    /// # Errors
    /// If the length of the mask is not the number of points.
    pub fn mask<T: Scalar, M>(points: P, mask: &[M]) -> Result<Self, Error>
    where
        P: Points<T>,
        M: Copy + Into<u8>,
    {
        let (mask_len, len) = (mask.len(), countable(points.len())?);
        if mask_len != len {
            return Err(Error::Shape(format!("a mask of {mask_len} values for {len} points")));
        }
        let selected = |&(_, &value): &(u32, &M)| value.into() != 0;
        let places = (0..).zip(mask).filter(selected).map(|(place, _)| place);
        caught(|| Self::of(points, memory::collected(places).into(), None))
    }

    fn of<T: Scalar>(
        points: P,
        places: Arc<Vec<u32>>,
        order: Option<Arc<Vec<u32>>>,
    ) -> Result<Self, Error>
    where
        P: Points<T>,
    {
        let subset = match points.subset() {
            None => Subset { rows: places.clone(), order, whole: points.len() },
            Some(outer) => {
                let row = |&place: &u32| outer.row(place as usize) as u32;
                let rows = Arc::new(memory::collected(places.iter().map(row)));
                let order = self::order(&rows)?;
                Subset { rows, order, whole: outer.whole }
            }
        };
        Ok(Self { points, places, subset })
    }
}

fn countable(points: usize) -> Result<usize, Error> {
    if points < u32::MAX as usize { Ok(points) } else { Err(Error::TooManyPoints(points)) }
}

/// Returns the places of rows in ascending order of the rows; `None` if they ascend as they are.
///
/// # Errors
/// If a row is listed twice.
fn order(rows: &[u32]) -> Result<Option<Arc<Vec<u32>>>, Error> {
    if rows.windows(2).all(|pair| pair[0] < pair[1]) {
        return Ok(None);
    }
    let key = |(place, &row): (u64, &u32)| u64::from(row) << 32 | place;
    let mut keys = memory::collected((0..).zip(rows).map(key));
    keys.sort_unstable();
    let (row, place) = (|key: u64| (key >> 32) as usize, |key: u64| key as u32);
    match keys.windows(2).filter(|pair| row(pair[0]) == row(pair[1])).min_by_key(|p| place(p[1])) {
        None => Ok(Some(Arc::new(memory::collected(keys.into_iter().map(place))))),
        Some(pair) => {
            let places = [place(pair[0]) as usize, place(pair[1]) as usize];
            Err(Error::RowRepeated { row: row(pair[0]), places })
        }
    }
}

impl<T: Scalar, P: Points<T>> Points<T> for Selected<P> {
    fn len(&self) -> usize {
        self.places.len()
    }
    fn dim(&self) -> usize {
        self.points.dim()
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self.points.coordinate(self.places[index] as usize, axis)
    }
    fn subset(&self) -> Option<&Subset> {
        Some(&self.subset)
    }
    fn raw(&self) -> Option<RawPoints<'_, T>> {
        // A selection from a selection is copied point by point.
        self.points.places().is_none().then(|| self.points.raw())?
    }
    fn places(&self) -> Option<&[u32]> {
        Some(&self.places)
    }
}

/// Mapping between points and the rows of a whole cloud that they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subset {
    /// Different rows.
    rows: Arc<Vec<u32>>,
    /// The places in ascending order of their rows; `None` if the rows ascend.
    order: Option<Arc<Vec<u32>>>,
    whole: usize,
}

impl Subset {
    /// Returns the rows, each once, in the order of the points.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the number of rows of the whole cloud.
    pub fn whole(&self) -> usize {
        self.whole
    }

    /// Returns the row of a point.
    ///
    /// # Panics
    /// If there is no such point.
    #[inline]
    pub fn row(&self, place: usize) -> usize {
        self.rows[place] as usize
    }

    /// Returns the point that is a row; `None` if the row is not selected.
    pub fn place(&self, row: usize) -> Option<usize> {
        let row = u32::try_from(row).ok()?;
        match &self.order {
            None => self.rows.binary_search(&row).ok(),
            Some(order) => {
                let found = order.binary_search_by_key(&row, |&place| self.rows[place as usize]);
                found.ok().map(|k| order[k] as usize)
            }
        }
    }
}
