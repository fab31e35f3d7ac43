//! Line plots as SVG: axes with units, a legend, and the machine beneath.

use std::fmt::Write;

/// One axis.
pub(super) struct Axis {
    /// Its name and unit.
    pub(super) label: String,
    pub(super) log: bool,
}

impl Axis {
    pub(super) fn log(label: &str) -> Self {
        Self { label: label.into(), log: true }
    }

    pub(super) fn linear(label: &str) -> Self {
        Self { label: label.into(), log: false }
    }
}

/// One line of the plot.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// A plot.
pub(super) struct Plot {
    pub(super) title: String,
    /// The line beneath: machine and date.
    pub(super) foot: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 520.0;
/// Left, top, right and bottom edge of the field.
const FIELD: [f64; 4] = [84.0, 52.0, 640.0, 436.0];
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#8b5a2b"];

/// Where a number lies on an axis, 0 to 1, and the ticks.
struct Scale {
    low: f64,
    high: f64,
    log: bool,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64> + Clone, log: bool) -> Self {
        let values = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Self { low: 1.0, high: 10.0, log };
        }
        if log {
            let (low, high) = (low.log10(), high.log10());
            let room = (0.06 * (high - low)).max(0.05);
            return Self { low: 10f64.powf(low - room), high: 10f64.powf(high + room), log };
        }
        // A linear axis starts at zero.
        let (low, high) = (low.min(0.0), high.max(0.0));
        Self { low, high: high + 0.06 * (high - low).max(1e-12), log }
    }

    fn at(&self, value: f64) -> f64 {
        if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
            let few = last - first <= 3;
            let steps: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let every = (first..=last).flat_map(|e| steps.iter().map(move |s| s * 10f64.powi(e)));
            return every.filter(|tick| (self.low..=self.high).contains(tick)).collect();
        }
        let rough = (self.high - self.low) / 6.0;
        let size = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|k| k * size).into_iter().find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

impl Plot {
    /// The SVG file. Writing into a string can't fail, hence the ignored results.
    pub(super) fn svg(&self) -> String {
        let all = || self.series.iter().flat_map(|series| series.points.iter());
        let x = Scale::new(all().map(|point| point.0), self.x.log);
        let y = Scale::new(all().map(|point| point.1), self.y.log);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        text(&mut svg, [FIELD[0], 30.0], "start", 18, &self.title);
        text(&mut svg, [16.0, HEIGHT - 14.0], "start", 11, &self.foot);
        self.axes(&mut svg, &x, &y);
        for (k, series) in self.series.iter().enumerate() {
            draw(&mut svg, series, k, &x, &y);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn axes(&self, svg: &mut String, x: &Scale, y: &Scale) {
        let [left, top, right, bottom] = FIELD;
        for tick in x.ticks() {
            let at = place(x, tick, left, right);
            line(svg, [at, top, at, bottom], "#e4e4e4");
            text(svg, [at, bottom + 20.0], "middle", 13, &short(tick));
        }
        for tick in y.ticks() {
            let at = place(y, tick, bottom, top);
            line(svg, [left, at, right, at], "#e4e4e4");
            text(svg, [left - 8.0, at + 4.0], "end", 13, &short(tick));
        }
        line(svg, [left, bottom, right, bottom], "#222");
        line(svg, [left, top, left, bottom], "#222");
        text(svg, [(left + right) / 2.0, bottom + 44.0], "middle", 14, &self.x.label);
        let middle = (top + bottom) / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"22\" y=\"{middle}\" text-anchor=\"middle\" font-size=\"14\" \
             transform=\"rotate(-90 22 {middle})\">{}</text>",
            escaped(&self.y.label)
        );
    }
}

/// The line, its markers and its entry in the legend.
fn draw(svg: &mut String, series: &Series, k: usize, x: &Scale, y: &Scale) {
    let [left, top, right, bottom] = FIELD;
    let colour = COLOURS[k % COLOURS.len()];
    let seen = series.points.iter().filter(|(a, b)| x.at(*a).is_finite() && y.at(*b).is_finite());
    let at: Vec<_> = seen
        .map(|(a, b)| format!("{:.1},{:.1}", place(x, *a, left, right), place(y, *b, bottom, top)))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
        at.join(" ")
    );
    let few = at.len() <= 40;
    for (cx, cy) in at.iter().filter(|_| few).filter_map(|at| at.split_once(',')) {
        let _ = writeln!(svg, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"3.5\" fill=\"{colour}\"/>");
    }
    let height = top + 12.0 + 22.0 * k as f64;
    let _ = writeln!(
        svg,
        "<rect x=\"{}\" y=\"{}\" width=\"18\" height=\"4\" fill=\"{colour}\"/>",
        right + 16.0,
        height - 6.0
    );
    text(svg, [right + 40.0, height], "start", 13, &series.name);
}

fn place(scale: &Scale, value: f64, from: f64, to: f64) -> f64 {
    from + (to - from) * scale.at(value)
}

fn line(svg: &mut String, [x1, y1, x2, y2]: [f64; 4], colour: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
    );
}

fn text(svg: &mut String, [x, y]: [f64; 2], anchor: &str, size: u32, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{}</text>",
        escaped(text)
    );
}

/// A tick: 2000000 as 2M.
fn short(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e3 => (value / 1e3, "k"),
        v if v >= 1e-3 || v == 0.0 => (value, ""),
        _ => return format!("{value:.0e}"),
    };
    let digits = format!("{scaled:.3}");
    format!("{}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let log = Scale::new([0.03, 200.0].into_iter(), true);
        assert_eq!(log.ticks().len(), 4);
        let linear = Scale::new([3.0, 47.0].into_iter(), false);
        assert_eq!(linear.ticks(), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert!(Scale::new(std::iter::empty(), true).ticks().len() > 1);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(2_000_000.0), "2M");
        assert_eq!(short(0.05), "0.05");
        assert_eq!(short(250_000.0), "250k");
        assert_eq!(short(1.0), "1");
    }

    #[test]
    fn names_are_escaped() {
        let series = vec![Series { name: "a<b".into(), points: vec![(1.0, 2.0), (3.0, 0.0)] }];
        let (x, y) = (Axis::linear("x"), Axis::log("y"));
        let plot = Plot { title: "t".into(), foot: "f".into(), x, y, series };
        let svg = plot.svg();
        assert!(svg.contains("a&lt;b") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }
}
