//! PTS (Leica): the number of points, then `x y z`, with an intensity, a color or both.

use crate::bytes::pieces::append_lines;
use crate::cloud::Cloud;
use crate::cloud::column::{Attribute, Column};
use crate::cloud::number;
use crate::cloud::resolution::shown_axis;
use crate::cloud::table::{Split, Tokens};
use crate::error::listed;

/// Number of lines that are checked; colors that are none show soon.
const CHECKED_LINES: usize = 1000;

const COLORS: [&str; 3] = ["red", "green", "blue"];

/// Returns the names of the columns of a PTS file, which has no header. `None` if the number of columns or the values
/// are not those of PTS.
pub(super) fn names<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    columns: usize,
) -> Option<Vec<String>> {
    let rest: &[&str] = match columns {
        4 => &["intensity"],
        6 => &COLORS,
        7 => &["intensity", COLORS[0], COLORS[1], COLORS[2]],
        _ => return None,
    };
    let names = ["x", "y", "z"].iter().chain(rest).map(|name| (*name).to_owned());
    (columns < 6 || largest_byte(lines, columns).is_some()).then(|| names.collect())
}

/// Returns the names of the columns of another text without a header, if they are x, y, z and a color.
pub(super) fn colors<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    columns: usize,
) -> Option<Vec<String>> {
    // Normals along an axis are 0 and 1, too.
    let largest = (columns == 6).then(|| largest_byte(lines, columns))??;
    let names = ["x", "y", "z"].iter().chain(&COLORS).map(|name| (*name).to_owned());
    (largest > 1.0).then(|| names.collect())
}

/// Returns the largest value in the last three columns, if all lines have them and they are whole numbers to 255,
/// or missing.
fn largest_byte<'a>(lines: impl Iterator<Item = &'a [u8]>, columns: usize) -> Option<f64> {
    let mut largest = 0.0f64;
    for line in lines.take(CHECKED_LINES) {
        let tokens: Vec<&[u8]> = Tokens::new(line, Split::Any).take(columns).collect();
        for token in tokens.get(columns - 3..columns)? {
            let value = number::value(token)?;
            if !value.is_nan() && (!(0.0..=255.0).contains(&value) || value.fract() != 0.0) {
                return None;
            }
            largest = largest.max(value);
        }
    }
    Some(largest)
}

/// Makes new lines: `x y z`, `x y z intensity`, or `x y z intensity r g b` with an intensity of 0 if there is none.
/// Readers decide by the number of columns. The attributes have the names and ranges of PTS.
pub(super) fn lines(
    cloud: &Cloud,
    rows: &[usize],
    attributes: &[Attribute],
    warnings: &mut Vec<String>,
) -> Vec<u8> {
    let find = |name: &str| attributes.iter().position(|a| a.name == name);
    let byte = |name: &str| {
        let place = find(name)?;
        match &attributes[place].column {
            Column::U8(values) => Some((place, values)),
            _ => None,
        }
    };
    let intensity = find("intensity");
    let colors = match COLORS.map(byte) {
        [Some(r), Some(g), Some(b)] => Some([r, g, b]),
        _ => None,
    };
    let is_color = |i: usize| colors.is_some_and(|all| all.iter().any(|(place, _)| *place == i));
    let dropped = (0..attributes.len()).filter(|&i| intensity != Some(i) && !is_color(i));
    warn_of(dropped.map(|i| attributes[i].name.as_str()), warnings);
    let axes: Vec<_> = (0..3).map(|a| shown_axis(cloud, a, rows)).collect();
    let mut out = format!("{}\n", rows.len()).into_bytes();
    append_lines(&mut out, rows.len(), |row, out| {
        for (k, axis) in axes.iter().enumerate() {
            if k > 0 {
                out.push(b' ');
            }
            axis.push_text(row, out);
        }
        match intensity {
            Some(i) => {
                out.push(b' ');
                attributes[i].column.push_text(row, out);
            }
            None if colors.is_some() => out.extend(b" 0"),
            None => {}
        }
        for (_, channel) in colors.iter().flatten() {
            out.extend(format!(" {}", channel[row]).bytes());
        }
        out.push(b'\n');
    });
    out
}

/// Warns of attributes that PTS has no place for.
pub(super) fn warn_of<'a>(names: impl Iterator<Item = &'a str>, warnings: &mut Vec<String>) {
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        warnings.push(format!(
            "{} {} left out, since PTS holds x, y, z, intensity and color; write another format to keep all",
            listed(names.iter().map(|name| format!("'{name}'"))),
            if names.len() == 1 { "is" } else { "are" }
        ));
    }
}
