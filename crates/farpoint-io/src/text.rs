//! Text: one point per line, its numbers separated by spaces, commas or semicolons, with or without a
//! header. Kept rows are written back as the very bytes of their lines, where those would be read
//! as the same points again.

use crate::cloud::{Cloud, Coordinates, unused};
use crate::column::{Attribute, Scalar};
use crate::conversion::{self, Target};
use crate::error::{Fault, Place};
use crate::format::Format;
use crate::header::{Header, TextHeader};
use crate::table::{Slot, Split, Store, Table, Tokens};
use crate::{ReadOptions, TextStyle};
use std::collections::HashSet;

/// Whether the bytes look like lines of numbers; decides for files with an unknown extension.
pub(crate) fn looks_like_points(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    let whole = head.len() == bytes.len();
    let text = head.iter().all(|&b| b >= 32 || matches!(b, b'\t' | b'\n' | b'\r'));
    let mut lines: Vec<&[u8]> = head.split(|&b| b == b'\n').collect();
    if !whole {
        lines.pop();
    }
    text && lines.iter().any(|line| !is_comment(line) && numbers(line) >= 3)
}

fn is_comment(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"#") || line.starts_with(b"//")
}

/// How many leading values are numbers.
fn numbers(line: &[u8]) -> usize {
    Tokens::new(line, Split::Any).take_while(|t| parse(t).is_some()).count()
}

fn parse(token: &[u8]) -> Option<f64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// The lines with their place, without line ends.
fn spans(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let mut start = 0;
    bytes.split(|&b| b == b'\n').map(move |line| {
        let span = (start, start + line.len() - usize::from(line.ends_with(b"\r")));
        start += line.len() + 1;
        span
    })
}

/// Reads every line as a point.
pub(crate) fn read(bytes: &[u8], name: &str, _options: &ReadOptions) -> Result<Cloud, Fault> {
    let head = header(bytes)?;
    let names = slots(&head);
    let xyz = axes(&names);
    let mut points = Vec::new();
    let mut rows = Vec::new();
    for (number, (start, end)) in spans(bytes).enumerate().skip(head.lines) {
        let line = &bytes[start..end];
        if is_comment(line) {
            continue;
        }
        let mut point = [None; 3];
        for (i, token) in Tokens::new(line, Split::Any).take(head.columns).enumerate() {
            if let Some(axis) = xyz.iter().position(|&a| a == i) {
                point[axis] = parse(token);
            }
        }
        let [Some(x), Some(y), Some(z)] = point else {
            return Err(bad_line(number + 1, line));
        };
        points.push([x, y, z]);
        rows.push((start, end));
    }
    if let Some(promised) = head.promised.filter(|&n| n != points.len()) {
        let what =
            format!("the first line promises {promised} points, the file has {}", points.len());
        return Err(Fault::truncated(what).at(Place::Line(1)));
    }
    let description = match name.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase()).as_deref() {
        Some("pts") => "text (PTS)".into(),
        _ => format!("text, {} columns", head.columns),
    };
    let store = Store::Lines { bytes: bytes.to_vec(), spans: rows, split: Split::Any };
    let table = Table { slots: names, store, big_endian: false, xyz };
    let header = Header::Text(head.header);
    Ok(Cloud::from_table(Format::Text, description, Coordinates::F64(points), table, header))
}

fn bad_line(number: usize, line: &[u8]) -> Fault {
    let shown: String = String::from_utf8_lossy(line).chars().take(40).collect();
    Fault::new(format!("'{}' does not start with x, y and z", shown.escape_default()))
        .at(Place::Line(number))
        .fix("put a point a line, a header in the first line only, comments after '#'")
}

struct Head {
    /// Lines before the first point.
    lines: usize,
    columns: usize,
    names: Option<Vec<String>>,
    promised: Option<usize>,
    header: TextHeader,
}

