//! Cuts points into spatial tiles and pages of equal counts: halves along the longest side, recursively.

use crate::Corners;
use farpoint::Scalar;
use farpoint::backend::memory;

/// Points in a leaf: pages are cut further, so that neighbors are close together within them.
const LEAF: usize = 64;

/// Below this many points, one thread cuts both halves.
const PARALLEL_POINTS: usize = 1 << 15;

#[derive(Clone, Copy)]
struct Item<T> {
    at: [T; 3],
    point: u32,
}

fn items<T: Scalar>(at: &[Vec<T>; 3], points: impl Iterator<Item = u32>) -> Vec<Item<T>> {
    let item = |point: u32| Item { at: [0, 1, 2].map(|a| at[a][point as usize]), point };
    memory::collected(points.map(item))
}

/// Returns the points of each of `count` tiles of about equal size.
///
/// # Panics
/// If axes have different lengths, there are `2^32` points or more, or `count` is 0.
pub fn tiles<T: Scalar>(at: &[Vec<T>; 3], count: usize) -> Vec<Vec<u32>> {
    assert!(count > 0, "at least one tile");
    let n = u32::try_from(at[0].len()).expect("fewer than 2^32 points");
    let mut items = items(at, 0..n);
    let mut ends = Vec::new();
    split_tiles(&mut items, count, 0, &mut ends);
    let mut start = 0;
    let tile = |end: usize| {
        let tile = &items[std::mem::replace(&mut start, end)..end];
        tile.iter().map(|item| item.point).collect()
    };
    ends.into_iter().map(tile).collect()
}

fn split_tiles<T: Scalar>(
    items: &mut [Item<T>],
    count: usize,
    start: usize,
    ends: &mut Vec<usize>,
) {
    if count == 1 {
        return ends.push(start + items.len());
    }
    let left = count / 2;
    let middle = items.len() * left / count;
    split(items, middle);
    let (low, high) = items.split_at_mut(middle);
    split_tiles(low, left, start, ends);
    split_tiles(high, count - left, start + middle, ends);
}

/// Orders the points of a tile such that every `page_points` of them, and every 64, are close together.
///
/// # Panics
/// If axes have different lengths, there are `2^32` points or more, or `page_points` is no multiple of 64.
pub fn pages<T: Scalar>(at: &[Vec<T>; 3], page_points: usize) -> Vec<u32> {
    assert!(
        page_points > 0 && page_points.is_multiple_of(LEAF),
        "{page_points} is no multiple of 64"
    );
    let n = u32::try_from(at[0].len()).expect("fewer than 2^32 points");
    let mut items = items(at, 0..n);
    split_pages(&mut items, page_points);
    items.into_iter().map(|item| item.point).collect()
}

fn split_pages<T: Scalar>(items: &mut [Item<T>], page: usize) {
    if items.len() <= LEAF {
        return;
    }
    let unit = if items.len() > page { page } else { LEAF };
    let middle = items.len().div_ceil(unit) / 2 * unit;
    split(items, middle);
    let shared = items.len() > PARALLEL_POINTS;
    let (low, high) = items.split_at_mut(middle);
    if shared {
        rayon::join(|| split_pages(low, page), || split_pages(high, page));
    } else {
        split_pages(low, page);
        split_pages(high, page);
    }
}

/// Moves the first `middle` points along the longest side to the front.
fn split<T: Scalar>(items: &mut [Item<T>], middle: usize) {
    if middle == 0 || middle >= items.len() {
        return;
    }
    let mut corners = Corners::none();
    items.iter().for_each(|item| corners.add(item.at));
    let side = |a: usize| corners.high[a].to_f64() - corners.low[a].to_f64();
    let axis = (0..3).max_by(|&a, &b| side(a).total_cmp(&side(b))).expect("three axes");
    let order = |a: &Item<T>, b: &Item<T>| {
        let along = a.at[axis].partial_cmp(&b.at[axis]).expect("coordinates are numbers");
        along.then(a.point.cmp(&b.point))
    };
    items.select_nth_unstable_by(middle, order);
}

#[cfg(test)]
mod tests {
    use farpoint::backend::SplitMix64;

    #[test]
    fn every_point_is_in_one_tile_and_one_page() {
        let mut random = SplitMix64::new(5);
        let at: [Vec<f32>; 3] =
            std::array::from_fn(|_| (0..5000).map(|_| random.unit() as f32).collect());
        let tiles = super::tiles(&at, 7);
        let mut all: Vec<u32> = tiles.iter().flatten().copied().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..5000));
        assert!(tiles.iter().all(|tile| tile.len().abs_diff(5000 / 7) < 3));
        let mut order = super::pages(&at, 256);
        order.sort_unstable();
        assert!(order.into_iter().eq(0..5000));
    }
}
