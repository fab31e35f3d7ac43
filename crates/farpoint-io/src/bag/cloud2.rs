//! `sensor_msgs/PointCloud2`: locates its points, and writes the same message with some of its rows.
//!
//! Drivers fill the message in many ways. Trusted are `width`, `height`, `point_step`, the fields and the length of
//! `data`; `row_step` counts only if there are several rows of points and it is not 0. Then all rows must lie within the
//! data, the last one with or without its padding.

use super::wire::{Encoding, Wire};
use crate::cloud::column::NumberType;
use crate::cloud::coordinates::Coordinates;
use std::ops::Range;

/// Largest number of fields; no sensor has more.
const MAX_FIELDS: u32 = 4096;

/// A field of the points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointField {
    /// Its name.
    pub name: String,
    /// Bytes from the start of a point.
    pub offset: usize,
    /// The type of its numbers; `None` for one that `sensor_msgs/PointField` does not have.
    pub kind: Option<NumberType>,
    /// Numbers per point.
    pub count: usize,
}

/// A message as recorded, with the offsets of its parts.
#[derive(Clone, Debug)]
pub struct PointCloud2<'a> {
    message: &'a [u8],
    /// True if the numbers of the message are big-endian.
    big_message: bool,
    /// Byte offset of `height`, which `width` follows.
    shape_at: usize,
    /// Byte offset of `row_step`, which the length of `data` follows.
    step_at: usize,
    data: Range<usize>,
    /// Byte offset of `is_dense`.
    dense_at: usize,
    height: usize,
    width: usize,
    fields: Vec<PointField>,
    big_endian: bool,
    point_step: usize,
    /// Bytes from a row of points to the next.
    row_step: usize,
    /// Offsets of x, y and z, and whether they are float64.
    axes: [(usize, bool); 3],
    frame: &'a [u8],
}

impl<'a> PointCloud2<'a> {
    /// Reads everything but the points.
    ///
    /// # Errors
    /// A message with the problem: truncated, no x, y, z as float32 or float64, data that has fewer
    /// bytes than the points need, an encoding that is not read.
    pub fn parse(encoding: Encoding, message: &'a [u8]) -> Result<PointCloud2<'a>, String> {
        let mut wire = Wire::new(encoding, message)?;
        if encoding == Encoding::Ros1 {
            wire.u32("header.seq")?;
        }
        wire.u32("header.stamp")?;
        wire.u32("header.stamp")?;
        let frame = wire.string("header.frame_id")?;
        let height = wire.u32("height")? as usize;
        let shape_at = wire.at() - 4;
        let width = wire.u32("width")? as usize;
        let fields = fields(&mut wire)?;
        let big_endian = wire.u8("is_bigendian")? != 0;
        let point_step = wire.u32("point_step")? as usize;
        let row_step = wire.u32("row_step")? as usize;
        let step_at = wire.at() - 4;
        let length = wire.u32("data")? as usize;
        let start = wire.at();
        wire.take(length, "data")?;
        let dense_at = wire.at();
        wire.u8("is_dense")?;
        let row_step = row_stride([height, width], point_step, row_step, length)?;
        Ok(PointCloud2 {
            message,
            big_message: wire.big_endian(),
            shape_at,
            step_at,
            data: start..start + length,
            dense_at,
            height,
            width,
            // A message without points may have no fields either.
            axes: match height == 0 || width == 0 {
                true => [(0, false); 3],
                false => axes(&fields, point_step)?,
            },
            fields,
            big_endian,
            point_step,
            row_step,
            frame,
        })
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.height * self.width
    }

    /// Returns whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows of points, and points in a row.
    pub fn shape(&self) -> [usize; 2] {
        [self.height, self.width]
    }

    /// The fields, as the message lists them.
    pub fn fields(&self) -> &[PointField] {
        &self.fields
    }

    /// The name of the coordinate frame.
    pub fn frame(&self) -> String {
        String::from_utf8_lossy(self.frame).into_owned()
    }

    /// Returns whether the numbers of the points are big-endian.
    pub fn big_endian(&self) -> bool {
        self.big_endian
    }

    /// Bytes of a point.
    pub fn point_step(&self) -> usize {
        self.point_step
    }

    /// Returns the bytes of the points and the offsets of x, y and z in one, if all are float32 or all float64 and
    /// the points lie at equal distances ([`PointCloud2::point_step`]).
    pub fn even(&self) -> Option<(&'a [u8], [usize; 3], NumberType)> {
        let even = self.height <= 1 || self.row_step == self.width * self.point_step;
        let kinds = self.axes.map(|(_, double)| double);
        let kind = if kinds[0] { NumberType::F64 } else { NumberType::F32 };
        let data = &self.message[self.data.clone()];
        let bytes = data.get(..self.len() * self.point_step)?;
        (even && kinds.iter().all(|double| *double == kinds[0]))
            .then(|| (bytes, self.axes.map(|(at, _)| at), kind))
    }

    /// The bytes of a point.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &'a [u8] {
        assert!(row < self.len(), "row {row} of {} points", self.len());
        let at =
            self.data.start + row / self.width * self.row_step + row % self.width * self.point_step;
        &self.message[at..at + self.point_step]
    }