/// Finds the first point and reads what stands before it.
fn header(bytes: &[u8]) -> Result<Head, Fault> {
    let line_end: &[u8] = match bytes.iter().position(|&b| b == b'\n') {
        Some(at) if at > 0 && bytes[at - 1] == b'\r' => b"\r\n",
        _ => b"\n",
    };
    let (preamble, split) = (Vec::new(), b' ');
    let mut header = TextHeader { preamble, count: None, names_end: None, line_end, split };
    let (mut named, mut comment, mut promised) = (None, None, None);
    for (number, (start, end)) in spans(bytes).enumerate() {
        let line = &bytes[start..end];
        if is_comment(line) {
            comment = Some((line, end)).filter(|(l, _)| !l.trim_ascii().is_empty()).or(comment);
        } else if numbers(line) >= 3
            || named.is_some_and(|n| looks_named(&words(n, Split::of(line))))
            || named.is_none() && follows_names(comment, line)
        {
            let split = Split::of(line);
            let columns = Tokens::new(line, split).count();
            // Names hold spaces where the values do not.
            let mut names = named.map(|l| words(l, split));
            if names.is_none() {
                (names, header.names_end) = commented_names(comment, columns, split);
            }
            header.preamble = bytes[..start].to_vec();
            header.split = split.byte();
            return Ok(Head { lines: number, columns, names, promised, header });
        } else if named.is_none() && promised.is_none() && whole_number(line).is_some() {
            promised = whole_number(line);
            header.count = Some((start, end));
        } else if named.is_none() {
            named = Some(line);
            header.names_end = Some(end);
        } else {
            return Err(bad_line(number + 1, line));
        }
    }
    if promised.is_some_and(|n| n > 0) || named.is_some_and(|l| !looks_named(&words(l, Split::Any)))
    {
        return Err(Fault::new("there is no point in the file").fix("put a point a line: x y z"));
    }
    header.preamble = bytes.to_vec();
    Ok(Head { lines: usize::MAX, columns: 3, names: None, promised, header })
}

fn words(line: &[u8], split: Split) -> Vec<String> {
    Tokens::new(line, split).map(|t| String::from_utf8_lossy(t).into_owned()).collect()
}

/// A file of nothing but a header is an empty cloud if the header names x, y and z.
fn looks_named(names: &[String]) -> bool {
    let has = |axis: &str| names.iter().any(|n| n.eq_ignore_ascii_case(axis));
    has("x") && has("y") && has("z")
}

fn whole_number(line: &[u8]) -> Option<usize> {
    std::str::from_utf8(line.trim_ascii()).ok()?.parse().ok()
}

/// A last comment with as many words as there are columns names them (`# x y z`, `//X Y Z`).
fn commented_names(
    comment: Option<(&[u8], usize)>,
    columns: usize,
    split: Split,
) -> (Option<Vec<String>>, Option<usize>) {
    let Some((line, end)) = comment else { return (None, None) };
    let line = line.trim_ascii();
    let text = &line[line.iter().position(|&b| b != b'#' && b != b'/').unwrap_or(line.len())..];
    let text = text.trim_ascii();
    let names = [words(text, split), words(text, Split::Space), words(text, Split::Any)];
    match names.into_iter().find(|n| n.len() == columns && looks_named(n)) {
        Some(names) => (Some(names), Some(end)),
        None => (None, None),
    }
}

/// Whether a line has numbers where a comment before it names x, y and z (`# label x y z`).
fn follows_names(comment: Option<(&[u8], usize)>, line: &[u8]) -> bool {
    let tokens: Vec<_> = Tokens::new(line, Split::Any).collect();
    let (Some(names), _) = commented_names(comment, tokens.len(), Split::of(line)) else {
        return false;
    };
    let is_axis = |name: &str| ["x", "y", "z"].iter().any(|axis| name.eq_ignore_ascii_case(axis));
    names.iter().zip(tokens).all(|(name, token)| !is_axis(name) || parse(token).is_some())
}

fn slots(head: &Head) -> Vec<Slot> {
    slot_names(head)
        .into_iter()
        .enumerate()
        .map(|(i, name)| Slot::new(name, Scalar::F64, i))
        .collect()
}

