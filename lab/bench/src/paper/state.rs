//! Measurements so far, in a file of the output folder: a run that was interrupted, or is repeated with
//! one more cloud, measures only what is missing.

use anyhow::{Context as _, Result};
use farpoint_cli::output::{self, note};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The rows of one figure and cloud.
#[derive(Clone)]
pub(super) struct Unit {
    /// Everything that determines the rows: version, machine, effort, the cloud's points.
    pub(super) settings: String,
    /// Machine and date of the measurement.
    pub(super) machine: String,
    pub(super) rows: Vec<Vec<String>>,
}

/// All units of a folder, by figure and cloud.
pub(super) struct State {
    path: PathBuf,
    units: BTreeMap<String, Unit>,
}

impl State {
    /// Reads the existing state. A file in another format is set aside by the next write, with a note.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join("state.json");
        let units = match fs::read_to_string(&path) {
            Ok(text) => parsed(&text).unwrap_or_else(|| {
                note(&format!(
                    "{}: can't be read as a state; everything is measured again",
                    path.display()
                ));
                BTreeMap::new()
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                return Err(error).with_context(|| {
                    format!("{}: can't be read; name another folder", path.display())
                });
            }
        };
        Ok(Self { path, units })
    }

    /// Returns the unit of this name, if it was measured under these settings.
    pub(super) fn find(&self, key: &str, settings: &str) -> Option<Unit> {
        self.units.get(key).filter(|unit| unit.settings == settings).cloned()
    }

    /// Saves a unit, in the file too.
    pub(super) fn keep(&mut self, key: String, unit: Unit) -> Result<()> {
        self.units.insert(key, unit);
        let units: Map<_, _> =
            self.units.iter().map(|(key, unit)| (key.clone(), unit.json())).collect();
        output::write_file(&self.path, format!("{:#}\n", Value::Object(units)).as_bytes())
    }
}

impl Unit {
    fn json(&self) -> Value {
        let rows: Vec<_> = self.rows.iter().map(|row| row.join("\t")).collect();
        json!({ "settings": self.settings, "machine": self.machine, "rows": rows })
    }

    fn of(value: &Value) -> Option<Self> {
        let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let row = |row: &Value| Some(row.as_str()?.split('\t').map(str::to_owned).collect());
        let rows = value.get("rows")?.as_array()?.iter().map(row).collect::<Option<_>>()?;
        Some(Self { settings: text("settings")?, machine: text("machine")?, rows })
    }
}

fn parsed(text: &str) -> Option<BTreeMap<String, Unit>> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.as_object()?.iter().map(|(key, unit)| Some((key.clone(), Unit::of(unit)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_back_under_their_settings_only() {
        let folder = tempfile::TempDir::new().unwrap();
        let rows = vec![vec!["a".to_owned(), "1, 2".to_owned()], vec![String::new(); 2]];
        let unit = Unit { settings: "s".into(), machine: "m".into(), rows };
        State::open(folder.path()).unwrap().keep("figure cloud".into(), unit.clone()).unwrap();
        let state = State::open(folder.path()).unwrap();
        let found = state.find("figure cloud", "s").unwrap();
        assert_eq!((found.rows, found.machine), (unit.rows, unit.machine));
        assert!(state.find("figure cloud", "other").is_none());
        assert!(state.find("other", "s").is_none());
    }

    #[test]
    fn a_damaged_file_is_no_state() {
        for text in ["", "{", "[]", "{\"a\": 1}", "{\"a\": {\"settings\": \"s\"}}"] {
            assert!(parsed(text).is_none(), "{text}");
        }
    }
}
