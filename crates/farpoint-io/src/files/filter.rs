//! Selection of the rows of a file: those in a box or an area, and those whose attributes have some values.

use crate::bytes::parallel;
use crate::cloud::Cloud;
use crate::cloud::column::Column;
use crate::cloud::coordinates::Coordinates;
use crate::conversion::{common_name, key};
use crate::error::Error;
use crate::files::area::Area;
use crate::files::classes::{Return, class_of, classes_like};
use std::fmt;
use std::str::FromStr;

/// Fields that say which return of its pulse a point is, and of how many.
const RETURNS: [&str; 2] = ["return_number", "number_of_returns"];

/// Values of a field: numbers, and ranges with both ends. Parses `classification=2,6`, `intensity=100..`, `z=..12.5`
/// and `gps_time=10..20,30..40`; the names of classes, `classification=ground,building`; and kinds of returns,
/// `returns=first,last`: `first`, `intermediate`, `last` and `single`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    field: String,
    ranges: Vec<[f64; 2]>,
    /// Kinds of returns, in place of values.
    returns: Vec<Return>,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let advice = "use a field and its values, such as classification=2,6, classification=ground,building, \
                      returns=first or intensity=100..";
        let (field, values) = text.split_once('=').ok_or(advice)?;
        let (field, values) = (field.trim().to_owned(), values.split(',').map(str::trim));
        if field.is_empty() {
            return Err(advice.into());
        }
        if ["return", "returns", "returnnumber"].contains(&&*key(&field)) {
            let returns: Option<Vec<Return>> = values.clone().map(Return::of_name).collect();
            if let Some(returns) = returns {
                return Ok(Condition { field, ranges: Vec::new(), returns });
            }
        }
        let of_classes = common_name(&field) == "classification";
        let range = |text: &str| match text.split_once("..") {
            None => {
                let class = || of_classes.then(|| class_of(text)).flatten();
                number(text).or_else(class).map(|n| [n, n])
            }
            Some((low, high)) => Some([end(low, f64::NEG_INFINITY)?, end(high, f64::INFINITY)?]),
        };
        let invalid = |text: &str| match classes_like(text) {
            like if of_classes && !like.is_empty() => {
                format!("'{text}' is no class; use {field}={}", like.join(","))
            }
            _ => advice.to_owned(),
        };
        let found =
            |text| range(text).filter(|[low, high]| low <= high).ok_or_else(|| invalid(text));
        let ranges = values.map(found).collect::<Result<_, _>>()?;
        Ok(Condition { field, ranges, returns: Vec::new() })
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
        let ranges = self.ranges.iter().map(|[a, b]| format!("{a}..{b}"));
        let values: Vec<String> =
            ranges.chain(self.returns.iter().map(|kind| format!("{kind:?}"))).collect();
        write!(f, "{}={}", self.field, values.join(","))
    }
}

impl Condition {
    /// Returns whether a value is one of these; NaN never is.
    fn holds(&self, value: f64) -> bool {
        self.ranges.iter().any(|[low, high]| *low <= value && value <= *high)
    }

    /// Returns the fields that decide.
    fn fields(&self) -> Vec<&str> {
        if self.returns.is_empty() { vec![&self.field] } else { RETURNS.into() }
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
    areas: Vec<Area>,
    /// Conditions that must hold (true), or must not.
    conditions: Vec<(Condition, bool)>,
}

impl Filter {
    /// Keeps rows in this box, with its faces.
    pub fn within(mut self, low: [f64; 3], high: [f64; 3]) -> Filter {
        self.boxes.push([low, high]);
        self
    }

    /// Keeps rows whose x and y are in this area, with its edges.
    pub fn inside(mut self, area: Area) -> Filter {
        self.areas.push(area);
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
        self.boxes.is_empty() && self.areas.is_empty() && self.conditions.is_empty()
    }

    /// Returns whether coordinates decide which rows are used.
    pub(crate) fn is_of_places(&self) -> bool {
        !self.boxes.is_empty()
            || !self.areas.is_empty()
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
        let near = |area: &Area| {
            let [from, to] = area.bounds;
            (0..2).all(|axis| from[axis] <= high[axis] && low[axis] <= to[axis])
        };
        self.boxes.iter().all(overlaps)
            && self.areas.iter().all(near)
            && self.conditions.iter().all(may_hold)
    }

    /// Returns for each row of a cloud whether it is used; `name` is that of the file.
    ///
    /// # Errors
    /// [`Error::Field`] if the cloud has no such field, or it holds no numbers.
    pub fn mask(&self, cloud: &Cloud, name: &str) -> Result<Vec<bool>, Error> {
        self.check(cloud, name)?;
        let rows: Vec<usize> =
            if self.conditions.is_empty() { Vec::new() } else { (0..cloud.len()).collect() };
        self.mask_rows(cloud, &rows, cloud.coordinates(), name)
    }

    /// Refuses fields that a cloud does not have.
    pub(crate) fn check(&self, cloud: &Cloud, name: &str) -> Result<(), Error> {
        let mut fields = self.conditions.iter().flat_map(|(condition, _)| condition.fields());
        fields.try_for_each(|field| column(cloud, field, &[], name).map(drop))
    }

