//! The marks of an SVG file. Writing into a string can't fail, hence the ignored results.

use std::fmt::Write;

/// Colors that also the color-blind can tell apart (after Okabe and Ito), and two grays.
const COLORS: [&str; 12] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#8b5a2b",
    "#b8a800", "#7b4fb8", "#c2185b", "#00838f",
];

pub(super) fn color(k: usize) -> &'static str {
    COLORS[k % COLORS.len()]
}

pub(super) fn line(svg: &mut String, [x1, y1, x2, y2]: [f64; 4], color: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{color}\"/>"
    );
}

pub(super) fn text(svg: &mut String, at: [f64; 2], anchor: &str, size: u32, text: &str) {
    turned(svg, at, anchor, size, text, 0.0);
}

/// Text turned about its anchor by so many degrees.
pub(super) fn turned(
    svg: &mut String,
    [x, y]: [f64; 2],
    anchor: &str,
    size: u32,
    text: &str,
    degrees: f64,
) {
    let turn = match degrees {
        0.0 => String::new(),
        _ => format!(" transform=\"rotate({degrees} {x:.1} {y:.1})\""),
    };
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\"{turn}>{}</text>",
        escaped(text)
    );
}

pub(super) fn bar(svg: &mut String, [x, y, wide, high]: [f64; 4], color: &str) {
    let _ = writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" \
         fill=\"{color}\"/>"
    );
}

pub(super) fn dot(svg: &mut String, [x, y]: [f64; 2], color: &str) {
    let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\"/>");
}

pub(super) fn polyline(svg: &mut String, at: &[[f64; 2]], color: &str, dashed: bool) {
    let dash = if dashed { " stroke-dasharray=\"7 4\"" } else { "" };
    let _ = writeln!(
        svg,
        "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"{dash} points=\"{}\"/>",
        joined(at)
    );
}

/// A shaded area.
pub(super) fn area(svg: &mut String, outline: &[[f64; 2]], color: &str) {
    let _ = writeln!(
        svg,
        "<polygon fill=\"{color}\" fill-opacity=\"0.18\" points=\"{}\"/>",
        joined(outline)
    );
}

fn joined(at: &[[f64; 2]]) -> String {
    let at: Vec<_> = at.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
    at.join(" ")
}

/// Text as it must stand in SVG and HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// About as wide as this text is.
pub(super) fn width(text: &str, size: u32) -> f64 {
    0.6 * f64::from(size) * text.chars().count() as f64
}
