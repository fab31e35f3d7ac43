//! Point density in plan view: points per square meter, or per square unit, over the occupied cells of a grid.

use crate::input::{Points, each_precision};
use crate::output::{count, number};
use crate::picture::{Tile, Tiles, Unit, tiles};
use crate::text::lines;
use anyhow::{Result, bail};
use farpoint::measure::{Spacing, spacing_of};
use farpoint::{Cpu, Reduce, Scalar, VoxelGrid, Voxels};
use farpoint_io::Cloud;
use serde_json::{Value, json};
use std::path::Path;

/// Least mean number of points of an occupied cell: with fewer, ground between points would not be counted.
const FULL: usize = 10;
/// Shares of the cells whose densities are stated, in percent.
const PERCENT: [usize; 3] = [5, 50, 95];

/// Density of the usable points of a cloud.
pub(super) struct Density {
    /// Unit of all lengths and areas: meters if known, else that of the coordinates.
    unit: Unit,
    /// Edge of a cell.
    cell: f64,
    cells: usize,
    /// Share of the cells of the rectangle around them that are occupied.
    coverage: f64,
    /// Points per square unit of occupied cells: mean, and at each of [`PERCENT`].
    mean: f64,
    percentiles: [f64; PERCENT.len()],
    /// Mean of the points that are first returns, if returns are numbered.
    first_returns: Option<f64>,
    /// Distances in space to the nearest other point; `None` for fewer than two points.
    spacing: Option<Spacing>,
    /// The densities as a raster.
    pub(super) map: Tile,
}

impl Density {
    /// Measures a cloud; `None` if it has no usable point.
    pub(super) fn of(name: &str, cloud: &Cloud, points: &Points<'_>) -> Result<Option<Self>> {
        if let Some(crs) = cloud.crs().filter(|crs| crs.geographic) {
            bail!(
                "a density needs lengths, but coordinates are degrees of {}; project the file first",
                crs.name
            );
        }
        let meters = cloud.meters_per_unit();
        let places: Vec<[f64; 3]> = each_precision!(points, points => usable(points));
        if places.is_empty() {
            return Ok(None);
        }
        let scale = meters.unwrap_or(1.0);
        let plan: Vec<[f64; 2]> = places.iter().map(|&[x, y, _]| [x * scale, y * scale]).collect();
        let (cell, voxels) = cells(&plan, meters.is_some())?;
        let map = map(name, cell, &voxels);
        let mut counts = voxels.counts;
        counts.sort_unstable();
        let area = cell * cell;
        let at = |percent: usize| f64::from(counts[(counts.len() - 1) * percent / 100]) / area;
        let mean = plan.len() as f64 / (counts.len() as f64 * area);
        let spacing = if places.len() > 1 { Some(spacing_of(&places[..])?) } else { None };
        Ok(Some(Self {
            unit: if meters.is_some() { Unit::Meters } else { Unit::Unknown },
            cell,
            cells: counts.len(),
            coverage: counts.len() as f64 / rectangle(&voxels.cells).size(),
            mean,
            percentiles: PERCENT.map(at),
            first_returns: first_returns(cloud).map(|share| share * mean),
            spacing: spacing.map(|spacing| scaled(spacing, scale)),
            map,
        }))
    }

    /// Returns the area of the occupied cells.
    pub(super) fn area(&self) -> f64 {
        self.cells as f64 * self.cell * self.cell
    }

    pub(super) fn as_json(&self) -> Value {
        let percentiles: Value = PERCENT
            .iter()
            .zip(self.percentiles)
            .map(|(percent, density)| (percent.to_string(), density.into()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        json!({
            "unit": lengths(self.unit),
            "cell": self.cell,
            "cells": self.cells,
            "area": self.area(),
            "coverage": self.coverage,
            "mean": self.mean,
            "percentiles": percentiles,
            "first_returns": self.first_returns,
            "spacing": self.spacing.map(|spacing| json!({
                "mean": spacing.mean,
                "min": spacing.min,
                "max": spacing.max,
            })),
        })
    }

    /// Returns rows of the table.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let (square, unit) = (self.unit.square(), lengths(self.unit));
        let [low, middle, high] = self.percentiles.map(number);
        let mut rows = vec![
            ("density", format!("{} points per {square} of occupied cells", number(self.mean))),
            ("in cells", format!("{low} to {high} (5 to 95 %), median {middle}")),
            (
                "area",
                format!(
                    "{}: {} cells of {} {unit}, {:.0} % of the rectangle around them",
                    area_text(self.area(), self.unit),
                    count(self.cells as u64),
                    number(self.cell),
                    100.0 * self.coverage
                ),
            ),
        ];
        let first = self.first_returns.map(|density| format!("{} per {square}", number(density)));
        rows.extend(first.map(|first| ("first returns", first)));
        rows.extend(self.spacing.map(|Spacing { mean, min, max, .. }| {
            let [mean, min, max] = [mean, min, max].map(number);
            ("spacing", format!("{mean} {unit} to the nearest point, {min} to {max}"))
        }));
        rows
    }
}

/// Returns the unit that follows a length.
fn lengths(unit: Unit) -> &'static str {
    if unit == Unit::Unknown { "units" } else { unit.symbol() }
}

