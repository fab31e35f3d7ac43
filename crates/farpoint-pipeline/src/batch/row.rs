//! Result for a file: a line of the manifest.

use crate::text::escaped;
use crate::{File, Finished};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A sample that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Points of the input.
    pub points: u64,
    /// Points written.
    pub samples: u64,
    /// Largest distance of a point to the nearest sample, in the unit of the file; infinite if there is
    /// no sample.
    pub radius: f64,
    /// Bytes of the output.
    pub bytes: u64,
    /// Warnings while it was sampled; the manifest does not keep them.
    pub warnings: Vec<String>,
}

impl Done {
    /// Returns the result for a file whose output is at this path.
    ///
    /// # Errors
    /// A text, if it does not exist.
    pub fn of(finished: &Finished, output: &Path) -> Result<Self, String> {
        let about = fs::metadata(output).map_err(|error| format!("{}: {error}", output.display()));
        let (points, samples) = (finished.points, finished.samples);
        let (radius, warnings) = (finished.outcome.covering_radius, Vec::new());
        Ok(Self { points, samples, radius, bytes: about?.len(), warnings })
    }
}

/// Result for a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The input, as it was named.
    pub input: String,
    /// The output, below the folder of all outputs.
    pub output: String,
    /// Bytes of the input.
    pub size: u64,
    /// Time of the input's last change, in nanoseconds from 1970.
    pub modified: i64,
    /// Digest of the options that change the output.
    pub options: String,
    /// Duration of the work in seconds.
    pub seconds: f64,
    /// Number of times that it has ended the process that worked on it; above 0 it was not tried again.
    pub killed: u32,
    /// The sample, or the reason why there is none.
    pub result: Result<Done, String>,
}

impl Row {
    /// Creates the row of a file.
    pub fn of(file: &File, options: &str, seconds: f64, result: Result<Done, String>) -> Self {
        Self {
            input: escaped(&file.input),
            output: escaped(&file.place),
            size: file.size,
            modified: file.modified,
            options: options.to_owned(),
            seconds,
            killed: 0,
            result,
        }
    }

    /// Returns a line without its end.
    pub fn to_line(&self) -> String {
        let mut line = json!({
            "input": self.input,
            "output": self.output,
            "size": self.size,
            "mtime": self.modified,
            "options": self.options,
            "seconds": self.seconds,
        });
        match &self.result {
            Ok(done) => {
                line["points"] = done.points.into();
                line["samples"] = done.samples.into();
                // JSON has no infinity: null.
                line["covering_radius"] = done.radius.into();
                line["bytes"] = done.bytes.into();
            }
            Err(error) => line["error"] = error.as_str().into(),
        }
        if self.killed > 0 {
            line["killed"] = self.killed.into();
        }
        line.to_string()
    }

    /// Parses the row of a line; `None` if it is torn or no such line.
    pub fn from_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        let number = |name: &str| value.get(name)?.as_u64();
        let result = match text("error") {
            Some(error) => Err(error),
            None => Ok(Done {
                points: number("points")?,
                samples: number("samples")?,
                radius: value.get("covering_radius")?.as_f64().unwrap_or(f64::INFINITY),
                bytes: number("bytes")?,
                warnings: Vec::new(),
            }),
        };
        Some(Self {
            input: text("input")?,
            output: text("output")?,
            size: number("size")?,
            modified: value.get("mtime")?.as_i64()?,
            options: text("options")?,
            seconds: value.get("seconds")?.as_f64()?,
            killed: number("killed").unwrap_or(0) as u32,
            result,
        })
    }

    /// Returns whether the row is about the file in its present state, with these options.
    pub fn agrees(&self, file: &File, options: &str) -> bool {
        (self.size, self.modified, self.options.as_str()) == (file.size, file.modified, options)
    }
}

/// Formats the result for a file as a line for another process.
pub fn answer(seconds: f64, result: &Result<Done, String>) -> String {
    match result {
        Ok(Done { points, samples, radius, bytes, warnings }) => {
            json!([seconds, points, samples, radius, bytes, warnings]).to_string()
        }
        Err(error) => json!([seconds, error]).to_string(),
    }
}

/// Parses the seconds and the result for a file from the line of another process; `None` if it is no such line.
pub fn read_answer(line: &str) -> Option<(f64, Result<Done, String>)> {
    let value: Value = serde_json::from_str(line.trim_end()).ok()?;
    let seconds = value.get(0)?.as_f64()?;
    if let Some(error) = value.get(1)?.as_str() {
        return Some((seconds, Err(error.to_owned())));
    }
    let number = |place: usize| value.get(place)?.as_u64();
    let radius = value.get(3)?.as_f64().unwrap_or(f64::INFINITY);
    let (points, samples, bytes) = (number(1)?, number(2)?, number(4)?);
    let warnings = value.get(5)?.as_array()?.iter().filter_map(|text| Some(text.as_str()?.into()));
    Some((seconds, Ok(Done { points, samples, radius, bytes, warnings: warnings.collect() })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_they_were_written() {
        let warnings = vec!["a.ply: \"odd\"".to_owned()];
        let done = Done { points: 9, samples: 0, radius: f64::INFINITY, bytes: 99, warnings };
        for result in [Ok(done), Err("no\nfile".to_owned())] {
            let line = answer(0.5, &result);
            assert_eq!(read_answer(&(line.clone() + "\n")), Some((0.5, result)));
            assert_eq!(read_answer(&line[..line.len() - 1]), None);
        }
    }

    fn row(result: Result<Done, String>) -> Row {
        Row {
            input: "scans/a \"b\".ply".into(),
            output: "a \"b\".ply".into(),
            size: 7,
            modified: 1_763_000_000_123_456_789,
            options: "0123456789abcdef".into(),
            seconds: 0.25,
            killed: 0,
            result,
        }
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let warnings = Vec::new();
        let done = Done { points: 9, samples: 3, radius: 0.1 + 0.2, bytes: 99, warnings };
        let mut rows = vec![row(Ok(done.clone())), row(Err("bad\nfile".into()))];
        rows.push(row(Ok(Done { radius: f64::INFINITY, ..done })));
        rows.push(Row { killed: 2, ..row(Err("killed".into())) });
        for row in rows {
            let line = row.to_line();
            assert!(!line.contains('\n'));
            assert_eq!(Row::from_line(&line), Some(row.clone()), "{line}");
            for end in 0..line.len() {
                assert_eq!(Row::from_line(line.get(..end).unwrap()), None, "torn at {end}: {line}");
            }
        }
    }
}
