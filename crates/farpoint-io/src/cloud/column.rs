//! Typed columns: the values of one attribute, one for each point.
//!
//! All formats use numbers of these ten types only. Nothing here depends on a format.

use crate::bytes::parallel;
use std::fmt;

/// Number of values converted to doubles at a time.
const DOUBLES: usize = 256;

/// The type of a number in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum NumberType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl NumberType {
    /// Bytes of one value.
    pub fn size(self) -> usize {
        match self {
            NumberType::I8 | NumberType::U8 => 1,
            NumberType::I16 | NumberType::U16 => 2,
            NumberType::I32 | NumberType::U32 | NumberType::F32 => 4,
            NumberType::I64 | NumberType::U64 | NumberType::F64 => 8,
        }
    }

    /// The name of the type in Rust, such as `f32`.
    pub fn name(self) -> &'static str {
        match self {
            NumberType::I8 => "i8",
            NumberType::U8 => "u8",
            NumberType::I16 => "i16",
            NumberType::U16 => "u16",
            NumberType::I32 => "i32",
            NumberType::U32 => "u32",
            NumberType::I64 => "i64",
            NumberType::U64 => "u64",
            NumberType::F32 => "f32",
            NumberType::F64 => "f64",
        }
    }

    /// Returns whether every value of this type is held exactly by `wide`.
    pub(crate) fn fits_in(self, wide: NumberType) -> bool {
        use NumberType::*;
        self == wide
            || match wide {
                F64 => !matches!(self, I64 | U64),
                F32 => matches!(self, I8 | U8 | I16 | U16),
                I64 => matches!(self, I8 | U8 | I16 | U16 | I32 | U32),
                U64 => matches!(self, U8 | U16 | U32),
                I32 => matches!(self, I8 | U8 | I16 | U16),
                U32 => matches!(self, U8 | U16),
                I16 => matches!(self, I8 | U8),
                U16 => self == U8,
                I8 | U8 => false,
            }
    }
}

