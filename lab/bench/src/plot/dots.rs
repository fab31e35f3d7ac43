//! Dots on rows: values of named things on one axis, a marker per series.

use super::{Area, Axis, FAINT, INK, MESH, TEXT, bold, font, place_of, style, width};
use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// A panel of rows.
pub(crate) struct Dots {
    pub(crate) title: String,
    pub(crate) x: Axis,
    /// Names of the rows, from the top.
    pub(crate) rows: Vec<String>,
    /// Name, and a value for each row.
    pub(crate) series: Vec<(String, Vec<Option<f64>>)>,
    /// Baseline of the others, drawn as a line.
    pub(crate) base: f64,
}

/// Height of a row; room for the title above, and for ticks and unit below.
const ROW: i32 = 34;
const ABOVE: i32 = 34;
const BELOW: i32 = 58;
const RIGHT: i32 = 22;

/// Minimum number of pixels between ticks.
const TICK: i32 = 70;

impl Dots {
    pub(super) fn names(&self) -> Vec<String> {
        self.series.iter().map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn height(&self) -> i32 {
        ABOVE + ROW * self.rows.len() as i32 + BELOW
    }

    pub(super) fn draw(&self, area: &Area<'_>, names: &[String]) -> Result<()> {
        let left_margin = self.rows.iter().map(|row| width(row, TEXT)).max().unwrap_or(0) + 14;
        let values = self.series.iter().flat_map(|(_, values)| values.iter().flatten().copied());
        let range = self.x.range(values.chain([self.base]));
        let max_ticks =
            ((area.dim_in_pixel().0 as i32 - left_margin - RIGHT) / TICK).max(2) as usize;
        let mut chart = ChartBuilder::on(area)
            .margin_top(ABOVE)
            .margin_right(RIGHT)
            .x_label_area_size(BELOW)
            .y_label_area_size(left_margin)
            .build_cartesian_2d(
                self.x.ticked(range.clone(), max_ticks),
                0.0..self.rows.len().max(1) as f64,
            )?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(MESH)
            .disable_y_mesh()
            .y_labels(0)
            .axis_style(INK)
            .x_desc(self.x.label.as_str())
            .axis_desc_style(font(TEXT, HPos::Center, VPos::Top))
            .label_style(font(TEXT, HPos::Center, VPos::Center))
            .x_label_formatter(&|place| self.x.text(*place))
            .draw()?;
        let base = area.get_base_pixel();
        let pixel = |value: f64| {
            let place = self.x.place(value)?.clamp(range.start, range.end);
            Some(chart.backend_coord(&(place, 0.0)).0 - base.0)
        };
        let bottom = ABOVE + ROW * self.rows.len() as i32;
        if let Some(x) = pixel(self.base) {
            area.draw(&PathElement::new([(x, ABOVE), (x, bottom)], INK.stroke_width(2)))?;
        }
        area.draw(&Text::new(self.title.as_str(), (left_margin, 2), bold(TEXT)))?;
        for (k, row) in self.rows.iter().enumerate() {
            let y = ABOVE + ROW * k as i32 + ROW / 2;
            let name = font(TEXT, HPos::Right, VPos::Center);
            area.draw(&Text::new(row.as_str(), (left_margin - 10, y), name))?;
            self.draw_row(area, names, (k, y), &pixel)?;
        }
        Ok(())
    }

    /// Draws the markers of a row on a line from the first to the last.
    fn draw_row(
        &self,
        area: &Area<'_>,
        names: &[String],
        (row, y): (usize, i32),
        pixel: &dyn Fn(f64) -> Option<i32>,
    ) -> Result<()> {
        let value = |values: &[Option<f64>]| pixel(values.get(row).copied().flatten()?);
        let at = || self.series.iter().filter_map(|(_, values)| value(values));
        if let (Some(first), Some(last)) = (at().min(), at().max()) {
            area.draw(&PathElement::new([(first, y), (last, y)], FAINT.stroke_width(3)))?;
        }
        // The first series lies on top.
        for (name, values) in self.series.iter().rev() {
            if let Some(x) = value(values) {
                style(place_of(names, name)).mark(area, (x, y))?;
            }
        }
        Ok(())
    }
}
