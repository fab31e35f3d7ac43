//! One point, or the centroid, of every occupied cell of a cubic grid.
//!
//! Cells are `floor((p - low) / cell)` along each axis, computed in double precision: never
//! rounded towards zero, which would double the cells around it. O(points) for a cell size, and
//! some ten times that to find one.

use super::frame::Frame;
use super::numbering::number;
use super::{Details, Keep};
use crate::cloud::Cloud;
use crate::{Points, Scalar, SplitMix64};

/// Cell sizes tried between one that leaves enough points and twice that, at most.
const TRIES: usize = 24;

/// So many cells too many, as a share, are good enough.
const ENOUGH: f64 = 1e-3;

/// Points by cell; cells are numbered in the order of their first points.
struct Cells {
    of: Vec<u32>,
    count: usize,
    /// In the frame's unit; 0 if every distinct position is a cell.
    size: f64,
}

impl Cells {
    fn new<T: Scalar>(frame: &Frame<'_, T>, points: usize, size: f64) -> Self {
        let cell = |point: usize, axis: usize| (frame.at(point, axis) / size).floor();
        let axes: Vec<usize> = (0..frame.dims()).filter(|&a| frame.side(a) >= size).collect();
        let most: Vec<f64> = axes.iter().map(|&a| (frame.side(a) / size).floor()).collect();
        // As whole numbers side by side, where they fit.
        let bits: Vec<u32> = most.iter().map(|&most| bits(most)).collect();
        let (of, count) = if bits.iter().sum::<u32>() <= 64 {
            let key = |point: usize| {
                axes.iter().zip(&bits).fold(0u64, |key, (&axis, &bits)| {
                    // All 64 bits of one axis leave nothing of the others.
                    key.checked_shl(bits).unwrap_or(0) | cell(point, axis) as u64
                })
            };
            number((0..points).map(key))
        } else {
            chained(points, &axes, cell)
        };
        Self { of, count, size }
    }

    /// A cell for every distinct position.
    fn distinct<T: Scalar>(cloud: &Cloud<T>) -> Self {
        let axes: Vec<usize> = (0..cloud.dims()).collect();
        // Adding 0 takes the sign from -0.
        let value = |point: usize, axis: usize| cloud.axes[axis][point].to_f64() + 0.0;
        let (of, count) = chained(cloud.len, &axes, value);
        Self { of, count, size: 0.0 }
    }

    /// The kept point of every cell, in the order of cells.
    fn keep<T: Scalar>(&self, frame: &Frame<'_, T>, keep: Keep) -> Vec<u32> {
        let mut kept = vec![u32::MAX; self.count];
        match keep {
            Keep::Centre if self.size > 0.0 => return self.nearest_to_centre(frame),
            Keep::First | Keep::Centre => {
                for (point, &cell) in self.of.iter().enumerate().rev() {
                    kept[cell as usize] = point as u32;
                }
            }
            Keep::Random(seed) => {
                let mut random = SplitMix64::new(seed);
                // How many points of the cell to let pass.
                let mut left: Vec<u64> =
                    self.counts().iter().map(|&n| random.below(u64::from(n))).collect();
                for (point, &cell) in self.of.iter().enumerate() {
                    let (left, kept) = (&mut left[cell as usize], &mut kept[cell as usize]);
                    if *left == 0 && *kept == u32::MAX {
                        *kept = point as u32;
                    }
                    *left = left.saturating_sub(1);
                }
            }
        }
        kept
    }

    fn nearest_to_centre<T: Scalar>(&self, frame: &Frame<'_, T>) -> Vec<u32> {
        let mut best = vec![(f64::INFINITY, u32::MAX); self.count];
        for (point, &cell) in self.of.iter().enumerate() {
            let distance = (0..frame.dims()).fold(0.0, |sum, axis| {
                let at = frame.at(point, axis);
                // Relative to the cell, so that squares don't overflow.
                let off = at / self.size - (at / self.size).floor() - 0.5;
                // Where quotients overflow, so did the cell: all its points are as good.
                sum + if off.is_finite() { off * off } else { 0.0 }
            });
            let best = &mut best[cell as usize];
            if distance < best.0 || best.1 == u32::MAX {
                *best = (distance, point as u32);
            }
        }
        best.into_iter().map(|(_, point)| point).collect()
    }

    /// Points of each cell.
    fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.count];
        self.of.iter().for_each(|&cell| counts[cell as usize] += 1);
        counts
    }
}

