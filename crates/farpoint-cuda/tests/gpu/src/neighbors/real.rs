//! Real pairs: every file of a folder against the next in it.

use super::ALL;
use super::equality::Case;
use super::pairs::Pair;
use crate::clouds::Cloud;
use crate::real::all_files;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::Norm;
use farpoint_cuda::{CudaScalar, Gpu};
use farpoint_io::{Coordinates, ReadOptions, read};
use std::path::{Path, PathBuf};

/// Pairs of points up to which all of them are compared.
const ALL_PAIRS: u128 = 50_000_000_000;

/// Points of the larger cloud above which a pair is skipped.
const MAX_POINTS: usize = 3_000_000;

/// All files below `folder`, each with the next one of its folder, by name.
pub(super) fn groups(folder: &Path) -> Result<Vec<Group>> {
    let mut files = Vec::new();
    all_files(folder, &mut files)?;
    files.sort();
    let in_same_folder = |pair: &&[PathBuf]| pair[0].parent() == pair[1].parent();
    let name = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let group = |pair: &[PathBuf]| {
        let [a, b] = [&pair[0], &pair[1]].map(PathBuf::clone);
        let title = format!("chamfer files {} and {}", name(&a), name(&b));
        let group = Group::new(title, ALL, move || {
            let files = Files::read(&a, &b)?;
            Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
                files.compare(device, part, tally);
                Ok(())
            })
        });
        group.heavy()
    };
    Ok(files.windows(2).filter(in_same_folder).map(group).collect())
}

/// Two files' clouds in the more precise of their precisions, or the reason why there are none.
enum Files {
    F32(Case<f32>),
    F64(Case<f64>),
    Skipped(String),
}

impl Files {
    fn read(a: &Path, b: &Path) -> Result<Self> {
        let clouds = [a, b].map(|path| read(path, &ReadOptions::default()));
        let [a, b] = match clouds {
            [Ok(a), Ok(b)] => [a, b],
            [Err(error), _] | [_, Err(error)] => {
                return Ok(Self::Skipped(format!("not read: {error}")));
            }
        };
        if a.len().max(b.len()) > MAX_POINTS || a.len().min(b.len()) == 0 {
            return Ok(Self::Skipped(format!("skipped: {} and {} points", a.len(), b.len())));
        }
        Ok(match (a.coordinates(), b.coordinates()) {
            (Coordinates::F32(_), Coordinates::F32(_)) => Self::F32(case(&a, &b)?),
            _ => Self::F64(case(&a, &b)?),
        })
    }

    fn compare(&self, device: &Gpu, part: &str, tally: &mut Tally) {
        match self {
            Self::F32(case) => compare(case, device, part, tally),
            Self::F64(case) => compare(case, device, part, tally),
            Self::Skipped(reason) => tally.note(reason),
        }
    }
}

fn case<T: CudaScalar>(a: &farpoint_io::Cloud, b: &farpoint_io::Cloud) -> Result<Case<T>> {
    let rows = |cloud: &farpoint_io::Cloud| match cloud.coordinates() {
        Coordinates::F32(rows) => {
            let data = rows.as_flattened().iter().map(|&x| T::from_f64(f64::from(x))).collect();
            Cloud { data, dims: 3 }
        }
        Coordinates::F64(rows) => Cloud::new(rows),
    };
    Case::new(Pair { a: rows(a), b: rows(b) }, Norm::Two)
}

fn compare<T: CudaScalar>(case: &Case<T>, device: &Gpu, part: &str, tally: &mut Tally) {
    let (_, pairs) = case.size();
    if ["plain", "brute"].contains(&part) && pairs > ALL_PAIRS {
        return tally.note(format!("{part}: skipped, {pairs} pairs"));
    }
    case.compare(device, part, "", tally);
}