/// Writes an area with its unit.
fn area_text(area: f64, unit: Unit) -> String {
    let number = if area < 1000.0 { number(area) } else { count(area.round() as u64) };
    let plural = if unit == Unit::Unknown { "s" } else { "" };
    format!("{number} {}{plural}", unit.square())
}

fn usable<T: Scalar>(points: &[[T; 3]]) -> Vec<[f64; 3]> {
    let rows = points.iter().filter(|row| row.iter().all(|value| value.is_finite()));
    rows.map(|row| row.map(Scalar::to_f64)).collect()
}

fn scaled(mut spacing: Spacing, scale: f64) -> Spacing {
    for value in [&mut spacing.mean, &mut spacing.min, &mut spacing.max] {
        *value *= scale;
    }
    spacing
}

/// Returns the edge of cells and the points of each occupied one: cells of one meter, or of a length by the number of
/// points in other units, doubled until they hold [`FULL`] points on average.
fn cells(plan: &[[f64; 2]], meters: bool) -> Result<(f64, Voxels<f64>)> {
    let side = |axis: usize| {
        let values = || plan.iter().map(|place| place[axis]);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let [wide, high] = [side(0), side(1)];
    let even = (wide * high * FULL as f64 / plan.len() as f64).sqrt();
    let mut cell = match meters {
        true => 1.0,
        false if even > 0.0 => 10f64.powf(even.log10().floor()),
        false => wide.max(high) / FULL as f64,
    };
    if !cell.is_normal() {
        cell = 1.0;
    }
    loop {
        let grid = VoxelGrid::new(cell).reduce(Reduce::First);
        let voxels = grid.on(&Cpu::new()).downsample(plan)?;
        if plan.len() >= FULL * voxels.len() || cell > wide.max(high) {
            return Ok((cell, voxels));
        }
        cell *= 2.0;
    }
}

/// Lowest cell, and number of cells each way.
struct Rectangle {
    low: [i32; 2],
    sides: [usize; 2],
}

impl Rectangle {
    fn size(&self) -> f64 {
        self.sides[0] as f64 * self.sides[1] as f64
    }
}

/// Returns the rectangle around cells of two numbers each.
fn rectangle(cells: &[i32]) -> Rectangle {
    let along = |axis: usize| cells.iter().skip(axis).step_by(2).copied();
    let low = [0, 1].map(|axis| along(axis).min().unwrap_or(0));
    let high = [0, 1].map(|axis| along(axis).max().unwrap_or(0));
    let sides = [0, 1].map(|axis| (i64::from(high[axis]) - i64::from(low[axis])) as usize + 1);
    Rectangle { low, sides }
}

/// Largest number of places of a map along a side: tiles are drawn smaller, and many are kept until all are known.
const PLACES: usize = 250;

/// Joins cells to at most [`PLACES`] each way.
fn map(name: &str, cell: f64, voxels: &Voxels<f64>) -> Tile {
    let Rectangle { low, sides } = rectangle(&voxels.cells);
    let joined = sides[0].max(sides[1]).div_ceil(PLACES);
    let size = sides.map(|side| side.div_ceil(joined));
    let edge = cell * joined as f64;
    let mut densities = vec![0.0; size[0] * size[1]];
    for (place, points) in voxels.cells.chunks_exact(2).zip(&voxels.counts) {
        let at = |axis: usize| (i64::from(place[axis]) - i64::from(low[axis])) as usize / joined;
        densities[at(1) * size[0] + at(0)] += (f64::from(*points) / (edge * edge)) as f32;
    }
    let low = low.map(|first| f64::from(first) * cell);
    let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
    Tile { name, low, edge, size, densities }
}

/// Densities of several files.
pub(super) struct Total<'a>(Vec<&'a Density>);

