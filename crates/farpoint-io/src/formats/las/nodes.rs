//! The octree of COPC: the cube of the points of each chunk, so that a filter can leave chunks unread.

use crate::cloud::header::{LasHeader, Record};
use crate::cloud::layout::Chunks;
use crate::cloud::summary::Octree;
use crate::error::{ParseError, Place};
use std::collections::{HashMap, HashSet};

/// Bytes of an entry of the hierarchy.
const ENTRY: usize = 32;
/// Deeper nodes are too small for doubles.
const DEEPEST: i32 = 30;
/// Points may lie this many scale units outside of their cube: writers round them after choosing it.
const STEPS: f64 = 2.0;

/// The minimum and the maximum corner.
pub(crate) type Cube = [[f64; 3]; 2];

/// Reads bytes at an offset of the file.
pub(crate) type ReadAt<'a> = &'a dyn Fn(u64, usize) -> Result<Vec<u8>, ParseError>;

/// The record with the place of the octree.
struct Info {
    center: [f64; 3],
    halfsize: f64,
    /// Spacing of the root's points, as declared.
    spacing: f64,
    /// Offset and bytes of the first page.
    root: (u64, u64),
}

#[derive(Clone, Copy)]
struct Node {
    /// Level, x, y, z.
    key: [i32; 4],
    bytes: u64,
    points: usize,
}

/// Returns the cube of each chunk, grown by the rounding of points; `None` if the file is no COPC.
///
/// # Errors
/// If the octree is damaged, or does not belong to these chunks.
pub(crate) fn cubes(
    read: ReadAt<'_>,
    length: u64,
    header: &LasHeader,
    chunks: &dyn Chunks,
) -> Result<Option<Vec<Cube>>, ParseError> {
    let Some(record) = header.records.iter().find(|r| r.is("copc", 1)) else { return Ok(None) };
    let info = info(record)?;
    let mut nodes = walk(read, length, info.root)?;
    let raw = &header.raw;
    let steps = [raw.x_scale_factor, raw.y_scale_factor, raw.z_scale_factor];
    let mut cubes = Vec::new();
    for (chunk, points) in chunks.points().into_iter().enumerate() {
        let (at, bytes) = chunks.place(chunk);
        // Equal in both, or one of them does not belong to this file.
        let node = nodes.remove(&at).filter(|n| n.points == points && n.bytes == bytes as u64);
        let node = node.ok_or_else(|| {
            ParseError::new(format!("chunk {} is not a node of the octree", chunk + 1))
                .at(Place::Byte(at as usize))
        })?;
        cubes.push(info.cube(node.key, steps));
    }
    match nodes.len() {
        0 => Ok(Some(cubes)),
        more => Err(ParseError::new(format!("{more} nodes of the octree are not chunks"))),
    }
}

/// Refuses places of a chunk's points that are not in its cube.
pub(crate) fn check_places(
    chunk: usize,
    cube: &Cube,
    places: &[[f64; 3]],
) -> Result<(), ParseError> {
    let inside = |p: &[f64; 3]| (0..3).all(|k| cube[0][k] <= p[k] && p[k] <= cube[1][k]);
    match places.iter().find(|place| !inside(place)) {
        None => Ok(()),
        Some([x, y, z]) => Err(ParseError::new(format!(
            "chunk {} has a point at {x} {y} {z}, outside of its node of the octree",
            chunk + 1
        ))),
    }
}

/// Returns the properties of the octree; `None` if the file is no COPC.
///
/// # Errors
/// If the octree is damaged.
pub(crate) fn octree(
    read: ReadAt<'_>,
    length: u64,
    header: &LasHeader,
) -> Result<Option<Octree>, ParseError> {
    let Some(record) = header.records.iter().find(|r| r.is("copc", 1)) else { return Ok(None) };
    let info = info(record)?;
    let nodes = walk(read, length, info.root)?;
    let levels = nodes.values().map(|node| node.key[0] + 1).max().unwrap_or(0);
    let largest = nodes.values().map(|node| node.points as u64).max().unwrap_or(0);
    let spacing = info.spacing;
    Ok(Some(Octree { spacing, levels: levels as u32, nodes: nodes.len(), largest }))
}

fn info(record: &Record) -> Result<Info, ParseError> {
    let data = record.data();
    let eight = |at: usize| -> Option<[u8; 8]> { data.get(at..at + 8)?.try_into().ok() };
    let double = |at: usize| eight(at).map(f64::from_le_bytes);
    let whole = |at: usize| eight(at).map(u64::from_le_bytes);
    let found = || {
        let center = [double(0)?, double(8)?, double(16)?];
        let (halfsize, spacing) = (double(24)?, double(32)?);
        let root = (whole(40)?, whole(48)?);
        let is_valid =
            center.iter().all(|c| c.is_finite()) && halfsize.is_finite() && halfsize >= 0.0;
        is_valid.then_some(Info { center, halfsize, spacing, root })
    };
    found().ok_or_else(|| ParseError::new("the COPC record has an invalid cube"))
}

