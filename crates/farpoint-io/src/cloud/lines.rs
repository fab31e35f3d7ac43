//! Files of lines, found in one pass and read a piece of whole lines at a time.

use crate::bytes::parallel;
use crate::bytes::pieces::filled_lines;
use crate::cloud::table::{Split, Store, Table, mismatch};
use crate::error::{ParseError, Place};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Approximate bytes of a piece.
const PIECE: usize = 1 << 20;

/// The longest line, and the longest header of PLY and PCD: the parsed values of a line take many times its bytes.
pub(crate) const LONGEST: usize = 16 << 20;

/// Finds the places of rows among whole lines, without their line ends.
pub(crate) type Spans = fn(&[u8]) -> Vec<(usize, usize)>;

/// Whole lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Byte offset of its first row.
    pub(crate) at: u64,
    pub(crate) length: usize,
    pub(crate) rows: usize,
}

/// Parameters of a search for rows.
pub(crate) struct Search {
    /// Byte offset of the first line.
    pub(crate) from: u64,
    pub(crate) spans: Spans,
    /// Number of rows to skip first.
    pub(crate) skip: u64,
    /// Largest number of rows.
    pub(crate) limit: u64,
}

/// Refuses a line that is too long, from an offset on.
pub(crate) fn check(bytes: &[u8], from: usize) -> Result<(), ParseError> {
    let mut at = from;
    while bytes.len() - at > LONGEST {
        let part = &bytes[at..at + LONGEST];
        at += 1 + part
            .iter()
            .rposition(|&b| b == b'\n' || b == b'\r')
            .ok_or_else(|| too_long(at as u64))?;
    }
    Ok(())
}

/// Replaces lone carriage returns, the line ends of old systems, by line feeds. In a text that is `copied`, only if
/// all lines end like this: between others they may be a part of a line.
///
/// # Errors
/// If a line is too long.
pub(crate) fn with_feeds(bytes: Cow<'_, [u8]>, copied: bool) -> Result<Cow<'_, [u8]>, ParseError> {
    check(&bytes, 0)?;
    let alone = |bytes: &[u8], at: usize| bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    let any = || {
        let blocks = parallel::blocks(bytes.len());
        !parallel::all(blocks, |mut block| !block.any(|at| alone(&bytes, at)))
    };
    let found = if copied { ends_with_returns(&bytes) } else { bytes.contains(&b'\r') && any() };
    if !found {
        return Ok(bytes);
    }
    let mut bytes = bytes.into_owned();
    for at in 0..bytes.len() {
        if alone(&bytes, at) {
            bytes[at] = b'\n';
        }
    }
    Ok(Cow::Owned(bytes))
}

/// Returns whether all lines end with a lone carriage return.
pub(crate) fn ends_with_returns(bytes: &[u8]) -> bool {
    bytes.contains(&b'\r') && !bytes.contains(&b'\n')
}

/// Returns the lines that are not blank, without blanks at their ends.
pub(crate) fn filled(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut spans = filled_lines(bytes, 0..bytes.len(), |b| b == b'\n' || b == b'\r');
    for (start, end) in &mut spans {
        *end = *start + bytes[*start..*end].trim_ascii_end().len();
    }
    spans
}

/// Rows that are lines.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) spans: Spans,
    pub(crate) split: Split,
    pub(crate) pieces: Vec<Piece>,
    /// True if each row must have the values that the header describes.
    pub(crate) described: bool,
}

impl Lines {
    /// Returns the rows of a piece from its bytes; `head` is a table without any.
    pub(crate) fn table(&self, head: &Table, bytes: Vec<u8>) -> Result<Table, ParseError> {
        let spans = (self.spans)(&bytes);
        for (row, &(start, end)) in spans.iter().enumerate().filter(|_| self.described) {
            if let Some(what) = mismatch(&head.dimensions, &bytes[start..end], self.split) {
                return Err(ParseError::new(what).at(Place::Point(row)));
            }
        }
        let store = Store::Lines { bytes: bytes.into(), spans, split: self.split };
        Ok(Table { store, ..head.clone() })
    }
}

/// Returns the line end of a header, by its first one.
pub(crate) fn line_end(header: &[u8]) -> &'static [u8] {
    let first = header.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(header.len());
    match &header[first..] {
        [b'\r', b'\n', ..] => b"\r\n",
        [b'\n', b'\r', b'\n', ..] => b"\n",
        [b'\n', b'\r', ..] => b"\n\r",
        [b'\r', ..] => b"\r",
        _ => b"\n",
    }
}

