//! The order of a tile's points: pages of neighbors, by halving.

use farpoint::Scalar;
use farpoint_tiles::Corners;

/// Points from which two threads share the work.
const SHARED: usize = 1 << 15;

/// A point and where it came from.
#[derive(Clone, Copy)]
pub(crate) struct Item<T> {
    pub(crate) at: [T; 3],
    pub(crate) from: u32,
}

/// Orders points so that each run of `page` of them lies close together. All but the last are full.
pub(crate) fn into_pages<T: Scalar>(points: &mut [Item<T>], page: usize) {
    let pages = points.len().div_ceil(page);
    if pages < 2 {
        return;
    }
    let corners = corners(points);
    let width = |axis: usize| corners.high[axis].to_f64() - corners.low[axis].to_f64();
    let axis = (0..3).max_by(|&a, &b| width(a).total_cmp(&width(b))).unwrap_or(0);
    let middle = pages / 2 * page;
    points.select_nth_unstable_by(middle, |a, b| {
        let order = a.at[axis].partial_cmp(&b.at[axis]).unwrap_or(std::cmp::Ordering::Equal);
        order.then(a.from.cmp(&b.from))
    });
    let (low, high) = points.split_at_mut(middle);
    if low.len() < SHARED {
        into_pages(low, page);
        into_pages(high, page);
    } else {
        rayon::join(|| into_pages(low, page), || into_pages(high, page));
    }
}

/// The box of points.
pub(crate) fn corners<T: Scalar>(points: &[Item<T>]) -> Corners<T> {
    let mut corners = Corners::none();
    points.iter().for_each(|point| corners.add(point.at));
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_close_together() {
        let room = farpoint_generate::room(70_003, 5);
        let mut points: Vec<Item<f32>> =
            room.iter().zip(0..).map(|(&at, from)| Item { at, from }).collect();
        into_pages(&mut points, 64);
        assert!(points.iter().all(|point| room[point.from as usize] == point.at));
        let mut all: Vec<u32> = points.iter().map(|point| point.from).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..70_003));
        let widths = points.chunks(64).map(|page| corners(page).width());
        let mean = widths.sum::<f64>() / 1094.0;
        assert!(mean < corners(&points).width() / 8.0, "{mean}");
    }
}
