//! The comparison as a table, CSV, JSON and SVG.

use super::{Asked, Judged};
use crate::output::{self, count, number, seconds};
use crate::picture::Picture;
use farpoint::measure::Spacing;
use serde_json::{Value, json};

fn spacing(judged: &Judged) -> [Option<f64>; 3] {
    let spacing: Option<Spacing> = judged.quality.spacing;
    [spacing.map(|s| s.min), spacing.map(|s| s.mean), spacing.map(|s| s.max)]
}

/// Returns the table for people.
pub(super) fn table(asked: &Asked, judged: &[Judged]) -> String {
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
        "in vain",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let share = |share: f64| format!("{:.1} %", 100.0 * share);
    let given = |value: Option<f64>, text: &dyn Fn(f64) -> String| {
        value.map_or_else(|| "-".to_owned(), text)
    };
    for judged in judged {
        let quality = &judged.quality;
        let mut row = vec![
            judged.which.to_string(),
            if judged.exact { "exact" } else { "approximate" }.to_owned(),
            count(quality.samples),
            seconds(judged.seconds),
            number(quality.coverage.max),
            number(quality.coverage.mean),
            number(quality.coverage.p99),
        ];
        row.extend(spacing(judged).map(|value| given(value, &number)));
        row.push(number(quality.chamfer));
        row.push(share(quality.unique));
        row.push(given(judged.in_vain, &share));
        rows.push(row);
    }
    let s = if asked.threads == 1 { "" } else { "s" };
    format!(
        "{}: {} of {} points, {} thread{s}\n\n{}",
        asked.input,
        count(asked.samples),
        count(asked.points),
        asked.threads,
        output::table(&rows)
    )
}

/// Columns of the CSV file.
const COLUMNS: [&str; 17] = [
    "input",
    "points",
    "asked",
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
    "in_vain",
];

/// Returns one line per sampler; fields without a value are empty.
pub(super) fn csv(asked: &Asked, judged: &[Judged]) -> String {
    let given = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let row = |judged: &Judged| {
        let quality = &judged.quality;
        let [min, mean, max] = spacing(judged).map(given);
        vec![
            asked.input.clone(),
            asked.points.to_string(),
            asked.samples.to_string(),
            judged.which.to_string(),
            judged.exact.to_string(),
            quality.samples.to_string(),
            asked.threads.to_string(),
            format!("{:.9}", judged.seconds),
            quality.coverage.max.to_string(),
            quality.coverage.mean.to_string(),
            quality.coverage.p99.to_string(),
            min,
            mean,
            max,
            quality.chamfer.to_string(),
            quality.unique.to_string(),
            given(judged.in_vain),
        ]
    };
    crate::csv::csv(&COLUMNS, &judged.iter().map(row).collect::<Vec<_>>())
}

pub(super) fn json(asked: &Asked, judged: &[Judged]) -> Value {
    let samplers = judged.iter().map(|judged| {
        let quality = &judged.quality;
        let [min, mean, max] = spacing(judged);
        let mut object = json!({
            "sampler": judged.which.to_string(),
            "exact": judged.exact,
            "samples": quality.samples,
            "seconds": judged.seconds,
            "covering_radius": quality.coverage.max,
            "mean": quality.coverage.mean,
            "p99": quality.coverage.p99,
            "spacing": {"min": min, "mean": mean, "max": max},
            "chamfer": quality.chamfer,
            "unique": quality.unique,
            "in_vain": judged.in_vain,
        });
        for (name, value) in &judged.details {
            object[name.replace(' ', "_")] = value.clone();
        }
        object
    });
    json!({
        "input": asked.input,
        "points": asked.points,
        "asked": asked.samples,
        "threads": asked.threads,
        "seed": asked.seed,
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
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0u32, |n, k| n << 8 | u32::from(*three.get(k).unwrap_or(&0)));
        for k in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * k)) as usize % 64];
            text.push(if k <= three.len() { char::from(letter) } else { '=' });
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