/// Bits of whole numbers up to `most`; more than fit if it is beyond them.
fn bits(most: f64) -> u32 {
    if most < 2f64.powi(63) { 64 - (most as u64).leading_zeros() } else { 65 }
}

/// Numbers points by any values, axis after axis.
fn chained(
    points: usize,
    axes: &[usize],
    value: impl Fn(usize, usize) -> f64,
) -> (Vec<u32>, usize) {
    let mut of = (vec![0; points], usize::from(points > 0));
    for &axis in axes {
        let (rank, _) = number((0..points).map(|point| value(point, axis).to_bits()));
        let pair = |point: usize| u64::from(of.0[point]) << 32 | u64::from(rank[point]);
        of = number((0..points).map(pair));
    }
    of
}

/// One point of each cell, rising; and what the grid was.
pub(super) fn by_cell<T: Scalar>(cloud: &Cloud<T>, cell: f64, keep: Keep) -> (Vec<u32>, Details) {
    let frame = Frame::new(cloud);
    let cells = Cells::new(&frame, cloud.len, cell * frame.unit);
    let mut kept = cells.keep(&frame, keep);
    kept.sort_unstable();
    (kept, Details::Grid { cell, cells: cells.count })
}

/// Exactly `count` points, rising; and what the grid was.
pub(super) fn by_count<T: Scalar>(
    cloud: &Cloud<T>,
    count: usize,
    keep: Keep,
) -> (Vec<u32>, Details) {
    if count == 0 {
        return (Vec::new(), Details::None);
    }
    let frame = Frame::new(cloud);
    let cells = find(cloud, &frame, count).above;
    let kept = cells.keep(&frame, keep);
    let details = Details::Grid { cell: cells.size / frame.unit, cells: cells.count };
    let mut chosen: Vec<u32> = if kept.len() >= count {
        let mut kept = kept;
        kept.sort_unstable();
        (0..count as u64).map(|k| kept[(k * kept.len() as u64 / count as u64) as usize]).collect()
    } else {
        filled(kept, count, cloud.len)
    };
    chosen.sort_unstable();
    (chosen, details)
}

/// The kept points and those of lowest index that are not among them, `count` in all.
fn filled(mut kept: Vec<u32>, count: usize, points: usize) -> Vec<u32> {
    let mut taken = vec![false; points];
    kept.iter().for_each(|&point| taken[point as usize] = true);
    let free = (0..points as u32).filter(|&point| !taken[point as usize]);
    kept.extend(free.take(count - kept.len()));
    kept
}

/// What the search for a cell size found.
struct Found {
    /// The fewest cells that are at least as many as wanted; fewer only if there can't be more.
    above: Cells,
    /// The most cells that are at most as many as wanted.
    below: Cells,
}

/// Looks for the cell size that gives so many cells, at least one.
fn find<T: Scalar>(cloud: &Cloud<T>, frame: &Frame<'_, T>, count: usize) -> Found {
    let cells = |size: f64| Cells::new(frame, cloud.len, size);
    let one = || {
        let size = frame.longest() * 2.0;
        Cells { of: vec![0; cloud.len], count: 1, size: if size > 0.0 { size } else { 1.0 } }
    };
    let mut above = Cells::distinct(cloud);
    if above.count <= count || count == 1 {
        let below = Cells { of: above.of.clone(), ..above };
        return match above.count <= count {
            true => Found { above, below },
            false => Found { above: one(), below: one() },
        };
    }
    let mut below = one();
    // From one cell down to sizes that leave enough points.
    let mut size = frame.longest() / (count as f64).sqrt();
    let (mut low, mut high, mut cells_at_low) = (0.0, below.size, 0);
    while low == 0.0 && size >= f64::MIN_POSITIVE {
        let tried = cells(size);
        if tried.count >= count {
            (low, cells_at_low) = (size, tried.count);
        } else {
            high = size;
            size /= 2.0;
        }
        improve(&mut above, &mut below, tried, count);
    }
    if low > 0.0 && high > 2.0 * low {
        let (size, tried) = coarsest_enough(&cells, low, count);
        (low, high, cells_at_low) = (size, 2.0 * size, tried.count);
        improve(&mut above, &mut below, tried, count);
    }
    for turn in 0..TRIES {
        if above.count as f64 <= (1.0 + ENOUGH) * count as f64 || low == 0.0 {
            break;
        }
        // On a surface there are as many cells as their square is small; half way every other
        // time, in case it is none.
        let guess = low * (cells_at_low as f64 / count as f64).sqrt();
        let margin = 0.02 * (high - low);
        let half_way = 0.5 * (low + high);
        let middle =
            if turn % 2 == 0 { guess.clamp(low + margin, high - margin) } else { half_way };
        let tried = cells(middle);
        if tried.count >= count {
            (low, cells_at_low) = (middle, tried.count);
        } else {
            high = middle;
        }
        improve(&mut above, &mut below, tried, count);
    }
    Found { above, below }
}

