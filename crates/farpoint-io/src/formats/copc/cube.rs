//! The cube of an octree, and the cells of its points.

use crate::bytes::parallel;
use crate::cloud::header::LasHeader;
use crate::error::{ParseError, Place};
use crate::formats::las::{integers, transforms};

/// The deepest level: its cells hold four steps of the widest coordinates, and their numbers fit 31 bits.
pub(super) const DEEPEST: u32 = 30;
/// Cells of that level on each axis.
const CELLS: f64 = (1u32 << DEEPEST) as f64;
/// Points that a thread takes at a time.
const BLOCK: usize = 1 << 14;

/// The root node of an octree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cube {
    /// The minimum corner.
    pub(super) low: [f64; 3],
    /// The length of a side.
    pub(super) side: f64,
}

impl Cube {
    /// Returns the cube around the points between two corners, which are multiples of the scales: from the minimum
    /// corner on, as long as the longest side. Some readers compute it like this from the header.
    pub(super) fn around([low, high]: [[f64; 3]; 2], steps: [f64; 3]) -> Cube {
        let longest = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
        // Points at one place have a cube, too.
        let mut side = if longest > 0.0 { longest } else { steps.into_iter().fold(0.0, f64::max) };
        // A difference that was rounded down leaves the highest point outside.
        while (0..3).any(|axis| low[axis] + side < high[axis]) {
            side = side.next_up();
        }
        Cube { low, side }
    }

    /// Returns a plane between two cells of the deepest level, computed as by readers. Planes of other levels are
    /// some of these, to the last digit.
    fn plane(&self, axis: usize, number: u32) -> f64 {
        self.low[axis] + f64::from(number) * (self.side / CELLS)
    }

    /// Returns the cell of the deepest level that contains a place; those of other levels are its first bits. A place
    /// on a plane belongs to the cell above it, on the far face of the cube to the last one.
    pub(super) fn cell(&self, place: [f64; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| {
            let value = place[axis];
            let near = ((value - self.low[axis]) / self.side * CELLS) as u32;
            let near = near.min(CELLS as u32 - 1);
            match self.plane(axis, near) <= value && value < self.plane(axis, near + 1) {
                true => near,
                false => self.search(axis, value),
            }
        })
    }

    /// Finds the cell by halving, if a plane is too close for one division.
    fn search(&self, axis: usize, value: f64) -> u32 {
        (0..DEEPEST).rev().fold(0, |cell, bit| {
            let above = cell | 1 << bit;
            if self.plane(axis, above) <= value { above } else { cell }
        })
    }
}

/// The cube around records, and the cell of each.
pub(super) struct CellGrid {
    pub(super) cube: Cube,
    pub(super) cells: Vec<[u32; 3]>,
    /// Largest distance between the coordinates of a record and those that it was made of.
    pub(super) max_error: f64,
}

impl CellGrid {
    /// Places records; `source` returns the coordinates that a record was made of.
    pub(super) fn new(
        header: &LasHeader,
        records: &[u8],
        source: impl Fn(usize) -> [f64; 3] + Sync,
    ) -> Result<CellGrid, ParseError> {
        let stride = usize::from(header.raw.point_data_record_length);
        let transforms = transforms(&header.raw);
        let place = |record: &[u8]| -> [f64; 3] {
            let stored = integers(record);
            std::array::from_fn(|a| f64::from(stored[a]) * transforms[a].0 + transforms[a].1)
        };
        let steps = transforms.map(|(scale, _)| scale.abs());
        if !steps.iter().all(|step| step.is_finite() && *step > 0.0) {
            let what = format!("the header has the invalid scales {steps:?}");
            return Err(ParseError::new(what)
                .at(Place::Byte(131))
                .fix("`scale` sets another step"));
        }
        let blocks = || records.chunks(BLOCK * stride);
        let none = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        let low_and_high = |block: &[u8]| {
            let mut found = none;
            for record in block.chunks_exact(stride) {
                found = joined(found, [place(record); 2]);
            }
            found
        };
        let bounds = match records.is_empty() {
            true => [transforms.map(|(_, offset)| offset); 2],
            false => parallel::map(blocks(), low_and_high).into_iter().fold(none, joined),
        };
        if !bounds.iter().flatten().all(|value| value.is_finite()) {
            return Err(ParseError::new("the header's scale and offset give infinite coordinates")
                .at(Place::Byte(131)));
        }
        let cube = Cube::around(bounds, steps);
        let mut cells = vec![[0; 3]; records.len() / stride];
        let all = blocks().zip(cells.chunks_mut(BLOCK)).enumerate();
        let max_error = parallel::map(all, |(block, (records, cells))| {
            let mut farthest: f64 = 0.0;
            for (i, (record, cell)) in records.chunks_exact(stride).zip(cells).enumerate() {
                let (recorded, original) = (place(record), source(block * BLOCK + i));
                *cell = cube.cell(recorded);
                let square: f64 =
                    (0..3).map(|a| (recorded[a] - original[a]) * (recorded[a] - original[a])).sum();
                farthest = farthest.max(square);
            }
            farthest
        });
        let max_error = max_error.into_iter().fold(0.0, f64::max).sqrt();
        Ok(CellGrid { cube, cells, max_error })
    }
}

fn joined(a: [[f64; 3]; 2], b: [[f64; 3]; 2]) -> [[f64; 3]; 2] {
    let with = |which: usize, pick: fn(f64, f64) -> f64| -> [f64; 3] {
        std::array::from_fn(|axis| pick(a[which][axis], b[which][axis]))
    };
    [with(0, f64::min), with(1, f64::max)]
}