    /// The bytes of every point, in order.
    fn points(&self) -> impl Iterator<Item = &'a [u8]> {
        // There may be very many rows of no points.
        let rows = if self.is_empty() { 0 } else { self.height };
        let (data, stride) = (&self.message[self.data.clone()], self.row_step);
        let (step, length) = (self.point_step.max(1), self.width * self.point_step);
        (0..rows).flat_map(move |row| data[row * stride..][..length].chunks_exact(step))
    }

    /// The coordinates of all points: f32, or f64 if one of the fields is float64.
    pub fn coordinates(&self) -> Coordinates {
        let points = self.points();
        if self.axes.iter().any(|(_, double)| *double) {
            return Coordinates::F64(points.map(|point| self.wide(point)).collect());
        }
        let places = self.axes.map(|(at, _)| at);
        Coordinates::F32(match self.big_endian {
            true => points.map(|point| f32s(point, places, f32::from_be_bytes)).collect(),
            false => points.map(|point| f32s(point, places, f32::from_le_bytes)).collect(),
        })
    }

    /// The rows with a position: all of x, y, z finite, and with `drop_zeros` not all of them 0. Then the numbers of
    /// rows without one, and of rows that are zeros.
    pub fn usable(&self, drop_zeros: bool) -> (Vec<u32>, [usize; 2]) {
        let single = self.axes.iter().all(|(_, double)| !double);
        let places = self.axes.map(|(at, _)| at);
        match (single, self.big_endian) {
            (true, false) => self.rows_where(drop_zeros, |point| {
                f32s(point, places, f32::from_le_bytes).map(f64::from)
            }),
            _ => self.rows_where(drop_zeros, |point| self.wide(point)),
        }
    }

    fn rows_where(
        &self,
        drop_zeros: bool,
        place: impl Fn(&[u8]) -> [f64; 3],
    ) -> (Vec<u32>, [usize; 2]) {
        let (mut rows, mut non_finite, mut zeros) = (Vec::with_capacity(self.len()), 0, 0);
        // Each takes at least four bytes of a message with a length of 32 bits.
        self.points().zip(0u32..).for_each(|(point, row)| {
            let place = place(point);
            if !place.iter().all(|value| value.is_finite()) {
                non_finite += 1;
                return;
            }
            let zero = place == [0.0; 3];
            zeros += usize::from(zero);
            if !(drop_zeros && zero) {
                rows.push(row);
            }
        });
        (rows, [non_finite, zeros])
    }

    fn wide(&self, point: &[u8]) -> [f64; 3] {
        self.axes.map(|(at, double)| match (double, self.big_endian) {
            (true, true) => f64::from_be_bytes(number(point, at)),
            (true, false) => f64::from_le_bytes(number(point, at)),
            (false, true) => f64::from(f32::from_be_bytes(number(point, at))),
            (false, false) => f64::from(f32::from_le_bytes(number(point, at))),
        })
    }

    /// Returns the message with only these rows, in this order, each byte for byte: height 1, width and row_step of
    /// the rows, is_dense true if `dense`, all else unchanged.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn with_rows(&self, rows: &[usize], dense: bool) -> Vec<u8> {
        self.with_points(rows.iter().map(|&row| self.row(row)), dense)
    }

    /// Returns the message with points of [`PointCloud2::point_step`] bytes in place of its own.
    pub(super) fn with_points<'b>(
        &self,
        points: impl ExactSizeIterator<Item = &'b [u8]>,
        dense: bool,
    ) -> Vec<u8> {
        let count = points.len();
        let length = count * self.point_step;
        let mut out = Vec::with_capacity(self.message.len() - self.data.len() + length);
        out.extend_from_slice(&self.message[..self.data.start]);
        let words = [(self.shape_at, 1), (self.shape_at + 4, count)];
        let steps = [(self.step_at, length), (self.step_at + 4, length)];
        for (at, value) in words.into_iter().chain(steps) {
            // Not larger than it was, so that it has 32 bits.
            let value = value as u32;
            let bytes = if self.big_message { value.to_be_bytes() } else { value.to_le_bytes() };
            out[at..at + 4].copy_from_slice(&bytes);
        }
        points.for_each(|point| out.extend_from_slice(point));
        let dense_at = out.len();
        out.extend_from_slice(&self.message[self.dense_at..]);
        if dense {
            out[dense_at] = 1;
        }
        out
    }
}

