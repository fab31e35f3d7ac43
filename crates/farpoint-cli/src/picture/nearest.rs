//! Distance of every point of a cloud to its nearest sample, through a grid of cells.

use rayon::prelude::*;

/// Cells at most; more would not be faster.
const MOST_CELLS: f32 = 4e6;

/// The samples, sorted by cell.
struct Grid {
    low: [f32; 3],
    side: f32,
    shape: [i32; 3],
    /// First sample of each cell, and the end.
    starts: Vec<u32>,
    samples: Vec<[f32; 3]>,
}

/// Distances to the nearest of `samples` (at least one), all coordinates finite.
pub(super) fn distances(points: &[[f32; 3]], samples: &[[f32; 3]]) -> Vec<f32> {
    let grid = Grid::new(samples);
    points.par_iter().with_min_len(4096).map(|point| grid.nearest(*point).sqrt()).collect()
}

impl Grid {
    fn new(samples: &[[f32; 3]]) -> Self {
        let low = fold(samples, f32::INFINITY, f32::min);
        let high = fold(samples, f32::NEG_INFINITY, f32::max);
        let size: [f32; 3] = std::array::from_fn(|axis| (high[axis] - low[axis]).max(1e-6));
        // Surfaces fill few cells: about a sample in each of those.
        let longest = size.iter().fold(0.0f32, |a, b| a.max(*b));
        let mut side = 2.0 * longest / (samples.len() as f32).sqrt();
        let cells = |side: f32| size.map(|length| (length / side).floor() + 1.0);
        while cells(side).iter().product::<f32>() > MOST_CELLS {
            side *= 1.25;
        }
        let shape = cells(side).map(|cells| cells as i32);
        let mut grid = Self { low, side, shape, starts: Vec::new(), samples: Vec::new() };
        let mut order: Vec<_> =
            samples.iter().map(|sample| (grid.number(grid.cell(*sample)), *sample)).collect();
        order.sort_unstable_by_key(|(cell, _)| *cell);
        grid.starts = vec![0; shape.iter().map(|side| *side as usize).product::<usize>() + 1];
        order.iter().for_each(|(cell, _)| grid.starts[cell + 1] += 1);
        for cell in 1..grid.starts.len() {
            grid.starts[cell] += grid.starts[cell - 1];
        }
        grid.samples = order.into_iter().map(|(_, sample)| sample).collect();
        grid
    }

    fn cell(&self, point: [f32; 3]) -> [i32; 3] {
        std::array::from_fn(|axis| {
            let cell = ((point[axis] - self.low[axis]) / self.side) as i32;
            cell.clamp(0, self.shape[axis] - 1)
        })
    }

    fn number(&self, cell: [i32; 3]) -> usize {
        let [x, y, z] = cell.map(|k| k as usize);
        let [wide, deep, _] = self.shape.map(|k| k as usize);
        (z * deep + y) * wide + x
    }

    /// Squared distance to the nearest sample: shells of cells until no nearer one can be.
    fn nearest(&self, point: [f32; 3]) -> f32 {
        let center = self.cell(point);
        let furthest = self.shape.iter().fold(0, |a, b| a.max(*b));
        let mut best = f32::INFINITY;
        for shell in 0..=furthest {
            // A sample in this shell is at least shell - 1 whole cells away.
            let gap = (shell - 1).max(0) as f32 * self.side;
            if gap * gap >= best {
                break;
            }
            self.shell(point, center, shell, &mut best);
        }
        best
    }

    fn shell(&self, point: [f32; 3], center: [i32; 3], shell: i32, best: &mut f32) {
        let range = |axis: usize| {
            let (low, high) = (center[axis] - shell, center[axis] + shell);
            low.max(0)..=high.min(self.shape[axis] - 1)
        };
        for z in range(2) {
            for y in range(1) {
                let rim = (z - center[2]).abs() == shell || (y - center[1]).abs() == shell;
                let step = if rim { 1 } else { (2 * shell).max(1) };
                let mut x = center[0] - shell;
                while x <= center[0] + shell {
                    if (0..self.shape[0]).contains(&x) {
                        self.visit(point, self.number([x, y, z]), best);
                    }
                    x += step;
                }
            }
        }
    }

    fn visit(&self, point: [f32; 3], cell: usize, best: &mut f32) {
        let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
        for sample in &self.samples[range] {
            let d: [f32; 3] = std::array::from_fn(|axis| point[axis] - sample[axis]);
            *best = best.min(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
    }
}

fn fold(points: &[[f32; 3]], start: f32, with: fn(f32, f32) -> f32) -> [f32; 3] {
    points.iter().fold([start; 3], |a, b| std::array::from_fn(|axis| with(a[axis], b[axis])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_obvious_loop() {
        let points = farpoint_generate::clusters(700, 1);
        for count in [1, 2, 30, 400] {
            let samples = &points[..count];
            let found = distances(&points, samples);
            for (point, found) in points.iter().zip(found) {
                let true_one = samples
                    .iter()
                    .map(|sample| {
                        let d: [f32; 3] = std::array::from_fn(|axis| point[axis] - sample[axis]);
                        d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
                    })
                    .fold(f32::INFINITY, f32::min);
                assert_eq!(found, true_one.sqrt());
            }
        }
    }
}