    /// Returns for each of these rows of a cloud, with these coordinates, whether it is used.
    pub(crate) fn mask_rows(
        &self,
        cloud: &Cloud,
        rows: &[usize],
        at: &Coordinates,
        name: &str,
    ) -> Result<Vec<bool>, Error> {
        let within = |at: [f64; 3], [low, high]: &[[f64; 3]; 2]| {
            (0..3).all(|axis| low[axis] <= at[axis] && at[axis] <= high[axis])
        };
        let mut used: Vec<bool> = parallel::values(at.len(), |row| {
            let at = at.get(row);
            self.boxes.iter().all(|one| within(at, one))
                && self.areas.iter().all(|area| area.contains([at[0], at[1]]))
        });
        for (condition, keep) in &self.conditions {
            let fields = condition.fields();
            let columns = fields.iter().map(|field| column(cloud, field, rows, name));
            let columns: Vec<Option<Column>> = columns.collect::<Result<_, _>>()?;
            let value = |k: usize, row: usize| match (&columns[k], axis(fields[k])) {
                (Some(values), _) => values.get(row),
                (None, Some(axis)) => at.get(row)[axis],
                (None, None) => f64::NAN,
            };
            for (row, used) in used.iter_mut().enumerate() {
                let holds = match condition.returns.as_slice() {
                    [] => condition.holds(value(0, row)),
                    kinds => kinds.iter().any(|kind| kind.is(value(0, row), value(1, row))),
                };
                *used &= holds == *keep;
            }
        }
        Ok(used)
    }
}

/// Returns the axis that a field is.
fn axis(field: &str) -> Option<usize> {
    ["x", "y", "z"].iter().position(|axis| field.eq_ignore_ascii_case(axis))
}

/// Returns the values of a field at these rows, by its own name or one of the same meaning; `None` for an axis.
fn column(cloud: &Cloud, field: &str, rows: &[usize], name: &str) -> Result<Option<Column>, Error> {
    if axis(field).is_some() {
        return Ok(None);
    }
    let fields: Vec<String> = cloud.fields().into_iter().map(|field| field.name).collect();
    let exact = fields.iter().find(|name| *name == field);
    let same = || fields.iter().find(|name| name.eq_ignore_ascii_case(field));
    let meaning = common_name(field);
    let common = || fields.iter().find(|name| common_name(name) == meaning);
    let found = exact.or_else(same).or_else(common);
    let field = found.map_or(field, String::as_str).to_owned();
    match found.and_then(|field| cloud.column_at(field, rows)) {
        Some(column) => Ok(Some(column)),
        None => Err(Error::Field { name: name.to_owned(), field, fields }),
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let boxes = self.boxes.iter().map(|corners| format!("box {corners:?}"));
        let conditions = self.conditions.iter().map(|(condition, keep)| {
            format!("{} {condition}", if *keep { "keep" } else { "drop" })
        });
        let areas = self.areas.iter().map(Area::to_string);
        f.write_str(&boxes.chain(areas).chain(conditions).collect::<Vec<_>>().join(" "))
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
    fn a_part_of_a_name_is_answered_with_the_names() {
        for (text, names) in [
            ("classification=noise", "classification=low_noise,high_noise"),
            ("Class=2,Wire", "Class=wire_guard,wire_conductor,wire_connector"),
        ] {
            assert!(text.parse::<Condition>().unwrap_err().ends_with(names), "{text}");
            assert!(names.parse::<Condition>().is_ok(), "{names}");
        }
        assert!("intensity=noise".parse::<Condition>().unwrap_err().contains("ground,building"));
    }

    #[test]
    fn classes_and_returns_have_names() {
        let mut cloud = Cloud::new(Coordinates::F64(vec![[0.0; 3]; 5]));
        cloud.add_column("Classification", Column::U8(vec![1, 2, 3, 5, 6]));
        cloud.add_column("ReturnNumber", Column::U8(vec![1, 1, 2, 3, 0]));
        cloud.add_column("NumberOfReturns", Column::U8(vec![1, 3, 3, 3, 0]));
        let rows = |text: &str| {
            let condition = text.parse().unwrap();
            let mask = Filter::default().keep(condition).mask(&cloud, "a.las").unwrap();
            (0..5).filter(|row| mask[*row]).collect::<Vec<_>>()
        };
        assert_eq!(rows("class=Ground, building"), [1, 4]);
        assert_eq!(rows("classification=low_vegetation,5"), [2, 3]);
        assert_eq!(rows("returns=first"), [0, 1]);
        assert_eq!(rows("returns=last"), [0, 3]);
        assert_eq!(rows("return_number=single,Intermediate"), [0, 2]);
        assert_eq!(rows("return_number=2.."), [2, 3]);
        for invalid in [
            "classification=tree",
            "classification=ground..building",
            "returns=first,2",
            "i=ground",
        ] {
            assert!(invalid.parse::<Condition>().is_err(), "{invalid}");
        }
        let first: Condition = "returns=first".parse().unwrap();
        let last = Filter::default().keep("returns=last".parse().unwrap());
        assert_ne!(Filter::default().keep(first.clone()).to_string(), last.to_string());
        let bare = Cloud::new(Coordinates::F64(vec![[0.0; 3]]));
        let error = Filter::default().keep(first).mask(&bare, "a.ply").unwrap_err().to_string();
        assert!(error.contains("no field 'return_number'"), "{error}");
    }

    #[test]
    fn areas_select_by_x_and_y() {
        let area: Area = "POLYGON ((0 0, 4 0, 4 4, 0 4), (1 1, 3 1, 3 3, 1 3))".parse().unwrap();
        let filter = Filter::default().inside(area);
        let rows = vec![[0.0, 0.0, 9.0], [2.0, 2.0, 0.0], [3.5, 3.5, -1.0], [f64::NAN, 1.0, 1.0]];
        let cloud = Cloud::new(Coordinates::F64(rows));
        assert_eq!(filter.mask(&cloud, "a.ply").unwrap(), [true, false, true, false]);
        assert!(!filter.is_empty() && filter.is_of_places());
        assert!(filter.may_use([[4.0, 4.0, 7.0], [5.0, 5.0, 8.0]]));
        assert!(!filter.may_use([[4.5, 0.0, 0.0], [5.0, 1.0, 1.0]]));
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
