//! The rows of a file as they were stored, with the layout of the attributes.
//!
//! Keeping the stored bytes makes writing back exact: a kept point is a copied record (or line), never a number read
//! and written again. Typed columns are extracted only to change format.

use crate::bytes::parallel;
use crate::bytes::part::Part;
use crate::cloud::column::{Column, NumberType, collect_as};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::number;

/// The offset of a dimension without a fixed place.
pub(crate) const AFTER_LIST: usize = usize::MAX;

/// Above this number of values in a line, all are found at once: searching each takes quadratic time.
const MANY: usize = 32;

/// One attribute inside a record or line.
#[derive(Clone, Debug)]
pub(crate) struct Dimension {
    pub(crate) name: String,
    pub(crate) kind: NumberType,
    pub(crate) count: usize,
    /// Bytes from the record's start, or the number of the token in a line; [`AFTER_LIST`] if a list precedes it in
    /// the row, so that it is found by walking.
    pub(crate) offset: usize,
    /// The type of the length in front of a PLY list.
    pub(crate) list: Option<NumberType>,
    /// First bit and number of bits of a value packed into one byte.
    pub(crate) bits: Option<(u8, u8)>,
    /// Scale and offset that turn the stored integer into its value.
    pub(crate) scale: Option<(f64, f64)>,
}

impl Dimension {
    pub(crate) fn new(name: impl Into<String>, kind: NumberType, offset: usize) -> Dimension {
        Dimension { name: name.into(), kind, count: 1, offset, list: None, bits: None, scale: None }
    }

    pub(crate) fn count(mut self, count: usize) -> Dimension {
        self.count = count;
        self
    }

    pub(crate) fn bits(mut self, first: u8, number: u8) -> Dimension {
        self.bits = Some((first, number));
        self
    }
}

/// Storage of the rows.
#[derive(Clone, Debug)]
pub(crate) enum Store {
    /// Records of `stride` bytes each.
    Records { bytes: Part, stride: usize },
    /// Records of differing length (PLY with lists), row i is `bytes[spans[i]]`.
    Spans { bytes: Part, spans: Vec<(usize, usize)> },
    /// Lines of text, without their line ends.
    Lines { bytes: Part, spans: Vec<(usize, usize)>, split: Split },
}

/// Separator between the values of a text row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    Space,
    Comma,
    Semicolon,
    /// Spaces, commas and semicolons alike.
    Mixed,
    /// Found in each line.
    Any,
}

impl Split {
    /// The byte written between values.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Split::Comma => b',',
            Split::Semicolon => b';',
            _ => b' ',
        }
    }

    /// Returns the separator of a line. `1,5 2,5 3,5` is split by commas, which makes it no numbers: the reader of
    /// texts replaces decimal commas before.
    pub(crate) fn detect(line: &[u8]) -> Split {
        let spaced = |byte: u8| {
            line.split(|&b| b == byte).any(|f| f.trim_ascii().iter().any(u8::is_ascii_whitespace))
        };
        if line.contains(&b';') {
            return if spaced(b';') { Split::Mixed } else { Split::Semicolon };
        }
        if !line.contains(&b',') {
            return Split::Space;
        }
        let tight =
            |w: &[u8]| w[1] == b',' && !w[0].is_ascii_whitespace() && !w[2].is_ascii_whitespace();
        match spaced(b',') && !line.windows(3).any(tight) {
            true => Split::Mixed,
            false => Split::Comma,
        }
    }

    fn separates(self, byte: u8) -> bool {
        match self {
            Split::Comma => byte == b',',
            Split::Semicolon => byte == b';',
            Split::Mixed => byte == b',' || byte == b';' || byte.is_ascii_whitespace(),
            Split::Space | Split::Any => byte.is_ascii_whitespace(),
        }
    }
}

