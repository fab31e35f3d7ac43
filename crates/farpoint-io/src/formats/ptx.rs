//! PTX (Leica): scans one after another, each with its size, its position and a matrix, then the points of a grid as
//! the scanner recorded them. Several scans become one cloud.

use crate::bytes::parallel;
use crate::bytes::pieces::{filled_lines, line_number};
use crate::cloud::column::{Column, NumberType};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::pose::Pose;
use crate::cloud::{Cloud, number};
use crate::conversion;
use crate::error::{ParseError, Place};
use crate::format::Format;

/// Lines that a thread reads at a time.
const BLOCK: usize = 1 << 13;

/// Numbers in each line of a scan's head: columns, rows, position, three axes, four rows of the matrix.
const HEAD: [usize; 10] = [1, 1, 3, 3, 3, 3, 4, 4, 4, 4];

fn numbers(line: &[u8]) -> Option<Vec<f64>> {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.map(number::value).collect()
}

/// Returns whether the bytes start with the head of a scan.
pub(crate) fn looks_like_scans(bytes: &[u8]) -> bool {
    let lines = bytes[..bytes.len().min(4096)].split(|&b| b == b'\n');
    let mut lines = lines.filter(|line| !line.trim_ascii().is_empty());
    let head: Option<Vec<Vec<f64>>> = HEAD.iter().map(|_| numbers(lines.next()?)).collect();
    head.is_some_and(|head| {
        let whole = |line: &[f64]| line[0] >= 0.0 && line[0].fract() == 0.0;
        head.iter().zip(HEAD).all(|(line, n)| line.len() == n) && whole(&head[0]) && whole(&head[1])
    })
}

/// The points of all scans so far.
#[derive(Default)]
struct ScanPoints {
    places: Vec<[f64; 3]>,
    intensity: Vec<f32>,
    colors: [Vec<f32>; 3],
    scan: Vec<u16>,
    colored: bool,
    invalid: usize,
    /// First row of each scan, and the place of its scanner.
    scanners: Vec<(u64, [f64; 3])>,
    warnings: Vec<String>,
}

/// Reads all scans of a file.
pub(crate) fn read(bytes: &[u8]) -> Result<Cloud, ParseError> {
    let lines = filled_lines(bytes, 0..bytes.len(), |b| b == b'\n');
    let mut rest = &lines[..];
    let mut points = ScanPoints::default();
    let mut scans = 0;
    while !rest.is_empty() || scans == 0 {
        let (count, matrix);
        (count, matrix, rest) = head(bytes, rest)?;
        let (pose, warning) = Pose::of_rows(matrix, scans);
        points.warnings.extend(warning);
        points.scanners.push((points.places.len() as u64, pose.translation));
        // Every point is a line of at least a few bytes.
        if count > bytes.len() {
            return Err(ParseError::truncated(format!("scan {scans} declares {count} points")));
        }
        let (scan_lines, later) = rest.split_at(count.min(rest.len()));
        points.add(bytes, scan_lines, &pose, scans)?;
        if scan_lines.len() < count {
            let what = format!("scan {scans} declares {count} points and has {}", scan_lines.len());
            return Err(ParseError::truncated(what));
        }
        rest = later;
        scans += 1;
    }
    Ok(points.finish(scans))
}

/// Places of lines.
type Lines = [(usize, usize)];

/// Parses the number of points of a scan, the matrix that moves them, and the lines after its head.
fn head<'a>(
    bytes: &[u8],
    lines: &'a Lines,
) -> Result<(usize, [[f64; 3]; 4], &'a Lines), ParseError> {
    let mut all = Vec::new();
    for (k, expected) in HEAD.into_iter().enumerate() {
        let &(start, end) = lines
            .get(k)
            .ok_or_else(|| ParseError::truncated("the head of a scan has ten lines"))?;
        let head = |v: &Vec<f64>| v.len() == expected && v.iter().all(|x| x.is_finite());
        let values = numbers(&bytes[start..end]).filter(head);
        let values = values.ok_or_else(|| {
            let place = Place::Line(line_number(bytes, start));
            if k == 0 && start > 0 {
                let what = "more points follow than the scan before declares, or no head of a scan";
                return ParseError::miscounted(what, true).at(place);
            }
            ParseError::new(format!("the head of a scan has {expected} numbers here")).at(place)
        })?;
        all.push((start, values));
    }
    let whole = |(start, values): &(usize, Vec<f64>)| match values[0] {
        v if v >= 0.0 && v.fract() == 0.0 && v <= 1e9 => Ok(v as usize),
        _ => {
            let what = "a number of columns or rows is expected";
            Err(ParseError::new(what).at(Place::Line(line_number(bytes, *start))))
        }
    };
    let count = whole(&all[0])?.saturating_mul(whole(&all[1])?);
    // A point is a row in front of the matrix, whose last row is the scanner's position.
    let row = |i: usize| [all[6 + i].1[0], all[6 + i].1[1], all[6 + i].1[2]];
    Ok((count, [row(0), row(1), row(2), row(3)], &lines[HEAD.len()..]))
}

