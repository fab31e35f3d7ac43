//! `farpoint info`: what is in a file.

use crate::args;
use crate::input::{self, Points, each_precision};
use crate::output::{self, count};
use anyhow::Result;
use farpoint::Scalar;
use farpoint_io::{Cloud, Field};
use serde_json::{Value, json};

pub(crate) fn run(args: &args::Info) -> Result<()> {
    let (cloud, _) = input::read(&args.input, &args.reading.options())?;
    let facts = Facts::of(&cloud);
    let name = input::name(&args.input);
    let object = as_json(&name, &cloud, &facts);
    crate::report::tell(&args.told, object, &as_table(&name, &cloud, &facts), false)
}

/// What is counted of the coordinates.
struct Facts {
    precision: &'static str,
    points: usize,
    /// Corners of the box around the usable rows.
    bounds: Option<[[f64; 3]; 2]>,
    not_finite: usize,
    zeros: usize,
    repeated: usize,
}

impl Facts {
    fn of(cloud: &Cloud) -> Self {
        let points = Points::of(cloud);
        let precision = if matches!(points, Points::F32(_)) { "f32" } else { "f64" };
        Self {
            precision,
            points: points.len(),
            bounds: each_precision!(&points, points => bounds(points)),
            not_finite: points.unusable(),
            zeros: points.zeros(),
            repeated: each_precision!(&points, points => repeated(points)),
        }
    }
}

fn usable<T: Scalar>(points: &[[T; 3]]) -> impl Iterator<Item = [f64; 3]> {
    let rows = points.iter().filter(|row| row.iter().all(|value| value.is_finite()));
    rows.map(|row| row.map(Scalar::to_f64))
}

fn bounds<T: Scalar>(points: &[[T; 3]]) -> Option<[[f64; 3]; 2]> {
    usable(points).map(|row| [row, row]).reduce(|[low, high], [row, _]| {
        [
            std::array::from_fn(|axis| low[axis].min(row[axis])),
            std::array::from_fn(|axis| high[axis].max(row[axis])),
        ]
    })
}

/// Number of usable rows whose coordinates occurred before.
fn repeated<T: Scalar>(points: &[[T; 3]]) -> usize {
    // Adding 0.0 makes -0.0 and 0.0 one.
    let mut keys: Vec<_> =
        usable(points).map(|row| row.map(|value| (value + 0.0).to_bits())).collect();
    keys.sort_unstable();
    keys.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

fn shape(field: &Field) -> String {
    match field.count {
        1 => field.kind.to_string(),
        count => format!("{}[{count}]", field.kind),
    }
}

fn as_json(name: &str, cloud: &Cloud, facts: &Facts) -> Value {
    let fields: Vec<_> = cloud
        .fields()
        .iter()
        .map(|field| {
            json!({ "name": field.name, "type": field.kind.to_string(), "count": field.count })
        })
        .collect();
    json!({
        "file": name,
        "format": cloud.format().map(|format| format.to_string()),
        "description": cloud.description(),
        "points": facts.points,
        "precision": facts.precision,
        "fields": fields,
        "min": facts.bounds.map(|bounds| bounds[0]),
        "max": facts.bounds.map(|bounds| bounds[1]),
        "not_finite": facts.not_finite,
        "zeros": facts.zeros,
        "repeated": facts.repeated,
        "warnings": cloud.warnings(),
    })
}

fn as_table(name: &str, cloud: &Cloud, facts: &Facts) -> String {
    let fields: Vec<_> =
        cloud.fields().iter().map(|field| format!("{} {}", field.name, shape(field))).collect();
    let corner = |at: usize| match facts.bounds {
        // In the file's own precision, a number has no more digits than it needs.
        Some(bounds) if facts.precision == "f32" => {
            bounds[at].map(|value| (value as f32).to_string()).join("  ")
        }
        Some(bounds) => bounds[at].map(|value| value.to_string()).join("  "),
        None => "none".to_owned(),
    };
    let size = match facts.bounds {
        Some([low, high]) => {
            let sides: [String; 3] =
                std::array::from_fn(|axis| output::number(high[axis] - low[axis]));
            sides.join(" x ")
        }
        None => "none".to_owned(),
    };
    let share = |part: usize| match part {
        0 => "0".to_owned(),
        _ => format!("{} ({:.2} %)", count(part), 100.0 * part as f64 / facts.points as f64),
    };
    let rows = [
        ("file", name.to_owned()),
        ("format", cloud.description()),
        ("points", count(facts.points)),
        ("precision", facts.precision.to_owned()),
        ("fields", fields.join(", ")),
        ("minimum", corner(0)),
        ("maximum", corner(1)),
        ("size", size),
        ("NaN rows", share(facts.not_finite)),
        ("zero rows", share(facts.zeros)),
        ("repeated rows", share(facts.repeated)),
    ];
    rows.iter().map(|(name, value)| format!("{name:<13}  {value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_counted_beyond_the_first() {
        let rows = [[0.0f32, 1.0, 2.0], [-0.0, 1.0, 2.0], [f32::NAN, 0.0, 0.0], [0.0, 1.0, 2.0]];
        assert_eq!(repeated(&rows), 2);
        assert_eq!(bounds(&rows), Some([[0.0, 1.0, 2.0]; 2]));
    }
}