/// All rows of a file and their layout.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) dimensions: Vec<Dimension>,
    pub(crate) store: Store,
    pub(crate) big_endian: bool,
    /// Indices of the dimensions of x, y and z.
    pub(crate) xyz: [usize; 3],
}

impl Table {
    /// The stored bytes of a row.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        match &self.store {
            Store::Records { bytes, stride } => &bytes[row * stride..(row + 1) * stride],
            Store::Spans { bytes, spans } | Store::Lines { bytes, spans, .. } => {
                &bytes[spans[row].0..spans[row].1]
            }
        }
    }

    /// Returns the values of the given rows as text, if these are lines of many values.
    pub(crate) fn tokens(&self, rows: &[usize]) -> Option<Vec<Vec<&[u8]>>> {
        let Store::Lines { split, .. } = &self.store else { return None };
        let of_row = |row: &usize| Tokens::new(self.row(*row), *split).collect();
        (self.dimensions.len() > MANY).then(|| parallel::map(rows.iter(), of_row))
    }

    /// Value `k` of a dimension for the given rows; `None` for lists and for text that is no number.
    pub(crate) fn column(&self, dimension: usize, k: usize, rows: &[usize]) -> Option<Column> {
        self.column_of(dimension, k, rows, None)
    }

    /// Like [`Table::column`], with the result of [`Table::tokens`] for these rows.
    pub(crate) fn column_of(
        &self,
        dimension: usize,
        k: usize,
        rows: &[usize],
        tokens: Option<&[Vec<&[u8]>]>,
    ) -> Option<Column> {
        let stored = self.stored_column(dimension, k, rows, tokens)?;
        Some(match self.dimensions[dimension].scale {
            Some((scale, offset)) => {
                Column::F64(parallel::values(stored.len(), |i| stored.get(i) * scale + offset))
            }
            None => stored,
        })
    }

    /// Like [`Table::column_of`], without the scale of a dimension.
    pub(crate) fn stored_column(
        &self,
        dimension: usize,
        k: usize,
        rows: &[usize],
        tokens: Option<&[Vec<&[u8]>]>,
    ) -> Option<Column> {
        let s = &self.dimensions[dimension];
        if s.list.is_some() {
            return None;
        }
        if let Store::Lines { split, .. } = &self.store {
            return self.text_column(dimension, k, rows, (*split, tokens));
        }
        if let Some((first, number)) = s.bits {
            let mask = ((1u16 << number) - 1) as u8;
            let value = |i: usize| (self.row(rows[i])[s.offset] >> first) & mask;
            return Some(Column::U8(parallel::values(rows.len(), value)));
        }
        self.binary_column(dimension, k, rows)
    }

    fn binary_column(&self, dimension: usize, k: usize, rows: &[usize]) -> Option<Column> {
        let kind = self.dimensions[dimension].kind;
        let fixed = self.dimensions[dimension].offset != AFTER_LIST;
        let skip = k * kind.size();
        if let (Store::Records { stride, .. }, true) = (&self.store, fixed) {
            let at = self.dimensions[dimension].offset + skip;
            if at + kind.size() > *stride {
                return None;
            }
            return Some(collect_as!(kind, T => parallel::values(rows.len(), |i| {
                let bytes = number::<{ size_of::<T>() }>(self.row(rows[i]), at);
                if self.big_endian { T::from_be_bytes(bytes) } else { T::from_le_bytes(bytes) }
            })));
        }
        let place = |record: &[u8]| match fixed {
            true => Some(self.dimensions[dimension].offset),
            false => binary_offset(&self.dimensions, record, dimension, self.big_endian),
        };
        let bytes = |row: usize| {
            let record = self.row(row);
            let start = place(record)? + skip;
            record.get(start..start + kind.size())
        };
        Some(collect_as!(kind, T => parallel::try_values(rows.len(), |i| {
            let bytes = bytes(rows[i])?.try_into().ok()?;
            Some(if self.big_endian { T::from_be_bytes(bytes) } else { T::from_le_bytes(bytes) })
        })?))
    }

    fn text_column(
        &self,
        dimension: usize,
        k: usize,
        rows: &[usize],
        (split, tokens): (Split, Option<&[Vec<&[u8]>]>),
    ) -> Option<Column> {
        let Dimension { kind, offset, .. } = self.dimensions[dimension];
        let at = (offset != AFTER_LIST).then_some(offset);
        let token = |i: usize| -> Option<&[u8]> {
            let line = self.row(rows[i]);
            let at = at.or_else(|| text_offset(&self.dimensions, line, dimension))? + k;
            match tokens {
                Some(all) => all[i].get(at).copied(),
                None => token(line, split, at),
            }
        };
        let plain = || {
            Some(collect_as!(kind, T => parallel::try_values(rows.len(), |i| {
                std::str::from_utf8(token(i)?).ok()?.parse::<T>().ok()
            })?))
        };
        plain().or_else(|| {
            // A line that is too short lacks its last values.
            let value = |i: usize| number::value(token(i).unwrap_or_default());
            of_kind(Column::F64(parallel::try_values(rows.len(), value)?), kind)
        })
    }
}

