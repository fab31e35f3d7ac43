//! PTS (Leica): the number of points, then `x y z`, with an intensity, a color or both.

use super::lines::parse;
use crate::cloud::Cloud;
use crate::column::{Attribute, Column};
use crate::table::{Split, Tokens};

/// Lines that are looked at; colors that are none show soon.
const LOOKED_AT: usize = 1000;

const COLORS: [&str; 3] = ["red", "green", "blue"];

/// The names of the columns of a PTS file, which has no header. `None` where the number of columns or
/// the values are not those of PTS.
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
    let is_byte = |v: f64| (0.0..=255.0).contains(&v) && v.fract() == 0.0;
    let colored = columns < 6
        || lines.take(LOOKED_AT).all(|line| {
            let tokens: Vec<&[u8]> = Tokens::new(line, Split::Any).take(columns).collect();
            tokens.len() == columns
                && tokens[columns - 3..].iter().all(|t| parse(t).is_some_and(is_byte))
        });
    let names = ["x", "y", "z"].iter().chain(rest).map(|name| (*name).to_owned());
    colored.then(|| names.collect())
}

/// New lines: `x y z`, `x y z intensity`, or `x y z intensity r g b` with an intensity of 0 if there is
/// none. Readers decide by the number of columns.
pub(super) fn lines(
    cloud: &Cloud,
    rows: &[usize],
    attributes: &[Attribute],
    warnings: &mut Vec<String>,
) -> Vec<u8> {
    let find = |names: &[&str]| {
        attributes.iter().position(|a| names.iter().any(|n| a.name.eq_ignore_ascii_case(n)))
    };
    let intensity = find(&["intensity", "scalar_intensity"]);
    let colors = match (find(&["red", "r"]), find(&["green", "g"]), find(&["blue", "b"])) {
        (Some(r), Some(g), Some(b)) => Some([r, g, b]),
        _ => None,
    };
    let used = |i: &usize| intensity == Some(*i) || colors.is_some_and(|c| c.contains(i));
    let left = (0..attributes.len()).filter(|i| !used(i));
    warn_of(left.map(|i| attributes[i].name.as_str()), warnings);
    let bytes = colors.map(|c| byte_colors(c.map(|i| &attributes[i].column), warnings));
    let axes: Vec<_> = (0..3).map(|a| cloud.coordinates.axis(a, rows)).collect();
    let mut out = format!("{}\n", rows.len()).into_bytes();
    for row in 0..rows.len() {
        for (k, axis) in axes.iter().enumerate() {
            if k > 0 {
                out.push(b' ');
            }
            axis.push_text(row, &mut out);
        }
        match intensity {
            Some(i) => {
                out.push(b' ');
                attributes[i].column.push_text(row, &mut out);
            }
            None if bytes.is_some() => out.extend(b" 0"),
            None => {}
        }
        if let Some([r, g, b]) = &bytes {
            out.extend(format!(" {} {} {}", r[row], g[row], b[row]).bytes());
        }
        out.push(b'\n');
    }
    out
}

/// Names what a PTS file has no place for.
pub(super) fn warn_of<'a>(names: impl Iterator<Item = &'a str>, warnings: &mut Vec<String>) {
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    if !names.is_empty() {
        warnings.push(format!(
            "{} left out, since PTS holds x, y, z, intensity and color; write another format to keep all",
            match &names[..] {
                [name] => format!("{name} is"),
                names => format!("{} are", names.join(", ")),
            }
        ));
    }
}

/// Colors as bytes: floats between 0 and 1 times 255; 16 bits without their lower half, unless none of
/// them is above 255, which is how 8 bits are found in 16.
fn byte_colors(channels: [&Column; 3], warnings: &mut Vec<String>) -> [Vec<u8>; 3] {
    let all =
        |test: &dyn Fn(f64) -> bool| channels.iter().all(|c| (0..c.len()).all(|i| test(c.get(i))));
    let floats = channels.iter().any(|c| matches!(c, Column::F32(_) | Column::F64(_)));
    let scale = if floats && all(&|v| !(v > 1.0)) {
        255.0
    } else if all(&|v| !(v > 255.0)) {
        1.0
    } else {
        1.0 / 256.0
    };
    if scale < 1.0 && !all(&|v| v % 257.0 == 0.0 || v % 256.0 == 0.0) {
        warnings.push("colors of 16 bits are cut to the upper 8, as PTS has them".into());
    }
    let byte = |v: f64| match scale {
        255.0 => (v * scale).round() as u8,
        _ => (v * scale) as u8,
    };
    channels.map(|c| (0..c.len()).map(|i| byte(c.get(i))).collect())
}
