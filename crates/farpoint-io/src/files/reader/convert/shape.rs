//! The end of the header of an output, and the places of its rows.

use crate::cloud::header::Header;
use crate::format::Format;
use crate::formats::npy;

/// An output's header, and the places of its rows.
pub(super) struct Shape {
    pub(super) head: Head,
    pub(super) body: Body,
}

/// A header that does not depend on the number of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// With [`COUNT`] in place of that number.
    Counted(Vec<u8>),
    /// Description in an NPY header, and the number of columns if they are of one type.
    Npy(String, Option<usize>),
}

/// Places of the rows.
pub(super) enum Body {
    Records { start: usize, stride: usize },
    Lines { start: usize },
}

/// Placeholder for the number of rows.
const COUNT: &[u8] = b"\0count\0";

impl Shape {
    /// Splits an output of `rows` rows; `None` if its parts cannot be told apart.
    pub(super) fn parse(
        format: Format,
        bytes: &[u8],
        rows: usize,
        input: &Header,
    ) -> Option<Shape> {
        let records = |start: usize| -> Option<Body> {
            let stride = bytes.len().checked_sub(start)? / rows.max(1);
            (start + stride * rows == bytes.len()).then_some(Body::Records { start, stride })
        };
        let line = |word: &str| {
            let at = bytes.windows(word.len()).position(|w| w == word.as_bytes())?;
            Some(at + bytes[at..].iter().position(|&b| b == b'\n')? + 1)
        };
        match format {
            Format::Las => {
                let number = |at: usize, n: usize| {
                    bytes
                        .get(at..at + n)?
                        .iter()
                        .rev()
                        .try_fold(0, |all, &b| Some(all << 8 | usize::from(b)))
                };
                let (start, stride) = (number(96, 4)?, number(105, 2)?);
                // All that depends on the rows is left out: counts, bounds, places.
                let head = [&bytes[104..107], &bytes[131..179], &bytes[375.min(start)..start]];
                let head = Head::Counted(head.concat());
                Some(Shape { head, body: Body::Records { start, stride } })
            }
            Format::Npy => {
                let start = npy::length_of_header(bytes)?;
                let (descr, shape) = npy::parts_of_header(&bytes[..start])?;
                let head = Head::Npy(descr, shape.get(1).copied());
                Some(Shape { head, body: records(start)? })
            }
            Format::Ply | Format::Pcd => {
                let ply = format == Format::Ply;
                let start = line(if ply { "\nend_header" } else { "\nDATA " });
                // The first line feed found is the one before it.
                let start = start
                    .and_then(|at| Some(at + bytes[at..].iter().position(|&b| b == b'\n')? + 1))?;
                let ascii = contains(
                    &bytes[..start],
                    if ply { b"\nformat ascii" } else { b"\nDATA ascii" },
                );
                let body = if ascii { Body::Lines { start } } else { records(start)? };
                let words: &[&str] =
                    if ply { &["\nelement vertex "] } else { &["\nWIDTH ", "\nPOINTS "] };
                let head = Head::Counted(counted(&bytes[..start], words, rows));
                Some(Shape { head, body })
            }
            _ => {
                let start = lines_before(bytes, rows)?;
                let mut head = bytes[..start].to_vec();
                let number = rows.to_string();
                let at = match input {
                    _ if head == format!("{number}\n").as_bytes() => Some(0),
                    Header::Text(input) => input.count.map(|(start, _)| start),
                    _ => None,
                };
                let at = at.filter(|&at| head[at.min(head.len())..].starts_with(number.as_bytes()));
                if let Some(at) = at {
                    head.splice(at..at + number.len(), COUNT.iter().copied());
                }
                Some(Shape { head: Head::Counted(head), body: Body::Lines { start } })
            }
        }
    }
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|w| w == word)
}

/// Replaces by [`COUNT`] the number of rows that follows one of the words, up to the line's end.
fn counted(head: &[u8], words: &[&str], rows: usize) -> Vec<u8> {
    let mut out = head.to_vec();
    for word in words {
        let pattern = format!("{word}{rows}");
        let ends = |at: usize| matches!(out.get(at + pattern.len()), Some(b'\n' | b'\r'));
        let mut places = (0..out.len()).filter(|&at| out[at..].starts_with(pattern.as_bytes()));
        if let Some(at) = places.find(|&at| ends(at)) {
            out.splice(at + word.len()..at + pattern.len(), COUNT.iter().copied());
        }
    }
    out
}

/// Returns the byte offset of the last `rows` lines.
fn lines_before(bytes: &[u8], rows: usize) -> Option<usize> {
    let mut ends = bytes.iter().enumerate().rev().filter(|(_, b)| **b == b'\n').map(|(at, _)| at);
    let _ = ends.next().filter(|&at| at + 1 == bytes.len())?;
    match ends.nth(rows.checked_sub(1)?) {
        Some(at) => Some(at + 1),
        None => (bytes.iter().filter(|&&b| b == b'\n').count() == rows).then_some(0),
    }
}

impl Head {
    /// Returns the header for `count` rows.
    pub(super) fn with_count(&self, count: u64) -> Vec<u8> {
        let head = match self {
            Head::Counted(head) => head,
            Head::Npy(descr, columns) => {
                let shape: Vec<usize> = [count as usize].into_iter().chain(*columns).collect();
                return npy::header(descr, &shape);
            }
        };
        let (mut out, mut rest) = (Vec::new(), &head[..]);
        while let Some(at) = rest.windows(COUNT.len()).position(|w| w == COUNT) {
            out.extend_from_slice(&rest[..at]);
            out.extend(count.to_string().bytes());
            rest = &rest[at + COUNT.len()..];
        }
        out.extend_from_slice(rest);
        out
    }
}

impl Body {
    /// Returns the first rows.
    pub(super) fn first(&self, bytes: &[u8], rows: usize) -> Vec<u8> {
        match *self {
            Body::Records { start, stride } => bytes[start..start + rows * stride].to_vec(),
            Body::Lines { start } => {
                let mut ends = bytes[start..].iter().enumerate().filter(|(_, b)| **b == b'\n');
                let end = rows.checked_sub(1).and_then(|last| ends.nth(last));
                bytes[start..end.map_or(start, |(at, _)| start + at + 1)].to_vec()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_replaced_in_headers() {
        let head = b"ply\ncomment element vertex 12\nelement vertex 12\r\nproperty float x\n";
        let found = counted(head, &["\nelement vertex "], 12);
        let expected =
            b"ply\ncomment element vertex 12\nelement vertex 1234567\r\nproperty float x\n";
        assert_eq!(Head::Counted(found).with_count(1_234_567), expected);
        assert_eq!(Head::Counted(b"x,y,z\n".to_vec()).with_count(7), b"x,y,z\n");
    }

    #[test]
    fn lines_are_counted_from_the_end() {
        assert_eq!(lines_before(b"# x\n1\n2\n", 2), Some(4));
        assert_eq!(lines_before(b"1\n2\n", 2), Some(0));
        assert_eq!(lines_before(b"1\n2\n", 3), None);
        let body = Body::Lines { start: 4 };
        assert_eq!(body.first(b"# x\n1\n2\n", 1), b"1\n");
        assert_eq!(body.first(b"# x\n1\n2\n", 0), b"");
    }
}
