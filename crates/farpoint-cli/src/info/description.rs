//! Description of a file, as a table and as JSON.

use super::density::Density;
use super::facts::{Attributes, CoordinateFacts, Counts};
use crate::output::{self, count};
use crate::picture::Unit;
use crate::text::lines;
use farpoint_io::{Crs, Field, Format, Octree, Summary, class_name};
use serde_json::{Map, Value, json};

/// Known facts of a file.
pub(super) struct Description {
    pub(super) file: String,
    pub(super) format: Option<Format>,
    pub(super) description: String,
    pub(super) points: u64,
    pub(super) precision: &'static str,
    pub(super) fields: Vec<Field>,
    pub(super) bounds: Option<[[f64; 3]; 2]>,
    pub(super) crs: Option<Crs>,
    /// Meters per unit of x and y.
    pub(super) meters: Option<f64>,
    pub(super) scale: Option<[f64; 3]>,
    pub(super) offset: Option<[f64; 3]>,
    pub(super) software: Option<String>,
    pub(super) system: Option<String>,
    pub(super) created: Option<String>,
    pub(super) gps_time: Option<&'static str>,
    pub(super) octree: Option<Octree>,
    /// `None` if the points were not read.
    pub(super) rows: Option<CoordinateFacts>,
    pub(super) attributes: Attributes,
    /// `None` unless requested.
    pub(super) density: Option<Density>,
}

impl Description {
    pub(super) fn empty() -> Self {
        Self {
            file: String::new(),
            format: None,
            description: String::new(),
            points: 0,
            precision: "f64",
            fields: Vec::new(),
            bounds: None,
            crs: None,
            meters: None,
            scale: None,
            offset: None,
            software: None,
            system: None,
            created: None,
            gps_time: None,
            octree: None,
            rows: None,
            attributes: Attributes::default(),
            density: None,
        }
    }

    /// Describes a header; all formats with a summary are read as doubles.
    pub(super) fn of_header(file: String, summary: Summary) -> Self {
        let description = Self {
            file,
            format: Some(summary.format),
            description: summary.description.clone(),
            points: summary.points,
            fields: summary.fields.clone(),
            bounds: summary.bounds,
            crs: summary.crs.clone(),
            meters: summary.meters_per_unit(),
            scale: summary.scale,
            ..Self::empty()
        };
        description.with_origin(Some(summary))
    }

    /// Adds the facts that only a header has.
    pub(super) fn with_origin(self, summary: Option<Summary>) -> Self {
        let Some(summary) = summary else { return self };
        Self {
            offset: summary.offset,
            software: summary.software,
            system: summary.system,
            created: summary.created,
            gps_time: summary.gps_time,
            octree: summary.octree,
            ..self
        }
    }

    pub(super) fn as_json(&self) -> Value {
        let fields: Vec<_> = self
            .fields
            .iter()
            .map(|field| {
                json!({ "name": field.name, "type": field.kind.to_string(), "count": field.count })
            })
            .collect();
        let crs = self.crs.as_ref().map(|crs| {
            json!({
                "name": crs.name,
                "epsg": crs.epsg,
                "geographic": crs.geographic,
                "meters_per_unit": crs.meters,
                "meters_per_unit_of_heights": crs.heights,
                "wkt": crs.wkt,
            })
        });
        let rows = self.rows.as_ref();
        let Attributes { intensity, classes, returns } = &self.attributes;
        json!({
            "file": self.file,
            "format": self.format.map(|format| format.to_string()),
            "description": self.description,
            "points": self.points,
            "precision": self.precision,
            "fields": fields,
            "min": self.bounds.map(|bounds| bounds[0]),
            "max": self.bounds.map(|bounds| bounds[1]),
            "crs": crs,
            "scale": self.scale,
            "offset": self.offset,
            "software": self.software,
            "system": self.system,
            "created": self.created,
            "gps_time": self.gps_time,
            "copc": self.octree.map(|octree| json!({
                "spacing": octree.spacing,
                "levels": octree.levels,
                "nodes": octree.nodes,
                "largest_node": octree.largest,
            })),
            "points_read": rows.is_some(),
            "not_finite": rows.map(|rows| rows.not_finite),
            "zeros": rows.map(|rows| rows.zeros),
            "repeated": rows.and_then(|rows| rows.repeated),
            "intensity": intensity,
            "classes": classes.as_ref().map(object),
            "returns": returns.as_ref().map(object),
            "density": self.density.as_ref().map(Density::as_json),
        })
    }

    pub(super) fn as_table(&self) -> String {
        let mut rows = vec![
            ("file", self.file.clone()),
            ("format", self.description.clone()),
            ("points", count(self.points)),
            ("precision", self.precision.to_owned()),
            ("fields", self.fields.iter().map(field).collect::<Vec<_>>().join(", ")),
            ("minimum", self.corner(0)),
            ("maximum", self.corner(1)),
            ("size", self.size()),
        ];
        // Adding 0.0 takes the sign off zero.
        let numbers =
            |numbers: [f64; 3]| numbers.map(|number| (number + 0.0).to_string()).join("  ");
        let mut add = |name, value: Option<String>| rows.extend(value.map(|value| (name, value)));
        add("CRS", self.crs.as_ref().map(crs));
        add("scale", self.scale.map(numbers));
        add("offset", self.offset.map(numbers));
        add("software", self.software.clone());
        add("system", self.system.clone());
        add("created", self.created.clone());
        add("GPS time", self.gps_time.map(str::to_owned));
        add("COPC", self.octree.map(octree));
        self.counted(&mut rows);
        rows.extend(self.density.iter().flat_map(Density::rows));
        lines(&rows, 13)
    }

