//! The first pass over the input: the rows that are used, their extent and density, and the start of sampling.

use crate::disk::error::Error;
use crate::disk::grid::{Counts, Grid, Tiles};
use crate::disk::job::Job;
use crate::disk::rows::{Points, Stored, Use, finite};
use crate::disk::state::Start;
use farpoint::backend::{SplitMix64, memory as fallible};
use farpoint_io::Reader;
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Number of parts sampled to find a box, if the header states none.
const SAMPLED_PARTS: usize = 16;

/// Properties of the rows of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Survey {
    /// Rows that hold NaN or infinity.
    pub(crate) bad: u64,
    /// Rows that are exactly (0, 0, 0).
    pub(crate) zeros: u64,
    /// Corners of the box around the rows that are used.
    pub(crate) corners: [[f64; 3]; 2],
    /// Number of rows that are used, for each part.
    pub(crate) used: Vec<u32>,
    /// The first row that is used.
    pub(crate) first: Option<u64>,
    pub(crate) grid: Grid,
    /// Number of rows that are used, by cell.
    pub(crate) counts: Vec<u32>,
}

/// Findings of one thread in a part.
struct PartSurvey {
    bad: u64,
    zeros: u64,
    used: u32,
    first: Option<u64>,
    bounds: [[f64; 3]; 2],
}

const EMPTY_BOX: [[f64; 3]; 2] = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];

fn grow(bounds: &mut [[f64; 3]; 2], at: [f64; 3]) {
    for axis in 0..3 {
        bounds[0][axis] = bounds[0][axis].min(at[axis]);
        bounds[1][axis] = bounds[1][axis].max(at[axis]);
    }
}

fn part_of(points: &Points<'_>, first: u64, rows: Use, grid: &Grid, counts: &Counts) -> PartSurvey {
    let mut found = PartSurvey { bad: 0, zeros: 0, used: 0, first: None, bounds: EMPTY_BOX };
    for row in 0..points.len() {
        let at = points.at(row);
        found.bad += u64::from(!finite(at));
        found.zeros += u64::from(points.is_zero(row));
        if rows.takes(points, row) {
            found.used += 1;
            found.first.get_or_insert(first + row as u64);
            grow(&mut found.bounds, at);
            counts.add(grid.cell(at));
        }
    }
    found
}

/// Returns a box around most rows: that of the header, or of some parts.
fn approximate_bounds(reader: &Reader, rows: Use) -> Result<[[f64; 3]; 2], Error> {
    if let Some(bounds) = reader.bounds() {
        return Ok(bounds);
    }
    let parts = reader.parts();
    let mut bounds = EMPTY_BOX;
    let step = parts.div_ceil(SAMPLED_PARTS).max(1);
    for part in (0..parts).step_by(step).chain(parts.checked_sub(1)) {
        let read = reader.read(part)?;
        let points = Points::of(&read, Stored::Double)?;
        let used = (0..points.len()).filter(|&row| rows.takes(&points, row));
        used.for_each(|row| grow(&mut bounds, points.at(row)));
    }
    Ok(if bounds[0][0] <= bounds[1][0] { bounds } else { [[0.0; 3]; 2] })
}

impl Survey {
    /// Begins, before any part is read.
    pub(crate) fn new(reader: &Reader, rows: Use) -> Result<Survey, Error> {
        let grid = Grid::over(approximate_bounds(reader, rows)?);
        let counts = fallible::zeros(grid.len());
        let used = vec![0; reader.parts()];
        Ok(Survey { bad: 0, zeros: 0, corners: EMPTY_BOX, used, first: None, grid, counts })
    }

    /// Reads some parts.
    pub(crate) fn read(
        &mut self,
        reader: &Reader,
        rows: Use,
        parts: Range<usize>,
        threads: usize,
    ) -> Result<(), Error> {
        let (grid, counts) = (self.grid.clone(), Counts::from(mem::take(&mut self.counts)));
        let all = Mutex::new(&mut *self);
        reader.for_each_of(parts, threads, |part, read| {
            // Integers are not needed yet.
            let points = Points::of(&read, Stored::Double)?;
            let found = part_of(&points, read.first(), rows, &grid, &counts);
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.bad += found.bad;
            all.zeros += found.zeros;
            all.used[part] = found.used;
            all.first = all.first.into_iter().chain(found.first).min();
            if found.used > 0 {
                found.bounds.iter().for_each(|&corner| grow(&mut all.corners, corner));
            }
            Ok::<(), Error>(())
        })?;
        self.counts = counts.finish();
        Ok(())
    }

