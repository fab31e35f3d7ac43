//! The hierarchy of COPC: pages of entries with the places of the points of each node.

use super::levels::Key;
use std::collections::HashMap;

/// Bytes of an entry.
const ENTRY: usize = 32;
/// Levels of a page.
const LEVELS: u32 = 4;
/// Fewer nodes are in one page.
const ONE_PAGE: usize = 50;

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
/// in that page; its entry in the parent page points to the page. A node without children needs no page
/// of its own.
pub(super) fn pages(entries: &[Entry], start: u64) -> Pages {
    let mut inner: HashMap<(u32, [u32; 3]), bool> = HashMap::with_capacity(entries.len());
    for Entry { key, .. } in entries.iter().rev() {
        inner.entry((key.level, key.cell)).or_default();
        if key.level > 0 {
            let above = key.parent();
            inner.insert((above.level, above.cell), true);
        }
    }
    let starts_page = |key: Key| {
        let boundary = key.level > 0 && key.level.is_multiple_of(LEVELS);
        boundary && entries.len() >= ONE_PAGE && inner[&(key.level, key.cell)]
    };
    // Pages by their top node. Coarse comes before fine, so that the page which points to another one is there first.
    let mut numbers: HashMap<(u32, [u32; 3]), usize> = HashMap::new();
    let mut pages: Vec<Vec<PageEntry>> = vec![Vec::new()];
    for entry in entries {
        let (key, next) = (entry.key, pages.len());
        let page = numbers.get(&top_of(key)).copied().unwrap_or(0);
        if starts_page(key) {
            numbers.insert((key.level, key.cell), next);
            pages[page].push(PageEntry::Page(key, next));
            pages.push(vec![PageEntry::Node(*entry)]);
        } else {
            pages[page].push(PageEntry::Node(*entry));
        }
    }
    lay_out(&pages, start)
}

/// Content of an entry of a page.
enum PageEntry {
    Node(Entry),
    /// A page of this number.
    Page(Key, usize),
}

/// Returns the top of the page that holds a node, or points to its own: the ancestor at the last boundary above it.
fn top_of(key: Key) -> (u32, [u32; 3]) {
    let up = match key.level % LEVELS {
        0 => LEVELS.min(key.level),
        up => up,
    };
    (key.level - up, key.cell.map(|at| at >> up))
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
