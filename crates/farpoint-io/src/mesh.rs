//! The vertices of meshes: Wavefront OBJ and OFF. Faces are left out; neither format is written.

use crate::cloud::{Cloud, Coordinates};
use crate::column::Column;
use crate::error::{Fault, Place};
use crate::format::Format;

/// Numbered lines without their comments, blank ones left out.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let plain = |line: &[u8]| line.iter().position(|&b| b == b'#').unwrap_or(line.len());
    bytes
        .split(|&b| b == b'\n')
        .enumerate()
        .map(move |(i, line)| (i + 1, line[..plain(line)].trim_ascii()))
        .filter(|(_, line)| !line.is_empty())
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty())
}

fn number(word: Option<&[u8]>) -> Option<f64> {
    std::str::from_utf8(word?).ok()?.parse().ok()
}

fn vertex<'a>(mut words: impl Iterator<Item = &'a [u8]>, line: usize) -> Result<[f64; 3], Fault> {
    let mut axis = || number(words.next());
    match (axis(), axis(), axis()) {
        (Some(x), Some(y), Some(z)) => Ok([x, y, z]),
        _ => Err(Fault::new("a vertex needs three numbers").at(Place::Line(line))),
    }
}

/// Reads the `v` lines, with their colors if every one has three numbers more.
pub(crate) fn read_obj(bytes: &[u8]) -> Result<Cloud, Fault> {
    let mut points = Vec::new();
    let mut colors: [Vec<f32>; 3] = Default::default();
    let mut keywords = 0;
    for (line, content) in lines(bytes) {
        let mut words = words(content);
        let keyword = words.next().unwrap_or_default();
        keywords += usize::from(matches!(
            keyword,
            b"vn" | b"vt" | b"f" | b"o" | b"g" | b"mtllib" | b"usemtl"
        ));
        if keyword != b"v" {
            continue;
        }
        points.push(vertex(words.by_ref(), line)?);
        let rest: Vec<f64> = words.map_while(|w| number(Some(w))).collect();
        if let [r, g, b] = rest[..] {
            for (channel, value) in colors.iter_mut().zip([r, g, b]) {
                channel.push(value as f32);
            }
        }
    }
    if points.is_empty() && keywords == 0 {
        return Err(Fault::new("there is no vertex (a line 'v x y z')")
            .fix("check that this is a Wavefront OBJ file"));
    }
    let colored = !points.is_empty() && colors[0].len() == points.len();
    let mut cloud = Cloud::from_file(Format::Obj, "OBJ vertices", Coordinates::F64(points));
    if colored {
        for (name, channel) in ["red", "green", "blue"].into_iter().zip(colors) {
            cloud.add_column(name, Column::F32(channel));
        }
    }
    Ok(cloud)
}

/// The length of an OFF keyword such as `OFF`, `COFF` or `NOFF` at the start.
pub(crate) fn off_keyword(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for prefix in [&b"ST"[..], b"C", b"N", b"4"] {
        if bytes[at..].starts_with(prefix) {
            at += prefix.len();
        }
    }
    bytes[at..].starts_with(b"OFF").then_some(at + 3)
}

/// Reads the vertices. The counts may stand on the keyword's own line, even glued to it.
pub(crate) fn read_off(bytes: &[u8]) -> Result<Cloud, Fault> {
    let mut lines = lines(bytes).peekable();
    let (mut line, first) = lines
        .next()
        .ok_or_else(|| Fault::new("the file is empty").fix("fetch or export it again"))?;
    let keyword = off_keyword(first);
    if keyword.is_some_and(|k| first[..k].starts_with(b"4") || first[..k].contains(&b'4')) {
        return Err(Fault::new("4-dimensional OFF is not read").fix("export it with x, y, z"));
    }
    // Without a keyword the file starts with its counts.
    let mut counts = first[keyword.unwrap_or(0)..].trim_ascii();
    if counts.starts_with(b"BINARY") {
        return Err(Fault::new("binary OFF is not read").fix("convert it to PLY"));
    }
    if counts.is_empty() {
        (line, counts) = lines.next().unwrap_or((line, counts));
    }
    let count =
        words(counts).next().and_then(|w| std::str::from_utf8(w).ok()?.parse::<usize>().ok());
    let count = count.ok_or_else(|| {
        Fault::new("the numbers of vertices, faces and edges are missing").at(Place::Line(line))
    })?;
    let mut points = Vec::new();
    while points.len() < count {
        let Some((number, content)) = lines.next() else {
            let what =
                format!("the header promises {count} vertices, the file has {}", points.len());
            return Err(Fault::truncated(what));
        };
        points.push(vertex(words(content), number)?);
    }
    Ok(Cloud::from_file(Format::Off, "OFF vertices", Coordinates::F64(points)))
}
