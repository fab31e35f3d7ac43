//! The points of a tile: in memory, or in its store with boxes and bounds of pages in memory.

use super::TileOptions;
use super::log::Log;
use crate::slab::{Collected, NOWHERE, Samples, Slab, keep_first, larger};
use crate::{Bound, Corners, Entry, Key, Pages, Store, StoreError, TileId};
use farpoint::{Level, Scalar};
use std::collections::HashMap;
use std::ops::Range;

/// Number of pages read at a time.
const READ_PAGES: usize = 64;

/// Pages in a group that is tested at once.
const GROUP: usize = 16;

/// Samples applied at a time when distances are recomputed.
const BATCH: usize = 1 << 16;

/// The points of a tile with their distances.
pub(super) struct TilePoints<T> {
    options: TileOptions,
    level: Level,
    /// Boxes and bounds of all pages. While the points are in memory, the bounds may be too high.
    pages: Vec<Bound<T>>,
    groups: Vec<Corners<T>>,
    page_points: usize,
    slab: Option<Slab<T>>,
    /// True if the store has distances that were written since the tile began.
    stored: bool,
    /// Samples not yet applied to the distances in the store; `None` if they must be read from the log.
    recent: Option<Samples<T>>,
    /// Single pages in memory, and the number of samples in `recent` that are applied to them.
    cache: HashMap<usize, (Slab<T>, usize)>,
    buffer: Pages<T>,
}

impl<T: Scalar> TilePoints<T> {
    pub(super) fn new(options: TileOptions, level: Level) -> Self {
        let (pages, groups, cache, buffer) = Default::default();
        let (page_points, slab, stored, recent) = (64, None, false, None);
        Self { options, level, pages, groups, page_points, slab, stored, recent, cache, buffer }
    }

    /// Begins from the log.
    pub(super) fn begin(&mut self, store: &mut impl Store<T>, log: &Log) -> Result<(), StoreError> {
        self.page_points = store.page_points();
        if self.page_points == 0 || !self.page_points.is_multiple_of(64) {
            return Err(format!(
                "pages of {} points; the number must be a multiple of 64",
                self.page_points
            )
            .into());
        }
        (self.slab, self.stored, self.recent) = (None, false, None);
        self.cache.clear();
        let largest = log.floor().map_or(T::INFINITY, Key::value);
        let boxes = match store.corners()? {
            Some(boxes) => boxes,
            None => self.boxes(store)?,
        };
        let count = store.points().div_ceil(self.page_points);
        if boxes.len() != count {
            return Err(format!("{} boxes for {count} pages", boxes.len()).into());
        }
        self.pages = boxes.into_iter().map(|corners| Bound { corners, largest }).collect();
        let around = |pages: &[Bound<T>]| {
            pages.iter().fold(Corners::none(), |mut sum, page| {
                sum.merge(&page.corners);
                sum
            })
        };
        self.groups = self.pages.chunks(GROUP).map(around).collect();
        Ok(())
    }

    /// Loads all points into memory if they are to stay there.
    pub(super) fn load_if_resident(
        &mut self,
        store: &mut impl Store<T>,
        log: &Log,
    ) -> Result<(), StoreError> {
        if self.options.resident { self.load(store, log) } else { Ok(()) }
    }

    /// Computes the boxes of pages by reading all of them.
    fn boxes(&mut self, store: &mut impl Store<T>) -> Result<Vec<Corners<T>>, StoreError> {
        let mut boxes = Vec::new();
        let count = store.points().div_ceil(self.page_points);
        for first in (0..count).step_by(READ_PAGES) {
            self.read(store, first..(first + READ_PAGES).min(count), false)?;
            let Pages { at: [x, y, z], .. } = &self.buffer;
            for start in (0..x.len()).step_by(self.page_points) {
                let mut corners = Corners::none();
                let points = start..(start + self.page_points).min(x.len());
                points.for_each(|k| corners.add([x[k], y[k], z[k]]));
                boxes.push(corners);
            }
        }
        Ok(boxes)
    }

    /// Reads pages into the buffer.
    fn read(
        &mut self,
        store: &mut impl Store<T>,
        pages: Range<usize>,
        values: bool,
    ) -> Result<(), StoreError> {
        self.buffer.clear();
        let points = pages.start * self.page_points..pages.end * self.page_points;
        let count = points.end.min(store.points()) - points.start;
        store.read(pages, values, &mut self.buffer)?;
        let Pages { at, values: read, rows } = &self.buffer;
        let expected = if values { count } else { read.len() };
        let fits = at.iter().all(|axis| axis.len() == count) && read.len() == expected;
        if fits && rows.len() == count { Ok(()) } else { Err("a page has the wrong length".into()) }
    }

