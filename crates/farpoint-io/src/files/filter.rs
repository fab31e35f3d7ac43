//! Selection of the rows of a file: those in a box, and those whose attributes have some values.

use crate::cloud::Cloud;
use crate::cloud::column::Column;
use crate::cloud::coordinates::Coordinates;
use crate::conversion::common_name;
use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// Values of a field: numbers, and ranges with both ends. Parses `classification=2,6`, `intensity=100..`, `z=..12.5`
/// and `gps_time=10..20,30..40`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    field: String,
    ranges: Vec<[f64; 2]>,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let advice = "use a field and its values, such as classification=2,6 or intensity=100..";
        let (field, values) = text.split_once('=').ok_or(advice)?;
        let range = |text: &str| match text.split_once("..") {
            None => number(text).map(|n| [n, n]),
            Some((low, high)) => Some([end(low, f64::NEG_INFINITY)?, end(high, f64::INFINITY)?]),
        };
        let ranges: Option<Vec<[f64; 2]>> = values.split(',').map(str::trim).map(range).collect();
        let ranges = ranges.filter(|ranges| ranges.iter().all(|[low, high]| low <= high));
        match (field.trim(), ranges) {
            ("", _) | (_, None) => Err(advice.into()),
            (field, Some(ranges)) => Ok(Condition { field: field.into(), ranges }),
        }
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|n: &f64| !n.is_nan())
}

fn end(text: &str, open: f64) -> Option<f64> {
    if text.trim().is_empty() { Some(open) } else { number(text) }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.ranges.iter().map(|[a, b]| format!("{a}..{b}")).collect();
        write!(f, "{}={}", self.field, values.join(","))
    }
}

impl Condition {
    /// Returns whether a value is one of these; NaN never is.
    fn holds(&self, value: f64) -> bool {
        self.ranges.iter().any(|[low, high]| *low <= value && value <= *high)
    }
}

/// Selection of rows: those that meet all conditions.
///
/// ```
/// use farpoint_io::{Cloud, Column, Coordinates, Filter};
/// let mut cloud = Cloud::new(Coordinates::F32(vec![[0.0; 3], [1.0; 3], [9.0; 3]]));
/// cloud.add_column("classification", Column::U8(vec![2, 7, 2]));
/// let filter = Filter::default().keep("classification=2..6".parse()?).within([0.0; 3], [5.0; 3]);
/// assert_eq!(filter.mask(&cloud, "a cloud")?, [true, false, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    boxes: Vec<[[f64; 3]; 2]>,
    /// Conditions that must hold (true), or must not.
    conditions: Vec<(Condition, bool)>,
}

impl Filter {
    /// Keeps rows in this box, with its faces.
    pub fn within(mut self, low: [f64; 3], high: [f64; 3]) -> Filter {
        self.boxes.push([low, high]);
        self
    }

    /// Keeps rows that meet the condition.
    pub fn keep(mut self, condition: Condition) -> Filter {
        self.conditions.push((condition, true));
        self
    }

    /// Drops rows that meet the condition.
    pub fn drop(mut self, condition: Condition) -> Filter {
        self.conditions.push((condition, false));
        self
    }

    /// Returns whether all rows are used.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty() && self.conditions.is_empty()
    }

    /// Returns whether coordinates decide which rows are used.
    pub(crate) fn is_of_places(&self) -> bool {
        !self.boxes.is_empty()
            || self.conditions.iter().any(|(condition, _)| axis(&condition.field).is_some())
    }

    /// Returns whether a row in this box may be used, as far as coordinates decide.
    pub(crate) fn may_use(&self, [low, high]: [[f64; 3]; 2]) -> bool {
        let overlaps = |[from, to]: &[[f64; 3]; 2]| {
            (0..3).all(|axis| from[axis] <= high[axis] && low[axis] <= to[axis])
        };
        let may_hold = |(condition, keep): &(Condition, bool)| {
            let Some(axis) = axis(&condition.field) else { return true };
            let (low, high) = (low[axis], high[axis]);
            match keep {
                true => condition.ranges.iter().any(|[from, to]| *from <= high && low <= *to),
                false => !condition.ranges.iter().any(|[from, to]| *from <= low && high <= *to),
            }
        };
        self.boxes.iter().all(overlaps) && self.conditions.iter().all(may_hold)
    }

    /// Returns for each row of a cloud whether it is used; `name` is that of the file.
    ///
    /// # Errors
    /// [`Error::Field`] if the cloud has no such field.
    pub fn mask(&self, cloud: &Cloud, name: &str) -> Result<Vec<bool>, Error> {
        self.check(cloud, name)?;
        let rows: Vec<usize> =
            if self.conditions.is_empty() { Vec::new() } else { (0..cloud.len()).collect() };
        Ok(self.mask_rows(cloud, &rows, cloud.coordinates()))
    }

    /// Refuses fields that a cloud does not have.
    pub(crate) fn check(&self, cloud: &Cloud, name: &str) -> Result<(), Error> {
        let unknown = |(condition, _): &&(Condition, bool)| {
            axis(&condition.field).is_none() && column(cloud, &condition.field, &[]).is_none()
        };
        match self.conditions.iter().find(unknown) {
            None => Ok(()),
            Some((condition, _)) => Err(Error::Field {
                name: name.to_owned(),
                field: condition.field.clone(),
                fields: cloud.fields().into_iter().map(|field| field.name).collect(),
            }),
        }
    }

    /// Returns for each of these rows of a cloud, with these coordinates, whether it is used.
    pub(crate) fn mask_rows(&self, cloud: &Cloud, rows: &[usize], at: &Coordinates) -> Vec<bool> {
        let within = |row: usize, [low, high]: &[[f64; 3]; 2]| {
            let at = at.get(row);
            (0..3).all(|axis| low[axis] <= at[axis] && at[axis] <= high[axis])
        };
        let mut used: Vec<bool> =
            (0..at.len()).map(|row| self.boxes.iter().all(|one| within(row, one))).collect();
        for (condition, keep) in &self.conditions {
            let values = match axis(&condition.field) {
                Some(_) => None,
                None => column(cloud, &condition.field, rows),
            };
            let value = |row: usize| match (&values, axis(&condition.field)) {
                (Some(values), _) => values.get(row),
                (None, Some(axis)) => at.get(row)[axis],
                (None, None) => f64::NAN,
            };
            for (row, used) in used.iter_mut().enumerate() {
                *used &= condition.holds(value(row)) == *keep;
            }
        }
        used
    }
}