impl Table {
    /// Returns the coordinates of all rows, in parallel; `None` unless they are floats at fixed places of records.
    /// Other types are left to `column`.
    pub(crate) fn float_coordinates(&self) -> Option<Coordinates> {
        let Store::Records { bytes, stride } = &self.store else { return None };
        let dimensions = self.xyz.map(|dimension| &self.dimensions[dimension]);
        let last = *self.xyz.iter().max()?;
        let plain = |s: &&Dimension| s.count == 1 && s.bits.is_none() && s.scale.is_none();
        let lists = self.dimensions[..=last].iter().any(|s| s.list.is_some());
        if lists || !dimensions.iter().all(plain) || *stride == 0 {
            return None;
        }
        let places = dimensions.map(|s| s.offset);
        let all = |kind: NumberType| dimensions.iter().all(|s| s.kind == kind);
        let (count, big) = (bytes.len() / stride, self.big_endian);
        let record = |row: usize| &bytes[row * stride..][..*stride];
        if all(NumberType::F32) {
            let value = |number: [u8; 4]| match big {
                true => f32::from_be_bytes(number),
                false => f32::from_le_bytes(number),
            };
            let point = |row: usize| places.map(|at| value(number(record(row), at)));
            return Some(Coordinates::F32(parallel::values(count, point)));
        }
        if all(NumberType::F64) {
            let value = |number: [u8; 8]| match big {
                true => f64::from_be_bytes(number),
                false => f64::from_le_bytes(number),
            };
            let point = |row: usize| places.map(|at| value(number(record(row), at)));
            return Some(Coordinates::F64(parallel::values(count, point)));
        }
        None
    }
}

/// Returns the bytes of a number within a record, which has room for it.
fn number<const N: usize>(row: &[u8], at: usize) -> [u8; N] {
    row[at..].first_chunk().copied().unwrap_or([0; N])
}

/// Returns the byte offset of a dimension in a binary record that has lists before it.
pub(crate) fn binary_offset(
    dimensions: &[Dimension],
    record: &[u8],
    dimension: usize,
    big_endian: bool,
) -> Option<usize> {
    let mut at = 0usize;
    for s in &dimensions[..dimension] {
        let mut count = s.count;
        if let Some(length) = s.list {
            count = list_length(record.get(at..)?, length, big_endian)?;
            at += length.size();
        }
        at = at.checked_add(count.checked_mul(s.kind.size())?)?;
    }
    Some(at)
}