fn slot_names(head: &Head) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut names = Vec::new();
    for i in 0..head.columns {
        let named = head.names.as_ref().and_then(|n| n.get(i)).filter(|n| !n.is_empty());
        let plain = ["x", "y", "z"].get(i).filter(|_| head.names.is_none());
        let name = named.map(String::as_str).or(plain.copied());
        let name = name.map_or_else(|| format!("column_{}", i + 1), str::to_owned);
        let name = unused(&name, &taken);
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

/// The columns named x, y and z; without such names the first three.
fn axes(slots: &[Slot]) -> [usize; 3] {
    let find = |axis: &str| slots.iter().position(|s| s.name.eq_ignore_ascii_case(axis));
    match (find("x"), find("y"), find("z")) {
        (Some(x), Some(y), Some(z)) => [x, y, z],
        _ => [0, 1, 2],
    }
}

/// Writes the kept lines, or makes lines from another format's attributes.
pub(crate) fn write(
    cloud: &Cloud,
    rows: &[usize],
    style: TextStyle,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, Fault> {
    if let (Header::Text(header), Some(table)) = (&cloud.header, &cloud.table) {
        let added = cloud.added(rows);
        let lines = same_lines(header, table, rows, &added);
        if reads_alike(&lines, header, table, rows, &added) {
            return Ok(lines);
        }
        warnings.push(
            "the lines kept would be read as other points, since lines of this file differ in \
             separators or in their number of values; they are written anew"
                .into(),
        );
    }
    let target = if style == TextStyle::Pts { Target::Pts } else { Target::Text };
    let attributes = conversion::attributes(cloud, rows, target, warnings);
    let names = ["x", "y", "z"].into_iter().chain(attributes.iter().map(|a| a.name.as_str()));
    let split = if style == TextStyle::Csv { b',' } else { b' ' };
    let one_word = |name: &str, ends: fn(char) -> bool| name.replace(ends, "_");
    let mut out = Vec::new();
    match style {
        TextStyle::Csv => {
            let ends = |c| matches!(c, ',' | ';' | '"') || c.is_control();
            let names: Vec<String> = names.map(|name| one_word(name, ends)).collect();
            out.extend(names.join(",").bytes().chain([b'\n']));
        }
        TextStyle::Pts => out.extend(format!("{}\n", rows.len()).bytes()),
        // A comment that names the columns; a bare list of points needs none.
        _ if !attributes.is_empty() => {
            let names: Vec<String> =
                names.map(|name| one_word(name, char::is_whitespace)).collect();
            out.extend(format!("# {}\n", names.join(" ")).bytes());
        }
        _ => {}
    }
    let axes: Vec<_> = (0..3).map(|a| cloud.coordinates.axis(a, rows)).collect();
    for i in 0..rows.len() {
        for (k, column) in axes.iter().chain(attributes.iter().map(|a| &a.column)).enumerate() {
            if k > 0 {
                out.push(split);
            }
            column.push_text(i, &mut out);
        }
        out.push(b'\n');
    }
    Ok(out)
}

fn same_lines(header: &TextHeader, table: &Table, rows: &[usize], added: &[Attribute]) -> Vec<u8> {
    let mut out = preamble(header, rows.len(), added);
    for (i, &row) in rows.iter().enumerate() {
        let line = table.row(row);
        out.extend_from_slice(line);
        for a in added {
            // A line may differ from the first.
            out.push(Split::of(line).byte());
            a.column.push_text(i, &mut out);
        }
        out.extend_from_slice(header.line_end);
    }
    out
}

/// Whether lines that were kept mean what they meant in their file. Where the points begin, how many
/// values they have and what those are called is taken from the first of them, which may be another
/// now; and a value or name at the end of a line may change what separates the others.
fn reads_alike(
    bytes: &[u8],
    header: &TextHeader,
    table: &Table,
    rows: &[usize],
    added: &[Attribute],
) -> bool {
    let Ok(head) = self::header(bytes) else { return false };
    if rows.is_empty() {
        return head.lines == usize::MAX;
    }
    let lines = header.preamble.iter().filter(|&&b| b == b'\n').count();
    let own = table.slots.len();
    head.lines == lines
        && head.promised.is_none_or(|promised| promised == rows.len())
        && axes(&slots(&head)) == table.xyz
        && table.xyz.iter().all(|&axis| axis < head.columns)
        && (added.is_empty()
            || head.columns == own + added.len()
                && (header.names_end.is_none() || are_named(&head, table, added))
                && rows.iter().all(|&row| takes_more(table, row, added.len())))
}

fn are_named(head: &Head, table: &Table, added: &[Attribute]) -> bool {
    let wanted = table.slots.iter().map(|slot| &slot.name).chain(added.iter().map(|a| &a.name));
    slot_names(head).iter().eq(wanted)
}

/// Whether a line has a value for each column, and still has them with more of its own kind at the end.
fn takes_more(table: &Table, row: usize, more: usize) -> bool {
    let line = table.row(row);
    let split = Split::of(line);
    let longer = [line, &[split.byte(), b'0'].repeat(more)[..]].concat();
    Split::of(&longer) == split && Tokens::new(line, split).count() == table.slots.len()
}

/// The lines before the points, with a true count and with the names of added columns.
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
