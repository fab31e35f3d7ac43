//! Lines over a common axis, each with its name at its end.

use super::style::Style;
use super::{Area, Axis, FAINT, INK, MESH, SMALL, TEXT, bold, font, place_of, style, width};
use anyhow::Result;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// One line.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// A shaded range: x, smallest, largest.
    pub(crate) band: Vec<[f64; 3]>,
    /// Drawn thin and gray without a name, for comparison.
    pub(crate) faint: bool,
}

impl Series {
    pub(crate) fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, band: Vec::new(), faint: false }
    }
}

/// A panel of lines.
pub(crate) struct Lines {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// Number of points above which a line has no markers.
const MARKED: usize = 20;

/// Room for title and unit above, ticks left, ticks and unit below, and beside the names.
const ABOVE: i32 = 60;
const BELOW: i32 = 58;
const GAP: i32 = 14;

/// Minimum number of pixels between ticks.
const TICK: [i32; 2] = [50, 40];

/// Height of a name, which no other may overlap.
const NAME: i32 = TEXT as i32 + 2;

impl Lines {
    pub(super) fn names(&self) -> Vec<String> {
        let named = self.series.iter().filter(|series| !series.faint && !series.name.is_empty());
        named.map(|series| series.name.clone()).collect()
    }

    pub(super) fn draw(&self, area: &Area<'_>, names: &[String]) -> Result<()> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let bands = self.series.iter().flat_map(|series| &series.band);
        let x = self.x.range(points().map(|point| point.0));
        let y = self.y.range(points().map(|p| p.1).chain(bands.flat_map(|b| [b[1], b[2]])));
        let (wide, high) = area.dim_in_pixel();
        let up = high as i32 - ABOVE - BELOW;
        let up = self.y.ticked(y.clone(), (up / TICK[1]).max(2) as usize);
        let left = up.widest(|place| width(&self.y.text(place), TEXT)) + GAP;
        let right = self.names().iter().map(|name| width(name, TEXT)).max().unwrap_or(0) + 2 * GAP;
        let max_ticks = ((wide as i32 - left - right) / TICK[0]).max(2) as usize;
        let mut chart = ChartBuilder::on(area)
            .margin_top(ABOVE)
            .margin_right(right)
            .x_label_area_size(BELOW)
            .y_label_area_size(left)
            .build_cartesian_2d(self.x.ticked(x.clone(), max_ticks), up)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(MESH)
            .axis_style(INK)
            .x_desc(self.x.label.as_str())
            .axis_desc_style(font(TEXT, HPos::Center, VPos::Top))
            .label_style(font(TEXT, HPos::Center, VPos::Center))
            .x_label_formatter(&|place| self.x.text(*place))
            .y_label_formatter(&|place| self.y.text(*place))
            .draw()?;
        let base = area.get_base_pixel();
        // A value without a position on an axis is drawn on its edge: a range from zero.
        let pixel = |a: f64, b: f64| {
            let a = self.x.place(a).unwrap_or(x.start).clamp(x.start, x.end);
            let b = self.y.place(b).unwrap_or(y.start).clamp(y.start, y.end);
            let (a, b) = chart.backend_coord(&(a, b));
            (a - base.0, b - base.1)
        };
        for series in &self.series {
            series.draw_band(area, style(place_of(names, &series.name)), &pixel)?;
        }
        for series in &self.series {
            series.draw(area, style(place_of(names, &series.name)), &pixel)?;
        }
        area.draw(&Text::new(self.title.as_str(), (4, 2), bold(TEXT)))?;
        let unit = font(SMALL, HPos::Left, VPos::Top);
        area.draw(&Text::new(self.y.label.as_str(), (4, 4 + NAME + 4), unit))?;
        let beside = wide as i32 - right + GAP;
        self.draw_names(area, names, beside, [ABOVE, high as i32 - BELOW], &pixel)
    }

    /// Draws the names at the ends of the lines, moved apart if they would overlap.
    fn draw_names(
        &self,
        area: &Area<'_>,
        names: &[String],
        left: i32,
        [top, bottom]: [i32; 2],
        pixel: &dyn Fn(f64, f64) -> (i32, i32),
    ) -> Result<()> {
        let named = self.series.iter().filter(|series| !series.faint && !series.name.is_empty());
        let mut ends: Vec<_> = named
            .filter_map(|series| {
                let (x, y) = *series.points.last()?;
                Some((pixel(x, y), series.name.as_str()))
            })
            .collect();
        ends.sort_by_key(|((_, y), _)| *y);
        let positions: Vec<_> = ends.iter().map(|((_, y), _)| *y).collect();
        let half = NAME / 2;
        let places = spread(&positions, NAME, [top + half, bottom - half]);
        for (((x, y), name), place) in ends.into_iter().zip(places) {
            let color = style(place_of(names, name)).color;
            let lead = [(x + 7, y), (left - 3, place)];
            area.draw(&PathElement::new(lead, color.mix(0.6).stroke_width(1)))?;
            let text = font(TEXT, HPos::Left, VPos::Center);
            area.draw(&Text::new(name, (left, place), text.color(&INK)))?;
        }
        Ok(())
    }
}

impl Series {
    /// Draws the shaded range between two thin lines.
    fn draw_band(
        &self,
        area: &Area<'_>,
        style: Style,
        pixel: &dyn Fn(f64, f64) -> (i32, i32),
    ) -> Result<()> {
        if self.band.is_empty() {
            return Ok(());
        }
        let up: Vec<_> = self.band.iter().map(|[x, _, high]| pixel(*x, *high)).collect();
        let down: Vec<_> = self.band.iter().rev().map(|[x, low, _]| pixel(*x, *low)).collect();
        let edge = style.color.mix(0.7).stroke_width(2);
        let outline = [&up[..], &down].concat();
        area.draw(&Polygon::new(outline, style.color.mix(0.15).filled()))?;
        for line in [up, down] {
            area.draw(&PathElement::new(line, edge))?;
        }
        Ok(())
    }

    /// Draws line and markers.
    fn draw(
        &self,
        area: &Area<'_>,
        style: Style,
        pixel: &dyn Fn(f64, f64) -> (i32, i32),
    ) -> Result<()> {
        let line: Vec<_> = self.points.iter().map(|(x, y)| pixel(*x, *y)).collect();
        if self.faint {
            return Ok(area.draw(&PathElement::new(line, FAINT.stroke_width(2)))?);
        }
        let stroke = style.color.stroke_width(4);
        match style.dash {
            None => area.draw(&PathElement::new(line.clone(), stroke))?,
            Some([on, off]) => {
                area.draw(&DashedPathElement::new(line.clone(), on, off, stroke))?;
            }
        }
        if line.len() <= MARKED {
            line.into_iter().try_for_each(|at| style.mark(area, at))?;
        }
        Ok(())
    }
}

/// Returns sorted positions at least this far apart and inside, as near to the targets as that allows.
fn spread(positions: &[i32], min_gap: i32, [top, bottom]: [i32; 2]) -> Vec<i32> {
    let mut places: Vec<i32> = Vec::new();
    for want in positions {
        let free = places.last().map_or(top, |last| last + min_gap);
        places.push((*want).max(free));
    }
    let mut limit = bottom;
    for place in places.iter_mut().rev() {
        *place = (*place).min(limit);
        limit = *place - min_gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn names_do_not_touch() {
        assert_eq!(spread(&[10, 12, 60], 20, [0, 100]), [10, 30, 60]);
        assert_eq!(spread(&[90, 95, 99], 20, [0, 100]), [60, 80, 100]);
        assert_eq!(spread(&[], 20, [0, 100]), [0; 0]);
    }
}
