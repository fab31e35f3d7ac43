//! Point density in plan view: points per square meter, or per square unit, over the occupied cells of a grid, which
//! is one for all files.

use super::grid::Grid;
use crate::input::{Points, each_precision};
use crate::output::{count, number};
use crate::picture::{Extent, Raster, Tiles, Unit, tiles};
use crate::text::lines;
use anyhow::{Result, bail};
use farpoint::measure::{Spacing, spacing_of};
use farpoint::{Cpu, Reduce, Scalar, VoxelGrid};
use farpoint_io::Cloud;
use serde_json::{Value, json};
use std::path::Path;

/// Least mean number of points of an occupied cell: with fewer, ground between points would not be counted.
const FULL: usize = 10;
/// Shares of the cells whose densities are stated, in percent.
const PERCENT: [usize; 3] = [5, 50, 95];
/// Cells along a file in units that are not known, before all files are: theirs may have to be small.
const FINE: f64 = 2048.0;
/// Most cells of all files that are kept until all are known: 16 bytes each.
pub(super) const CELLS: usize = 1 << 24;

/// Density of the usable points of a cloud, or of several.
pub(super) struct Density {
    /// Unit of all lengths and areas: meters if known, else that of the coordinates.
    unit: Unit,
    /// Name of the coordinate system.
    crs: Option<String>,
    points: usize,
    /// The rectangle around each file, with its name.
    files: Vec<Extent>,
    grid: Grid,
    /// Number of first returns, if returns are numbered.
    first_returns: Option<f64>,
    /// Distances in space to the nearest other point; `None` for fewer than two points, and for several files.
    spacing: Option<Spacing>,
}

