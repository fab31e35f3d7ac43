//! Groups of bars.

use super::axis::{log_scale, short};
use super::{Area, Axis, INK, MESH, Name, color, font, width};
use anyhow::Result;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// A panel of bars.
pub(crate) struct Bars {
    pub(crate) title: String,
    pub(crate) y: Axis,
    /// Names of the groups.
    pub(crate) groups: Vec<String>,
    /// Name, and a value for each group.
    pub(crate) series: Vec<(String, Vec<Option<f64>>)>,
}

/// Room for the names of the groups.
const UNDER: i32 = 64;
/// Bars of at least this width have their value above.
const LABELED: i32 = 24;
/// Share of a group that its bars take, and of a bar's place that the bar takes.
const GROUP: f64 = 0.84;
const BAR: f64 = 0.92;

impl Bars {
    pub(super) fn names(&self) -> Vec<Name> {
        self.series.iter().map(|(name, _)| (name.clone(), false)).collect()
    }

    /// Whether they need all the room there is.
    pub(super) fn is_crowded(&self) -> bool {
        self.groups.len() * self.series.len() > 16
    }

    pub(super) fn draw(&self, area: &Area<'_>, names: &[Name]) -> Result<()> {
        // Bars need a common foot: on a logarithmic axis a value that matters, 1.
        let foot = if self.y.log { 1.0 } else { 0.0 };
        let values = self.series.iter().flat_map(|(_, values)| values.iter().flatten().copied());
        let y = self.y.range(values.chain([foot]));
        let most = (area.dim_in_pixel().1 as usize - 108) / 26;
        match self.y.log {
            true => self.on(area, names, foot, log_scale(y, most)),
            false => self.on(area, names, foot, y),
        }
    }

    /// Draws on an axis of this kind.
    fn on<Y>(&self, area: &Area<'_>, names: &[Name], foot: f64, y: Y) -> Result<()>
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let groups = self.groups.len().max(1);
        let mut chart = ChartBuilder::on(area)
            .caption(self.title.as_str(), font(14, HPos::Center, VPos::Top))
            .margin_top(10)
            .margin_right(18)
            .x_label_area_size(UNDER)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..groups as f64, y)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(MESH)
            .disable_x_mesh()
            .x_labels(0)
            .axis_style(INK)
            .y_desc(self.y.label.as_str())
            .axis_desc_style(font(13, HPos::Center, VPos::Top))
            .label_style(font(12, HPos::Center, VPos::Center))
            .y_label_formatter(&|value| short(*value))
            .draw()?;
        let field = chart.plotting_area().dim_in_pixel().0 as i32 / groups as i32;
        let each = GROUP / self.series.len().max(1) as f64;
        let labeled = (each * f64::from(field)) as i32 >= LABELED;
        for (k, (name, values)) in self.series.iter().enumerate() {
            let color = color(names, name);
            for (group, value) in values.iter().enumerate() {
                let Some(value) = value.filter(|value| value.is_finite() && *value > 0.0) else {
                    continue;
                };
                let left = group as f64 + 0.5 * (1.0 - GROUP) + k as f64 * each;
                let corners = [(left, foot), (left + BAR * each, value)];
                chart.draw_series([Rectangle::new(corners, color.filled())])?;
                if labeled {
                    let at = (left + 0.5 * BAR * each, value.max(foot));
                    let text = three_digits(value);
                    let label = Text::new(text, (0, -3), font(11, HPos::Center, VPos::Bottom));
                    chart.draw_series([EmptyElement::at(at) + label])?;
                }
            }
        }
        chart.draw_series([PathElement::new([(0.0, foot), (groups as f64, foot)], INK)])?;
        self.draw_groups(area, field)
    }

    /// The names of the groups under the field, each in as many lines as it takes.
    fn draw_groups(&self, area: &Area<'_>, field: i32) -> Result<()> {
        let top = area.dim_in_pixel().1 as i32 - UNDER + 8;
        for (group, name) in self.groups.iter().enumerate() {
            let x = 64 + group as i32 * field + field / 2;
            for (line, text) in wrapped(name, field - 6).into_iter().enumerate() {
                let style = font(12, HPos::Center, VPos::Top);
                area.draw(&Text::new(text, (x, top + 15 * line as i32), style))?;
            }
        }
        Ok(())
    }
}

/// A name in lines of at most this width, broken after a separator where it has one.
fn wrapped(name: &str, room: i32) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in name.split_inclusive(['/', '-', '_', ' ']) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && width(&lines[last], 12) + width(part, 12) > room {
            lines.push(part.to_owned());
        } else {
            lines[last].push_str(part);
        }
    }
    lines
}

/// A value over its bar.
fn three_digits(value: f64) -> String {
    match value {
        v if v >= 1000.0 => short(v.round()),
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn long_names_take_several_lines() {
        assert_eq!(wrapped("room-1000", 100), ["room-1000"]);
        assert_eq!(wrapped("kitti/odometry_seq00", 90), ["kitti/", "odometry_", "seq00"]);
    }
}
