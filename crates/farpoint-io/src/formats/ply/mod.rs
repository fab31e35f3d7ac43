//! PLY: ascii and both binary byte orders, extra elements, lists.
//!
//! The header's lines are parsed by ply-rs-bw. Its payload readers turn every value into a number and refuse `nan` in
//! ascii; kept points must come back bit for bit, so the rows are cut out of the file here unchanged.

mod layout;
mod rows;
mod write;

pub(crate) use layout::{layout, lines};
pub(crate) use rows::coordinates;
pub(crate) use write::{same_header, write};

use crate::cloud::Cloud;
use crate::cloud::column::NumberType;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::{Header, HeaderLine, PlyHeader};
use crate::cloud::lines::{LONGEST, line_end};
use crate::cloud::table::{AFTER_LIST, Dimension, Table};
use crate::error::{ParseError, Place};
use crate::format::Format;
use ply_rs_bw::parser::{ParseError as HeaderError, Parser, Reader};
use ply_rs_bw::ply::{DefaultElement, Encoding as PlyEncoding, PropertyType, ScalarType};
use std::borrow::Cow;

/// One element of the file.
struct Element {
    name: String,
    count: usize,
    dimensions: Vec<Dimension>,
}

struct Parsed {
    header: PlyHeader,
    elements: Vec<Element>,
    /// Bytes of the header.
    length: usize,
}

/// Reads the vertices; other elements are skipped.
pub(crate) fn read(bytes: Cow<'_, [u8]>) -> Result<Cloud, ParseError> {
    let parsed = parse_header(&bytes)?;
    let ascii = parsed.header.encoding == PlyEncoding::Ascii;
    let big_endian = parsed.header.encoding == PlyEncoding::BinaryBigEndian;
    let Vertices { before, element, after, xyz } = vertices(&parsed)?;
    let (store, rest) = match ascii {
        true => rows::ascii(bytes, parsed.length, before, element)?,
        false => rows::binary(bytes, parsed.length, before, element, big_endian)?,
    };
    let left = rows::left_over(rest as u64, after, ascii);
    let table = Table { dimensions: element.dimensions.clone(), store, big_endian, xyz };
    let coordinates = rows::coordinates(&table, element.count)?;
    Ok(cloud(parsed, coordinates, table, left))
}

/// Returns a cloud of vertices, with all data of the header; `left` is the warning of data after them.
fn cloud(parsed: Parsed, coordinates: Coordinates, table: Table, left: Option<String>) -> Cloud {
    let mut warnings = Vec::from_iter(left);
    for e in parsed.elements.iter().filter(|e| e.name != "vertex") {
        warnings.push(format!(
            "element '{}' ({} rows) is left out: only points are read",
            e.name, e.count
        ));
    }
    let description = format!("PLY {}", encoding_name(parsed.header.encoding));
    let header = Header::Ply(parsed.header);
    let mut cloud = Cloud::from_table(Format::Ply, description, coordinates, table, header);
    cloud.warnings.extend(warnings);
    cloud
}

/// The vertices, the elements before and after them, and the indices of their properties x, y and z.
struct Vertices<'a> {
    before: &'a [Element],
    element: &'a Element,
    after: &'a [Element],
    xyz: [usize; 3],
}

fn vertices(parsed: &Parsed) -> Result<Vertices<'_>, ParseError> {
    let vertex = parsed.elements.iter().position(|e| e.name == "vertex").ok_or_else(|| {
        ParseError::new("there is no element 'vertex'")
            .fix("only PLY files with points can be read")
    })?;
    let (before, after) = (&parsed.elements[..vertex], &parsed.elements[vertex + 1..]);
    let element = &parsed.elements[vertex];
    Ok(Vertices { before, element, after, xyz: axes(&element.dimensions)? })
}

fn encoding_name(encoding: PlyEncoding) -> &'static str {
    match encoding {
        PlyEncoding::Ascii => "ascii",
        PlyEncoding::BinaryBigEndian => "binary_big_endian",
        PlyEncoding::BinaryLittleEndian => "binary_little_endian",
    }
}

fn scalar(kind: &ScalarType) -> NumberType {
    match kind {
        ScalarType::Char => NumberType::I8,
        ScalarType::UChar => NumberType::U8,
        ScalarType::Short => NumberType::I16,
        ScalarType::UShort => NumberType::U16,
        ScalarType::Int => NumberType::I32,
        ScalarType::UInt => NumberType::U32,
        ScalarType::Float => NumberType::F32,
        ScalarType::Double => NumberType::F64,
    }
}

fn axes(dimensions: &[Dimension]) -> Result<[usize; 3], ParseError> {
    let scalars = || dimensions.iter().enumerate().filter(|(_, s)| s.list.is_none());
    let find = |axis: &str| {
        let exact = scalars().find(|(_, s)| s.name == axis);
        exact.or_else(|| scalars().find(|(_, s)| s.name.eq_ignore_ascii_case(axis))).map(|(i, _)| i)
    };
    match (find("x"), find("y"), find("z")) {
        (Some(x), Some(y), Some(z)) => Ok([x, y, z]),
        _ => {
            let names: Vec<&str> = dimensions.iter().map(|s| s.name.as_str()).collect();
            let what = format!("the vertices have no x, y and z, only [{}]", names.join(", "));
            Err(ParseError::new(what).fix("name the coordinates x, y and z"))
        }
    }
}