    /// Returns the box around all points.
    pub(super) fn corners(&self) -> Corners<T> {
        self.groups.iter().fold(Corners::none(), |mut sum, group| {
            sum.merge(group);
            sum
        })
    }

    /// Returns an upper bound of all distances.
    pub(super) fn largest(&self) -> T {
        match &self.slab {
            Some(slab) => larger(T::ZERO, slab.largest()),
            None => self.pages.iter().fold(T::ZERO, |max, page| larger(max, page.largest)),
        }
    }

    /// Returns the exact largest distance.
    pub(super) fn exact_largest(
        &mut self,
        store: &mut impl Store<T>,
        log: &Log,
    ) -> Result<T, StoreError> {
        if self.slab.is_none() {
            let mut order: Vec<usize> = (0..self.pages.len()).collect();
            let largest =
                |&page: &usize| std::cmp::Reverse(self.pages[page].largest.sorting_bits());
            order.sort_by_key(largest);
            let mut max = T::ZERO;
            for page in order {
                if self.pages[page].largest <= max {
                    break;
                }
                self.load_page(store, log, page)?;
                max = larger(max, self.pages[page].largest);
            }
            return Ok(max);
        }
        Ok(self.largest())
    }

    /// Returns the points, if they are in memory.
    pub(super) fn slab(&mut self) -> Option<&mut Slab<T>> {
        self.slab.as_mut()
    }

    /// Loads all points into memory, with their current distances.
    pub(super) fn load(&mut self, store: &mut impl Store<T>, log: &Log) -> Result<(), StoreError> {
        if self.slab.is_some() {
            return Ok(());
        }
        self.cache = HashMap::new();
        let mut slab = Slab::new(self.level, self.options.threads);
        slab.reserve(store.points());
        for first in (0..self.pages.len()).step_by(READ_PAGES) {
            self.read(store, first..(first + READ_PAGES).min(self.pages.len()), self.stored)?;
            slab.add(&self.buffer);
        }
        slab.build();
        match self.recent.take() {
            Some(recent) => slab.lower(&recent),
            None => {
                let mut batch = Samples::new();
                log.replay(store, |facts: &[Entry<T>]| {
                    facts.iter().for_each(|fact| batch.push(fact.at));
                    if batch.len() >= BATCH {
                        slab.lower(&batch);
                        batch.clear();
                    }
                })?;
                slab.lower(&batch);
            }
        }
        self.slab = Some(slab);
        self.buffer = Pages::default();
        Ok(())
    }

    /// Returns whether the points need not stay in memory.
    pub(super) fn can_unload(&self) -> bool {
        !self.options.resident
    }

    /// Writes the distances and frees the memory.
    pub(super) fn unload(&mut self, store: &mut impl Store<T>) -> Result<(), StoreError> {
        let Some(slab) = self.slab.take() else { return Ok(()) };
        self.buffer = Pages::default();
        self.stored = false;
        let mut values = Vec::with_capacity(READ_PAGES * self.page_points);
        let (mut first, mut remaining) = (0, slab.values());
        loop {
            values.clear();
            values.extend(remaining.by_ref().take(READ_PAGES * self.page_points));
            if values.is_empty() {
                break;
            }
            store.write_values(first, &values)?;
            first += READ_PAGES;
        }
        (self.stored, self.recent) = (true, Some(Samples::new()));
        for (page, largest) in self.pages.iter_mut().zip(slab.largest_of_pages(self.page_points)) {
            page.largest = larger(T::ZERO, largest);
        }
        Ok(())
    }

    pub(super) fn level(&self) -> Level {
        self.level
    }

    /// Applies facts of a finished band.
    pub(super) fn apply(&mut self, facts: &Samples<T>, floor: T, thin: bool) {
        if let Some(slab) = &mut self.slab {
            return slab.lower(facts);
        }
        for page in &mut self.pages {
            page.largest = if floor < page.largest { floor } else { page.largest };
        }
        for k in 0..facts.len() {
            if thin {
                self.lower_bounds(facts.get(k));
            }
            if let Some(recent) = &mut self.recent {
                recent.push(facts.get(k));
            }
        }
    }

    /// Lowers the bounds of pages by a sample that is not applied to their points yet.
    fn lower_bounds(&mut self, at: [T; 3]) {
        let largest = self.pages.iter().fold(T::ZERO, |max, page| larger(max, page.largest));
        for (group, pages) in self.groups.iter().zip(self.pages.chunks_mut(GROUP)) {
            if group.near(at) > largest {
                continue;
            }
            for page in pages {
                let far = page.corners.far(at);
                page.largest = if far < page.largest { far } else { page.largest };
            }
        }
    }