    /// Adds the rows of facts counted from points.
    fn counted(&self, rows: &mut Vec<(&'static str, String)>) {
        let Some(facts) = &self.rows else { return };
        let share = |part: usize| match part {
            0 => "0".to_owned(),
            _ => match 100.0 * part as f64 / self.points as f64 {
                ..0.01 => format!("{} (less than 0.01 %)", count(part)),
                percent => format!("{} ({percent:.2} %)", count(part)),
            },
        };
        rows.push(("NaN rows", share(facts.not_finite)));
        rows.push(("zero rows", share(facts.zeros)));
        rows.extend(facts.repeated.map(|repeated| ("repeated rows", share(repeated))));
        let Attributes { intensity, classes, returns } = &self.attributes;
        rows.extend(intensity.map(|[low, high]| ("intensity", format!("{low} to {high}"))));
        for (number, points) in returns.iter().flatten() {
            rows.push(("return", format!("{number}: {}", share(*points))));
        }
        for (class, points) in classes.iter().flatten() {
            rows.push(("class", format!("{class} {}: {}", class_name(*class), share(*points))));
        }
    }

    fn corner(&self, at: usize) -> String {
        let Some(bounds) = self.bounds else { return "none".to_owned() };
        let corner: [String; 3] = std::array::from_fn(|axis| match self.digits(axis) {
            Some(digits) => format!("{:.digits$}", bounds[at][axis]),
            // In the file's own precision, a number has no more digits than it needs.
            None if self.precision == "f32" => (bounds[at][axis] as f32).to_string(),
            None => bounds[at][axis].to_string(),
        });
        corner.join("  ")
    }

    fn size(&self) -> String {
        let Some([low, high]) = self.bounds else { return "none".to_owned() };
        let sides: [String; 3] = std::array::from_fn(|axis| {
            let side = high[axis] - low[axis];
            self.digits(axis)
                .map_or_else(|| output::number(side), |digits| format!("{side:.digits$}"))
        });
        let heights = self.crs.as_ref().and_then(|crs| crs.heights);
        match [self.meters, heights.or(self.meters)].map(Unit::of_meters) {
            [across, up] if across == up => across.of_number(sides.join(" x ")),
            [across, up] => {
                let [x, y, z] = sides;
                [across.of_number(x), across.of_number(y), up.of_number(z)].join(" x ")
            }
        }
    }

    /// Returns the digits after the decimal point of an axis that the scale and the offset of the file leave room for.
    fn digits(&self, axis: usize) -> Option<usize> {
        let digits = |step: f64| {
            let whole = |digits: &usize| {
                let steps = step * 10f64.powi(*digits as i32);
                (steps - steps.round()).abs() < 1e-9 * steps.abs().max(1e-3)
            };
            (0..12).find(whole)
        };
        let offset = self.offset.map_or(0.0, |offset| offset[axis]);
        Some(digits(self.scale?[axis])?.max(digits(offset)?))
    }

    /// Returns the cells of a row of a table of files, with the names of their columns.
    fn columns(&self) -> Vec<(&'static str, String)> {
        let found = |rows: fn(&CoordinateFacts) -> usize| {
            let rows = self.rows.as_ref().map_or(0, rows);
            if rows > 0 { count(rows) } else { String::new() }
        };
        let mut columns = vec![
            ("file", self.file.clone()),
            ("format", self.description.clone()),
            ("CRS", self.crs.as_ref().map_or(String::new(), |crs| crs.name.clone())),
            ("points", count(self.points)),
            ("size", self.size()),
        ];
        columns.extend(self.density.iter().flat_map(Density::columns));
        columns.push(("NaN rows", found(|rows| rows.not_finite)));
        columns.push(("zero rows", found(|rows| rows.zeros)));
        columns
    }
}

/// Formats files as a row each, in the columns that one of them has a value for.
pub(super) fn table(files: &[Description]) -> String {
    let files: Vec<_> = files.iter().map(Description::columns).collect();
    let mut names: Vec<&str> = Vec::new();
    // A file without points has no density.
    for (name, _) in files.iter().max_by_key(|file| file.len()).into_iter().flatten() {
        let of = |file: &Vec<(&str, String)>| {
            file.iter().any(|(n, value)| n == name && !value.is_empty())
        };
        names.extend(files.iter().any(of).then_some(*name));
    }
    let cell = |file: &Vec<(&str, String)>, name: &&str| {
        file.iter().find(|(n, _)| n == name).map_or(String::new(), |(_, value)| value.clone())
    };
    let head = names.iter().map(|name| (*name).to_owned()).collect();
    let rows = files.iter().map(|file| names.iter().map(|name| cell(file, name)).collect());
    output::table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn field(field: &Field) -> String {
    match field.count {
        1 => format!("{} {}", field.name, field.kind),
        count => format!("{} {}[{count}]", field.name, field.kind),
    }
}

/// Returns the name and unit of a CRS.
fn crs(crs: &Crs) -> String {
    let unit = |meters: f64| match meters {
        1.0 => "meters".to_owned(),
        meters => format!("units of {} m", output::number(meters)),
    };
    let across = if crs.geographic { Some("degrees".to_owned()) } else { crs.meters.map(unit) };
    let up = crs.heights.filter(|_| crs.heights != crs.meters);
    let up = up.map(|meters| format!("heights in {}", unit(meters)));
    [Some(crs.name.clone()), across, up].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Formats levels, nodes and the spacing of the root.
fn octree(octree: Octree) -> String {
    format!(
        "{} levels, {} nodes of up to {} points, spacing {} at the root",
        octree.levels,
        count(octree.nodes as u64),
        count(octree.largest),
        output::number(octree.spacing)
    )
}

fn object(counts: &Counts) -> Value {
    counts
        .iter()
        .map(|(value, points)| (value.to_string(), (*points).into()))
        .collect::<Map<_, _>>()
        .into()
}