impl<'a> Total<'a> {
    /// Returns the sum of files; `None` if there is none, or their units differ.
    pub(super) fn of(all: Vec<&'a Density>) -> Option<Self> {
        let unit = all.first()?.unit;
        all.iter().all(|one| one.unit == unit).then_some(Self(all))
    }

    fn area(&self) -> f64 {
        self.0.iter().map(|one| one.area()).sum()
    }

    fn points(&self) -> f64 {
        self.0.iter().map(|one| (one.mean * one.area()).round()).sum()
    }

    /// Returns the mean over all files, and the least and greatest of a file.
    fn means(&self) -> [f64; 3] {
        let means = || self.0.iter().map(|one| one.mean);
        let ends = [means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max)];
        [self.points() / self.area(), ends[0], ends[1]]
    }

    pub(super) fn as_json(&self) -> Value {
        let [mean, min, max] = self.means();
        json!({
            "files": self.0.len(),
            "points": self.points() as u64,
            "unit": lengths(self.0[0].unit),
            "area": self.area(),
            "mean": mean,
            "min": min,
            "max": max,
        })
    }

    pub(super) fn as_table(&self) -> String {
        let [mean, min, max] = self.means().map(number);
        let square = self.0[0].unit.square();
        let rows = [
            ("files", count(self.0.len() as u64)),
            ("points", count(self.points() as u64)),
            (
                "density",
                format!("{mean} points per {square} of occupied cells, by file {min} to {max}"),
            ),
            ("area", area_text(self.area(), self.0[0].unit)),
        ];
        lines(&rows, 13)
    }

    /// Draws the map of all files as PNG.
    pub(super) fn picture(self, title: String) -> Result<Vec<u8>> {
        let [mean, min, max] = self.means();
        let unit = self.0[0].unit;
        let words = format!(
            "{} points, {} per {}, by file {} to {}",
            count(self.points() as u64),
            number(mean),
            unit.square(),
            number(min),
            number(max)
        );
        let maps: Vec<&Tile> = self.0.iter().map(|one| &one.map).collect();
        tiles(&Tiles { tiles: &maps, title, words, unit, scale: 2.0 * mean })
    }
}

/// Returns the share of the points that are first returns, if returns are numbered.
fn first_returns(cloud: &Cloud) -> Option<f64> {
    let returns = super::column(cloud, &["return_number"])?;
    let first = (0..returns.len()).filter(|&row| returns.get(row) == 1.0).count();
    (first > 0).then(|| first as f64 / returns.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint_io::Coordinates;

    fn density(rows: Vec<[f64; 3]>) -> Option<Density> {
        let cloud = Cloud::new(Coordinates::F64(rows));
        Density::of("a", &cloud, &Points::of(&cloud)).unwrap()
    }

    /// A grid of 4 points per square unit, with a hole of a quarter of it, and an unusable row.
    #[test]
    fn holes_do_not_count() {
        let mut rows: Vec<[f64; 3]> = (0..40_000)
            .map(|k| [f64::from(k % 200) / 2.0 + 0.25, f64::from(k / 200) / 2.0 + 0.25, 0.0])
            .filter(|[x, y, _]| *x < 48.0 || *y < 48.0)
            .collect();
        rows.push([f64::NAN, 0.0, 0.0]);
        let found = density(rows).unwrap();
        let spacing = found.spacing.unwrap();
        assert_eq!((found.cell, lengths(found.unit)), (2.0, "units"));
        assert_eq!((found.mean, found.percentiles), (4.0, [4.0; 3]));
        assert_eq!((found.area(), spacing.mean, spacing.max), (10_000.0 - 52.0 * 52.0, 0.5, 0.5));
    }

    #[test]
    fn few_points() {
        let far = density(vec![[0.0; 3], [1e6, 1e6, 0.0]]).unwrap();
        assert!(far.map.densities.len() <= PLACES * PLACES, "{:?}", far.map.size);
        assert!(density(vec![[f64::NAN; 3]]).is_none());
        let one = density(vec![[5.0, 5.0, 1.0]]).unwrap();
        assert_eq!((one.cell, one.cells, one.mean), (1.0, 1, 1.0));
        assert!(one.spacing.is_none());
        let line = density((0..100).map(|k| [f64::from(k), 7.0, 0.0]).collect()).unwrap();
        assert_eq!((line.cell, line.cells), (19.8, 6));
    }
}