    /// Loads a page into memory and makes its bound exact.
    fn load_page(
        &mut self,
        store: &mut impl Store<T>,
        log: &Log,
        page: usize,
    ) -> Result<(), StoreError> {
        if self.recent.is_none() {
            let mut recent = Samples::new();
            log.replay(store, |facts: &[Entry<T>]| {
                facts.iter().for_each(|fact| recent.push(fact.at));
            })?;
            self.recent = Some(recent);
        }
        if !self.cache.contains_key(&page) {
            if self.cache.len() >= self.options.cached_pages.max(1) {
                // They are read again when they are needed.
                self.cache.clear();
            }
            self.read(store, page..page + 1, self.stored)?;
            let mut slab = Slab::new(self.level, false);
            slab.add(&self.buffer);
            slab.build();
            self.cache.insert(page, (slab, 0));
        }
        let recent = self.recent.as_ref().expect("made above");
        let Bound { corners, largest } = &mut self.pages[page];
        let (slab, applied) = self.cache.get_mut(&page).expect("inserted above");
        let mut near = Samples::new();
        for k in *applied..recent.len() {
            // Not `<`: the sample that proves the bound may lie exactly there.
            if corners.near(recent.get(k)) <= *largest {
                near.push(recent.get(k));
            }
        }
        *applied = recent.len();
        slab.lower(&near);
        *largest = larger(T::ZERO, slab.largest());
        Ok(())
    }

    /// Adds the first `max_len` candidates of a band; returns the floor above which these are all.
    pub(super) fn collect(
        &mut self,
        store: &mut impl Store<T>,
        log: &Log,
        (tile, floor, max_len): (TileId, Key, usize),
        into: &mut Collected<T>,
    ) -> Result<Key, StoreError> {
        if let Some(slab) = &self.slab {
            return Ok(slab.collect(floor, tile, &[], max_len, into));
        }
        let mut floor = floor;
        for page in 0..self.pages.len() {
            if self.pages[page].largest < floor.value() {
                continue;
            }
            self.load_page(store, log, page)?;
            let (slab, _) = &self.cache[&page];
            let before = into.len();
            slab.collect(floor, tile, &[], usize::MAX / 4, into);
            into[before..].iter_mut().for_each(|(_, slot)| *slot = NOWHERE);
            if into.len() > 2 * max_len {
                floor = keep_first(into, max_len);
            }
        }
        Ok(if into.len() > max_len { keep_first(into, max_len) } else { floor })
    }

    /// Returns the number of points of the pages that may hold candidates above a floor, and the pages among them
    /// that are within reach of other tiles.
    pub(super) fn bounds(
        &mut self,
        floor: Key,
        own: usize,
        tiles: &[Corners<T>],
    ) -> (u64, Vec<Bound<T>>) {
        if let Some(slab) = &self.slab {
            for (page, largest) in
                self.pages.iter_mut().zip(slab.largest_of_pages(self.page_points))
            {
                page.largest = larger(T::ZERO, largest);
            }
        }
        let beta = floor.value();
        let corners = self.corners();
        let largest = self.pages.iter().fold(T::ZERO, |max, page| larger(max, page.largest));
        let others = tiles.iter().enumerate().filter(|&(k, _)| k != own).map(|(_, tile)| tile);
        let others: Vec<_> = others.filter(|tile| tile.near_box(&corners) < largest).collect();
        let touched = self.pages.iter().filter(|page| page.largest >= beta);
        let near = |page: &&Bound<T>| {
            others.iter().any(|tile| tile.near_box(&page.corners) < page.largest)
        };
        let bounds = touched.clone().filter(near).copied().collect();
        ((touched.count() * self.page_points) as u64, bounds)
    }

    /// Calls `each` with row and coordinates of all points, in any order.
    pub(super) fn each(
        &mut self,
        store: &mut impl Store<T>,
        mut each: impl FnMut(u64, [T; 3]),
    ) -> Result<(), StoreError> {
        for first in (0..self.pages.len()).step_by(READ_PAGES) {
            self.read(store, first..(first + READ_PAGES).min(self.pages.len()), false)?;
            let Pages { at: [x, y, z], rows, .. } = &self.buffer;
            rows.iter().enumerate().for_each(|(k, &row)| each(row, [x[k], y[k], z[k]]));
        }
        Ok(())
    }
}
