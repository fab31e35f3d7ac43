//! Text in pieces of whole lines, one thread a piece.

use crate::bytes::parallel;
use std::ops::Range;

/// Bytes of a piece.
const PIECE: usize = 1 << 20;

/// Lines that a thread formats at a time.
const LINES: usize = 1 << 13;

/// Cuts `range` of the bytes into pieces that end with a line, the last one wherever that ends.
pub(crate) fn pieces(bytes: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
    pieces_of(bytes, range, PIECE)
}

fn pieces_of(bytes: &[u8], range: Range<usize>, size: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let middle = range.end.min(start + size);
        let rest = &bytes[middle..range.end];
        let end = rest.iter().position(|&b| b == b'\n').map_or(range.end, |n| middle + n + 1);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// Returns the ranges of the lines that are not blank. `ends` returns whether a byte ends a line.
pub(crate) fn filled_lines(
    bytes: &[u8],
    range: Range<usize>,
    ends: impl Fn(u8) -> bool + Sync,
) -> Vec<(usize, usize)> {
    let filled = |piece: Range<usize>| -> Vec<(usize, usize)> {
        let mut start = piece.start;
        let lines = bytes[piece].split(|&b| ends(b)).filter_map(|line| {
            let span = (start, start + line.len());
            start += line.len() + 1;
            (!line.trim_ascii().is_empty()).then_some(span)
        });
        lines.collect()
    };
    let found = parallel::map(pieces(bytes, range).into_iter(), filled);
    joined(&found.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The number of the line that starts at `at`, from 1.
pub(crate) fn line_number(bytes: &[u8], at: usize) -> usize {
    let ends = |part: &[u8]| part.iter().filter(|&&b| b == b'\n').count();
    1 + parallel::map(bytes[..at].chunks(PIECE), ends).iter().sum::<usize>()
}

/// The first line that passes the test.
pub(crate) fn find_line(
    lines: &[(usize, usize)],
    test: impl Fn(&(usize, usize)) -> bool + Sync,
) -> Option<(usize, usize)> {
    let of_block = |block: &[(usize, usize)]| match block.iter().find(|line| test(line)) {
        Some(line) => Err(*line),
        None => Ok(()),
    };
    parallel::try_map(lines.chunks(LINES), of_block).err()
}

/// Changes the ranges of lines.
pub(crate) fn change_lines(
    lines: &mut [(usize, usize)],
    change: impl Fn(&mut (usize, usize)) + Sync,
) {
    parallel::each(lines.chunks_mut(LINES), |block| block.iter_mut().for_each(&change));
}

/// Appends `count` lines, each appended by `line` to its buffer.
pub(crate) fn append_lines(
    out: &mut Vec<u8>,
    count: usize,
    line: impl Fn(usize, &mut Vec<u8>) + Sync,
) {
    let blocks = parallel::map(0..count.div_ceil(LINES), |block| {
        let mut text = Vec::new();
        let first = block * LINES;
        (first..count.min(first + LINES)).for_each(|row| line(row, &mut text));
        text
    });
    let parts: Vec<&[u8]> =
        [&out[..]].into_iter().chain(blocks.iter().map(Vec::as_slice)).collect();
    *out = joined(&parts);
}

/// Joins the results of all pieces into one vector.
pub(crate) fn joined<T: Copy + Default + Send + Sync>(parts: &[&[T]]) -> Vec<T> {
    let mut all = vec![T::default(); parts.iter().map(|part| part.len()).sum()];
    let mut free = &mut all[..];
    let parts = parts.iter().map(|part| (free.split_off_mut(..part.len()), part));
    parallel::each(parts, |(place, part)| place.into_iter().for_each(|p| p.copy_from_slice(part)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines() {
        let text = b"head\n1\n22\n\n333\r\n4444\n55555";
        for size in 1..40 {
            let pieces = pieces_of(text, 5..text.len(), size);
            let whole: Vec<u8> = pieces.iter().flat_map(|p| text[p.clone()].to_vec()).collect();
            assert_eq!(whole, text[5..]);
            let (_, others) = pieces.split_last().unwrap();
            assert!(others.iter().all(|p| text[p.clone()].ends_with(b"\n")));
        }
        assert!(pieces_of(text, 3..3, 8).is_empty());
        assert_eq!((line_number(text, 0), line_number(text, 5), line_number(text, 10)), (1, 2, 4));
    }

    #[test]
    fn lines_come_in_order() {
        for count in [0, 1, LINES, 2 * LINES + 1] {
            let mut out = b"head\n".to_vec();
            append_lines(&mut out, count, |row, text| text.extend(format!("{row}\n").bytes()));
            let expected: String = (0..count).map(|row| format!("{row}\n")).collect();
            assert!(out == format!("head\n{expected}").into_bytes());
        }
    }

    #[test]
    fn parts_are_joined_in_order() {
        assert_eq!(joined(&[&[1, 2], &[], &[3][..]]), [1, 2, 3]);
        assert_eq!(joined::<u8>(&[]), []);
    }
}
