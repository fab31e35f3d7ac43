//! Styles of series: color, marker and dash together, so that any one is enough to distinguish them.

use super::{Area, INK};
use anyhow::Result;
use plotters::prelude::*;

/// Style of a series.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) color: RGBColor,
    pub(super) marker: Marker,
    /// Pixels drawn and left out; `None` is a solid line.
    pub(super) dash: Option<[i32; 2]>,
}

#[derive(Clone, Copy)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    Plus,
}

/// Colors that the color-blind can tell apart, too (M. Okabe and K. Ito). Their yellow is left out:
/// it is too light for lines on white.
const STYLES: [Style; 7] = [
    Style { color: RGBColor(0x00, 0x72, 0xb2), marker: Marker::Circle, dash: None },
    Style { color: RGBColor(0xd5, 0x5e, 0x00), marker: Marker::Triangle, dash: Some([14, 6]) },
    Style { color: RGBColor(0x00, 0x9e, 0x73), marker: Marker::Square, dash: Some([5, 5]) },
    Style { color: RGBColor(0xcc, 0x79, 0xa7), marker: Marker::Diamond, dash: Some([20, 5]) },
    Style { color: RGBColor(0xe6, 0x9f, 0x00), marker: Marker::Cross, dash: Some([9, 4]) },
    Style { color: RGBColor(0x56, 0xb4, 0xe9), marker: Marker::Plus, dash: Some([3, 4]) },
    Style { color: INK, marker: Marker::Circle, dash: Some([12, 8]) },
];

/// Returns the style of the series at this index.
pub(super) fn style(place: usize) -> Style {
    STYLES[place % STYLES.len()]
}

/// Half the size of a marker.
const HALF: i32 = 6;

impl Style {
    /// Draws a marker with its center at this position.
    pub(super) fn mark(self, area: &Area<'_>, (x, y): (i32, i32)) -> Result<()> {
        let (a, b) = (HALF, HALF - 1);
        let at = |(dx, dy): (i32, i32)| (x + dx, y + dy);
        let fill = |corners: &[(i32, i32)]| -> Result<()> {
            let corners: Vec<_> = corners.iter().copied().map(at).collect();
            Ok(area.draw(&Polygon::new(corners, self.color.filled()))?)
        };
        let stroke = |from, to| -> Result<()> {
            Ok(area.draw(&PathElement::new([at(from), at(to)], self.color.stroke_width(4)))?)
        };
        match self.marker {
            Marker::Circle => Ok(area.draw(&Circle::new((x, y), HALF, self.color.filled()))?),
            Marker::Square => fill(&[(-b, -b), (b, -b), (b, b), (-b, b)]),
            Marker::Triangle => fill(&[(0, -a - 1), (a + 1, a), (-a - 1, a)]),
            Marker::Diamond => fill(&[(0, -a - 2), (a + 2, 0), (0, a + 2), (-a - 2, 0)]),
            Marker::Cross => {
                stroke((-b, -b), (b, b))?;
                stroke((-b, b), (b, -b))
            }
            Marker::Plus => {
                stroke((-a - 1, 0), (a + 1, 0))?;
                stroke((0, -a - 1), (0, a + 1))
            }
        }
    }
}