/// Returns a warning of `number` bytes or lines, as `what` says, that a header does not account for.
pub(crate) fn left_over(number: u64, what: &str) -> Option<String> {
    let warning = format!(
        "{number} {what} after the last point are left out: the header may count too few points, or describe other rows"
    );
    (number > 0).then_some(warning)
}

/// Reads a file from an offset on, once; `each` is called with every row found. Returns the number of rows beyond the
/// limit, too.
pub(crate) fn pieces(
    file: &mut File,
    search: &Search,
    mut each: impl FnMut(&[u8]),
) -> Result<(Vec<Piece>, u64), ParseError> {
    let Search { from, spans: rows_of, mut skip, limit } = *search;
    file.seek(SeekFrom::Start(from)).map_err(read_error)?;
    let (mut found, mut rows, mut beyond, mut at) = (Vec::new(), 0, 0, from);
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        let read = file.by_ref().take(PIECE as u64).read_to_end(&mut bytes).map_err(read_error)?;
        let end = match bytes[before..].iter().rposition(|&b| b == b'\n') {
            _ if read == 0 => bytes.len(),
            Some(last) => before + last + 1,
            None if bytes.len() > LONGEST => return Err(too_long(at)),
            None => continue,
        };
        let mut spans = rows_of(&bytes[..end]);
        let passed = spans.len().min(usize::try_from(skip).unwrap_or(usize::MAX));
        skip -= passed as u64;
        spans.drain(..passed);
        let room = usize::try_from(limit - rows).unwrap_or(usize::MAX);
        beyond += spans.len().saturating_sub(room) as u64;
        spans.truncate(room);
        if let (Some(first), Some(last)) = (spans.first(), spans.last()) {
            let (start, length) = (at + first.0 as u64, last.1 - first.0);
            found.push(Piece { at: start, length, rows: spans.len() });
            rows += spans.len() as u64;
            spans.iter().for_each(|&(start, end)| each(&bytes[start..end]));
        }
        if read == 0 {
            return Ok((found, beyond));
        }
        bytes.drain(..end);
        at += end as u64;
    }
}

fn too_long(at: u64) -> ParseError {
    let what = format!("the line that starts here is longer than {} MiB", LONGEST >> 20);
    let fix = "put one point on each line; this may not be a text file";
    ParseError::new(what).at(Place::Byte(at as usize)).fix(fix)
}

fn read_error(error: io::Error) -> ParseError {
    ParseError { io: Some(error), ..ParseError::new("cannot be read") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn uncommented(bytes: &[u8]) -> Vec<(usize, usize)> {
        let all = filled(bytes).into_iter();
        all.filter(|&(start, _)| bytes[start] != b'#').collect()
    }

    #[test]
    fn pieces_hold_all_rows_once() {
        let mut text = b"head\n".to_vec();
        for k in 0..200_000 {
            let end = if k % 3 == 0 { "\r\n" } else { "\n" };
            text.extend(format!("{k} 2 3{end}").bytes());
            if k % 1000 == 0 {
                text.extend(b"# comment\n\n");
            }
        }
        text.truncate(text.trim_ascii_end().len());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&text).unwrap();
        let all: [(Spans, u64, u64); 5] = [
            (uncommented, 0, u64::MAX),
            (uncommented, 7, 150_000),
            (filled, 150_001, u64::MAX),
            (filled, 3, 1),
            (uncommented, 300_000, 9),
        ];
        for (spans, skip, limit) in all {
            let all = spans(&text[5..]).into_iter().map(|s| &text[5..][s.0..s.1]);
            let expected: Vec<&[u8]> =
                all.skip(skip as usize).take(limit.min(1 << 40) as usize).collect();
            let mut seen: Vec<Vec<u8>> = Vec::new();
            let search = Search { from: 5, spans, skip, limit };
            let (found, beyond) =
                pieces(&mut file, &search, |row| seen.push(row.to_vec())).unwrap();
            assert_eq!(seen, expected);
            let others = spans(&text[5..]).len().saturating_sub(skip as usize) - seen.len();
            assert_eq!(beyond, others as u64);
            let mut again: Vec<&[u8]> = Vec::new();
            for piece in found {
                let bytes = &text[piece.at as usize..][..piece.length];
                let found = spans(bytes);
                assert_eq!(found.len(), piece.rows);
                again.extend(found.into_iter().map(|s| &bytes[s.0..s.1]));
            }
            assert_eq!(again, expected);
        }
    }
}