impl ScanPoints {
    /// Adds the points of a scan, by all threads.
    fn add(
        &mut self,
        bytes: &[u8],
        lines: &Lines,
        pose: &Pose,
        scan: usize,
    ) -> Result<(), ParseError> {
        let of_block = |block: &Lines| {
            let mut points = ScanPoints::default();
            for &(start, end) in block {
                points.push(&bytes[start..end], pose, scan).ok_or(start)?;
            }
            Ok(points)
        };
        let blocks = parallel::try_map(lines.chunks(BLOCK), of_block).map_err(|start| {
            let what = "a point of PTX is x, y, z, intensity, and a color or none";
            ParseError::new(what).at(Place::Line(line_number(bytes, start)))
        })?;
        blocks.into_iter().for_each(|block| self.append(block));
        Ok(())
    }

    fn append(&mut self, mut other: ScanPoints) {
        self.places.append(&mut other.places);
        self.intensity.append(&mut other.intensity);
        for (channel, others) in self.colors.iter_mut().zip(&mut other.colors) {
            channel.append(others);
        }
        self.scan.append(&mut other.scan);
        self.colored |= other.colored;
        self.invalid += other.invalid;
    }

    /// Adds the point of a line; `None` if it is none.
    fn push(&mut self, line: &[u8], pose: &Pose, scan: usize) -> Option<()> {
        let values = numbers(line)?;
        let ([x, y, z, intensity], color) = match values[..] {
            [x, y, z, i] => ([x, y, z, i], None),
            [x, y, z, i, r, g, b] => ([x, y, z, i], Some([r, g, b])),
            _ => return None,
        };
        // A direction without an echo is in the file as 0 0 0.
        if [x, y, z] == [0.0; 3] {
            self.invalid += 1;
            self.places.push([f64::NAN; 3]);
        } else {
            self.places.push(pose.moved([x, y, z]));
        }
        self.intensity.push(intensity as f32);
        self.colored |= color.is_some();
        for (channel, value) in self.colors.iter_mut().zip(color.unwrap_or([f64::NAN; 3])) {
            channel.push(value as f32);
        }
        self.scan.push(scan.min(usize::from(u16::MAX)) as u16);
        Some(())
    }

    fn finish(self, scans: usize) -> Cloud {
        let number = match scans {
            1 => "1 scan".to_owned(),
            n => format!("{n} scans"),
        };
        let coordinates = Coordinates::F64(self.places);
        let mut cloud = Cloud::from_file(Format::Ptx, format!("PTX, {number}"), coordinates);
        (cloud.scanners, cloud.warnings) = (self.scanners, self.warnings);
        cloud.add_column("intensity", Column::F32(self.intensity));
        if self.colored {
            let mut channels = self.colors.map(Column::F32);
            if channels.iter().all(|channel| channel.whole_within(0.0, 255.0)) {
                channels = channels.map(|channel| channel.cast(NumberType::U8));
            }
            conversion::add_colors(&mut cloud, channels);
        }
        if scans > 1 {
            cloud.add_column("scan", Column::U16(self.scan));
            let what = "scans become one cloud; the attribute 'scan' numbers them";
            cloud.warnings.push(format!("{scans} {what}"));
        }
        if self.invalid > 0 {
            cloud.warnings.push(format!(
                "{} directions without an echo (0 0 0) have NaN coordinates",
                self.invalid
            ));
        }
        cloud
    }
}
