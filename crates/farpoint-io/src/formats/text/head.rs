//! The lines before the first point of a text file: comments, a count, a header.

use super::label;
use super::lines::{
    DECIMAL_COMMAS, bad_line, has_decimal_commas, is_comment, is_labeled, numbers, parse, spans,
    whole_number, words,
};
use super::names::{self, Axes};
use crate::TextStyle;
use crate::cloud::header::TextHeader;
use crate::cloud::table::{Split, Tokens};
use crate::cloud::unused;
use crate::error::ParseError;
use std::collections::HashSet;

/// Facts about a text from its first lines.
pub(super) struct Head {
    /// Lines before the first point.
    pub(super) lines: usize,
    pub(super) columns: usize,
    pub(super) names: Option<Vec<String>>,
    pub(super) axes: Axes,
    /// True if neither a header nor the caller names the columns of x, y and z.
    pub(super) is_guess: bool,
    pub(super) declared: Option<usize>,
    pub(super) header: TextHeader,
}

/// A last comment or a header, with the offset of its end.
type Line<'a> = Option<(&'a [u8], usize)>;

/// The names of a point's columns, and the axes found by them.
struct Found {
    names: Option<Vec<String>>,
    /// Offset of the end of the header that names them.
    names_end: Option<usize>,
    axes: Axes,
}

/// Finds the first point and reads the lines before it. `xyz` are the columns that the options name.
pub(super) fn find(bytes: &[u8], xyz: Option<&[String; 3]>) -> Result<Head, ParseError> {
    let mut header = empty_header(bytes, xyz);
    let (mut named, mut comment, mut declared): (Line, Line, _) = (None, None, None);
    for (number, (start, end)) in spans(bytes).enumerate() {
        let line = &bytes[start..end];
        if is_comment(line) {
            comment = Some((line, end)).filter(|(l, _)| !l.trim_ascii().is_empty()).or(comment);
        } else if let Some(found) = first_point(line, named, comment, xyz)? {
            let split = Split::detect(line);
            header.preamble = bytes[..start].to_vec();
            header.split = split.byte();
            header.names_end = found.names_end;
            // Between commas, the last values may be missing in this line.
            let separated = matches!(split, Split::Comma | Split::Semicolon);
            let named = found.names.as_ref().filter(|_| separated).map_or(0, Vec::len);
            return Ok(Head {
                lines: number,
                columns: Tokens::new(line, split).count().max(named),
                is_guess: xyz.is_none() && found.names.is_none(),
                names: found.names,
                axes: found.axes,
                declared,
                header,
            });
        } else if named.is_none() && declared.is_none() && whole_number(line).is_some() {
            declared = whole_number(line);
            header.count = Some((start, end));
        } else if named.is_none() {
            named = Some((line, end));
            header.names_end = Some(end);
        } else {
            return Err(bad_line(number + 1, line, [0, 1, 2]));
        }
    }
    // A file with only a header is an empty cloud if the header names x, y and z.
    let header_alone = |(line, _)| {
        let names = words(line, Split::Any);
        axes_of(&names, names.len(), xyz).is_ok()
    };
    if declared.is_some_and(|n| n > 0) || !named.is_none_or(header_alone) {
        let commas = named.is_some_and(|(line, _)| has_decimal_commas(line));
        let fix = if commas { DECIMAL_COMMAS } else { "put one point on each line: x y z" };
        return Err(ParseError::new("there is no point in the file").fix(fix));
    }
    header.preamble = bytes.to_vec();
    let axes = Axes::new([0, 1, 2]);
    Ok(Head { lines: usize::MAX, columns: 3, names: None, axes, is_guess: false, declared, header })
}

fn empty_header(bytes: &[u8], xyz: Option<&[String; 3]>) -> TextHeader {
    let line_end: &[u8] = match bytes.iter().position(|&b| b == b'\n') {
        Some(at) if at > 0 && bytes[at - 1] == b'\r' => b"\r\n",
        _ => b"\n",
    };
    TextHeader {
        preamble: Vec::new(),
        count: None,
        names_end: None,
        line_end,
        split: b' ',
        style: TextStyle::Spaces,
        xyz: xyz.cloned(),
    }
}

/// Returns the columns that the options name, or else those found by the names.
fn axes_of(
    names: &[String],
    columns: usize,
    xyz: Option<&[String; 3]>,
) -> Result<Axes, ParseError> {
    match xyz {
        Some(xyz) => names::requested(xyz, Some(names), columns),
        None => names::named(names),
    }
}

/// Returns the names in a header. If the values are separated by spaces, names may be separated by tabs or commas;
/// the number of columns decides.
fn header_names(header: &[u8], split: Split, columns: usize) -> Vec<String> {
    let by_split = with_units(words(header, split));
    if split != Split::Space || by_split.len() == columns {
        return by_split;
    }
    let tabbed = header.split(|&b| b == b'\t').map(|name| words(name, Split::Space).join(" "));
    let others = [tabbed.collect(), with_units(words(header, Split::Any))];
    others.into_iter().find(|names: &Vec<String>| names.len() == columns).unwrap_or(by_split)
}