/// Returns the header's lines without their ends, up to `end_header`, and the offset of the payload.
fn header_lines<'a>(
    bytes: &'a [u8],
    line_end: &[u8],
) -> Result<(Vec<&'a [u8]>, usize), ParseError> {
    let last = line_end[line_end.len() - 1];
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    let mut lines = Vec::new();
    let mut at = 0;
    loop {
        let length = bytes[at..].iter().position(|&b| b == last).ok_or_else(|| {
            let place = Place::Line(lines.len() + 1);
            ParseError::truncated("the header has no end ('end_header')").at(place)
        })?;
        let line = bytes[at..at + length].trim_ascii();
        at += length + 1;
        lines.push(line);
        if line == b"end_header" {
            return Ok((lines, at));
        }
    }
}

fn parse_header(bytes: &[u8]) -> Result<Parsed, ParseError> {
    let line_end = line_end(bytes);
    let (lines, length) = header_lines(bytes, line_end)?;
    // Comments need not be UTF-8, and ply-rs-bw refuses blank lines.
    let text: Vec<String> = lines
        .iter()
        .map(|l| String::from_utf8_lossy(l).into_owned())
        .map(|l| if l.is_empty() { "comment".into() } else { l })
        .collect();
    let text = text.join("\n") + "\n";
    let parsed = Parser::<DefaultElement>::new()
        .read_header(&mut Reader::new(text.as_bytes()))
        .map_err(|e| header_error(&e, &lines))?;
    if (parsed.version.major, parsed.version.minor) != (1, 0) {
        let what = format!("version {} of PLY is unknown", parsed.version);
        return Err(ParseError::new(what).fix("only 1.0 is defined: save it as that"));
    }
    let ascii = parsed.encoding == PlyEncoding::Ascii;
    let mut elements = Vec::new();
    for (_, e) in &parsed.elements {
        let mut dimensions: Vec<Dimension> = Vec::new();
        for (_, p) in &e.properties {
            dimensions.push(property(p.name.clone(), &p.data_type, &dimensions, ascii));
        }
        elements.push(Element { name: e.name.clone(), count: e.count, dimensions });
    }
    let header = PlyHeader { encoding: parsed.encoding, lines: kept_lines(&lines), line_end };
    let count = |word: &[u8]| lines.iter().filter(|l| first_word(l) == word).count();
    // The crate keeps elements and properties by name: a name used twice would shift the rest.
    let properties: usize = elements.iter().map(|e| e.dimensions.len()).sum();
    if count(b"element") != elements.len() || count(b"property") != properties {
        let what = "the header names an element twice, or a property twice in one element";
        return Err(ParseError::new(what).fix("rename one of the two"));
    }
    Ok(Parsed { header, elements, length })
}

fn first_word(line: &[u8]) -> &[u8] {
    line.split(u8::is_ascii_whitespace).next().unwrap_or_default()
}

fn header_error(error: &HeaderError, lines: &[&[u8]]) -> ParseError {
    let number = error.line().unwrap_or(0);
    match lines.get(number.wrapping_sub(1)) {
        Some(line) => {
            let shown: String = String::from_utf8_lossy(line).chars().take(60).collect();
            let what = format!("'{shown}' is not understood in a PLY header");
            ParseError::new(what).at(Place::Line(number))
        }
        None => ParseError::new(error.to_string().lines().next().unwrap_or_default()),
    }
}

/// Returns the lines to write again: all but other elements and their properties.
fn kept_lines(lines: &[&[u8]]) -> Vec<HeaderLine> {
    let mut kept = Vec::new();
    let (mut element, mut vertex) = (false, false);
    for line in &lines[..lines.len() - 1] {
        match first_word(line) {
            b"element" => {
                if vertex {
                    kept.push(HeaderLine::VertexEnd);
                }
                let name = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).nth(1);
                vertex = name == Some(b"vertex");
                element = true;
                if vertex {
                    kept.push(HeaderLine::Vertex);
                }
            }
            b"property" if element && !vertex => {}
            b"" => {}
            _ => kept.push(HeaderLine::Kept(line.to_vec())),
        }
    }
    if vertex {
        kept.push(HeaderLine::VertexEnd);
    }
    kept
}

/// Returns the dimension of a property; its offset counts bytes, or values in ascii, if no list precedes it.
fn property(name: String, kind: &PropertyType, before: &[Dimension], ascii: bool) -> Dimension {
    let width = |s: &Dimension| if ascii { 1 } else { s.kind.size() };
    let offset = before.last().map_or(0, |s| match s.list {
        None if s.offset != AFTER_LIST => s.offset + s.count * width(s),
        _ => AFTER_LIST,
    });
    match kind {
        PropertyType::Scalar(kind) => Dimension::new(name, scalar(kind), offset),
        PropertyType::List(length, kind) => {
            let mut dimension = Dimension::new(name, scalar(kind), offset).count(0);
            dimension.list = Some(scalar(length));
            dimension
        }
    }
}
