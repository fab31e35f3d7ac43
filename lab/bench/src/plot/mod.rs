//! Plots as SVG, drawn by `plotters`: panels of lines or dots, the machine beneath. A sheet is
//! 800 pixels wide with text of 20, so that it can still be read on half that width.

mod axis;
mod dots;
mod lines;
mod style;

pub(crate) use axis::Axis;
pub(crate) use dots::Dots;
pub(crate) use lines::{Lines, Series};

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use style::style;

/// A picture of panels, row by row.
pub(crate) struct Sheet {
    pub(crate) title: String,
    /// Footer: machine and date.
    pub(crate) foot: String,
    /// Panels per row: one or two.
    pub(crate) columns: usize,
    pub(crate) panels: Vec<Panel>,
}

/// One field of a plot.
pub(crate) enum Panel {
    Lines(Lines),
    Dots(Dots),
}

/// Drawing area of all elements.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Width of the sheet, and its margin.
const WIDE: i32 = 800;
const MARGIN: i32 = 12;
/// Text sizes: titles, text in panels, and the footer.
const TITLE: u32 = 24;
const TEXT: u32 = 20;
const SMALL: u32 = 18;
const FOOT: u32 = 16;
/// Heights of panels of lines: one beside another, or alone.
const PANEL: i32 = 320;
const ALONE: i32 = 440;
/// Pixels between panels.
const BETWEEN: i32 = 16;

const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const MESH: RGBColor = RGBColor(0xe4, 0xe4, 0xe4);
const FAINT: RGBColor = RGBColor(0xc0, 0xc0, 0xc0);

/// Returns text of this size with this anchor.
fn font(size: u32, across: HPos, along: VPos) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK).pos(Pos::new(across, along))
}

/// Returns bold text anchored at its upper left corner.
fn bold(size: u32) -> TextStyle<'static> {
    let font = ("sans-serif", size).into_font().style(FontStyle::Bold);
    font.color(&INK).pos(Pos::new(HPos::Left, VPos::Top))
}

impl Sheet {
    /// Creates a sheet of one panel.
    pub(crate) fn single(title: &str, foot: &str, panel: Panel) -> Self {
        Self { title: title.into(), foot: foot.into(), columns: 1, panels: vec![panel] }
    }

    /// The SVG file.
    pub(crate) fn svg(&self) -> Result<String> {
        let mut svg = String::new();
        // The backend's errors borrow its output.
        self.draw(&mut svg).map_err(|error| anyhow!("{}: can't be drawn: {error}", self.title))?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Result<()> {
        let room = WIDE - 2 * MARGIN;
        let [title, foot] = [(&self.title, TITLE), (&self.foot, FOOT)]
            .map(|(text, size)| (wrapped(text, size, room), size));
        let names = self.names();
        let legend = if self.has_legend() { legend(&names, room) } else { Vec::new() };
        let tall = |(lines, size): &(Vec<String>, u32)| lines.len() as i32 * (*size as i32 + 6);
        let lines = legend.iter().map(|[_, line]| line + 1).max().unwrap_or(0);
        let under_title = MARGIN + tall(&title) + 6;
        let mut top = under_title + lines * (TEXT as i32 + 10);
        let rows: Vec<_> = self.panels.chunks(self.columns.clamp(1, 2)).collect();
        let heights = rows.iter().map(|row| self.height(row) + BETWEEN);
        let height = top + heights.sum::<i32>() + tall(&foot) + MARGIN;
        let root = SVGBackend::with_string(svg, (WIDE as u32, height as u32)).into_drawing_area();
        root.fill(&WHITE)?;
        text(&root, &title, MARGIN, bold(TITLE))?;
        text(&root, &foot, height - tall(&foot) - 4, font(FOOT, HPos::Left, VPos::Top))?;
        for ((k, name), [x, line]) in names.iter().enumerate().zip(legend) {
            let at = (MARGIN + x + 10, under_title + line * (TEXT as i32 + 10) + 12);
            style(k).mark(&root, at)?;
            let text = font(TEXT, HPos::Left, VPos::Center);
            root.draw(&Text::new(name.as_str(), (at.0 + 16, at.1), text))?;
        }
        for row in rows {
            let wide = room / self.columns.clamp(1, 2) as i32;
            for (column, panel) in row.iter().enumerate() {
                let corner = (MARGIN + column as i32 * wide, top);
                let area = root.clone().shrink(corner, (wide, self.height(row)));
                match panel {
                    Panel::Lines(lines) => lines.draw(&area, &names)?,
                    Panel::Dots(dots) => dots.draw(&area, &names)?,
                }
            }
            top += self.height(row) + BETWEEN;
        }
        root.present()?;
        Ok(())
    }

    /// Returns the height of a row of panels.
    fn height(&self, row: &[Panel]) -> i32 {
        let height = |panel: &Panel| match panel {
            Panel::Dots(dots) => dots.height(),
            Panel::Lines(_) if self.columns == 1 => ALONE,
            Panel::Lines(_) => PANEL,
        };
        row.iter().map(height).max().unwrap_or(0)
    }

    /// Returns whether there is a legend: lines have their names beside them.
    fn has_legend(&self) -> bool {
        self.panels.iter().any(|panel| matches!(panel, Panel::Dots(_)))
    }

    /// Returns the names of all series, each once. Their index determines their style.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let all = self.panels.iter().flat_map(|panel| match panel {
            Panel::Lines(lines) => lines.names(),
            Panel::Dots(dots) => dots.names(),
        });
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