/// Joins a unit in brackets to the name before it: `X [m]` is one name.
fn with_units(words: Vec<String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in words {
        match names.last_mut().filter(|_| word.starts_with(['[', '('])) {
            Some(name) => *name = format!("{name} {word}"),
            None => names.push(word),
        }
    }
    names
}

/// Refuses axes by name where names and values may be shifted: between spaces, `Point ID East North Up`
/// are five words for four values.
fn aligned(
    names: &[String],
    axes: Axes,
    values: &[&[u8]],
    split: Split,
    xyz: Option<&[String; 3]>,
) -> Result<Axes, ParseError> {
    let numbered = xyz.is_some_and(|xyz| xyz.iter().all(|c| c.trim().parse::<usize>().is_ok()));
    let first = axes.columns.iter().all(|&column| column < 3);
    let separated = matches!(split, Split::Comma | Split::Semicolon);
    if numbered || first || separated || names.len() == values.len() {
        return Ok(axes);
    }
    let what = format!(
        "the header has {} names for {} values, so they cannot be matched",
        names.len(),
        values.len()
    );
    Err(ParseError::new(what).fix(names::ADVICE_NUMBERS))
}

/// Returns the columns of a line if it is a point, after the header and comment that precede it.
fn first_point(
    line: &[u8],
    named: Line,
    comment: Line,
    xyz: Option<&[String; 3]>,
) -> Result<Option<Found>, ParseError> {
    let split = Split::detect(line);
    let tokens: Vec<_> = Tokens::new(line, split).collect();
    let has_numbers = numbers(line) >= 3;
    if let Some((header, end)) = named {
        let names = header_names(header, split, tokens.len());
        return match axes_of(&names, tokens.len(), xyz)
            .and_then(|axes| aligned(&names, axes, &tokens, split, xyz))
        {
            Ok(axes) => Ok(Some(Found { names: Some(names), names_end: Some(end), axes })),
            Err(error) if has_numbers || is_labeled(line) => Err(error),
            Err(_) => Ok(None),
        };
    }
    let holds = |axes: &Axes| {
        axes.columns.iter().all(|&c| tokens.get(c).is_some_and(|token| parse(token).is_some()))
    };
    if let Some((names, end)) = commented_names(comment, tokens.len(), split, xyz) {
        match axes_of(&names, tokens.len(), xyz) {
            Ok(axes) if holds(&axes) || xyz.is_none() && has_numbers => {
                return Ok(Some(Found { names: Some(names), names_end: Some(end), axes }));
            }
            Err(error) if has_numbers => return Err(error),
            _ => {}
        }
    }
    let plain = |axes| Ok(Some(Found { names: None, names_end: None, axes }));
    match xyz {
        Some(xyz) => match names::requested(xyz, None, tokens.len()) {
            Ok(axes) if holds(&axes) => plain(axes),
            Err(error) if has_numbers => Err(error),
            // The header, perhaps.
            _ => Ok(None),
        },
        None if has_numbers => plain(Axes::new([0, 1, 2])),
        None if is_labeled(line) => Err(label::named(line)),
        None => Ok(None),
    }
}

/// Parses a last comment with as many words as there are columns, which names them (`# x y z`, `//X Y Z`).
fn commented_names(
    comment: Line,
    columns: usize,
    split: Split,
    xyz: Option<&[String; 3]>,
) -> Option<(Vec<String>, usize)> {
    let (line, end) = comment?;
    let line = line.trim_ascii();
    let text = &line[line.iter().position(|&b| b != b'#' && b != b'/').unwrap_or(line.len())..];
    let text = text.trim_ascii();
    let all = [words(text, split), header_names(text, Split::Space, columns)];
    let is_header = |names: &Vec<String>| {
        names.len() == columns
            && (names::recognized(names).is_some()
                || xyz.is_some() && axes_of(names, columns, xyz).is_ok())
    };
    Some((all.into_iter().find(is_header)?, end))
}

impl Head {
    /// Returns whether the file is a PTS file by its name, or by the count in its first line.
    pub(super) fn is_pts(&self) -> bool {
        self.header.style == TextStyle::Pts || self.header.count.is_some()
    }

    /// Returns a name for every column: that of the header, or x, y and z and numbers.
    pub(super) fn dimension_names(&self) -> Vec<String> {
        let mut taken = HashSet::new();
        let mut names = Vec::new();
        for i in 0..self.columns {
            let named = self.names.as_ref().and_then(|n| n.get(i)).filter(|n| !n.is_empty());
            let axis = self.axes.columns.iter().position(|&c| c == i);
            let plain = axis.filter(|_| self.names.is_none()).map(|axis| ["x", "y", "z"][axis]);
            let name = named.map(String::as_str).or(plain);
            let name = name.map_or_else(|| format!("column_{}", i + 1), str::to_owned);
            let name = unused(&name, &taken);
            taken.insert(name.clone());
            names.push(name);
        }
        names
    }
}
