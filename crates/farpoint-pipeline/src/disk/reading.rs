//! State of a spool while the input is read: a file that is written now and then, so that a run that is killed
//! meanwhile goes on there.

use crate::disk::error::Error;
use crate::disk::extents::Run;
use crate::disk::folder::{Folder, READING, READING_NEW};
use crate::disk::grid::Grid;
use crate::disk::numbers::{self, START_AGAIN, Writer};
use crate::disk::survey::Survey;

const FIRST: &[u8] = b"farpoint spool that is read 1\n";

/// State of a spool while the input is read, twice.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// The input and the job, as text.
    pub(crate) job: String,
    /// The first reading: findings in the parts before `surveyed`.
    pub(crate) survey: Survey,
    pub(crate) surveyed: usize,
    /// Largest number of points of a tile.
    pub(crate) tile: u64,
    /// Bytes of an extent; 0 until the tiles are chosen.
    pub(crate) extent: u64,
    /// The second reading: lists of the tiles with the rows of the parts before `spooled`, and their end in the file.
    pub(crate) spooled: usize,
    pub(crate) end: u64,
    pub(crate) runs: Vec<Run>,
}

impl Reading {
    /// Begins to read.
    pub(crate) fn new(job: String, survey: Survey, tile: u64) -> Reading {
        let runs = Vec::new();
        Reading { job, survey, surveyed: 0, tile, extent: 0, spooled: 0, end: 0, runs }
    }

    /// Forgets the second reading.
    pub(crate) fn spool_again(&mut self) {
        (self.spooled, self.end) = (0, 0);
        self.runs.clear();
    }

    pub(crate) fn save(&self, folder: &Folder) -> Result<(), Error> {
        numbers::save(&self.encode(), &folder.file(READING), &folder.file(READING_NEW))
    }

    /// Reads the state of an input in `parts` parts; `None` if there is none.
    pub(crate) fn load(folder: &Folder, parts: usize) -> Result<Option<Reading>, Error> {
        let path = folder.file(READING);
        let found = numbers::load(&path, Reading::decode)?;
        let same = |reading: &Reading| reading.survey.used.len() == parts;
        match found {
            Some(reading) if !same(&reading) => {
                Err(Error::unusable(&path, "is of another input", START_AGAIN))
            }
            found => Ok(found),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(FIRST);
        out.text(&self.job);
        let survey = &self.survey;
        let [surveyed, spooled] = [self.surveyed, self.spooled].map(|parts| parts as u64);
        let numbers = [survey.bad, survey.zeros, surveyed, self.tile, self.extent, spooled];
        numbers.into_iter().chain([self.end]).for_each(|number| out.number(number));
        survey.corners.iter().flatten().for_each(|&x| out.real(x));
        out.list(survey.first.as_slice(), |row| row);
        out.list(&survey.used, u64::from);
        survey.grid.encode(&mut out);
        out.list(&survey.counts, u64::from);
        out.number(self.runs.len() as u64);
        for run in &self.runs {
            out.number(run.length);
            out.list(&run.places, |place| place);
        }
        out.finish()
    }

    fn decode(bytes: &[u8]) -> Option<Reading> {
        let mut from = numbers::Reader::new(bytes, FIRST)?;
        let job = from.text()?;
        let (bad, zeros, surveyed) = (from.number()?, from.number()?, from.number()? as usize);
        let (tile, extent) = (from.number()?, from.number()?);
        let (spooled, end) = (from.number()? as usize, from.number()?);
        let corners = [from.three()?, from.three()?];
        let first = from.list(Some)?.first().copied();
        let small = |number| u32::try_from(number).ok();
        let used = from.list(small)?;
        let grid = Grid::decode(&mut from)?;
        let counts = from.list(small)?;
        let lists = from.length()?;
        let mut run = || Some(Run { length: from.number()?, places: from.list(Some)? });
        let runs = (0..lists).map(|_| run()).collect::<Option<_>>()?;
        let fits = surveyed.max(spooled) <= used.len() && counts.len() == grid.len();
        let survey = Survey { bad, zeros, corners, used, first, grid, counts };
        fits.then_some(Reading { job, survey, surveyed, tile, extent, spooled, end, runs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let grid = Grid::over([[0.0, 1.0, 2.0], [3.0, 4.0, 2.0]]);
        let counts: Vec<u32> = (0..grid.len() as u32).map(|cell| cell % 7).collect();
        let corners = [[1.0, 2.0, 3.0], [4.0, 5.5, f64::INFINITY]];
        let (used, first) = (vec![3, 0, 9], Some(1 << 36));
        let survey = Survey { bad: 1, zeros: 2, corners, used, first, grid, counts };
        let mut reading = Reading::new("scan.laz, ratio 0.25".to_owned(), survey, 5_000);
        let check = |reading: &Reading| {
            let bytes = reading.encode();
            assert_eq!(Reading::decode(&bytes).as_ref(), Some(reading));
            for end in [0, 10, 100, bytes.len() - 1] {
                assert_eq!(Reading::decode(&bytes[..end]), None);
            }
        };
        check(&reading);
        (reading.surveyed, reading.extent, reading.spooled, reading.end) = (3, 4096, 2, 8192);
        reading.runs = vec![Run { places: vec![0, 4096], length: 5_000 }, Run::default()];
        check(&reading);
        reading.spool_again();
        check(&reading);
        reading.spooled = 4;
        assert_eq!(Reading::decode(&reading.encode()), None);
    }
}