fn place_of(names: &[String], name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or(0)
}

/// Draws lines of text below each other.
fn text(
    root: &Area<'_>,
    (lines, size): &(Vec<String>, u32),
    top: i32,
    style: TextStyle<'_>,
) -> Result<()> {
    for (k, line) in lines.iter().enumerate() {
        let at = (MARGIN, top + k as i32 * (*size as i32 + 6));
        root.draw(&Text::new(line.as_str(), at, style.clone()))?;
    }
    Ok(())
}

/// Returns the position of each name of the legend: pixels from the left, and the line.
fn legend(names: &[String], room: i32) -> Vec<[i32; 2]> {
    let (mut places, mut x, mut line) = (Vec::new(), 0, 0);
    for name in names {
        let wide = 50 + width(name, TEXT);
        if x > 0 && x + wide > room {
            (x, line) = (0, line + 1);
        }
        places.push([x, line]);
        x += wide;
    }
    places
}

/// Wraps text into lines of at most this width, between words.
fn wrapped(text: &str, size: u32, room: i32) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && width(&lines[last], size) + width(word, size) > room {
            lines.push(word.to_owned());
        } else {
            lines[last].push_str(word);
        }
    }
    lines
}

/// Returns the approximate width of a text, in any viewer's font.
fn width(text: &str, size: u32) -> i32 {
    (0.58 * f64::from(size) * text.chars().count() as f64) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(names: &[&str]) -> Panel {
        let (x, y) = (Axis::log("x"), Axis::log("y"));
        let series = names.iter().map(|name| Series::new(*name, vec![(1.0, 2.0), (3.0, 0.0)]));
        Panel::Lines(Lines { title: "p".into(), x, y, series: series.collect() })
    }

    #[test]
    fn names_are_escaped_and_stand_at_their_lines() {
        let panels = vec![lines(&["a<b", "c"]), lines(&["c"])];
        let sheet = Sheet { title: "t".into(), foot: "f".into(), columns: 2, panels };
        let svg = sheet.svg().unwrap();
        assert_eq!(svg.matches("a&lt;b").count(), 1);
        assert_eq!(svg.matches("\nc\n").count(), 2, "one in each panel: {svg}");
        assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"));
    }

    #[test]
    fn nothing_to_draw_is_no_error() {
        let dots = Dots {
            title: String::new(),
            x: Axis::log("x"),
            rows: vec!["a".into()],
            series: vec![("s".into(), vec![None])],
            base: 1.0,
        };
        for panel in [lines(&[]), Panel::Dots(dots)] {
            assert!(Sheet::single("t", "f", panel).svg().is_ok());
        }
    }

    #[test]
    fn text_wraps() {
        let names: Vec<_> = (0..6).map(|k| format!("series number {k}")).collect();
        assert_eq!(legend(&names, 10_000).last().unwrap()[1], 0);
        assert_eq!(legend(&names, 500).last().unwrap()[1], 2);
        assert_eq!(wrapped("one two three", 20, 100), ["one two ", "three"]);
    }
}
