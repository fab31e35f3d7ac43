//! Plots as SVG, drawn by `plotters`: panels of lines or bars under one legend, the machine beneath.

mod axis;
mod bars;
mod lines;

pub(crate) use axis::Axis;
pub(crate) use bars::Bars;
pub(crate) use lines::{Lines, Series};

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A picture of panels, row by row.
pub(crate) struct Sheet {
    pub(crate) title: String,
    /// The line beneath: machine and date.
    pub(crate) foot: String,
    /// Panels of a row.
    pub(crate) columns: usize,
    pub(crate) panels: Vec<Panel>,
}

/// One field of a plot.
pub(crate) enum Panel {
    Lines(Lines),
    Bars(Bars),
}

/// What all is drawn on.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A series' name, and whether its line is dashed. Its place is its color.
type Name = (String, bool);

/// Around everything.
const MARGIN: i32 = 16;
/// Height of the title, of a line of the legend, and of the foot.
const TITLE: i32 = 44;
const LEGEND: i32 = 22;
const FOOT: i32 = 28;

const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const MESH: RGBColor = RGBColor(0xe4, 0xe4, 0xe4);

/// Colors that also the color-blind can tell apart (after Okabe and Ito), and some more.
const COLORS: [RGBColor; 12] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x55, 0x55, 0x55),
    RGBColor(0x8b, 0x5a, 0x2b),
    RGBColor(0xb8, 0xa8, 0x00),
    RGBColor(0x7b, 0x4f, 0xb8),
    RGBColor(0xc2, 0x18, 0x5b),
    RGBColor(0x00, 0x83, 0x8f),
];

/// The color of the series of this name.
fn color(names: &[Name], name: &str) -> RGBColor {
    let place = names.iter().position(|(known, _)| known == name).unwrap_or(0);
    COLORS[place % COLORS.len()]
}

/// Text of this size, anchored so.
fn font(size: u32, across: HPos, along: VPos) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK).pos(Pos::new(across, along))
}

impl Sheet {
    /// A picture of one panel.
    pub(crate) fn single(title: &str, foot: &str, panel: Panel) -> Self {
        Self { title: title.into(), foot: foot.into(), columns: 1, panels: vec![panel] }
    }

    /// The SVG file.
    pub(crate) fn svg(&self) -> Result<String> {
        let mut svg = String::new();
        // The backend's errors borrow what it writes to.
        self.draw(&mut svg).map_err(|error| anyhow!("{}: can't be drawn: {error}", self.title))?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Result<()> {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let [wide, high] = self.panel_size(columns);
        let rows = self.panels.len().div_ceil(columns);
        let total = columns as i32 * wide + 2 * MARGIN;
        let names = self.names();
        let (places, lines) = legend(&names, total - 2 * MARGIN);
        let top = TITLE + lines * LEGEND;
        let height = top + rows as i32 * high + FOOT;
        let root = SVGBackend::with_string(svg, (total as u32, height as u32)).into_drawing_area();
        root.fill(&WHITE)?;
        let [title, foot] = [(18, 14), (11, height - 19)];
        for (text, (size, y)) in [(&self.title, title), (&self.foot, foot)] {
            root.draw(&Text::new(text.as_str(), (MARGIN, y), font(size, HPos::Left, VPos::Top)))?;
        }
        for (name, [x, y]) in names.iter().zip(places) {
            draw_name(&root, name, color(&names, &name.0), (MARGIN + x, TITLE + 4 + y))?;
        }
        for (k, panel) in self.panels.iter().enumerate() {
            let (column, row) = ((k % columns) as i32, (k / columns) as i32);
            let (left, upper) = (MARGIN + column * wide, top + row * high);
            let area = root.clone().shrink((left, upper), (wide, high));
            match panel {
                Panel::Lines(lines) => lines.draw(&area, &names)?,
                Panel::Bars(bars) => bars.draw(&area, &names)?,
            }
        }
        root.present()?;
        Ok(())
    }

    /// Width and height of each panel.
    fn panel_size(&self, columns: usize) -> [i32; 2] {
        let crowded = |panel: &Panel| matches!(panel, Panel::Bars(bars) if bars.is_crowded());
        match columns {
            1 if self.panels.iter().any(crowded) => [1170, 350],
            1 => [800, 420],
            2 => [520, 340],
            _ => [390, 300],
        }
    }

    /// The names of all series, each once.
    fn names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = Vec::new();
        let all = self.panels.iter().flat_map(|panel| match panel {
            Panel::Lines(lines) => lines.names(),
            Panel::Bars(bars) => bars.names(),
        });
        for name in all {
            if names.iter().all(|(known, _)| *known != name.0) {
                names.push(name);
            }
        }
        names
    }
}

/// The line of a series beside its name.
fn draw_name(
    root: &Area<'_>,
    (name, dashed): &Name,
    color: RGBColor,
    at: (i32, i32),
) -> Result<()> {
    let (x, y) = at;
    let (line, style) = ([(x, y), (x + 24, y)], color.stroke_width(2));
    match dashed {
        true => root.draw(&DashedPathElement::new(line, 7, 4, style))?,
        false => root.draw(&PathElement::new(line, style))?,
    }
    root.draw(&Text::new(name.as_str(), (x + 30, y), font(13, HPos::Left, VPos::Center)))?;
    Ok(())
}

/// Where each name of the legend goes, in as many lines as it takes, and their number.
fn legend(names: &[Name], room: i32) -> (Vec<[i32; 2]>, i32) {
    let (mut places, mut x, mut lines) = (Vec::new(), 0, 1);
    for (name, _) in names {
        let wide = 46 + width(name, 13);
        if x > 0 && x + wide > room {
            (x, lines) = (0, lines + 1);
        }
        places.push([x, (lines - 1) * LEGEND]);
        x += wide;
    }
    (places, lines)
}

/// About as wide as this text is, whatever font a viewer takes.
fn width(text: &str, size: u32) -> i32 {
    (0.6 * f64::from(size) * text.chars().count() as f64) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(names: &[&str]) -> Panel {
        let (x, y) = (Axis::linear("x"), Axis::log("y"));
        let series = names.iter().map(|name| Series::new(*name, vec![(1.0, 2.0), (3.0, 0.0)]));
        Panel::Lines(Lines { title: "p".into(), x, y, series: series.collect() })
    }

    #[test]
    fn names_are_escaped_and_shared() {
        let panels = vec![lines(&["a<b", "c"]), lines(&["c"])];
        let sheet = Sheet { title: "t".into(), foot: "f".into(), columns: 2, panels };
        let svg = sheet.svg().unwrap();
        assert_eq!(svg.matches("a&lt;b").count(), 1);
        assert_eq!(svg.matches("\nc\n").count(), 1, "one legend for both panels: {svg}");
        assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"));
    }

    #[test]
    fn nothing_to_draw_is_no_error() {
        let bars = Bars {
            title: String::new(),
            y: Axis::log("y"),
            groups: vec!["a".into()],
            series: vec![("s".into(), vec![None])],
        };
        for panel in [lines(&[]), Panel::Bars(bars)] {
            assert!(Sheet::single("t", "f", panel).svg().is_ok());
        }
    }

    #[test]
    fn legends_wrap() {
        let names: Vec<_> = (0..6).map(|k| (format!("series number {k}"), false)).collect();
        assert_eq!(legend(&names, 10_000).1, 1);
        assert_eq!(legend(&names, 400).1, 3);
    }
}