fn fields(wire: &mut Wire<'_>) -> Result<Vec<PointField>, String> {
    let count = wire.u32("fields")?;
    if count > MAX_FIELDS {
        return Err(format!("{count} fields, too many for a point cloud"));
    }
    let mut fields = Vec::new();
    for _ in 0..count {
        let name = String::from_utf8_lossy(wire.string("fields.name")?).into_owned();
        let offset = wire.u32("fields.offset")? as usize;
        let kind = kind(wire.u8("fields.datatype")?);
        // Some drivers leave it at 0.
        let count = wire.u32("fields.count")?.max(1) as usize;
        fields.push(PointField { name, offset, kind, count });
    }
    Ok(fields)
}

/// The constants of `sensor_msgs/PointField`.
fn kind(datatype: u8) -> Option<NumberType> {
    use NumberType::{F32, F64, I8, I16, I32, U8, U16, U32};
    let kinds = [I8, U8, I16, U16, I32, U32, F32, F64];
    kinds.get(usize::from(datatype).checked_sub(1)?).copied()
}

fn axes(fields: &[PointField], point_step: usize) -> Result<[(usize, bool); 3], String> {
    let axis = |name: &str| {
        let field = fields.iter().find(|field| field.name == name).ok_or_else(|| {
            let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
            format!("no field '{name}', only [{}]", names.join(", "))
        })?;
        let double = match field.kind {
            Some(NumberType::F32) => false,
            Some(NumberType::F64) => true,
            _ => return Err(format!("'{name}' is neither float32 nor float64")),
        };
        let end = field.offset + if double { 8 } else { 4 };
        match end <= point_step {
            true => Ok((field.offset, double)),
            false => Err(format!("'{name}' ends at byte {end} of points of {point_step} bytes")),
        }
    };
    Ok([axis("x")?, axis("y")?, axis("z")?])
}

/// Bytes from one row of points to the next.
fn row_stride(
    [height, width]: [usize; 2],
    point_step: usize,
    declared: usize,
    length: usize,
) -> Result<usize, String> {
    if height == 0 || width == 0 {
        return Ok(0);
    }
    let stride = || {
        let row = width.checked_mul(point_step)?;
        // Many drivers leave it at 0, or at any value if there is one row.
        let stride = if height == 1 || declared == 0 { row } else { declared };
        // The last row may lack its padding.
        let needed = (height - 1).checked_mul(stride)?.checked_add(row)?;
        (row <= stride && needed <= length).then_some(stride)
    };
    stride().ok_or_else(|| {
        format!(
            "{height} x {width} points of {point_step} bytes, with a row_step of {declared} bytes, \
             and {length} bytes of data"
        )
    })
}

fn f32s(point: &[u8], places: [usize; 3], value: impl Fn([u8; 4]) -> f32) -> [f32; 3] {
    places.map(|at| value(number(point, at)))
}

/// The bytes of a number within a point, which has room for it.
fn number<const N: usize>(point: &[u8], at: usize) -> [u8; N] {
    point[at..].first_chunk().copied().unwrap_or([0; N])
}
