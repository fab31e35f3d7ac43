//! Filters of the rows of the input.

use super::Keep;
use clap::ValueEnum;
use farpoint_io::{Condition, Filter};
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
    /// Use rows with these values of a field: classification=2,6 or intensity=100.. or z=5..12.5; may be given
    /// several times. With --algorithm grid also the point of a cell to keep: first, random (--seed),
    /// center (nearest to it), or centroid, the mean of their positions with means of their attributes, the most
    /// frequent class, and the number of points of each cell [default: center].
    #[arg(long, value_name = "FIELD=VALUES")]
    keep: Vec<KeepValue>,
    /// Leave out rows with these values of a field: classification=7,18.
    #[arg(long, value_name = "FIELD=VALUES")]
    drop: Vec<Condition>,
}

/// Value of `--keep`.
#[derive(Debug, Clone, PartialEq)]
enum KeepValue {
    Rows(Condition),
    /// Of a cell of a grid.
    Point(Keep),
}

impl FromStr for KeepValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('=') {
            return text.parse().map(Self::Rows);
        }
        Keep::from_str(text, false).map(Self::Point).map_err(|_| {
            "use a field and its values, such as classification=2,6; or for --algorithm grid first, random, \
             center or centroid"
                .into()
        })
    }
}

impl Filters {
    /// Returns the point of a cell of a grid to keep.
    pub(crate) fn point_of_cell(&self) -> Option<Keep> {
        self.keep.iter().rev().find_map(|value| match value {
            KeepValue::Point(keep) => Some(*keep),
            KeepValue::Rows(_) => None,
        })
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
        for value in &self.keep {
            if let KeepValue::Rows(condition) = value {
                filter = filter.keep(condition.clone());
            }
        }
        Ok(self.drop.iter().fold(filter, |filter, condition| filter.drop(condition.clone())))
    }
}

fn within(filter: Filter, option: &str, [low, high]: [[f64; 3]; 2]) -> Result<Filter, String> {
    match (0..3).all(|axis| low[axis] <= high[axis]) {
        true => Ok(filter.within(low, high)),
        false => Err(format!("{option}: the lower corner comes first, then the upper one")),
    }
}
