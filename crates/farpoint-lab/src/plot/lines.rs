//! Lines over a common axis.

use super::axis::{log_scale, short};
use super::{Area, Axis, INK, MESH, Name, color, font};
use anyhow::Result;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use std::ops::Range;

/// One line.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// A shaded range: x, smallest, largest.
    pub(crate) band: Vec<[f64; 3]>,
    pub(crate) dashed: bool,
}

impl Series {
    pub(crate) fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, band: Vec::new(), dashed: false }
    }
}

/// A panel of lines.
pub(crate) struct Lines {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// More points than these are not marked one by one.
const MARKED_POINTS: usize = 40;
const MARKED_SERIES: usize = 6;

/// Pixels between ticks, at least.
const TICK: [u32; 2] = [52, 26];

impl Lines {
    pub(super) fn names(&self) -> Vec<Name> {
        self.series.iter().map(|series| (series.name.clone(), series.dashed)).collect()
    }

    /// The ranges of both axes.
    fn ranges(&self) -> [Range<f64>; 2] {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let bands = || self.series.iter().flat_map(|series| &series.band);
        let x = self.x.range(points().map(|point| point.0));
        [x, self.y.range(points().map(|p| p.1).chain(bands().flat_map(|b| [b[1], b[2]])))]
    }

    pub(super) fn draw(&self, area: &Area<'_>, names: &[Name]) -> Result<()> {
        let [x, y] = self.ranges();
        let (wide, high) = area.dim_in_pixel();
        let most = [(wide - 86) / TICK[0], (high - 98) / TICK[1]].map(|most| most as usize);
        match (self.x.log, self.y.log) {
            (true, true) => self.on(area, names, log_scale(x, most[0]), log_scale(y, most[1])),
            (true, false) => self.on(area, names, log_scale(x, most[0]), y),
            (false, true) => self.on(area, names, x, log_scale(y, most[1])),
            (false, false) => self.on(area, names, x, y),
        }
    }

    /// Draws on axes of these kinds.
    fn on<X, Y>(&self, area: &Area<'_>, names: &[Name], x: X, y: Y) -> Result<()>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let [across, along] = self.ranges();
        let mut chart = ChartBuilder::on(area)
            .caption(self.title.as_str(), font(14, HPos::Center, VPos::Top))
            .margin_top(10)
            .margin_right(18)
            .x_label_area_size(48)
            .y_label_area_size(64)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(MESH)
            .disable_x_mesh()
            .axis_style(INK)
            .x_desc(self.x.label.as_str())
            .y_desc(self.y.label.as_str())
            .axis_desc_style(font(13, HPos::Center, VPos::Top))
            .label_style(font(12, HPos::Center, VPos::Center))
            .x_label_formatter(&|value| short(*value))
            .y_label_formatter(&|value| short(*value))
            .draw()?;
        // What has no place on a logarithmic axis lies on the edge: a range from zero.
        let inside =
            |[a, b]: [f64; 2]| (a.clamp(across.start, across.end), b.clamp(along.start, along.end));
        for series in self.series.iter().filter(|series| !series.band.is_empty()) {
            let up = series.band.iter().map(|[a, _, high]| inside([*a, *high]));
            let down = series.band.iter().rev().map(|[a, low, _]| inside([*a, *low]));
            let outline: Vec<_> = up.chain(down).collect();
            let fill = color(names, &series.name).mix(0.18).filled();
            chart.draw_series([Polygon::new(outline, fill)])?;
        }
        for series in &self.series {
            let seen = |(a, b): &&(f64, f64)| across.contains(a) && along.contains(b);
            let points: Vec<_> = series.points.iter().filter(seen).copied().collect();
            let color = color(names, &series.name);
            let style = color.stroke_width(2);
            if series.dashed {
                chart.draw_series(DashedLineSeries::new(points, 7, 4, style))?;
                continue;
            }
            if points.len() <= MARKED_POINTS && self.series.len() <= MARKED_SERIES {
                let mark = |&point: &_| Circle::new(point, 3, color.filled());
                chart.draw_series(points.iter().map(mark))?;
            }
            chart.draw_series(LineSeries::new(points, style))?;
        }
        Ok(())
    }
}
