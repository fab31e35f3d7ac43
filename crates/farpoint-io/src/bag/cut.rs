//! Work on one piece: its clouds are cut down to the chosen rows, all else is unchanged.

use super::cloud2::PointCloud2;
use super::frames::{HEAD, damaged};
use super::pieces::{Piece, each_record};
use super::unpack::Unpacker;
use super::wire::Encoding;
use crate::cloud::coordinates::Coordinates;
use crate::error::ParseError;
use crate::means::Groups;
use mcap::records::op;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Bytes in front of the data of a message: channel, sequence, log time, publish time.
const MESSAGE_HEAD: usize = 22;

/// The points of a message that are kept.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Kept {
    /// Rows of the message, each once, in the order of writing.
    pub rows: Vec<usize>,
    /// In their place, points that stand for groups of rows, at these positions.
    pub means: Option<(Groups, Coordinates)>,
    /// Number of rows that could not be kept because they have no position: NaN, infinity, no return.
    pub dropped: usize,
}

impl Kept {
    /// These rows of a message, of which `dropped` others could not be kept.
    pub fn new(rows: Vec<usize>, dropped: usize) -> Kept {
        Kept { rows, means: None, dropped }
    }

    /// A point for each of these groups of rows of a message, of which `dropped` others could not be kept.
    pub fn means(groups: Groups, centers: Coordinates, dropped: usize) -> Kept {
        Kept { rows: Vec::new(), means: Some((groups, centers)), dropped }
    }
}

/// Result of the work on one message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cut {
    /// Number of the topic in [`super::Rewrite::topics`].
    pub topic: usize,
    /// Log time, in nanoseconds.
    pub log_time: u64,
    /// Number of points before and after, and of those that could not be kept.
    pub points: [usize; 3],
    /// Duration of the work.
    pub time: Duration,
    /// Reason why the message could not be read and was passed on unchanged.
    pub error: Option<String>,
}

/// Function that chooses the rows of a message; the error is the reason why it can't be read.
pub(super) type Choose<'a> = &'a (dyn Fn(&PointCloud2<'_>) -> Result<Kept, String> + Sync);

/// A piece that is ready to be written.
pub(super) enum Ready {
    /// Records one after another, each with its head.
    Records { bytes: Vec<u8>, chunked: bool, cuts: Vec<Cut>, unpacking: Duration },
    /// Position and length of an attachment in the input.
    Attachment { at: u64, length: u64 },
}

/// Does the work on one piece; `channels` are those whose clouds are cut down, with the numbers of their topics.
pub(super) fn cut(
    piece: &Piece,
    unpacker: &mut Unpacker,
    channels: &BTreeMap<u16, (usize, Encoding)>,
    choose: Choose<'_>,
) -> Result<Ready, ParseError> {
    let chunked = match piece {
        Piece::Attachment { at, length } => {
            return Ok(Ready::Attachment { at: *at, length: *length });
        }
        Piece::Chunk { .. } => true,
        Piece::Record { chunked, .. } => *chunked,
    };
    let start = Instant::now();
    let (mut bytes, mut cuts) = (Vec::new(), Vec::new());
    each_record(piece, unpacker, &mut |opcode, content| {
        let topic = match opcode {
            op::MESSAGE => channel(content)?.and_then(|channel| channels.get(&channel)),
            _ => None,
        };
        match topic {
            None => record(&mut bytes, opcode, [content, &[]]),
            Some(&topic) => {
                let (head, message) = content.split_at(MESSAGE_HEAD);
                let (shorter, cut) = one(topic, head, message, choose);
                record(&mut bytes, opcode, [head, shorter.as_deref().unwrap_or(message)]);
                cuts.push(cut);
            }
        }
        Ok(())
    })?;
    let cutting: Duration = cuts.iter().map(|cut: &Cut| cut.time).sum();
    let unpacking = start.elapsed().saturating_sub(cutting);
    Ok(Ready::Records { bytes, chunked, cuts, unpacking })
}

/// Cuts one message; without a shorter form it is passed on.
fn one(
    (topic, encoding): (usize, Encoding),
    head: &[u8],
    message: &[u8],
    choose: Choose<'_>,
) -> (Option<Vec<u8>>, Cut) {
    let start = Instant::now();
    let done = PointCloud2::parse(encoding, message).and_then(|cloud| {
        let kept = choose(&cloud)?;
        let dense = kept.dropped > 0;
        let (count, shorter) = match kept.means {
            None => (kept.rows.len(), cloud.with_rows(&kept.rows, dense)),
            Some((groups, centers)) => (groups.len(), cloud.with_means(&groups, centers, dense)),
        };
        Ok((shorter, [cloud.len(), count, kept.dropped]))
    });
    let log_time = u64::from_le_bytes(head[6..14].try_into().unwrap_or_default());
    let time = start.elapsed();
    match done {
        Ok((shorter, points)) => {
            (Some(shorter), Cut { topic, log_time, points, time, error: None })
        }
        Err(error) => (None, Cut { topic, log_time, points: [0; 3], time, error: Some(error) }),
    }
}

/// The channel of a message.
fn channel(content: &[u8]) -> Result<Option<u16>, ParseError> {
    match content {
        [low, high, ..] if content.len() >= MESSAGE_HEAD => {
            Ok(Some(u16::from_le_bytes([*low, *high])))
        }
        _ => Err(damaged(format!("a message of {} bytes", content.len()))),
    }
}

fn record(into: &mut Vec<u8>, opcode: u8, parts: [&[u8]; 2]) {
    let length = parts.iter().map(|part| part.len()).sum::<usize>();
    into.reserve(HEAD + length);
    into.push(opcode);
    into.extend_from_slice(&(length as u64).to_le_bytes());
    parts.iter().for_each(|part| into.extend_from_slice(part));
}

/// Iterates over records that were joined like this.
pub(super) fn records(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let length = u64::from_le_bytes(head[1..].try_into().ok()?) as usize;
        let (content, rest) = rest.split_at_checked(length)?;
        bytes = rest;
        Some((head[0], content))
    })
}
