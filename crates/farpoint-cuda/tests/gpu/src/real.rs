//! Real clouds: every file in a folder that farpoint reads, a quarter of each.

use crate::clouds::Cloud;
use crate::runner::Group;
use crate::tally::Tally;
use crate::truth::{job, on_cpu};
use crate::variants;
use anyhow::Result;
use farpoint::{Amount, NonFinite, Sample, Sampler, Start};
use farpoint_cuda::{CudaScalar, Gpu};
use farpoint_io::{Coordinates, ReadOptions, read};
use std::path::{Path, PathBuf};

/// Number of rows up to which an algorithm that reads every row for every sample is tried.
const PERSISTENT: usize = 150_000;
const NAIVE: usize = 25_000;
const RADIUS: usize = 300_000;

/// All files below `folder`, by name.
pub(crate) fn groups(folder: &Path) -> Result<Vec<Group>> {
    let mut files = Vec::new();
    all_files(folder, &mut files)?;
    files.sort();
    let group = |path: PathBuf| {
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        let group = Group::new(format!("file {name}"), variants::ALL, move || {
            let clouds = File::read(&path)?;
            Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
                clouds.compare(device, part, tally);
                Ok(())
            })
        });
        group.heavy()
    };
    Ok(files.into_iter().map(group).collect())
}

pub(crate) fn all_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            all_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension != "md") {
            files.push(path);
        }
    }
    Ok(())
}

/// A file's cloud, or the reason why there is none.
enum File {
    F32(Real<f32>),
    F64(Real<f64>),
    Unreadable(String),
}

struct Real<T> {
    cloud: Cloud<T>,
    sampler: Sampler,
    truth: Sample<T>,
}

impl File {
    fn read(path: &Path) -> Result<Self> {
        Ok(match read(path, &ReadOptions::default()) {
            Err(error) => Self::Unreadable(error.to_string()),
            Ok(cloud) => match cloud.coordinates() {
                Coordinates::F32(rows) => {
                    Self::F32(Real::new(Cloud { data: rows.as_flattened().to_vec(), dims: 3 })?)
                }
                Coordinates::F64(rows) => Self::F64(Real::new(Cloud::new(rows))?),
            },
        })
    }

    fn compare(&self, device: &Gpu, part: &str, tally: &mut Tally) {
        match self {
            Self::F32(real) => real.compare(device, part, tally),
            Self::F64(real) => real.compare(device, part, tally),
            Self::Unreadable(reason) => tally.note(format!("not read: {reason}")),
        }
    }
}

impl<T: CudaScalar> Real<T> {
    fn new(cloud: Cloud<T>) -> Result<Self> {
        // Row 0 may be non-finite: then the start is drawn.
        let is_non_finite =
            cloud.data[..cloud.dims.min(cloud.data.len())].iter().any(|x| !x.is_finite());
        let start = if is_non_finite { Start::Random(1) } else { Start::Index(0) };
        let sampler = job(Amount::Ratio(0.25), start, NonFinite::Skip);
        let truth = on_cpu(sampler.clone(), cloud.data.len() / cloud.dims).sample(&cloud)?;
        Ok(Self { cloud, sampler, truth })
    }

    fn compare(&self, device: &Gpu, part: &str, tally: &mut Tally) {
        let n = self.cloud.data.len() / self.cloud.dims;
        let max_rows = match part {
            "naive" => NAIVE,
            "persistent" => PERSISTENT,
            "radius" => RADIUS,
            _ => usize::MAX,
        };
        if n > max_rows {
            tally.note(format!("{part}: skipped, {n} points"));
            return;
        }
        let sampler = self.sampler.clone().algorithm(variants::algorithm(part));
        let label = format!("{n} -> {}", self.truth.len());
        tally.sample(label, sampler.on(device).sample(&self.cloud), &self.truth);
    }
}
