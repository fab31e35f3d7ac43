//! The hierarchy of COPC: pages of entries with the places of the points of each node.

use super::levels::Key;
use std::collections::HashMap;

/// Bytes of an entry.
const ENTRY: usize = 32;
/// Largest number of entries of a page: 19 KB, and four full levels.
pub(super) const PAGE: usize = 600;

/// A node and the place of its points in the file, which is ignored without points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) points: u64,
}

/// Hierarchy pages, and the length of the first page, which contains the root.
pub(super) struct Pages {
    pub(super) bytes: Vec<u8>,
    pub(super) root: u64,
}

/// Builds the pages of entries sorted from coarse to fine; `start` is their offset in the file.
///
/// The root page comes first, as some readers expect. The entry of a node at the top of another page is
/// in that page; its entry in the parent page points to the page.
pub(super) fn pages(entries: &[Entry], start: u64) -> Pages {
    let parents = parents(entries);
    let tops = tops(&parents);
    // The page of each node. Coarse comes before fine, so that a page is there before those that it points to.
    let mut numbers: Vec<usize> = Vec::with_capacity(entries.len());
    let mut pages: Vec<Vec<PageEntry>> = vec![Vec::new()];
    for (i, entry) in entries.iter().enumerate() {
        let mut page = numbers.get(parents[i]).copied().unwrap_or(0);
        if tops[i] {
            let next = pages.len();
            pages[page].push(PageEntry::Page(entry.key, next));
            pages.push(Vec::new());
            page = next;
        }
        pages[page].push(PageEntry::Node(*entry));
        numbers.push(page);
    }
    lay_out(&pages, start)
}

/// Returns the index of the parent of each entry; that of the root is its own.
fn parents(entries: &[Entry]) -> Vec<usize> {
    let mut indices: HashMap<(u32, [u32; 3]), usize> = HashMap::with_capacity(entries.len());
    let parent = |(i, entry): (usize, &Entry)| {
        let key = entry.key;
        indices.insert((key.level, key.cell), i);
        let above = if key.level > 0 { key.parent() } else { key };
        indices.get(&(above.level, above.cell)).copied().unwrap_or(0)
    };
    entries.iter().enumerate().map(parent).collect()
}

/// Returns whether each node is at the top of a page of its own: the fewest pages of at most [`PAGE`] entries.
///
/// From fine to coarse, a node takes the subtrees of its children into its page and, where they are too many, leaves
/// out the largest (Kundu and Misra, 1977).
fn tops(parents: &[usize]) -> Vec<bool> {
    let mut tops = vec![false; parents.len()];
    // Entries of the subtree of each child, as far as it is in the page of the child.
    let mut children: Vec<Vec<(usize, usize)>> = vec![Vec::new(); parents.len()];
    for i in (0..parents.len()).rev() {
        let mut below = std::mem::take(&mut children[i]);
        below.sort_unstable();
        let mut size = 1 + below.iter().map(|(size, _)| size).sum::<usize>();
        while size > PAGE {
            let Some((largest, child)) = below.pop() else { break };
            tops[child] = true;
            // The entry that points to the page stays.
            size -= largest - 1;
        }
        if i > 0 {
            children[parents[i]].push((size, i));
        }
    }
    tops
}

/// Content of an entry of a page.
enum PageEntry {
    Node(Entry),
    /// A page of this number.
    Page(Key, usize),
}

fn lay_out(pages: &[Vec<PageEntry>], start: u64) -> Pages {
    let mut at = start;
    let places: Vec<(u64, u64)> = pages
        .iter()
        .map(|page| {
            let length = (page.len() * ENTRY) as u64;
            at += length;
            (at - length, length)
        })
        .collect();
    let mut bytes = Vec::with_capacity((at - start) as usize);
    for page_entry in pages.iter().flatten() {
        let (key, offset, size, points) = match page_entry {
            PageEntry::Node(entry) => (entry.key, entry.offset, entry.bytes, entry.points as i32),
            PageEntry::Page(key, number) => (*key, places[*number].0, places[*number].1, -1),
        };
        let numbers = [key.level, key.cell[0], key.cell[1], key.cell[2]];
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(offset.to_le_bytes());
        bytes.extend((size as u32).to_le_bytes());
        bytes.extend(points.to_le_bytes());
    }
    Pages { bytes, root: places[0].1 }
}
