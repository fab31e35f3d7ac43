//! Identity of a spool and the places of its parts: a file that is written once the spool is whole.

use crate::disk::error::Error;
use crate::disk::extents::Run;
use crate::disk::numbers::{self, Reader, START_AGAIN, Writer};
use crate::disk::rows::Stored;
use crate::disk::spool::{Place, Spool};
use std::fs::File;
use std::path::Path;

const MAGIC: &[u8] = b"farpoint spool 3\n";

/// A point that is chosen before all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Start {
    pub(crate) row: u64,
    pub(crate) tile: u32,
    /// Its coordinates in the working precision.
    pub(crate) at: [f64; 3],
}

/// State of a whole spool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    /// The input and the job, as text.
    pub(crate) job: String,
    pub(crate) bad: u64,
    pub(crate) zeros: u64,
    /// Points that are sampled.
    pub(crate) points: u64,
    /// Corners of the box around these.
    pub(crate) bounds: [[f64; 3]; 2],
    pub(crate) starts: Vec<Start>,
    pub(crate) extent: u64,
    pub(crate) stored: Stored,
    pub(crate) tiles: Vec<Place>,
}

impl State {
    fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(MAGIC);
        out.text(&self.job);
        for number in [self.bad, self.zeros, self.points, self.extent] {
            out.number(number);
        }
        self.bounds.iter().flatten().for_each(|&x| out.real(x));
        let (kind, parameters): (u64, Vec<f64>) = match self.stored {
            Stored::Single => (0, Vec::new()),
            Stored::Double => (1, Vec::new()),
            Stored::Integers(axes) => (2, axes.iter().flat_map(|(a, b)| [*a, *b]).collect()),
            Stored::Narrowed(corner) => (3, corner.into()),
        };
        out.number(kind);
        parameters.into_iter().for_each(|x| out.real(x));
        out.number(self.starts.len() as u64);
        for start in &self.starts {
            out.number(start.row);
            out.number(u64::from(start.tile));
            start.at.iter().for_each(|&x| out.real(x));
        }
        out.number(self.tiles.len() as u64);
        for tile in &self.tiles {
            for number in [tile.points, tile.run.length, tile.corners, tile.values] {
                out.number(number);
            }
            out.number(u64::from(tile.corners_check));
            out.list(&tile.run.places, |place| place);
            out.list(&tile.checks, u64::from);
        }
        out.finish()
    }

    fn decode(bytes: &[u8]) -> Option<State> {
        let mut from = Reader::new(bytes, MAGIC)?;
        let job = from.text()?;
        let (bad, zeros, points) = (from.number()?, from.number()?, from.number()?);
        let extent = from.number()?;
        let bounds = [from.three()?, from.three()?];
        let stored = match from.number()? {
            0 => Stored::Single,
            1 => Stored::Double,
            2 => {
                let mut axis = || Some((from.real()?, from.real()?));
                Stored::Integers([axis()?, axis()?, axis()?])
            }
            3 => Stored::Narrowed(from.three()?),
            _ => return None,
        };
        let number = from.length()?;
        let starts = (0..number).map(|_| start(&mut from)).collect::<Option<_>>()?;
        let number = from.length()?;
        let tiles = (0..number).map(|_| tile(&mut from)).collect::<Option<_>>()?;
        Some(State { job, bad, zeros, points, bounds, starts, extent, stored, tiles })
    }

    /// Writes the state, whole or not at all.
    pub(crate) fn save(&self, path: &Path, new: &Path) -> Result<(), Error> {
        numbers::save(&self.encode(), path, new)
    }

    /// Reads the state; `None` if there is none.
    pub(crate) fn load(path: &Path) -> Result<Option<State>, Error> {
        numbers::load(path, State::decode)
    }

    /// Opens the spool that it describes, at `path`.
    pub(crate) fn open(self, path: &Path) -> Result<Spool, Error> {
        let failed = |source| Error::read(path, source);
        let file = File::options().read(true).write(true).open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let needed = self.tiles.iter().map(|tile| tile.values).min().unwrap_or(0);
        if length < needed {
            let what = format!("has {length} bytes, expected {needed}");
            return Err(Error::unusable(path, what, START_AGAIN));
        }
        let (extent, path) = (self.extent as usize, path.to_owned());
        Ok(Spool { file, path, extent, stored: self.stored, tiles: self.tiles })
    }
}

fn start(from: &mut Reader<'_>) -> Option<Start> {
    let (row, tile) = (from.number()?, u32::try_from(from.number()?).ok()?);
    Some(Start { row, tile, at: from.three()? })
}

fn tile(from: &mut Reader<'_>) -> Option<Place> {
    let (points, length) = (from.number()?, from.number()?);
    let (corners, values) = (from.number()?, from.number()?);
    let corners_check = u32::try_from(from.number()?).ok()?;
    let run = Run { places: from.list(Some)?, length };
    let checks = from.list(|check| u32::try_from(check).ok())?;
    let place = Place { points, run, checks, corners, corners_check, values };
    (place.checks.len() == place.pages()).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let run = Run { places: vec![0, 8192], length: 9000 };
        let place =
            Place { points: 300, run, checks: vec![7, 9], corners: 1, corners_check: 2, values: 3 };
        for stored in [
            Stored::Single,
            Stored::Double,
            Stored::Integers([(0.01, 5.0), (0.1, -1.0), (1.0, 0.0)]),
            Stored::Narrowed([1.0, 2.0, 3.0]),
        ] {
            let starts = vec![Start { row: 1 << 36, tile: 1, at: [1.0, -0.5, 3.0] }];
            let tiles = vec![place.clone(), Place::default()];
            let job = "scan.laz, ratio 0.25".to_owned();
            let bounds = [[1.0, 2.0, 3.0], [4.0, 5.5, f64::INFINITY]];
            let (extent, points) = (4096, 300);
            let state =
                State { job, bad: 1, zeros: 2, points, bounds, starts, extent, stored, tiles };
            let bytes = state.encode();
            assert_eq!(State::decode(&bytes), Some(state));
            for end in 0..bytes.len() {
                assert_eq!(State::decode(&bytes[..end]), None);
            }
            for at in (0..bytes.len()).step_by(7) {
                let mut bytes = bytes.clone();
                bytes[at] ^= 4;
                assert_eq!(State::decode(&bytes), None);
            }
        }
    }
}
