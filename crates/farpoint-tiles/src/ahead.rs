//! Pages known only by their boxes and bounds: a candidate waits for any point that they may hold.

use crate::slab::larger;
use crate::{Bound, Corners};
use farpoint::Scalar;

/// Pages in a group.
const GROUP: usize = 16;

/// Bounds of foreign pages, in groups with a bound each.
pub(crate) struct Ahead<T> {
    pages: Vec<Bound<T>>,
    groups: Vec<Bound<T>>,
    all: Bound<T>,
}

impl<T: Scalar> Ahead<T> {
    /// Pages that are neighbors in the list should be neighbors in space.
    pub(crate) fn new(pages: Vec<Bound<T>>) -> Self {
        let groups: Vec<_> = pages.chunks(GROUP).map(around).collect();
        let all = around(&groups);
        Self { pages, groups, all }
    }

    /// Returns whether a page may hold an undecided point that comes before a candidate and is nearer to it than its
    /// distance.
    #[inline]
    pub(crate) fn blocks(&self, at: [T; 3], value: T) -> bool {
        let may = |bound: &Bound<T>| bound.largest >= value && bound.corners.near(at) < value;
        let mut groups = self.pages.chunks(GROUP).zip(&self.groups);
        may(&self.all) && groups.any(|(pages, group)| may(group) && pages.iter().any(may))
    }
}

fn around<T: Scalar>(bounds: &[Bound<T>]) -> Bound<T> {
    let none = Bound { corners: Corners::none(), largest: T::ZERO };
    bounds.iter().fold(none, |mut bound, other| {
        bound.corners.merge(&other.corners);
        Bound { largest: larger(bound.largest, other.largest), ..bound }
    })
}
