//! Clouds: generated ones of the paper's sizes, and given ones.

use crate::timing::{Case, checksum, generated};
use anyhow::{Context as _, Result, ensure};
use farpoint_cli::input::{self, Points, narrowed};
use farpoint_cli::output::{count, note};
use farpoint_generate::Kind;
use farpoint_io::{Format, ReadOptions};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A cloud of finite points, in single precision.
pub(super) struct Cloud {
    pub(super) case: Case,
    /// Dropped or converted data.
    pub(super) note: String,
    /// Fingerprint of the coordinates.
    pub(super) fingerprint: u64,
}

/// Clouds of the size of the paper's three workloads: the dragon, a LiDAR turn, a room.
const SIZES: [(Kind, usize); 3] =
    [(Kind::Object, 40_000), (Kind::Lidar, 120_000), (Kind::Room, 1_000_000)];
const QUICK_SIZES: [(Kind, usize); 3] =
    [(Kind::Object, 6_000), (Kind::Lidar, 12_000), (Kind::Room, 40_000)];

/// Number of points below which a cloud is too small.
const FEWEST: usize = 1000;

/// Maximum number of clouds taken from folders.
const MAX_CLOUDS: usize = 8;

/// Folder names that are taken first: the paper's data sets, and others of their kind.
const WELL_KNOWN: [&str; 8] =
    ["stanford", "kitti", "s3dis", "scannet", "nuscenes", "modelnet", "las", "indoor"];

/// Share of rows equal to (0, 0, 0) above which these mean 'no return'.
const MANY_ZEROS: f64 = 0.01;

impl Cloud {
    fn new(name: String, points: Vec<[f32; 3]>, note: String) -> Self {
        let fingerprint = checksum(points.as_flattened().iter().map(|v| u64::from(v.to_bits())));
        let case = Case { name, points: Points::F32(Cow::Owned(points)) };
        Self { case, note, fingerprint }
    }

    pub(super) fn name(&self) -> &str {
        &self.case.name
    }

    pub(super) fn points(&self) -> &[[f32; 3]] {
        match &self.case.points {
            Points::F32(points) => points,
            // Never generated.
            Points::F64(_) => &[],
        }
    }
}

/// Refuses missing paths, before any work.
pub(super) fn check(data: &[PathBuf]) -> Result<()> {
    for path in data {
        let about = || format!("--data {}: there is no such file or folder", path.display());
        std::fs::metadata(path).with_context(about)?;
    }
    Ok(())
}

/// Returns generated and given clouds, each name once.
pub(super) fn all(data: &[PathBuf], quick: bool) -> Result<Vec<Cloud>> {
    let user_clouds = read_data(data)?;
    let sizes = if quick { QUICK_SIZES } else { SIZES };
    let mut clouds: Vec<Cloud> = sizes
        .into_iter()
        .map(|(kind, points)| {
            let Case { name, points } = generated(kind, points);
            let Points::F32(points) = points else {
                return Cloud::new(name, Vec::new(), String::new());
            };
            Cloud::new(name, points.into_owned(), "generated, seed 1".into())
        })
        .collect();
    for mut cloud in user_clouds {
        let taken = |name: &str| clouds.iter().any(|other| other.name() == name);
        let plain = cloud.name().to_owned();
        let mut again = 2;
        while taken(cloud.name()) {
            cloud.case.name = format!("{plain} ({again})");
            again += 1;
        }
        clouds.push(cloud);
    }
    Ok(clouds)
}

/// Returns all files; of each folder in a folder the largest cloud, at most `MAX_CLOUDS`.
fn read_data(data: &[PathBuf]) -> Result<Vec<Cloud>> {
    let (mut named, mut found) = (Vec::new(), Vec::new());
    for path in data {
        if path.is_dir() {
            let before = found.len();
            walk(path, &mut found)?;
            ensure!(
                found.len() > before,
                "--data {}: no cloud of at least {} points is in this folder or below",
                path.display(),
                count(FEWEST)
            );
        } else {
            let cloud = read(path)?;
            ensure!(
                cloud.points().len() >= FEWEST,
                "--data {}: {} usable points are too few to show anything; at least {}",
                path.display(),
                count(cloud.points().len()),
                count(FEWEST)
            );
            named.push(cloud);
        }
    }
    found.sort_by_key(|(rank, cloud): &(usize, Cloud)| (*rank, usize::MAX - cloud.points().len()));
    if found.len() > MAX_CLOUDS {
        let skipped: Vec<_> = found.drain(MAX_CLOUDS..).map(|(_, cloud)| cloud.case.name).collect();
        note(&format!(
            "of the folders given, {MAX_CLOUDS} clouds are taken; left out: {} (name files to have them)",
            skipped.join(", ")
        ));
    }
    named.extend(found.into_iter().map(|(_, cloud)| cloud));
    Ok(named)
}

/// The largest cloud of this folder, and those of the folders in it.
fn walk(folder: &Path, found: &mut Vec<(usize, Cloud)>) -> Result<()> {
    let about = || format!("{}: can't be listed; check its permissions", folder.display());
    let entries = std::fs::read_dir(folder).with_context(about)?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut largest: Option<(bool, Cloud)> = None;
    for path in &paths {
        if path.is_dir() && !path.is_symlink() {
            walk(path, found)?;
        } else if let Some(format) = Format::from_path(path) {
            // Files that are not clouds are skipped: text files often are not.
            let Ok(cloud) = read(path) else { continue };
            // Formats without a description of their columns come last: columns may be guessed wrong.
            let sure = !matches!(format, Format::Raw | Format::Text);
            let size = cloud.points().len();
            let beats =
                |(other, best): &(bool, Cloud)| (sure, size) > (*other, best.points().len());
            if size >= FEWEST && largest.as_ref().is_none_or(beats) {
                largest = Some((sure, cloud));
            }
        }
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let rank = WELL_KNOWN.iter().position(|known| *known == name).unwrap_or(WELL_KNOWN.len());
    found.extend(largest.map(|(_, cloud)| (rank, cloud)));
    Ok(())
}

/// Reads a file's usable points, in single precision.
fn read(path: &Path) -> Result<Cloud> {
    let cloud = farpoint_io::read(path, &ReadOptions::default())?;
    let mut notes = Vec::new();
    let mut points = match Points::of(&cloud) {
        Points::F32(points) => points.into_owned(),
        Points::F64(wide) => {
            notes.push("single precision, minimum corner subtracted".to_owned());
            narrowed(&wide).1
        }
    };
    let all = points.len();
    points.retain(|row| row.iter().all(|value| value.is_finite()));
    if points.len() < all {
        notes.push(format!("{} rows with NaN left out", count(all - points.len())));
    }
    let zeros = points.iter().filter(|row| **row == [0.0; 3]).count();
    if zeros as f64 > MANY_ZEROS * all as f64 {
        points.retain(|row| *row != [0.0; 3]);
        notes.push(format!("{} rows without return left out", count(zeros)));
    }
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let file = file.split('.').next().filter(|name| !name.is_empty()).unwrap_or(&file).to_owned();
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let name = match folder {
        Some(folder) => format!("{folder}/{file}"),
        None => file,
    };
    // A name is a cell of tables.
    let name = name.replace(char::is_control, " ");
    notes.insert(0, input::name(path));
    Ok(Cloud::new(name, points, notes.join("; ")))
}

/// Formats a line for each cloud.
pub(super) fn described(clouds: &[Cloud]) -> String {
    let line = |cloud: &Cloud| {
        format!("  {}: {} points ({})\n", cloud.name(), count(cloud.points().len()), cloud.note)
    };
    clouds.iter().map(line).collect()
}