/// Doubles a size that leaves enough points while it does.
fn coarsest_enough(cells: &impl Fn(f64) -> Cells, from: f64, count: usize) -> (f64, Cells) {
    let (mut size, mut found) = (from, cells(from));
    loop {
        let next = cells(2.0 * size);
        if next.count < count {
            return (size, found);
        }
        (size, found) = (2.0 * size, next);
    }
}

/// Keeps what was tried if it is nearer to the count than what there is on its side.
fn improve(above: &mut Cells, below: &mut Cells, tried: Cells, count: usize) {
    if tried.count == count {
        *below = Cells { of: tried.of.clone(), ..tried };
    } else if tried.count < count && tried.count > below.count {
        *below = tried;
        return;
    }
    if tried.count >= count && tried.count < above.count {
        *above = tried;
    }
}

/// Centroids of cells: not points of the cloud, and how many points each stands for. Can be used
/// as [`Points`].
#[derive(Debug, Clone, PartialEq)]
pub struct Centroids<T> {
    /// Coordinates, `dims` for each centroid, in the order of the cells' first points.
    pub coordinates: Vec<T>,
    /// Coordinates of a centroid.
    pub dims: usize,
    /// Points of each cell.
    pub counts: Vec<u32>,
    /// The cell size; 0 if every distinct position had to be kept.
    pub cell: f64,
    /// Rows left out because they hold NaN or infinity.
    pub dropped: usize,
}

impl<T: Scalar> Points<T> for Centroids<T> {
    fn len(&self) -> usize {
        self.counts.len()
    }
    fn dim(&self) -> usize {
        self.dims
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self.coordinates[index * self.dims + axis]
    }
}

pub(super) fn centroids_by_cell<T: Scalar>(
    cloud: &Cloud<T>,
    dims: usize,
    cell: f64,
    dropped: usize,
) -> Centroids<T> {
    let frame = Frame::new(cloud);
    let cells = Cells::new(&frame, cloud.len, cell * frame.unit);
    centroids(cloud, &cells, dims, cell, dropped)
}

pub(super) fn centroids_by_count<T: Scalar>(
    cloud: &Cloud<T>,
    dims: usize,
    count: usize,
    dropped: usize,
) -> Centroids<T> {
    if count == 0 {
        let (coordinates, counts) = (Vec::new(), Vec::new());
        return Centroids { coordinates, dims, counts, cell: 0.0, dropped };
    }
    let frame = Frame::new(cloud);
    let cells = find(cloud, &frame, count).below;
    centroids(cloud, &cells, dims, cells.size / frame.unit, dropped)
}

fn centroids<T: Scalar>(
    cloud: &Cloud<T>,
    cells: &Cells,
    dims: usize,
    cell: f64,
    dropped: usize,
) -> Centroids<T> {
    let counts = cells.counts();
    let mut first = vec![u32::MAX; cells.count];
    for (point, &cell) in cells.of.iter().enumerate().rev() {
        first[cell as usize] = point as u32;
    }
    let mut coordinates = vec![T::ZERO; cells.count * dims];
    for axis in 0..dims {
        let values = &cloud.axes[axis];
        // Shares of differences from the cell's first point: small numbers, and no overflow.
        let mut off = vec![0.0; cells.count];
        for (&value, &cell) in values.iter().zip(&cells.of) {
            let cell = cell as usize;
            let (n, base) = (f64::from(counts[cell]), values[first[cell] as usize].to_f64());
            let difference = value.to_f64() - base;
            off[cell] +=
                if difference.is_finite() { difference / n } else { value.to_f64() / n - base / n };
        }
        for (cell, off) in off.into_iter().enumerate() {
            let base = values[first[cell] as usize].to_f64();
            coordinates[cell * dims + axis] = T::from_f64(base + off);
        }
    }
    Centroids { coordinates, dims, counts, cell, dropped }
}
