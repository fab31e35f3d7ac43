//! The straightforward loop that defines voxels.

use super::prepared::random_place;
use crate::{Error, NonFinite, Points, Reduce, Scalar, VoxelGrid, Voxels};
use std::collections::HashMap;

/// Returns the voxels of a cloud, by one row after another.
///
/// # Errors
/// As [`VoxelGrid::downsample`].
pub fn downsample<T: Scalar, P: Points<T> + ?Sized>(
    job: &VoxelGrid,
    points: &P,
) -> Result<Voxels<T>, Error> {
    let (n, dims) = (points.len(), points.dim());
    let name = |place: usize| points.subset().map_or(place, |subset| subset.row(place));
    let point =
        |place: usize| -> Vec<T> { (0..dims).map(|a| points.coordinate(place, a)).collect() };
    let is_good = |&place: &usize| point(place).iter().all(|x| x.is_finite());
    job.check()?;
    let good: Vec<usize> = (0..n).filter(is_good).collect();
    let dropped = n - good.len();
    if dropped > 0 && job.non_finite == NonFinite::Error {
        let first = (0..n).find(|place| !is_good(place)).map_or(0, name);
        return Err(Error::NonFinite { first, count: dropped, points: n });
    }
    let (size, origin) = job.on_axes::<T>(dims)?;
    let least = |axis: usize| {
        let all = good.iter().map(|&place| points.coordinate(place, axis));
        all.reduce(|a, b| if b < a { b } else { a }).unwrap_or(T::ZERO) + T::ZERO
    };
    let origin = origin.unwrap_or_else(|| (0..dims).map(least).collect());
    let quotient =
        |place: usize, axis: usize| (points.coordinate(place, axis) - origin[axis]) / size[axis];
    for axis in 0..dims {
        for &place in &good {
            let cell = quotient(place, axis).to_f64().floor();
            if !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&cell) {
                return Err(Error::VoxelOutOfRange {
                    axis,
                    row: name(place),
                    coordinate: points.coordinate(place, axis).to_f64(),
                    size: size[axis].to_f64(),
                    origin: origin[axis].to_f64(),
                });
            }
        }
    }

    // The places of each cell, in the order of the cells' first places.
    let mut voxels: Vec<(Vec<i32>, Vec<usize>)> = Vec::new();
    let mut number = HashMap::new();
    for &place in &good {
        let cell: Vec<i32> =
            (0..dims).map(|axis| quotient(place, axis).to_f64().floor() as i32).collect();
        let at = *number.entry(cell.clone()).or_insert(voxels.len());
        if at == voxels.len() {
            voxels.push((cell, Vec::new()));
        }
        voxels[at].1.push(place);
    }
    voxels.retain(|(_, places)| places.len() >= job.min_points as usize);
    if job.sorted {
        voxels.sort();
    }

    let mut found = Voxels {
        inverse: vec![Voxels::<T>::NONE; n],
        counts: Vec::new(),
        rows: Vec::new(),
        coordinates: Vec::new(),
        cells: Vec::new(),
        dims,
        origin: origin.clone(),
        dropped,
    };
    for (cell, places) in voxels {
        for &place in &places {
            found.inverse[place] = found.counts.len() as u32;
        }
        let to_center = |place: usize| {
            (0..dims).fold(T::ZERO, |sum, axis| {
                let q = quotient(place, axis);
                let off = (q - T::from_f64(q.to_f64().floor())) - T::from_f64(0.5);
                sum + off * off
            })
        };
        let chosen = match job.reduce {
            Reduce::Mean | Reduce::First => places[0],
            Reduce::Center => {
                let nearer = |a: usize, b: usize| if to_center(b) < to_center(a) { b } else { a };
                places.iter().copied().reduce(nearer).unwrap_or(places[0])
            }
            Reduce::Random(seed) => places[random_place(seed, &cell, places.len() as u32) as usize],
        };
        for axis in 0..dims {
            let coordinate = |place: usize| points.coordinate(place, axis);
            found.coordinates.push(match job.reduce {
                Reduce::Mean => {
                    let sum = places.iter().fold(0.0, |sum, &p| sum + coordinate(p).to_f64());
                    T::from_f64(sum / places.len() as f64)
                }
                _ => coordinate(chosen),
            });
        }
        found.counts.push(places.len() as u32);
        found.rows.push(name(chosen) as u32);
        found.cells.extend(cell);
    }
    Ok(found)
}