/// Returns the axis that a field is.
fn axis(field: &str) -> Option<usize> {
    ["x", "y", "z"].iter().position(|axis| field.eq_ignore_ascii_case(axis))
}

/// Returns the values of a field at these rows, by its own name or one of the same meaning.
fn column(cloud: &Cloud, field: &str, rows: &[usize]) -> Option<Column> {
    let fields = cloud.fields();
    let names = || fields.iter().map(|field| field.name.as_str());
    let exact = names().find(|name| *name == field);
    let same = || names().find(|name| name.eq_ignore_ascii_case(field));
    let common = || names().find(|name| common_name(name) == common_name(field));
    cloud.column_at(exact.or_else(same).or_else(common)?, rows)
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let boxes = self.boxes.iter().map(|corners| format!("box {corners:?}"));
        let conditions = self.conditions.iter().map(|(condition, keep)| {
            format!("{} {condition}", if *keep { "keep" } else { "drop" })
        });
        f.write_str(&boxes.chain(conditions).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let holds = |text: &str, value: f64| text.parse::<Condition>().unwrap().holds(value);
        assert!(holds("class=2,6", 6.0) && !holds("class=2,6", 4.0));
        assert!(holds("i=100..", 100.0) && holds("i=100..", 1e9) && !holds("i=100..", 99.0));
        assert!(holds("z=..-1.5", -1.5) && !holds("z=..-1.5", 0.0));
        assert!(holds("t=1..2,5..6", 5.5) && !holds("t=1..2,5..6", 3.0));
        assert!(!holds("t=..", f64::NAN) && holds("t=..", f64::INFINITY));
        for invalid in
            ["", "class", "=2", "class=", "class=two", "i=5..1", "i=1..2..3", "i=nan", "i=1,,2"]
        {
            assert!(
                invalid.parse::<Condition>().unwrap_err().contains("classification=2,6"),
                "{invalid}"
            );
        }
    }

    #[test]
    fn boxes_without_used_rows_are_skipped() {
        let cube = [[0.0; 3], [8.0; 3]];
        let may = |filter: Filter| filter.may_use(cube);
        let condition = |text: &str| text.parse::<Condition>().unwrap();
        assert!(may(Filter::default()) && may(Filter::default().keep(condition("intensity=1"))));
        assert!(may(Filter::default().within([8.0; 3], [9.0; 3])));
        assert!(!may(Filter::default().within([8.1, 0.0, 0.0], [9.0; 3])));
        assert!(may(Filter::default().keep(condition("Z=..-1,8.."))));
        assert!(!may(Filter::default().keep(condition("z=..-1,9.."))));
        assert!(may(Filter::default().drop(condition("x=0..7.9,7.9..8"))));
        assert!(!may(Filter::default().drop(condition("x=-1..9"))));
    }

    #[test]
    fn all_conditions_must_hold() {
        let rows = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 5.0], [2.0, f64::NAN, 0.0]];
        let mut cloud = Cloud::new(Coordinates::F64(rows));
        cloud.add_column("Scalar_Intensity", Column::F32(vec![1.0, f32::NAN, 3.0]));
        let mask = |filter: Filter| filter.mask(&cloud, "a.ply").unwrap();
        let intensity = |values: &str| format!("intensity={values}").parse::<Condition>().unwrap();
        assert_eq!(mask(Filter::default()), [true; 3]);
        assert_eq!(mask(Filter::default().keep(intensity("1.."))), [true, false, true]);
        assert_eq!(mask(Filter::default().drop(intensity("3"))), [true, true, false]);
        let both = Filter::default().keep(intensity("1..")).keep("x=1..".parse().unwrap());
        assert_eq!(mask(both), [false, false, true]);
        // A row without a position is in no box.
        let everywhere = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];
        let all = Filter::default().within(everywhere[0], everywhere[1]);
        assert_eq!(mask(all), [true, true, false]);
        let low = Filter::default().within([0.0, 0.0, -1.0], [2.0, 1.0, 1.0]);
        assert_eq!(mask(low), [true, false, false]);
        let unknown = Filter::default().keep("ring=1".parse().unwrap());
        let error = unknown.mask(&cloud, "a.ply").unwrap_err().to_string();
        assert_eq!(
            error,
            "a.ply: there is no field 'ring'; the fields are x, y, z, Scalar_Intensity"
        );
    }
}