impl Info {
    fn cube(&self, [level, place @ ..]: [i32; 4], steps: [f64; 3]) -> Cube {
        let side = 2.0 * self.halfsize / f64::from(1 << level);
        let low = |axis: usize| self.center[axis] - self.halfsize + f64::from(place[axis]) * side;
        // Besides the scale, the rounding of doubles at such places.
        let margin = |axis: usize| {
            STEPS * steps[axis].abs() + (self.center[axis].abs() + self.halfsize) * 1e-12
        };
        [
            std::array::from_fn(|axis| low(axis) - margin(axis)),
            std::array::from_fn(|axis| low(axis) + side + margin(axis)),
        ]
    }
}

/// Returns all nodes with points, by their place in the file; pages are in any order.
fn walk(read: ReadAt<'_>, length: u64, root: (u64, u64)) -> Result<HashMap<u64, Node>, ParseError> {
    let (mut nodes, mut pages, mut known) = (HashMap::new(), vec![root], HashSet::new());
    while let Some((at, bytes)) = pages.pop() {
        let damaged = |what: String| ParseError::new(what).at(Place::Byte(at as usize));
        let fits = at.checked_add(bytes).is_some_and(|end| end <= length);
        if !fits || !bytes.is_multiple_of(ENTRY as u64) {
            return Err(damaged(format!("a page of {bytes} bytes of the octree is truncated")));
        }
        // A page that leads to itself would never end.
        if !known.insert(at) {
            return Err(damaged("a page of the octree is listed twice".into()));
        }
        for entry in read(at, bytes as usize)?.chunks_exact(ENTRY) {
            let four = |k: usize| [entry[k], entry[k + 1], entry[k + 2], entry[k + 3]];
            let number = |k: usize| i32::from_le_bytes(four(k));
            let key = [number(0), number(4), number(8), number(12)];
            let mut offset = [0; 8];
            offset.copy_from_slice(&entry[16..24]);
            let (offset, bytes, points) = (u64::from_le_bytes(offset), number(24), number(28));
            let is_valid = (0..=DEEPEST).contains(&key[0])
                && key[1..].iter().all(|&k| (0..1i64 << key[0]).contains(&i64::from(k)));
            match (points, u64::try_from(bytes)) {
                (0, _) if is_valid => {}
                (-1, Ok(bytes)) if is_valid => pages.push((offset, bytes)),
                (1.., Ok(bytes)) if is_valid => {
                    let node = Node { key, bytes, points: points as usize };
                    if nodes.insert(offset, node).is_some() {
                        return Err(damaged(format!("two nodes of the octree are at {offset}")));
                    }
                }
                _ => return Err(damaged(format!("node {key:?} of the octree is damaged"))),
            }
        }
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: [i32; 4], offset: u64, bytes: i32, points: i32) -> Vec<u8> {
        let mut entry: Vec<u8> = key.iter().flat_map(|k| k.to_le_bytes()).collect();
        entry.extend(offset.to_le_bytes());
        entry.extend(bytes.to_le_bytes());
        entry.extend(points.to_le_bytes());
        entry
    }

    fn walked(file: &[u8], root: (u64, u64)) -> Result<usize, String> {
        let read = |at: u64, length: usize| Ok(file[at as usize..][..length].to_vec());
        walk(&read, file.len() as u64, root).map(|nodes| nodes.len()).map_err(|error| error.what)
    }

    #[test]
    fn pages_may_come_in_any_order() {
        let child = entry([1, 1, 0, 1], 500, 10, 3);
        let root = [entry([0, 0, 0, 0], 400, 10, 2), entry([1, 1, 0, 1], 0, 32, -1)].concat();
        assert_eq!(walked(&[child, root].concat(), (32, 64)), Ok(2));
    }

    #[test]
    fn a_damaged_octree_is_an_error_and_ends() {
        let assert_fails = |file: &[u8], root, what: &str| {
            let message = walked(file, root).unwrap_err();
            assert!(message.contains(what), "{message}");
        };
        assert_fails(&entry([0, 0, 0, 0], 0, 32, -1), (0, 32), "twice");
        assert_fails(&entry([0, 0, 0, 0], 8, 32, -1), (0, 32), "truncated");
        assert_fails(&entry([0, 0, 0, 0], u64::MAX, 32, -1), (0, 32), "truncated");
        assert_fails(&[0; 40], (0, 33), "truncated");
        for wrong in [[-1, 0, 0, 0], [31, 0, 0, 0], [0, 1, 0, 0], [2, 0, -1, 0]] {
            assert_fails(&entry(wrong, 0, 5, 5), (0, 32), "damaged");
        }
        assert_fails(&entry([0; 4], 0, -5, 5), (0, 32), "damaged");
        assert_fails(&entry([0; 4], 0, 5, -2), (0, 32), "damaged");
        let twice = [entry([0; 4], 7, 5, 1), entry([1, 0, 0, 0], 7, 5, 1)].concat();
        assert_fails(&twice, (0, 64), "two nodes");
    }

    #[test]
    fn cubes_halve_with_each_level() {
        let info = Info { center: [10.0, 20.0, 30.0], halfsize: 8.0, spacing: 1.0, root: (0, 0) };
        let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-9);
        let [low, high] = info.cube([2, 3, 0, 1], [0.0; 3]);
        assert!(
            near(low, [14.0, 12.0, 26.0]) && near(high, [18.0, 16.0, 30.0]),
            "{low:?} {high:?}"
        );
        let [low, _] = info.cube([0; 4], [0.5, 0.0, 0.0]);
        assert!(near(low, [1.0, 12.0, 22.0]), "{low:?}");
    }
}
