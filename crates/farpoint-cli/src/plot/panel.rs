//! One field of a plot: lines, or bars in groups.

use super::scale::{Axis, Scale, short};
use super::svg::{self, color, line, text, turned};

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

/// Lines over a common axis.
pub(crate) struct Lines {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// Groups of bars.
pub(crate) struct Bars {
    pub(crate) title: String,
    pub(crate) y: Axis,
    /// Names of the groups.
    pub(crate) groups: Vec<String>,
    /// Name, and a value for each group.
    pub(crate) series: Vec<(String, Vec<Option<f64>>)>,
}

/// One field of a plot.
pub(crate) enum Panel {
    Lines(Lines),
    Bars(Bars),
}

/// Room under the field: for ticks and a label, or for slanting names.
const UNDER: f64 = 54.0;
const UNDER_NAMES: f64 = 84.0;

/// Left, top, right and bottom edge of the field in a panel of this size.
fn field([wide, high]: [f64; 2], under: f64) -> [f64; 4] {
    [68.0, 34.0, wide - 18.0, high - under]
}

/// The place of a series in the legend.
fn place_of(names: &[(String, bool)], name: &str) -> usize {
    names.iter().position(|(known, _)| known == name).unwrap_or(0)
}

impl Panel {
    /// Names of the series, with whether they are dashed.
    pub(super) fn names(&self) -> Vec<(String, bool)> {
        match self {
            Self::Lines(lines) => lines.series.iter().map(|s| (s.name.clone(), s.dashed)).collect(),
            Self::Bars(bars) => bars.series.iter().map(|(name, _)| (name.clone(), false)).collect(),
        }
    }

    /// Whether it needs all the room there is.
    pub(super) fn is_crowded(&self) -> bool {
        matches!(self, Self::Bars(bars) if bars.groups.len() * bars.series.len() > 16)
    }

    pub(super) fn draw(&self, svg: &mut String, size: [f64; 2], names: &[(String, bool)]) {
        match self {
            Self::Lines(lines) => lines.draw(svg, size, names),
            Self::Bars(bars) => bars.draw(svg, size, names),
        }
    }
}

/// The title, the vertical axis and the lower edge.
fn frame(svg: &mut String, field: [f64; 4], title: &str, axis: &Axis, scale: &Scale) {
    let [left, top, right, bottom] = field;
    text(svg, [left, top - 10.0], "start", 14, title);
    for tick in scale.ticks(((bottom - top) / 26.0) as usize) {
        let at = between(bottom, top, scale.at(tick));
        line(svg, [left, at, right, at], "#e4e4e4");
        text(svg, [left - 7.0, at + 4.0], "end", 12, &short(tick));
    }
    line(svg, [left, bottom, right, bottom], "#222");
    line(svg, [left, top, left, bottom], "#222");
    turned(svg, [18.0, (top + bottom) / 2.0], "middle", 13, &axis.label, -90.0);
}

fn between(from: f64, to: f64, share: f64) -> f64 {
    from + (to - from) * share
}

impl Lines {
    fn draw(&self, svg: &mut String, size: [f64; 2], names: &[(String, bool)]) {
        let field = field(size, UNDER);
        let [left, top, right, bottom] = field;
        let lines = || self.series.iter().flat_map(|series| series.points.iter());
        let bands = || self.series.iter().flat_map(|series| series.band.iter());
        let x = Scale::new(lines().map(|point| point.0), self.x.log);
        let y =
            Scale::new(lines().map(|p| p.1).chain(bands().flat_map(|b| [b[1], b[2]])), self.y.log);
        frame(svg, field, &self.title, &self.y, &y);
        for tick in x.ticks(((right - left) / 52.0) as usize) {
            let at = between(left, right, x.at(tick));
            line(svg, [at, bottom, at, bottom + 5.0], "#222");
            text(svg, [at, bottom + 19.0], "middle", 12, &short(tick));
        }
        text(svg, [(left + right) / 2.0, bottom + 40.0], "middle", 13, &self.x.label);
        // What has no place on a logarithmic axis lies on the field's edge: a range from zero.
        let at = |a: f64, b: f64| {
            let [a, b] = [x.at(a), y.at(b)].map(|share| share.clamp(0.0, 1.0));
            [between(left, right, a), between(bottom, top, b)]
        };
        for series in self.series.iter().filter(|series| !series.band.is_empty()) {
            let up = series.band.iter().map(|[a, _, high]| at(*a, *high));
            let down = series.band.iter().rev().map(|[a, low, _]| at(*a, *low));
            let outline: Vec<_> = up.chain(down).collect();
            svg::area(svg, &outline, color(place_of(names, &series.name)));
        }
        for series in &self.series {
            let seen = |(a, b): &&(f64, f64)| x.at(*a).is_finite() && y.at(*b).is_finite();
            let points: Vec<_> =
                series.points.iter().filter(seen).map(|(a, b)| at(*a, *b)).collect();
            let color = color(place_of(names, &series.name));
            svg::polyline(svg, &points, color, series.dashed);
            if points.len() <= 40 && self.series.len() <= 6 && !series.dashed {
                points.iter().for_each(|point| svg::dot(svg, *point, color));
            }
        }
    }
}

impl Bars {
    fn draw(&self, svg: &mut String, size: [f64; 2], names: &[(String, bool)]) {
        let field = field(size, UNDER_NAMES);
        let [left, top, right, bottom] = field;
        let values = || self.series.iter().flat_map(|(_, values)| values.iter().flatten().copied());
        // Bars need a common foot: on a logarithmic axis a value that matters, 1.
        let y = Scale::new(values().chain(self.y.log.then_some(1.0)), self.y.log);
        frame(svg, field, &self.title, &self.y, &y);
        let foot = if self.y.log { between(bottom, top, y.at(1.0)) } else { bottom };
        let group = (right - left) / self.groups.len().max(1) as f64;
        let bar = 0.84 * group / self.series.len().max(1) as f64;
        let level = self.groups.iter().all(|name| svg::width(name, 12) < group);
        for (k, name) in self.groups.iter().enumerate() {
            let from = left + k as f64 * group;
            for (j, (series, values)) in self.series.iter().enumerate() {
                let Some(value) = values.get(k).copied().flatten() else { continue };
                let at = between(bottom, top, y.at(value));
                if !at.is_finite() {
                    continue;
                }
                let x = from + 0.08 * group + j as f64 * bar;
                let color = color(place_of(names, series));
                svg::bar(svg, [x, at.min(foot), 0.92 * bar, (at - foot).abs().max(1.0)], color);
                if bar >= 24.0 {
                    let label = three_digits(value);
                    text(svg, [x + 0.46 * bar, at.min(foot) - 4.0], "middle", 11, &label);
                }
            }
            let at = [from + 0.5 * group, bottom + 18.0];
            match level {
                true => text(svg, at, "middle", 12, name),
                false => turned(svg, [at[0] + 8.0, at[1] - 2.0], "end", 11, name, -16.0),
            }
        }
        line(svg, [left, foot, right, foot], "#222");
    }
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
