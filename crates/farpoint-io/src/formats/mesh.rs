//! The vertices of meshes: Wavefront OBJ and OFF. Faces are left out, with a warning; neither format is
//! written.

use crate::cloud::column::Column;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::{Cloud, number};
use crate::conversion;
use crate::error::{ParseError, Place};
use crate::format::Format;

/// Values of a vertex that have no meaning.
const FURTHER: &str = "further value";

/// Numbered lines without their comments, blank ones left out.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let numbered = bytes.split(|&b| b == b'\n').enumerate();
    numbered
        .map(|(i, line)| (i + 1, line[..comment(line)].trim_ascii()))
        .filter(|(_, line)| !line.is_empty())
}

/// Returns the place where the comment of a line starts; `1.#QNAN` is a number.
fn comment(line: &[u8]) -> usize {
    let starts = |&at: &usize| line[at] == b'#' && (at == 0 || line[at - 1].is_ascii_whitespace());
    (0..line.len()).find(starts).unwrap_or(line.len())
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty())
}

fn number(word: Option<&[u8]>) -> Option<f64> {
    number::value(word?)
}

fn vertex<'a>(
    mut words: impl Iterator<Item = &'a [u8]>,
    line: usize,
) -> Result<[f64; 3], ParseError> {
    let mut axis = || number(words.next());
    match (axis(), axis(), axis()) {
        (Some(x), Some(y), Some(z)) => Ok([x, y, z]),
        _ => Err(ParseError::new("a vertex needs three numbers").at(Place::Line(line))),
    }
}

/// Returns a warning that counts the parts that a cloud of vertices has no place for.
fn left_out(counts: &[(usize, &str)]) -> Option<String> {
    let named = counts.iter().filter(|(count, _)| *count > 0);
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let named: Vec<String> =
        named.map(|&(count, what)| format!("{count} {what}{}", plural(count))).collect();
    let (last, others) = named.split_last()?;
    let listed = match others {
        [] => last.clone(),
        others => format!("{} and {last}", others.join(", ")),
    };
    Some(format!("the vertices are read as points; left out: {listed}"))
}

/// Reads the `v` lines, with their colors if some have three numbers more.
pub(crate) fn read_obj(bytes: &[u8]) -> Result<Cloud, ParseError> {
    let mut points = Vec::new();
    let mut colors: [Vec<f32>; 3] = Default::default();
    let mut others =
        [(0, "face"), (0, "line"), (0, "normal"), (0, "texture coordinate"), (0, FURTHER)];
    let (mut names, mut colored) = (0, false);
    for (line, content) in lines(bytes) {
        let mut words = words(content);
        match words.next().unwrap_or_default() {
            b"v" => {
                points.push(vertex(words.by_ref(), line)?);
                let rest: Vec<f64> = words.map_while(|w| number(Some(w))).collect();
                let color = rest.first_chunk().copied();
                let unused = rest.len() - color.map_or(0, |color: [f64; 3]| color.len());
                // A weight of 1 says nothing.
                others[4].0 += if rest == [1.0] { 0 } else { unused };
                colored |= color.is_some();
                for (channel, value) in colors.iter_mut().zip(color.unwrap_or([f64::NAN; 3])) {
                    channel.push(value as f32);
                }
            }
            b"f" => others[0].0 += 1,
            b"l" => others[1].0 += 1,
            b"vn" => others[2].0 += 1,
            b"vt" => others[3].0 += 1,
            b"o" | b"g" | b"mtllib" | b"usemtl" => names += 1,
            _ => {}
        }
    }
    if points.is_empty() && names == 0 && others.iter().all(|(count, _)| *count == 0) {
        return Err(ParseError::new("there is no vertex (a line 'v x y z')")
            .fix("check that this is a Wavefront OBJ file"));
    }
    let mut cloud = Cloud::from_file(Format::Obj, "OBJ vertices", Coordinates::F64(points));
    if colored {
        conversion::add_colors(&mut cloud, colors.map(Column::F32));
    }
    cloud.warnings.extend(left_out(&others));
    Ok(cloud)
}

/// Returns the length of an OFF keyword such as `OFF`, `COFF` or `NOFF` at the start.
pub(crate) fn off_keyword(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for prefix in [&b"ST"[..], b"C", b"N", b"4"] {
        if bytes[at..].starts_with(prefix) {
            at += prefix.len();
        }
    }
    bytes[at..].starts_with(b"OFF").then_some(at + 3)
}