    /// Returns the corners of the box around the rows that are used; `None` if there are none.
    pub(crate) fn bounds(&self) -> Option<[[f64; 3]; 2]> {
        self.first.map(|_| self.corners)
    }

    /// Returns the number of rows that are used.
    pub(crate) fn points(&self) -> u64 {
        self.used.iter().map(|&used| u64::from(used)).sum()
    }

    /// Returns the used row of that rank.
    pub(crate) fn row(&self, reader: &Reader, rank: u64, rows: Use) -> Result<Option<u64>, Error> {
        let mut before = 0;
        for (part, &used) in self.used.iter().enumerate() {
            if rank < before + u64::from(used) {
                let read = reader.read(part)?;
                let points = Points::of(&read, Stored::Double)?;
                let mut used_rows = (0..points.len()).filter(|&row| rows.takes(&points, row));
                let row = used_rows.nth((rank - before) as usize);
                return Ok(row.map(|row| read.first() + row as u64));
            }
            before += u64::from(used);
        }
        Ok(None)
    }
}

/// Finds the rows that sampling starts from, with their coordinates in the working precision. The rules and errors
/// are those of [`farpoint::Sampler`].
pub(crate) fn starts(
    reader: &Reader,
    seen: &Survey,
    job: &Job,
    rows: Use,
    stored: Stored,
    tiles: &Tiles,
) -> Result<Vec<Start>, Error> {
    let points = seen.points();
    if points == 0 {
        return Ok(Vec::new());
    }
    let first = seen.first.unwrap_or(0);
    let start_rows: Vec<u64> = match &job.start {
        // The default: the first usable point.
        None | Some(farpoint::Start::First) => vec![first],
        Some(farpoint::Start::Index(row)) => vec![*row as u64],
        Some(farpoint::Start::Indices(rows)) if rows.is_empty() => {
            return Err(farpoint::Error::NoStart.into());
        }
        Some(farpoint::Start::Indices(rows)) => rows.iter().map(|&row| row as u64).collect(),
        Some(farpoint::Start::Random(seed)) => {
            let rank = SplitMix64::new(*seed).below(points);
            vec![seen.row(reader, rank, rows)?.unwrap_or(first)]
        }
        Some(other) => {
            let name = reader.name().to_owned();
            let what = format!("cannot start from {other:?} through the disk");
            return Err(Error::Input {
                name,
                what,
                fix: "use row numbers or a random seed".into(),
            });
        }
    };
    let mut sorted = start_rows.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(farpoint::Error::StartRepeated { index: pair[0] as usize }.into());
    }
    start_rows.into_iter().map(|row| locate_start(reader, row, rows, stored, tiles)).collect()
}

fn locate_start(
    reader: &Reader,
    row: u64,
    rows: Use,
    stored: Stored,
    tiles: &Tiles,
) -> Result<Start, Error> {
    let index = row as usize;
    if row >= reader.len() {
        let points = reader.len() as usize;
        return Err(farpoint::Error::StartOutOfRange { index, points }.into());
    }
    let read = reader.read(reader.part_of(row))?;
    let points = Points::of(&read, stored)?;
    let place = (row - read.first()) as usize;
    if !rows.takes(&points, place) {
        return Err(farpoint::Error::StartIsBad { index }.into());
    }
    let mut bytes = Vec::new();
    points.push(place, &mut bytes);
    let columns = stored.columns();
    let mut at: Vec<f64> = Vec::new();
    for (column, bytes) in columns.into_iter().zip(bytes.chunks(stored.size())) {
        column.decode(bytes, &mut at);
    }
    let tile = tiles.of(points.at(place), row) as u32;
    Ok(Start { row, tile, at: [at[0], at[1], at[2]] })
}
