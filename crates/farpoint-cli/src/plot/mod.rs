//! Plots as SVG: panels of lines or bars under one legend, axes with units, the machine beneath.

mod panel;
mod scale;
mod svg;

pub(crate) use panel::{Bars, Lines, Panel, Series};
pub(crate) use scale::Axis;
pub(crate) use svg::escaped;

use std::fmt::Write;
use svg::{color, text, width};

/// A picture of panels, row by row.
pub(crate) struct Sheet {
    pub(crate) title: String,
    /// The line beneath: machine and date.
    pub(crate) foot: String,
    /// Panels of a row.
    pub(crate) columns: usize,
    pub(crate) panels: Vec<Panel>,
}

/// Around everything, and between panels.
const MARGIN: f64 = 16.0;
/// Height of the title, of a line of the legend, and of the foot.
const TITLE: f64 = 44.0;
const LEGEND: f64 = 22.0;
const FOOT: f64 = 28.0;

impl Sheet {
    /// A picture of one panel.
    pub(crate) fn single(title: &str, foot: &str, panel: Panel) -> Self {
        Self { title: title.into(), foot: foot.into(), columns: 1, panels: vec![panel] }
    }

    /// The SVG file.
    pub(crate) fn svg(&self) -> String {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let [wide, high] = match columns {
            1 if self.panels.iter().any(Panel::is_crowded) => [1170.0, 340.0],
            1 => [800.0, 420.0],
            2 => [520.0, 330.0],
            _ => [390.0, 290.0],
        };
        let rows = self.panels.len().div_ceil(columns);
        let total = columns as f64 * wide + 2.0 * MARGIN;
        let names = self.names();
        let (legend, lines) = legend(&names, total - 2.0 * MARGIN);
        let top = TITLE + lines as f64 * LEGEND;
        let height = top + rows as f64 * high + FOOT;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total} {height}\" \
             width=\"{total}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n\
             <rect width=\"{total}\" height=\"{height}\" fill=\"white\"/>\n"
        );
        text(&mut svg, [MARGIN, 28.0], "start", 18, &self.title);
        svg.push_str(&legend);
        for (k, panel) in self.panels.iter().enumerate() {
            let x = MARGIN + (k % columns) as f64 * wide;
            let y = top + (k / columns) as f64 * high;
            let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
            panel.draw(&mut svg, [wide, high], &names);
            svg.push_str("</g>\n");
        }
        text(&mut svg, [MARGIN, height - 9.0], "start", 11, &self.foot);
        svg.push_str("</svg>\n");
        svg
    }

    /// The names of all series, each once, with whether it is dashed. A name's place is its
    /// color.
    fn names(&self) -> Vec<(String, bool)> {
        let mut names: Vec<(String, bool)> = Vec::new();
        for (name, dashed) in self.panels.iter().flat_map(Panel::names) {
            if names.iter().all(|(known, _)| *known != name) {
                names.push((name, dashed));
            }
        }
        names
    }
}

/// The legend in as many lines as it takes, and their number.
fn legend(names: &[(String, bool)], room: f64) -> (String, usize) {
    let (mut svg, mut x, mut lines) = (String::new(), 0.0, 1);
    for (k, (name, dashed)) in names.iter().enumerate() {
        let wide = 46.0 + width(name, 13);
        if x > 0.0 && x + wide > room {
            (x, lines) = (0.0, lines + 1);
        }
        let y = TITLE + (lines as f64 - 1.0) * LEGEND + 4.0;
        let at = [[MARGIN + x, y], [MARGIN + x + 24.0, y]];
        svg::polyline(&mut svg, &at, color(k), *dashed);
        text(&mut svg, [MARGIN + x + 30.0, y + 4.5], "start", 13, name);
        x += wide;
    }
    (svg, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_shared() {
        let series = |name: &str| Series::new(name, vec![(1.0, 2.0), (3.0, 0.0)]);
        let lines = |names: &[&str]| {
            let (x, y) = (Axis::linear("x"), Axis::log("y"));
            let series = names.iter().map(|name| series(name)).collect();
            Panel::Lines(Lines { title: "p".into(), x, y, series })
        };
        let panels = vec![lines(&["a<b", "c"]), lines(&["c"])];
        let sheet = Sheet { title: "t".into(), foot: "f".into(), columns: 2, panels };
        let svg = sheet.svg();
        assert_eq!(svg.matches("a&lt;b").count(), 1);
        assert_eq!(svg.matches(">c<").count(), 1, "one legend for both panels");
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }

    #[test]
    fn legends_wrap() {
        let names: Vec<_> = (0..6).map(|k| (format!("series number {k}"), false)).collect();
        assert_eq!(legend(&names, 10_000.0).1, 1);
        assert_eq!(legend(&names, 400.0).1, 3);
    }
}
