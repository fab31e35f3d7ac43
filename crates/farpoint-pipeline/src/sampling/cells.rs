//! Cells of a grid as samples: a row of each, or a position with the rows that it stands for.

use super::{Observer, Outcome, RanOn, covering_radius};
use crate::DeviceOptions;
use farpoint::approximate::ApproximateSampler;
use farpoint::{Reduce, Scalar, VoxelGrid, Voxels};
use farpoint_io::{Coordinates, Groups};
use serde_json::json;
use std::time::Instant;

/// Points that a job chooses.
#[derive(Debug)]
pub enum Chosen {
    /// Rows of the cloud.
    Rows(Vec<usize>),
    /// Groups of rows, and the positions that stand for them.
    Means(Groups, Coordinates),
}

impl Chosen {
    pub(super) fn voxels<T: Scalar, P: farpoint::Points<T> + ?Sized>(
        job: &VoxelGrid,
        points: &P,
        voxels: Voxels<T>,
    ) -> Self {
        if job.reduce == Reduce::Mean {
            return Self::means(points, &voxels.coordinates, &voxels.counts, &voxels.inverse);
        }
        let mut rows: Vec<usize> = voxels.rows.into_iter().map(|row| row as usize).collect();
        rows.sort_unstable();
        Self::Rows(rows)
    }

    pub(super) fn means<T: Scalar, P: farpoint::Points<T> + ?Sized>(
        points: &P,
        coordinates: &[T],
        counts: &[u32],
        inverse: &[u32],
    ) -> Self {
        let row = |place: usize| points.subset().map_or(place, |subset| subset.row(place));
        let rows: &[[T; 3]] = coordinates.as_chunks().0;
        let coordinates = match size_of::<T>() {
            4 => Coordinates::F32(rows.iter().map(|row| row.map(|x| x.to_f64() as f32)).collect()),
            _ => Coordinates::F64(rows.iter().map(|row| row.map(T::to_f64)).collect()),
        };
        Self::Means(Groups::new(counts, inverse, row), coordinates)
    }
}

/// Computes the centroids of at most a number of cells.
pub(super) fn centroids<T: Scalar, P: farpoint::Points<T> + ?Sized>(
    job: &ApproximateSampler,
    points: &P,
    place: &DeviceOptions,
    observer: Observer<'_>,
) -> Result<Outcome, farpoint::Error> {
    let start = Instant::now();
    let made = job.on(&place.as_cpu()).observe(&mut |step| observer(step)).centroids(points)?;
    let seconds = start.elapsed().as_secs_f64();
    let rows: &[[T; 3]] = made.coordinates.as_chunks().0;
    let covering_radius = covering_radius(points, rows)?;
    let chosen = Chosen::means(points, &made.coordinates, &made.counts, &made.inverse);
    let outcome = Outcome::of_cells(chosen, covering_radius, place, seconds);
    let details = vec![("cell".into(), json!(made.cell))];
    Ok(Outcome { dropped: made.dropped, details, ..outcome })
}

/// Chooses or makes a point for each cell of a size.
pub(super) fn voxels<T: Scalar, P: farpoint::Points<T> + ?Sized>(
    job: &VoxelGrid,
    all: &[[T; 3]],
    points: &P,
    place: &DeviceOptions,
    observer: Observer<'_>,
) -> Result<Outcome, farpoint::Error> {
    let start = Instant::now();
    let found = job.on(&place.as_cpu()).observe(&mut |step| observer(step)).downsample(points)?;
    let seconds = start.elapsed().as_secs_f64();
    let dropped = found.dropped;
    if dropped == points.len() {
        return Err(farpoint::Error::EmptyCloud);
    }
    let mut details = vec![(
        "cell".into(),
        match job.size[..] {
            [x, y, z] if x == y && y == z => json!(x),
            _ => json!(job.size),
        },
    )];
    let (covering_radius, chosen) = match job.reduce {
        Reduce::Mean => {
            let radius = covering_radius(points, found.coordinates.as_chunks().0)?;
            (radius, Chosen::voxels(job, points, found))
        }
        _ => {
            details.push(("cells".into(), json!(found.len())));
            let rows: Vec<[T; 3]> = found.rows.iter().map(|&row| all[row as usize]).collect();
            (covering_radius(points, &rows)?, Chosen::voxels(job, points, found))
        }
    };
    let outcome = Outcome::of_cells(chosen, covering_radius, place, seconds);
    Ok(Outcome { dropped, details, ..outcome })
}

impl Outcome {
    /// Creates the outcome of a grid.
    fn of_cells(chosen: Chosen, covering_radius: f64, place: &DeviceOptions, seconds: f64) -> Self {
        let (indices, means, algorithm) = match chosen {
            Chosen::Rows(rows) => (rows, None, "grid"),
            Chosen::Means(groups, centers) => {
                ((0..groups.len()).collect(), Some((groups, centers)), "grid, centroids")
            }
        };
        let ran_on = RanOn::Cpu { threads: place.thread_count(), level: None };
        let algorithm = algorithm.to_owned();
        let rest = Self::of_rows(indices);
        Self { covering_radius, algorithm, ran_on, means, seconds, ..rest }
    }
}
