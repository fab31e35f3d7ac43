//! A view straight from above, and the choice of a part of it to look at closely.

/// An image of a rectangle of the ground.
pub(super) struct Plan {
    /// The middle of the rectangle.
    middle: [f64; 2],
    /// Pixels that a unit of the cloud spans.
    zoom: f64,
    pub(super) size: [usize; 2],
}

/// This share of the points may lie outside on each side: a few outliers don't count.
const OUTSIDE: f64 = 0.01;

/// A close-up is so much smaller than the whole.
const CLOSER: f64 = 7.0;

/// Places for a close-up that are looked at, along each side.
const PLACES: usize = 24;

/// A place's points are counted by the cells of so fine a raster that they fill.
const RASTER: usize = 16;

impl Plan {
    /// All points but a few, as large as they fit.
    pub(super) fn around(points: &[[f64; 3]], size: [usize; 2]) -> Self {
        let ends = [0, 1].map(|axis| {
            let mut values: Vec<f64> = points.iter().map(|point| point[axis]).collect();
            let last = values.len().saturating_sub(1);
            let outside = (last as f64 * OUTSIDE) as usize;
            let mut end = |place: usize| *values.select_nth_unstable_by(place, f64::total_cmp).1;
            match points.is_empty() {
                true => (0.0, 0.0),
                false => (end(outside), end(last - outside)),
            }
        });
        // Halves, so that no difference overflows.
        let half = |(low, high): (f64, f64)| high / 2.0 - low / 2.0;
        let zoom = (0..2)
            .map(|axis| (size[axis] as f64 / 2.0 - 6.0) / half(ends[axis]))
            .fold(f64::INFINITY, f64::min);
        let zoom = if zoom.is_normal() { zoom } else { 1.0 };
        Self { middle: ends.map(|(low, high)| low / 2.0 + high / 2.0), zoom, size }
    }

    /// The part of this view that shows most: whose raster is filled most, the sparse middle of
    /// nothing and a single wall being equally dull.
    pub(super) fn close_up(&self, points: &[[f64; 3]], size: [usize; 2]) -> Self {
        let part = |axis: usize| size[axis] as f64 / CLOSER;
        let cells: [usize; 2] =
            [0, 1].map(|axis| (self.size[axis] as f64 / part(axis) * RASTER as f64) as usize + 1);
        let mut filled = vec![0u32; cells[0] * cells[1]];
        for [x, y] in points.iter().filter_map(|point| self.project(*point)) {
            let cell = |at: f32, axis: usize| {
                ((f64::from(at) / part(axis) * RASTER as f64) as usize).min(cells[axis] - 1)
            };
            filled[cell(y, 1) * cells[0] + cell(x, 0)] += 1;
        }
        let mut best = (0.0, [0, 0]);
        for [column, row] in (0..PLACES * PLACES).map(|k| [k % PLACES, k / PLACES]) {
            let first = [column, row].map(|k| k as f64 / (PLACES - 1) as f64);
            let first = [0, 1]
                .map(|axis| (first[axis] * cells[axis].saturating_sub(RASTER) as f64) as usize);
            let value = worth(&filled, cells, first);
            if value > best.0 {
                best = (value, first);
            }
        }
        let pixel = |axis: usize| (best.1[axis] + RASTER / 2) as f64 / RASTER as f64 * part(axis);
        let off = |axis: usize| (pixel(axis) - self.size[axis] as f64 / 2.0) / self.zoom;
        let middle = [self.middle[0] + off(0), self.middle[1] - off(1)];
        Self { middle, zoom: self.zoom * CLOSER, size }
    }

    /// The pixel of a point, if it is in the image.
    pub(super) fn project(&self, point: [f64; 3]) -> Option<[f32; 2]> {
        let x = (point[0] - self.middle[0]) * self.zoom + self.size[0] as f64 / 2.0;
        let y = (self.middle[1] - point[1]) * self.zoom + self.size[1] as f64 / 2.0;
        let inside = |at: f64, axis: usize| (0.0..self.size[axis] as f64).contains(&at);
        (inside(x, 0) && inside(y, 1)).then_some([x as f32, y as f32])
    }

    /// Two corners of what this view shows, as pixels of another.
    pub(super) fn corners_in(&self, other: &Self) -> [[f32; 2]; 2] {
        let corner = |sign: f64| {
            let pixel = |axis: usize| {
                let half = self.size[axis] as f64 / 2.0 / self.zoom * other.zoom;
                let turn = if axis == 0 { 1.0 } else { -1.0 };
                let middle = (self.middle[axis] - other.middle[axis]) * turn * other.zoom;
                (middle + other.size[axis] as f64 / 2.0 + sign * half) as f32
            };
            [pixel(0), pixel(1)]
        };
        [corner(-1.0), corner(1.0)]
    }

    /// The radius of dots for so many of them, within limits: together they cover about as much as
    /// the image.
    pub(super) fn dot(&self, count: usize, least: f32, most: f32) -> f32 {
        let pixels = (self.size[0] * self.size[1]) as f32;
        (0.28 * (pixels / count.max(1) as f32).sqrt()).clamp(least, most)
    }
}

/// How much there is to see: cells that are filled, less where points are many in few of them.
fn worth(filled: &[u32], cells: [usize; 2], first: [usize; 2]) -> f64 {
    let mut worth = 0.0;
    for row in first[1]..(first[1] + RASTER).min(cells[1]) {
        for column in first[0]..(first[0] + RASTER).min(cells[0]) {
            let here = f64::from(filled[row * cells[0] + column]);
            worth += here.min(8.0).sqrt();
        }
    }
    worth
}
