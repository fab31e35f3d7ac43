//! Identity of an input and a job, so that a run is resumed with nothing else.

use crate::disk::error::Error;
use crate::disk::extents::read_at;
use crate::disk::job::Job;
use farpoint::{Amount, Start};
use farpoint_io::Reader;
use std::fs::File;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Number of places sampled in all inputs, and bytes of each.
const PLACES: u64 = 64;
const BYTES: usize = 4096;

/// An input and a job, line by line.
pub(crate) struct Identity(Vec<(&'static str, String)>);

/// Names of entries that mean nothing to a user.
const TIME: &str = "time of change";
const CONTENT: &str = "content";

/// Reads a little of the input, wherever it may have changed.
pub(crate) fn identity(reader: &Reader, job: &Job) -> Result<Identity, Error> {
    let (mut length, mut time, mut hasher) = (0, 0, crc32fast::Hasher::new());
    let places = PLACES.div_ceil(reader.inputs().len().max(1) as u64);
    for name in reader.inputs().iter().filter(|_| reader.bytes() > 0) {
        let failed = |source| Error::read_input(name, source);
        let file = File::open(Path::new(name)).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        length += about.len();
        time = modified.map_or(0, |time| time.as_nanos()).max(time);
        digest(&file, about.len(), places, &mut hasher).map_err(failed)?;
    }
    let digest = hasher.finalize();
    Ok(Identity(vec![
        ("input's size", length.to_string()),
        (TIME, time.to_string()),
        (CONTENT, format!("{digest:08x}")),
        ("format", reader.description()),
        ("number of rows", reader.len().to_string()),
        ("amount", amount(job.amount)),
        ("start", start(job.start.as_ref())),
        ("`drop_zeros`", job.drop_zeros.to_string()),
        ("`f32`", job.single.to_string()),
        ("filter", reader.filter().to_string()),
    ]))
}

/// Adds the start, the end and places between to a checksum.
fn digest(
    file: &File,
    length: u64,
    places: u64,
    hasher: &mut crc32fast::Hasher,
) -> std::io::Result<()> {
    let mut bytes = vec![0; BYTES.min(length as usize)];
    let last = length - bytes.len() as u64;
    for place in 0..=places {
        read_at(
            file,
            &mut bytes,
            (u128::from(last) * u128::from(place) / u128::from(places)) as u64,
        )?;
        hasher.update(&bytes);
    }
    Ok(())
}

/// Describes an amount in words.
fn amount(amount: Amount) -> String {
    match amount {
        Amount::Count(count) => format!("{count} points"),
        Amount::Ratio(ratio) => format!("ratio {ratio}"),
        Amount::Spacing(spacing) => format!("spacing {spacing}"),
        Amount::Cell(cell) => format!("cell {cell}"),
        _ => "all points".into(),
    }
}

/// Describes the start of a run in words.
fn start(start: Option<&Start>) -> String {
    match start {
        None | Some(Start::First) => "the first row".into(),
        Some(Start::Index(row)) => format!("row {row}"),
        Some(Start::Random(seed)) => format!("a random row, seed {seed}"),
        Some(Start::Indices(rows)) if rows.len() <= 8 => {
            let rows: Vec<String> = rows.iter().map(usize::to_string).collect();
            format!("rows {}", rows.join(", "))
        }
        Some(Start::Indices(rows)) => {
            let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
            format!("{} rows, checksum {:08x}", rows.len(), crc32fast::hash(&bytes))
        }
        Some(other) => format!("{other:?}"),
    }
}

impl Identity {
    /// Returns the text that the spool keeps.
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|(_, value)| format!("{value}\n")).collect()
    }

    /// Returns an error that names the difference from `recorded`, if there is any.
    pub(crate) fn compare(&self, recorded: &str, folder: &Path) -> Result<(), Error> {
        let mut lines = recorded.lines();
        for (name, now) in &self.0 {
            let then = lines.next().unwrap_or_default();
            if then != now {
                let what = match *name {
                    TIME | CONTENT => {
                        format!("was started before the input changed; its {name} differs")
                    }
                    _ => format!("was started with another {name} ({then}, now {now})"),
                };
                let fix = "use the same options, or delete the folder and start again";
                return Err(Error::unusable(folder, what, fix));
            }
        }
        Ok(())
    }
}