/// Returns the length in front of a list; `None` if truncated or negative.
pub(crate) fn list_length(bytes: &[u8], kind: NumberType, big_endian: bool) -> Option<usize> {
    let mut wide = [0u8; 8];
    let bytes = bytes.get(..kind.size())?;
    for (i, &b) in bytes.iter().enumerate() {
        wide[if big_endian { kind.size() - 1 - i } else { i }] = b;
    }
    let value = u64::from_le_bytes(wide);
    let sign = 1u64 << (8 * kind.size() - 1);
    match kind {
        NumberType::I8 | NumberType::I16 | NumberType::I32 | NumberType::I64
            if value & sign != 0 =>
        {
            None
        }
        NumberType::F32 | NumberType::F64 => None,
        _ => usize::try_from(value).ok(),
    }
}

/// Describes how the number of values of a line differs from that of the dimensions, lists with the lengths in front of
/// them; `None` if it is right.
pub(crate) fn mismatch(dimensions: &[Dimension], line: &[u8], split: Split) -> Option<String> {
    let Some(list) = dimensions.iter().find(|dimension| dimension.list.is_some()) else {
        let values: usize = dimensions.iter().map(|dimension| dimension.count).sum();
        let found = Tokens::new(line, split).count();
        return (found != values).then(|| format!("{found} values instead of {values}"));
    };
    let mut tokens = Tokens::new(line, split);
    let whole = dimensions.iter().all(|dimension| {
        let count = match dimension.list {
            None => Some(dimension.count),
            Some(_) => {
                tokens.next().and_then(|token| std::str::from_utf8(token).ok()?.parse().ok())
            }
        };
        count.is_some_and(|count: usize| count == 0 || tokens.nth(count - 1).is_some())
    });
    (!whole || tokens.next().is_some()).then(|| {
        format!("the number of values does not match the lengths of lists, such as '{}'", list.name)
    })
}

/// Returns the number of the first token of a dimension in a line that has lists before it.
fn text_offset(dimensions: &[Dimension], line: &[u8], dimension: usize) -> Option<usize> {
    let tokens: Vec<&[u8]> = Tokens::new(line, Split::Space).collect();
    let mut at = 0usize;
    for s in &dimensions[..dimension] {
        let mut count = s.count;
        if s.list.is_some() {
            count = std::str::from_utf8(tokens.get(at)?).ok()?.parse().ok()?;
            at += 1;
        }
        at = at.checked_add(count)?;
    }
    Some(at)
}

/// The values of a text row. Between commas or semicolons an empty value counts as one.
pub(crate) struct Tokens<'a> {
    rest: Option<&'a [u8]>,
    split: Split,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(line: &'a [u8], split: Split) -> Tokens<'a> {
        let split = if split == Split::Any { Split::detect(line) } else { split };
        Tokens { rest: Some(line), split }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = self.rest?;
            let end = rest.iter().position(|&b| self.split.separates(b));
            let token = rest[..end.unwrap_or(rest.len())].trim_ascii();
            self.rest = end.map(|e| &rest[e + 1..]);
            if !token.is_empty() || matches!(self.split, Split::Comma | Split::Semicolon) {
                return Some(unquoted(token));
            }
        }
    }
}

/// Compiled once for all types that it is read as.
#[inline(never)]
fn token(line: &[u8], split: Split, at: usize) -> Option<&[u8]> {
    Tokens::new(line, split).nth(at)
}

/// Returns numbers of a text in its declared type; as they are, if that is a whole type and lacks some of them, but none
/// is beyond its range.
fn of_kind(values: Column, kind: NumberType) -> Option<Column> {
    let cast = values.cast(kind);
    let off = |i: usize| (values.get(i) - cast.get(i)).abs();
    let largest = (0..values.len()).map(off).fold(0.0, |a: f64, b| a.max(b));
    let whole = largest == 0.0 && !(0..values.len()).any(|i| values.get(i).is_nan());
    match kind {
        NumberType::F32 | NumberType::F64 => Some(cast),
        _ if whole => Some(cast),
        _ => (largest < 1.0).then_some(values),
    }
}

fn unquoted(token: &[u8]) -> &[u8] {
    match token {
        [b'"', inner @ .., b'"'] => inner,
        _ => token,
    }
}
