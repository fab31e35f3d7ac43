//! The rows that sampling starts from.

use crate::disk::error::Error;
use crate::disk::grid::Tiles;
use crate::disk::job::Job;
use crate::disk::rows::{Points, Stored, Use};
use crate::disk::state::Start;
use crate::disk::survey::Survey;
use farpoint::backend::SplitMix64;
use farpoint_io::Scan;

/// Finds the rows, with their places as sampling sees them. The rules and errors are those of
/// [`farpoint::Sampler`].
pub(crate) fn starts(
    scan: &Scan,
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
    let wanted: Vec<u64> = match &job.start {
        // The default: the first usable point.
        None | Some(farpoint::Start::First | farpoint::Start::Index(0)) => vec![first],
        Some(farpoint::Start::Index(row)) => vec![*row as u64],
        Some(farpoint::Start::Indices(rows)) if rows.is_empty() => {
            return Err(farpoint::Error::NoStart.into());
        }
        Some(farpoint::Start::Indices(rows)) => rows.iter().map(|&row| row as u64).collect(),
        Some(farpoint::Start::Random(seed)) => {
            let rank = SplitMix64::new(*seed).below(points);
            vec![seen.row(scan, rank, rows)?.unwrap_or(first)]
        }
        Some(other) => {
            let name = scan.name().to_owned();
            let what = format!("cannot start from {other:?} through the disk");
            return Err(Error::Input { name, what, fix: "give rows or a seed".into() });
        }
    };
    let mut sorted = wanted.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(farpoint::Error::StartRepeated { index: pair[0] as usize }.into());
    }
    wanted.into_iter().map(|row| found(scan, row, rows, stored, tiles)).collect()
}

fn found(scan: &Scan, row: u64, rows: Use, stored: Stored, tiles: &Tiles) -> Result<Start, Error> {
    let index = row as usize;
    if row >= scan.len() {
        let points = scan.len() as usize;
        return Err(farpoint::Error::StartOutOfRange { index, points }.into());
    }
    let read = scan.read(scan.part_of(row))?;
    let points = Points::of(&read, stored)?;
    let place = (row - read.first()) as usize;
    if !rows.takes(points.at(place)) {
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
