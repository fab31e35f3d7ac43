//! Filters of the rows of the input.

use super::{Keep, Named};
use clap::ValueEnum;
use farpoint_io::{Area, Condition, Filter};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

/// Filters of rows; a row must pass all of them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Filters (rows keep their numbers)")]
pub(crate) struct Filters {
    /// Use rows whose x and y lie in this box.
    #[arg(long = "box", value_names = ["X0", "Y0", "X1", "Y1"], num_args = 4,
        allow_negative_numbers = true)]
    area: Option<Vec<f64>>,
    /// Use rows whose x, y and z lie in this box.
    #[arg(long, value_names = ["X0", "Y0", "Z0", "X1", "Y1", "Z1"], num_args = 6,
        allow_negative_numbers = true)]
    box3: Option<Vec<f64>>,
    /// Use rows whose x and y lie in the polygons of this file, GeoJSON or WKT, in the coordinate system of the input.
    #[arg(long, value_name = "FILE")]
    polygon: Option<AreaFile>,
    /// Use rows with these values of a field: classification=2,6 or classification=ground,building or intensity=100..
    /// or z=5..12.5, or returns=first (intermediate, last, single); may be given several times.
    #[arg(long, value_name = "FIELD=VALUES", value_parser = kept_rows)]
    keep: Vec<Condition>,
    /// Leave out rows with these values of a field: classification=7,18 or classification=water.
    #[arg(long, value_name = "FIELD=VALUES")]
    drop: Vec<Condition>,
}

/// Value of `--polygon`.
#[derive(Debug, Clone)]
struct AreaFile {
    path: PathBuf,
    area: Area,
}

impl FromStr for AreaFile {
    type Err = String;

    fn from_str(path: &str) -> Result<Self, String> {
        area(path).map(|area| Self { path: path.into(), area })
    }
}

/// Reads the value of `--keep`, which earlier versions took for the point of a cell as well.
fn kept_rows(text: &str) -> Result<Condition, String> {
    match Keep::from_str(text, false) {
        Ok(_) => Err(format!("the point of a cell is an option of its own: --keep-point {text}")),
        Err(_) => text.parse(),
    }
}

impl Filters {
    /// Returns the file that an option reads.
    pub(crate) fn file(&self) -> Named<'_> {
        ("--polygon", self.polygon.as_ref().map(|file| file.path.as_path()))
    }

    /// Returns the filter.
    ///
    /// # Errors
    /// A text, if a box has no inside.
    pub(crate) fn filter(&self) -> Result<Filter, String> {
        let mut filter = Filter::default();
        if let Some([x0, y0, x1, y1]) = self.area.as_deref() {
            let corners = [[*x0, *y0, f64::NEG_INFINITY], [*x1, *y1, f64::INFINITY]];
            filter = within(filter, "--box X0 Y0 X1 Y1", corners)?;
        }
        if let Some([x0, y0, z0, x1, y1, z1]) = self.box3.as_deref() {
            filter =
                within(filter, "--box3 X0 Y0 Z0 X1 Y1 Z1", [[*x0, *y0, *z0], [*x1, *y1, *z1]])?;
        }
        if let Some(AreaFile { area, .. }) = &self.polygon {
            filter = filter.inside(area.clone());
        }
        filter = self.keep.iter().fold(filter, |filter, condition| filter.keep(condition.clone()));
        Ok(self.drop.iter().fold(filter, |filter, condition| filter.drop(condition.clone())))
    }
}

fn within(filter: Filter, option: &str, [low, high]: [[f64; 3]; 2]) -> Result<Filter, String> {
    match (0..3).all(|axis| low[axis] <= high[axis]) {
        true => Ok(filter.within(low, high)),
        false => Err(format!("{option}: the lower corner comes first, then the upper one")),
    }
}

/// Reads the area in a file of GeoJSON or WKT.
fn area(path: &str) -> Result<Area, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot be read: {error}"))?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if !text.starts_with('{') {
        return text.parse();
    }
    let json: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut polygons = Vec::new();
    add_polygons(&json, &mut polygons)?;
    Area::new(polygons)
}

/// Adds the polygons of a GeoJSON object; errors name the feature.
fn add_polygons(json: &Value, polygons: &mut Vec<Vec<Vec<[f64; 2]>>>) -> Result<(), String> {
    let kind = json["type"].as_str().unwrap_or_default();
    let coordinates = &json["coordinates"];
    let list = |name: &str| json[name].as_array().into_iter().flatten();
    let added = match kind {
        "FeatureCollection" => {
            return list("features").enumerate().try_for_each(|(number, one)| {
                add_polygons(one, polygons)
                    .map_err(|error| format!("{}: {error}", feature(number, one)))
            });
        }
        "GeometryCollection" => {
            return list("geometries").try_for_each(|one| add_polygons(one, polygons));
        }
        "Feature" if json["geometry"].is_null() => return Ok(()),
        "Feature" => return add_polygons(&json["geometry"], polygons),
        "Polygon" => polygon(coordinates).map(|one| vec![one]),
        "MultiPolygon" => coordinates.as_array().and_then(|all| all.iter().map(polygon).collect()),
        _ => return Err(format!("'{kind}' is no area; use a Polygon or MultiPolygon")),
    };
    let added =
        added.ok_or_else(|| format!("the coordinates of a {kind} are no rings of [x, y]"))?;
    // Each is validated where its feature is known.
    added.iter().try_for_each(|one| Area::new(vec![one.clone()]).map(drop))?;
    polygons.extend(added);
    Ok(())
}

/// Names a feature by its number, from 1, and its own name or id.
fn feature(number: usize, feature: &Value) -> String {
    let names = [&feature["id"], &feature["properties"]["name"], &feature["properties"]["id"]];
    let name = names.into_iter().find(|name| name.is_string() || name.is_number());
    format!("feature {}{}", number + 1, name.map_or(String::new(), |name| format!(" ({name})")))
}

fn polygon(rings: &Value) -> Option<Vec<Vec<[f64; 2]>>> {
    let corner = |corner: &Value| Some([corner.get(0)?.as_f64()?, corner.get(1)?.as_f64()?]);
    let ring = |ring: &Value| ring.as_array()?.iter().map(corner).collect();
    rings.as_array()?.iter().map(ring).collect()
}
