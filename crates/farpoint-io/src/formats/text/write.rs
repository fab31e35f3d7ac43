//! Writing text: the kept lines, or lines made of another format's attributes.

use super::head::{self, Head};
use super::label;
use super::lines::{check_returns, is_comment, spans};
use super::pts;
use crate::TextStyle;
use crate::bytes::pieces::append_lines;
use crate::cloud::Cloud;
use crate::cloud::column::Attribute;
use crate::cloud::header::{Header, TextHeader};
use crate::cloud::resolution::shown_axis;
use crate::cloud::table::{Split, Table, Tokens};
use crate::conversion::{self, Target};
use crate::error::{ParseError, Place};

/// Writes the kept lines, or makes lines of the attributes. Without a style, a text keeps its own.
pub(crate) fn write(
    cloud: &Cloud,
    rows: &[usize],
    style: Option<TextStyle>,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, ParseError> {
    let input = match (&cloud.header, &cloud.table) {
        (Header::Text(header), Some(table)) => Some((header, table)),
        _ => None,
    };
    let style = style.or(input.map(|(header, _)| header.style)).unwrap_or(TextStyle::Spaces);
    if let Some((header, table)) = input.filter(|(header, table)| is_of(style, header, table)) {
        let added = match style {
            TextStyle::Pts => Vec::new(),
            _ => cloud.added(rows),
        };
        let lines = same_lines(header, table, rows, &added);
        let header = TextHeader { style, ..header.clone() };
        let unchanged = reads_the_same(&lines, &header, table, rows, &added);
        if unchanged && !lines.is_empty() {
            if style == TextStyle::Pts {
                pts::warn_of(cloud.added.iter().map(|a| a.name.as_str()), warnings);
            }
            return Ok(lines);
        }
        if !unchanged {
            warnings.push(rewritten(&header));
        }
    }
    let target = if style == TextStyle::Pts { Target::Pts } else { Target::Text };
    let attributes = conversion::attributes(cloud, rows, target, warnings);
    Ok(match style {
        TextStyle::Pts => pts::lines(cloud, rows, &attributes, warnings),
        _ => new_lines(cloud, rows, style, &attributes),
    })
}

fn rewritten(header: &TextHeader) -> String {
    let without = if header.xyz.is_some() { ", to be read without `xyz`" } else { "" };
    format!(
        "the lines kept would be read as other points, since lines of this file differ in separators or \
         in their number of values, or lack a header; they are written anew with x, y and z first{without}"
    )
}

/// Returns whether the lines of a file are of this style: by the file's name, or by their content.
fn is_of(style: TextStyle, header: &TextHeader, table: &Table) -> bool {
    let counted = header.count.is_some();
    style == header.style
        || match style {
            TextStyle::Spaces => header.split == b' ' && !counted,
            TextStyle::Csv => header.split == b',' && header.names_end.is_some() && !counted,
            TextStyle::Pts => {
                let plain = header.names_end.is_none() && table.xyz == [0, 1, 2];
                counted && plain && matches!(table.dimensions.len(), 3 | 4 | 6 | 7)
            }
        }
}

fn new_lines(cloud: &Cloud, rows: &[usize], style: TextStyle, attributes: &[Attribute]) -> Vec<u8> {
    let names = ["x", "y", "z"].into_iter().chain(attributes.iter().map(|a| a.name.as_str()));
    let one_word = |name: &str, ends: fn(char) -> bool| name.replace(ends, "_");
    let mut out = Vec::new();
    let split = match style {
        TextStyle::Csv => {
            let ends = |c| matches!(c, ',' | ';' | '"') || c.is_control();
            let names: Vec<String> = names.map(|name| one_word(name, ends)).collect();
            out.extend(names.join(",").bytes().chain([b'\n']));
            b','
        }
        _ => {
            // A comment that names the columns; a bare list of points needs none, and an empty file is none.
            if !attributes.is_empty() || rows.is_empty() {
                let ends = |c: char| c.is_whitespace() || c.is_control();
                let names: Vec<String> = names.map(|name| one_word(name, ends)).collect();
                out.extend(format!("# {}\n", names.join(" ")).bytes());
            }
            b' '
        }
    };
    let axes: Vec<_> = (0..3).map(|a| shown_axis(cloud, a, rows)).collect();
    append_lines(&mut out, rows.len(), |i, out| {
        for (k, column) in axes.iter().chain(attributes.iter().map(|a| &a.column)).enumerate() {
            if k > 0 {
                out.push(split);
            }
            column.push_text(i, out);
        }
        out.push(b'\n');
    });
    out
}

fn same_lines(header: &TextHeader, table: &Table, rows: &[usize], added: &[Attribute]) -> Vec<u8> {
    let mut out = preamble(header, rows.len(), added);
    append_lines(&mut out, rows.len(), |i, out| {
        let line = table.row(rows[i]);
        out.extend_from_slice(line);
        for a in added {
            // A line may differ from the first.
            out.push(Split::detect(line).byte());
            a.column.push_text(i, out);
        }
        out.extend_from_slice(header.line_end);
    });
    out
}

/// Returns whether kept lines mean the same as in their file. The start of the points, the number and the names of
/// their values are taken from the first of them, which may be another now; and a value or name at the end of a line
/// may change the separator of the others.
fn reads_the_same(
    bytes: &[u8],
    header: &TextHeader,
    table: &Table,
    rows: &[usize],
    added: &[Attribute],
) -> bool {
    let Ok(mut head) = head::find(bytes, header.xyz.as_ref()) else { return false };
    head.header.style = header.style;
    if rows.is_empty() {
        return head.lines == usize::MAX;
    }
    let lines = header.preamble.iter().filter(|&&b| b == b'\n').count();
    let stored_columns = table.dimensions.len();
    head.lines == lines
        && head.declared.is_none_or(|declared| declared == rows.len())
        && head.axes.columns == table.xyz
        && table.xyz.iter().all(|&axis| axis < head.columns)
        && !is_refused(bytes, &head)
        && (added.is_empty()
            || head.columns == stored_columns + added.len()
                && (header.names_end.is_none() || are_named(&head, table, added))
                && rows.iter().all(|&row| takes_more(table, row, added.len())))
}

/// Returns whether the first column would be taken for a number of the point now.
fn is_refused(bytes: &[u8], head: &Head) -> bool {
    let lines = spans(bytes).skip(head.lines).map(|(start, end)| &bytes[start..end]);
    let checked = head.is_guess && !head.is_pts();
    checked && label::refuse(lines.filter(|line| !is_comment(line)), head.columns).is_err()
}

fn are_named(head: &Head, table: &Table, added: &[Attribute]) -> bool {
    let expected = table
        .dimensions
        .iter()
        .map(|dimension| &dimension.name)
        .chain(added.iter().map(|a| &a.name));
    head.dimension_names().iter().eq(expected)
}

/// Returns whether a line has a value for each column, still has them with more of its own kind at the end, and hides
/// no other point then.
fn takes_more(table: &Table, row: usize, more: usize) -> bool {
    let line = table.row(row);
    let split = Split::detect(line);
    let longer = [line, &[split.byte(), b'0'].repeat(more)[..]].concat();
    Split::detect(&longer) == split
        && Tokens::new(line, split).count() == table.dimensions.len()
        && check_returns(&longer, || Place::Point(row)).is_ok()
}

/// Returns the lines before the points, with a true count and with the names of added columns.
fn preamble(header: &TextHeader, count: usize, added: &[Attribute]) -> Vec<u8> {
    let bytes = &header.preamble;
    let number = header.count.map(|(start, end)| (start, end, count.to_string()));
    let names = header.names_end.map(|end| {
        let names = added.iter().map(|a| format!("{}{}", char::from(header.split), a.name));
        (end, end, names.collect::<String>())
    });
    let mut edits: Vec<_> = number.into_iter().chain(names).collect();
    edits.sort();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for (start, end, text) in edits {
        out.extend_from_slice(&bytes[at..start]);
        out.extend(text.bytes());
        at = end;
    }
    out.extend_from_slice(&bytes[at..]);
    out
}