/// Reads the vertices. The counts may be on the keyword's own line, even glued to it.
pub(crate) fn read_off(bytes: &[u8]) -> Result<Cloud, ParseError> {
    let mut lines = lines(bytes).peekable();
    let (mut line, first) = lines
        .next()
        .ok_or_else(|| ParseError::new("the file is empty").fix("download or export it again"))?;
    // Without a keyword the file starts with its counts.
    let (keyword, mut counts) = first.split_at(off_keyword(first).unwrap_or(0));
    if keyword.contains(&b'4') {
        return Err(ParseError::new("4-dimensional OFF is not read").fix("export it with x, y, z"));
    }
    counts = counts.trim_ascii();
    if counts.starts_with(b"BINARY") {
        return Err(ParseError::new("binary OFF is not read").fix("convert it to PLY"));
    }
    if counts.is_empty() {
        (line, counts) = lines.next().unwrap_or((line, counts));
    }
    let whole = |w: &[u8]| std::str::from_utf8(w).ok()?.parse::<usize>().ok();
    let mut numbers = words(counts).map(whole);
    let count = numbers.next().flatten().ok_or_else(|| {
        ParseError::new("the numbers of vertices, faces and edges are missing")
            .at(Place::Line(line))
    })?;
    let faces = numbers.next().flatten().unwrap_or(0);
    let mut vertices = Vertices::new(keyword);
    while vertices.points.len() < count {
        let Some((number, content)) = lines.next() else {
            let n = vertices.points.len();
            let what = format!("the header declares {count} vertices, the file has {n}");
            return Err(ParseError::truncated(what));
        };
        vertices.push(content, number)?;
    }
    Ok(vertices.finish(faces))
}

/// The vertices of an OFF file: after x, y and z a normal (`NOFF`), a color (`COFF`) and texture
/// coordinates (`STOFF`), in this order.
struct Vertices {
    normal: bool,
    color: bool,
    texture: bool,
    points: Vec<[f64; 3]>,
    /// Three values of a normal, then the values of a color.
    columns: Vec<Vec<f64>>,
    /// Number of values besides.
    further: usize,
}

impl Vertices {
    fn new(keyword: &[u8]) -> Vertices {
        let prefix = &keyword[..keyword.len().saturating_sub(3)];
        Vertices {
            normal: prefix.contains(&b'N'),
            color: prefix.contains(&b'C'),
            texture: prefix.starts_with(b"ST"),
            points: Vec::new(),
            columns: Vec::new(),
            further: 0,
        }
    }

    fn push(&mut self, line: &[u8], number: usize) -> Result<(), ParseError> {
        let mut words = words(line);
        let point = vertex(words.by_ref(), number)?;
        let mut rest: Vec<f64> = words.map_while(|w| self::number(Some(w))).collect();
        if self.texture {
            rest.truncate(rest.len().saturating_sub(2));
        }
        // The first vertex shows whether a color has an alpha; plain `NOFF` has three values.
        if self.points.is_empty() {
            let expected = match (self.normal, self.color, rest.len()) {
                (true, true, 6..) => rest.len().min(7),
                (true, false, 3..) => 3,
                (false, true, 3..) => rest.len().min(4),
                _ => 0,
            };
            self.columns = vec![Vec::new(); expected];
        }
        self.further += rest.len().saturating_sub(self.columns.len());
        if rest.len() < self.columns.len() {
            let what = format!("a vertex has {} values here, others more", 3 + rest.len());
            return Err(ParseError::new(what).at(Place::Line(number)));
        }
        for (column, value) in self.columns.iter_mut().zip(rest) {
            column.push(value);
        }
        self.points.push(point);
        Ok(())
    }

    fn finish(self, faces: usize) -> Cloud {
        let textures = if self.texture { self.points.len() } else { 0 };
        let coordinates = Coordinates::F64(self.points);
        let mut cloud = Cloud::from_file(Format::Off, "OFF vertices", coordinates);
        let mut columns = self.columns.into_iter();
        if self.normal {
            for (name, values) in ["nx", "ny", "nz"].into_iter().zip(columns.by_ref()) {
                cloud.add_column(name, Column::F64(values));
            }
        }
        let colors: Vec<Vec<f64>> = columns.collect();
        // Numbers of 0 to 255, or parts of 1.
        let all = |test: &dyn Fn(f64) -> bool| colors.iter().flatten().all(|&v| test(v));
        let bytes = all(&|v| (0.0..=255.0).contains(&v) && v.fract() == 0.0) && !all(&|v| v <= 1.0);
        for (name, values) in ["red", "green", "blue", "alpha"].into_iter().zip(colors) {
            cloud.add_column(
                name,
                match bytes {
                    true => Column::U8(values.into_iter().map(|v| v as u8).collect()),
                    false => Column::F32(values.into_iter().map(|v| v as f32).collect()),
                },
            );
        }
        let others = [(faces, "face"), (textures, "texture coordinate"), (self.further, FURTHER)];
        cloud.warnings.extend(left_out(&others));
        cloud
    }
}
