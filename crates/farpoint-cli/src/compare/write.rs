//! The comparison as a table, CSV, JSON and SVG.

use super::{Evaluation, Parameters};
use crate::output::{self, count, number, seconds};
use crate::picture::Picture;
use farpoint::measure::Spacing;
use serde_json::{Value, json};

fn spacing(evaluation: &Evaluation) -> [Option<f64>; 3] {
    let spacing: Option<Spacing> = evaluation.quality.spacing;
    [spacing.map(|s| s.min), spacing.map(|s| s.mean), spacing.map(|s| s.max)]
}

/// Returns the table for people.
pub(super) fn table(parameters: &Parameters, evaluations: &[Evaluation]) -> String {
    let head = [
        "sampler",
        "",
        "points",
        "time",
        "radius",
        "mean",
        "p99",
        "spacing min",
        "mean",
        "max",
        "chamfer",
        "unique",
        "ineffective",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let share = |share: f64| format!("{:.1} %", 100.0 * share);
    let optional = |value: Option<f64>, text: &dyn Fn(f64) -> String| {
        value.map_or_else(|| "-".to_owned(), text)
    };
    for evaluation in evaluations {
        let quality = &evaluation.quality;
        let mut row = vec![
            evaluation.sampler.to_string(),
            if evaluation.exact { "exact" } else { "approximate" }.to_owned(),
            count(quality.samples),
            seconds(evaluation.seconds),
            number(quality.coverage.max),
            number(quality.coverage.mean),
            number(quality.coverage.p99),
        ];
        row.extend(spacing(evaluation).map(|value| optional(value, &number)));
        row.push(number(quality.chamfer));
        row.push(share(quality.unique));
        row.push(optional(evaluation.ineffective, &share));
        rows.push(row);
    }
    let s = if parameters.threads == 1 { "" } else { "s" };
    format!(
        "{}: {} of {} points, {} thread{s}\n\n{}",
        parameters.input,
        count(parameters.samples),
        count(parameters.points),
        parameters.threads,
        output::table(&rows)
    )
}

/// Columns of the CSV file.
const COLUMNS: [&str; 17] = [
    "input",
    "points",
    "requested",
    "sampler",
    "exact",
    "samples",
    "threads",
    "seconds",
    "covering_radius",
    "mean",
    "p99",
    "spacing_min",
    "spacing_mean",
    "spacing_max",
    "chamfer",
    "unique",
    "ineffective",
];

/// Returns one line per sampler; fields without a value are empty.
pub(super) fn csv(parameters: &Parameters, evaluations: &[Evaluation]) -> String {
    let optional = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let row = |evaluation: &Evaluation| {
        let quality = &evaluation.quality;
        let [min, mean, max] = spacing(evaluation).map(optional);
        vec![
            parameters.input.clone(),
            parameters.points.to_string(),
            parameters.samples.to_string(),
            evaluation.sampler.to_string(),
            evaluation.exact.to_string(),
            quality.samples.to_string(),
            parameters.threads.to_string(),
            format!("{:.9}", evaluation.seconds),
            quality.coverage.max.to_string(),
            quality.coverage.mean.to_string(),
            quality.coverage.p99.to_string(),
            min,
            mean,
            max,
            quality.chamfer.to_string(),
            quality.unique.to_string(),
            optional(evaluation.ineffective),
        ]
    };
    crate::csv::csv(&COLUMNS, &evaluations.iter().map(row).collect::<Vec<_>>())
}

pub(super) fn json(parameters: &Parameters, evaluations: &[Evaluation]) -> Value {
    let samplers = evaluations.iter().map(|evaluation| {
        let quality = &evaluation.quality;
        let [min, mean, max] = spacing(evaluation);
        let mut object = json!({
            "sampler": evaluation.sampler.to_string(),
            "exact": evaluation.exact,
            "samples": quality.samples,
            "seconds": evaluation.seconds,
            "covering_radius": quality.coverage.max,
            "mean": quality.coverage.mean,
            "p99": quality.coverage.p99,
            "spacing": {"min": min, "mean": mean, "max": max},
            "chamfer": quality.chamfer,
            "unique": quality.unique,
            "ineffective": evaluation.ineffective,
        });
        for (name, value) in &evaluation.details {
            object[name.replace(' ', "_")] = value.clone();
        }
        object
    });
    json!({
        "input": parameters.input,
        "points": parameters.points,
        "requested": parameters.samples,
        "threads": parameters.threads,
        "seed": parameters.seed,
        "samplers": samplers.collect::<Vec<_>>(),
    })
}

/// Embeds the picture in an SVG file.
pub(super) fn svg(picture: &Picture) -> Vec<u8> {
    let [wide, high] = picture.size;
    let data = base64(&picture.png);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"0 0 {wide} {high}\">\n<image width=\"{wide}\" height=\"{high}\" \
         href=\"data:image/png;base64,{data}\"/>\n</svg>\n"
    )
    .into_bytes()
}

/// Encodes bytes by RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let number = (0..3).fold(0u32, |n, k| n << 8 | u32::from(*chunk.get(k).unwrap_or(&0)));
        for k in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * k)) as usize % 64];
            text.push(if k <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_as_in_the_standard() {
        let texts = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (length, text) in texts.into_iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..length]), text);
        }
    }
}