impl Density {
    /// Counts the points of a cloud in cells that [`Total::all`] joins; `None` if it has no usable point.
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
        let spacing = if places.len() > 1 { Some(spacing_of(&places[..])?) } else { None };
        let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut density = Self {
            unit: if meters.is_some() { Unit::Meters } else { Unit::Unknown },
            crs: cloud.crs().map(|crs| crs.name.clone()),
            points: plan.len(),
            files: vec![Extent::around(name, &plan)],
            grid: Grid::new(0, Vec::new()),
            first_returns: first_returns(cloud).map(|share| share * plan.len() as f64),
            spacing: spacing.map(|spacing| scaled(spacing, scale)),
        };
        let level = density.finest();
        let voxels = VoxelGrid::new(f64::from(level).exp2()).reduce(Reduce::First);
        let voxels = voxels.on(&Cpu::new()).downsample(&plan[..])?;
        let counts = voxels.counts.iter().map(|&points| u64::from(points));
        let places = voxels.cells.chunks_exact(2).map(|place| [place[0], place[1]]);
        density.grid = Grid::new(level, places.zip(counts).collect());
        Ok(Some(density))
    }

    /// Returns the level of the smallest cells that are used: cells of a meter, or in other units of as much as would
    /// hold [`FULL`] points if these lay evenly in the rectangles around the files.
    fn smallest(&self) -> i32 {
        let area: f64 = self.files.iter().map(|file| file.side(0) * file.side(1)).sum();
        let even = (area * FULL as f64 / self.points as f64).sqrt();
        match self.unit {
            Unit::Unknown if even > 0.0 => level_of(even),
            Unit::Unknown => level_of(self.side() / FULL as f64),
            _ => 0,
        }
    }

    /// Returns the level of the cells in which points are counted, whose numbers fit in 32 bits.
    fn finest(&self) -> i32 {
        let ends = self.files.iter().flat_map(|file| file.ends.as_flattened());
        let far = ends.fold(0.0, |far: f64, end| far.max(end.abs()));
        match self.unit {
            Unit::Unknown => {
                self.smallest().min(level_of(self.side() / FINE)).max(level_of(far) - 29)
            }
            _ => 0,
        }
    }

    /// Returns the longest side of the rectangle around all points.
    fn side(&self) -> f64 {
        let end =
            |axis: usize, high: usize| self.files.iter().map(move |file| file.ends[high][axis]);
        let side = |axis| {
            end(axis, 1).fold(f64::NEG_INFINITY, f64::max)
                - end(axis, 0).fold(f64::INFINITY, f64::min)
        };
        side(0).max(side(1))
    }

    fn mean(&self) -> f64 {
        self.points as f64 / self.grid.area()
    }

    /// Returns the density of first returns.
    fn pulses(&self) -> Option<f64> {
        Some(self.first_returns? / self.grid.area())
    }

    /// Returns the densities of cells at each of [`PERCENT`].
    fn percentiles(&self) -> [f64; PERCENT.len()] {
        let mut counts: Vec<u64> = self.grid.cells.iter().map(|(_, points)| *points).collect();
        counts.sort_unstable();
        let at = |percent: usize| counts[(counts.len() - 1) * percent / 100] as f64;
        PERCENT.map(|percent| at(percent) / self.grid.cell().powi(2))
    }

    /// Returns the share of the cells of the rectangle around them that are occupied.
    fn coverage(&self) -> f64 {
        let (_, sides) = self.grid.rectangle();
        self.grid.cells.len() as f64 / (sides[0] as f64 * sides[1] as f64)
    }

    pub(super) fn as_json(&self) -> Value {
        let percentiles: Value = PERCENT
            .iter()
            .zip(self.percentiles())
            .map(|(percent, density)| (percent.to_string(), density.into()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        json!({
            "unit": lengths(self.unit),
            "cell": self.grid.cell(),
            "cells": self.grid.cells.len(),
            "area": self.grid.area(),
            "coverage": self.coverage(),
            "mean": self.mean(),
            "percentiles": percentiles,
            "first_returns": self.pulses(),
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
        let [low, middle, high] = self.percentiles().map(number);
        let mut rows = vec![
            ("density", format!("{} points per {square} of occupied cells", number(self.mean()))),
            ("in cells", format!("{low} to {high} (5 to 95 %), median {middle}")),
            (
                "area",
                format!(
                    "{}: {} cells of {} {unit}, {:.0} % of the rectangle around them",
                    self.area_text(),
                    count(self.grid.cells.len()),
                    number(self.grid.cell()),
                    100.0 * self.coverage()
                ),
            ),
        ];
        let first = self.pulses().map(|density| format!("{} per {square}", number(density)));
        rows.extend(first.map(|first| ("first returns", first)));
        rows.extend(self.spacing.map(|Spacing { mean, min, max, .. }| {
            let [mean, min, max] = [mean, min, max].map(number);
            ("spacing", format!("{mean} {unit} to the nearest point, {min} to {max}"))
        }));
        rows
    }

    /// Returns the columns of a table of files.
    pub(super) fn columns(&self) -> [(&'static str, String); 3] {
        let spacing =
            self.spacing.map(|spacing| format!("{} {}", number(spacing.mean), lengths(self.unit)));
        [
            ("density", format!("{} per {}", number(self.mean()), self.unit.square())),
            ("area", self.area_text()),
            ("spacing", spacing.unwrap_or_default()),
        ]
    }

    /// Formats the area of the occupied cells.
    fn area_text(&self) -> String {
        let area = self.grid.area();
        let number = if area < 1000.0 { number(area) } else { count(area.round() as u64) };
        let plural = if self.unit == Unit::Unknown { "s" } else { "" };
        format!("{number} {}{plural}", self.unit.square())
    }

    /// Returns the densities as a raster, of joined cells if there are many.
    fn raster(&self) -> Raster {
        let (low, sides) = self.grid.rectangle();
        let joined = sides[0].max(sides[1]).div_ceil(Raster::MOST);
        let size = sides.map(|side| side.div_ceil(joined));
        let edge = self.grid.cell() * joined as f64;
        let mut densities = vec![0.0; size[0] * size[1]];
        for (place, points) in &self.grid.cells {
            let at =
                |axis: usize| (i64::from(place[axis]) - i64::from(low[axis])) as usize / joined;
            densities[at(1) * size[0] + at(0)] += (*points as f64 / (edge * edge)) as f32;
        }
        Raster { low: low.map(|first| f64::from(first) * self.grid.cell()), edge, size, densities }
    }
}

/// Returns the power of two that is a length or the one below it; 0 for no length.
fn level_of(length: f64) -> i32 {
    if length.is_normal() { length.log2().floor() as i32 } else { 0 }
}

/// Returns the unit that follows a length.
fn lengths(unit: Unit) -> &'static str {
    if unit == Unit::Unknown { "units" } else { unit.symbol() }
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

/// Returns the share of the points that are first returns, if returns are numbered.
fn first_returns(cloud: &Cloud) -> Option<f64> {
    let returns = super::column(cloud, &["return_number"])?;
    let first = (0..returns.len()).filter(|&row| returns.get(row) == 1.0).count();
    (first > 0).then(|| first as f64 / returns.len() as f64)
}

/// Joins cells, the smallest first, until those of all files take little memory.
pub(super) fn bound(mut all: Vec<&mut Density>, most: usize) {
    while all.iter().map(|one| one.grid.cells.len()).sum::<usize>() > most {
        let Some(level) = all.iter().map(|one| one.grid.level).min() else { return };
        all.iter_mut().for_each(|one| one.grid.join(level + 1));
    }
}

/// Density of the ground of several files: what several cover counts once.
pub(super) struct Total {
    all: Density,
    /// Least and greatest mean of a file.
    means: [f64; 2],
}

impl Total {
    /// Brings all files to the same cells: the smallest ones, doubled until they hold [`FULL`] points on average.
    /// Returns a total for each unit and coordinate system.
    pub(super) fn all(mut rest: Vec<&mut Density>) -> Vec<Self> {
        let mut totals = Vec::new();
        while let Some(first) = rest.first() {
            let system = (first.unit, first.crs.clone());
            let (same, others) =
                rest.into_iter().partition(|one| (one.unit, one.crs.clone()) == system);
            totals.push(Self::of(same));
            rest = others;
        }
        totals
    }

    fn of(mut same: Vec<&mut Density>) -> Self {
        let sum = |count: fn(&Density) -> Option<f64>| same.iter().map(|one| count(one)).sum();
        let mut all = Density {
            unit: same[0].unit,
            crs: same[0].crs.clone(),
            points: same.iter().map(|one| one.points).sum(),
            files: same.iter().flat_map(|one| one.files.clone()).collect(),
            grid: Grid::new(0, Vec::new()),
            first_returns: sum(|one| one.first_returns),
            spacing: None,
        };
        let level = same.iter().map(|one| one.grid.level).fold(all.smallest(), i32::max);
        same.iter_mut().for_each(|one| one.grid.join(level));
        let cells = same.iter().flat_map(|one| one.grid.cells.iter().copied()).collect();
        all.grid = Grid::new(level, cells);
        while all.points < FULL * all.grid.cells.len() && all.grid.cell() <= all.side() {
            all.grid.join(all.grid.level + 1);
        }
        same.iter_mut().for_each(|one| one.grid.join(all.grid.level));
        let means = || same.iter().map(|one| one.mean());
        let means = [means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max)];
        Self { all, means }
    }

    /// Describes the coordinates, for messages.
    pub(super) fn system(&self) -> String {
        let Density { files, unit, crs, .. } = &self.all;
        let of = match crs {
            Some(name) => format!("in {name}"),
            None if *unit == Unit::Unknown => "without a unit".to_owned(),
            None => format!("in {} without a coordinate system", unit.symbol()),
        };
        format!("{} {of}", files[0].name)
    }

    /// Formats the least and greatest mean of a file, if there are several.
    fn by_file(&self) -> String {
        let [min, max] = self.means.map(number);
        if self.all.files.len() > 1 { format!(", by file {min} to {max}") } else { String::new() }
    }

    pub(super) fn as_json(&self) -> Value {
        let mut object = self.all.as_json();
        object["files"] = self.all.files.len().into();
        object["points"] = self.all.points.into();
        [object["min"], object["max"]] = self.means.map(Value::from);
        object
    }

    pub(super) fn as_table(&self) -> String {
        let mut rows =
            vec![("files", count(self.all.files.len())), ("points", count(self.all.points))];
        rows.extend(self.all.rows());
        rows[2].1 += &self.by_file();
        lines(&rows, 13)
    }

    /// Draws the map of all files as PNG.
    pub(super) fn picture(self, title: String) -> Result<Vec<u8>> {
        let Density { unit, points, .. } = self.all;
        let mean = self.all.mean();
        let words = format!(
            "{} points, {} per {}{}",
            count(points),
            number(mean),
            unit.square(),
            self.by_file()
        );
        let (raster, files) = (self.all.raster(), self.all.files);
        tiles(&Tiles { raster, files, title, words, unit, scale: 2.0 * mean })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint_io::Coordinates;

    fn counted(rows: Vec<[f64; 3]>) -> Option<Density> {
        let cloud = Cloud::new(Coordinates::F64(rows));
        Density::of("a", &cloud, &Points::of(&cloud)).unwrap()
    }

    fn density(rows: Vec<[f64; 3]>) -> Option<Density> {
        let mut density = counted(rows)?;
        Total::all(vec![&mut density]);
        Some(density)
    }

    /// 4 points per square unit in a rectangle.
    fn even([x, y]: [usize; 2], [wide, high]: [usize; 2]) -> Vec<[f64; 3]> {
        let along = |low: usize, k: usize| low as f64 + k as f64 / 2.0 + 0.25;
        (0..4 * wide * high)
            .map(|k| [along(x, k % (2 * wide)), along(y, k / (2 * wide)), 0.0])
            .collect()
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
        assert_eq!((found.grid.cell(), lengths(found.unit)), (2.0, "units"));
        assert_eq!((found.mean(), found.percentiles()), (4.0, [4.0; 3]));
        assert_eq!(
            (found.grid.area(), spacing.mean, spacing.max),
            (10_000.0 - 52.0 * 52.0, 0.5, 0.5)
        );
    }

    /// Files that cover the same ground, touch, or lie far from each other, in both orders; a few points of a sparse
    /// one do not decide about the cells of all.
    #[test]
    fn ground_counts_once() {
        let far = 1 << 20;
        for (parts, [area, mean]) in [
            ([even([0, 0], [64, 64]), even([0, 0], [64, 64])], [4096.0, 8.0]),
            ([even([0, 0], [64, 64]), even([32, 0], [64, 64])], [6144.0, 16.0 / 3.0]),
            ([even([0, 0], [64, 64]), even([64, 0], [64, 32])], [6144.0, 4.0]),
            ([even([0, 0], [64, 64]), even([far, far], [64, 64])], [8192.0, 4.0]),
            (
                [even([0, 0], [256, 256]), vec![[10.0, 10.0, 0.0], [200.0, 200.0, 0.0]]],
                [65536.0, 4.0],
            ),
        ] {
            let means = [[0, 1], [1, 0]].map(|order| {
                let [mut a, mut b] = order.map(|k| counted(parts[k].clone()).unwrap());
                let totals = Total::all(vec![&mut a, &mut b]);
                let [total] = &totals[..] else { panic!("{} totals", totals.len()) };
                assert_eq!([a.grid.level, b.grid.level], [total.all.grid.level; 2]);
                assert_eq!(total.all.grid.area(), area);
                total.all.mean()
            });
            assert!(means.iter().all(|found| (found / mean - 1.0).abs() < 1e-3), "{means:?}");
        }
    }

    #[test]
    fn other_systems_have_other_totals() {
        let [mut a, mut b, mut c] = [0, 1, 2].map(|k| counted(even([k, 0], [32, 32])).unwrap());
        b.crs = Some("EPSG:25832".into());
        let totals = Total::all(vec![&mut a, &mut b, &mut c]);
        assert_eq!(totals.iter().map(|one| one.all.files.len()).collect::<Vec<_>>(), [2, 1]);
    }

    /// Cells kept of many files have a limit, and totals stay right.
    #[test]
    fn many_cells_are_joined() {
        let mut all: Vec<Density> =
            (0..3).map(|k| counted(even([k, 0], [32, 32])).unwrap()).collect();
        all[0].grid = Grid::new(0, (0..5000).map(|k| ([k % 100, k / 100], 1)).collect());
        bound(all.iter_mut().collect(), 5000);
        let kept: usize = all.iter().map(|one| one.grid.cells.len()).sum();
        let points: u64 = all[0].grid.cells.iter().map(|(_, points)| points).sum();
        assert!(kept <= 5000 && points == 5000, "{kept} {points}");
    }

    #[test]
    fn few_points() {
        let far = density(vec![[0.0; 3], [1e6, 1e6, 0.0]]).unwrap();
        let raster = far.raster();
        assert!(raster.densities.len() <= Raster::MOST * Raster::MOST, "{:?}", raster.size);
        assert!(density(vec![[f64::NAN; 3]]).is_none());
        let one = density(vec![[5.0, 5.0, 1.0]]).unwrap();
        assert_eq!((one.grid.cell(), one.grid.cells.len(), one.mean()), (1.0, 1, 1.0));
        assert!(one.spacing.is_none());
        let line = density((0..100).map(|k| [f64::from(k), 7.0, 0.0]).collect()).unwrap();
        assert_eq!((line.grid.cell(), line.grid.cells.len()), (16.0, 7));
    }
}