impl fmt::Display for NumberType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The values of one attribute, one for each point of the cloud.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Column {
    I8(Vec<i8>),
    U8(Vec<u8>),
    I16(Vec<i16>),
    U16(Vec<u16>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// Evaluates the same expression for the vector of any column; `make` makes a column of that type.
macro_rules! each {
    ($column:expr, $values:ident => $body:expr) => {
        each!($column, _make($values) => $body)
    };
    ($column:expr, $make:ident($values:ident) => $body:expr) => {
        each!(@ $column, $make, $values, $body, I8 U8 I16 U16 I32 U32 I64 U64 F32 F64)
    };
    (@ $column:expr, $make:ident, $values:ident, $body:expr, $($variant:ident)*) => {
        match $column {
            $(Column::$variant($values) => {
                let $make = Column::$variant;
                $body
            })*
        }
    };
}

/// Builds a column of the given type from an iterator made for that type.
macro_rules! collect_as {
    ($kind:expr, $ty:ident => $iter:expr) => {
        match $kind {
            NumberType::I8 => {
                type $ty = i8;
                Column::I8($iter)
            }
            NumberType::U8 => {
                type $ty = u8;
                Column::U8($iter)
            }
            NumberType::I16 => {
                type $ty = i16;
                Column::I16($iter)
            }
            NumberType::U16 => {
                type $ty = u16;
                Column::U16($iter)
            }
            NumberType::I32 => {
                type $ty = i32;
                Column::I32($iter)
            }
            NumberType::U32 => {
                type $ty = u32;
                Column::U32($iter)
            }
            NumberType::I64 => {
                type $ty = i64;
                Column::I64($iter)
            }
            NumberType::U64 => {
                type $ty = u64;
                Column::U64($iter)
            }
            NumberType::F32 => {
                type $ty = f32;
                Column::F32($iter)
            }
            NumberType::F64 => {
                type $ty = f64;
                Column::F64($iter)
            }
        }
    };
}
pub(crate) use {collect_as, each};

impl Column {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        each!(self, v => v.len())
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the values.
    pub fn kind(&self) -> NumberType {
        match self {
            Column::I8(_) => NumberType::I8,
            Column::U8(_) => NumberType::U8,
            Column::I16(_) => NumberType::I16,
            Column::U16(_) => NumberType::U16,
            Column::I32(_) => NumberType::I32,
            Column::U32(_) => NumberType::U32,
            Column::I64(_) => NumberType::I64,
            Column::U64(_) => NumberType::U64,
            Column::F32(_) => NumberType::F32,
            Column::F64(_) => NumberType::F64,
        }
    }

    /// Returns value `row` as f64 (64-bit integers beyond 2^53 are rounded).
    ///
    /// # Panics
    /// If there is no such row.
    // One arm casts f64 to itself.
    #[allow(clippy::unnecessary_cast)]
    pub fn get(&self, row: usize) -> f64 {
        each!(self, v => v[row] as f64)
    }

    /// Returns the values of the given rows, in that order.
    ///
    /// # Panics
    /// If one of the rows does not exist.
    pub fn gather(&self, rows: &[usize]) -> Column {
        each!(self, make(v) => make(parallel::values(rows.len(), |i| v[rows[i]])))
    }

    /// Converts the values from row `first` on to f64.
    #[allow(clippy::unnecessary_cast)]
    fn doubles(&self, first: usize, out: &mut [f64]) {
        each!(self, v => out.iter_mut().zip(&v[first..]).for_each(|(to, &x)| *to = x as f64));
    }

    /// Converts the values to another type; the caller has checked that they fit.
    pub(crate) fn cast(&self, kind: NumberType) -> Column {
        match (self, kind) {
            _ if self.kind() == kind => self.clone(),
            // As doubles they would be rounded twice.
            (Column::I64(v), NumberType::F32) => {
                Column::F32(parallel::values(v.len(), |i| v[i] as f32))
            }
            (Column::U64(v), NumberType::F32) => {
                Column::F32(parallel::values(v.len(), |i| v[i] as f32))
            }
            _ => collect_as!(kind, T => parallel::filled(self.len(), |first, out| {
                let mut doubles = [0.0; DOUBLES];
                for (k, out) in out.chunks_mut(DOUBLES).enumerate() {
                    let doubles = &mut doubles[..out.len()];
                    self.doubles(first + k * DOUBLES, doubles);
                    out.iter_mut().zip(doubles).for_each(|(to, x)| *to = *x as T);
                }
            })),
        }
    }

    /// Returns the number of values that are NaN.
    pub(crate) fn nans(&self) -> usize {
        match self.kind() {
            NumberType::F32 | NumberType::F64 => {
                (0..self.len()).filter(|&row| self.get(row).is_nan()).count()
            }
            _ => 0,
        }
    }

    /// Returns whether every value is a whole number within the range.
    pub(crate) fn whole_within(&self, low: f64, high: f64) -> bool {
        parallel::all(parallel::blocks(self.len()), |rows| {
            let mut doubles = [0.0; DOUBLES];
            rows.clone().step_by(DOUBLES).all(|first| {
                let doubles = &mut doubles[..DOUBLES.min(rows.end - first)];
                self.doubles(first, doubles);
                doubles.iter().all(|x| *x >= low && *x <= high && x.fract() == 0.0)
            })
        })
    }

    /// Appends value `row` as bytes.
    pub(crate) fn push_bytes(&self, row: usize, big_endian: bool, out: &mut Vec<u8>) {
        each!(self, v => if big_endian {
            out.extend_from_slice(&v[row].to_be_bytes());
        } else {
            out.extend_from_slice(&v[row].to_le_bytes());
        });
    }

    /// Writes the values from row `first` on into records of `stride` bytes, each at byte `at`.
    pub(crate) fn write_into(
        &self,
        first: usize,
        records: &mut [u8],
        stride: usize,
        at: usize,
        big_endian: bool,
    ) {
        each!(self, v => for (record, value) in records.chunks_exact_mut(stride).zip(&v[first..]) {
            let bytes = if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
            record[at..at + bytes.len()].copy_from_slice(&bytes);
        });
    }

    /// Appends value `row` as the shortest text that reads back as the same value.
    pub(crate) fn push_text(&self, row: usize, out: &mut Vec<u8>) {
        use std::io::Write;
        // Writing to a Vec cannot fail.
        let _ = match self {
            Column::F32(v) => match exponent(f64::from(v[row])) {
                true => write!(out, "{:e}", v[row]),
                false => write!(out, "{}", PlainNan(v[row])),
            },
            Column::F64(v) => match exponent(v[row]) {
                true => write!(out, "{:e}", v[row]),
                false => write!(out, "{}", PlainNan(v[row])),
            },
            other => each!(other, v => write!(out, "{}", v[row])),
        };
    }
}

/// Returns whether a number is written with an exponent, so that no value has hundreds of digits.
fn exponent(value: f64) -> bool {
    let size = value.abs();
    size.is_finite() && size != 0.0 && !(1e-5..1e16).contains(&size)
}

/// Writes NaN as `nan`, the spelling that other readers know.
struct PlainNan<T>(T);

impl<T: fmt::Display + Copy + PartialEq> fmt::Display for PlainNan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only NaN differs from itself.
        #[allow(clippy::eq_op)]
        if self.0 != self.0 { f.write_str("nan") } else { write!(f, "{}", self.0) }
    }
}

/// A column with its name, on its way into a file.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) column: Column,
}

/// The columns of x, y and z with their names.
pub(crate) fn named_axes(axes: [Column; 3]) -> Vec<Attribute> {
    let named = ["x", "y", "z"].into_iter().zip(axes);
    named.map(|(name, column)| Attribute { name: name.into(), column }).collect()
}
