//! The points of a tile: in memory, or in its store with boxes and bounds of pages in memory.

use super::TileOptions;
use super::log::Log;
use crate::slab::{Collected, NOWHERE, Samples, Slab, keep_first, larger};
use crate::{Bound, Corners, Entry, Key, Pages, Store, StoreError, TileId};
use farpoint::{Level, Scalar};
use std::collections::HashMap;
use std::ops::Range;

/// Pages read at a time.
const READ: usize = 64;

/// Pages that share a test when a sample is noted.
const GROUP: usize = 16;

/// Samples applied at a time when distances are made anew.
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
    /// Whether the store has distances that were written since the tile began.
    stored: bool,
    /// What the distances in the store lack; `None` if that is to be read from the log.
    recent: Option<Samples<T>>,
    /// Single pages in memory, and how many of `recent` their distances have.
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
            return Err(format!("pages of {} points: no multiple of 64", self.page_points).into());
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
            return Err(format!("{} boxes of {count} pages", boxes.len()).into());
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

    /// Brings all points to memory if they are to stay there.
    pub(super) fn settle(
        &mut self,
        store: &mut impl Store<T>,
        log: &Log,
    ) -> Result<(), StoreError> {
        if self.options.resident { self.load(store, log) } else { Ok(()) }
    }

    /// Boxes of pages, by reading all of them.
    fn boxes(&mut self, store: &mut impl Store<T>) -> Result<Vec<Corners<T>>, StoreError> {
        let mut boxes = Vec::new();
        let count = store.points().div_ceil(self.page_points);
        for first in (0..count).step_by(READ) {
            self.read(store, first..(first + READ).min(count), false)?;
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
        let wanted = if values { count } else { read.len() };
        let fits = at.iter().all(|axis| axis.len() == count) && read.len() == wanted;
        if fits && rows.len() == count { Ok(()) } else { Err("a page of the wrong length".into()) }
    }

    /// The box around all points.
    pub(super) fn corners(&self) -> Corners<T> {
        self.groups.iter().fold(Corners::none(), |mut sum, group| {
            sum.merge(group);
            sum
        })
    }

    /// At least every distance.
    pub(super) fn largest(&self) -> T {
        match &self.slab {
            Some(slab) => larger(T::ZERO, slab.largest()),
            None => self.pages.iter().fold(T::ZERO, |most, page| larger(most, page.largest)),
        }
    }

    /// The largest distance, exactly.
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
            let mut most = T::ZERO;
            for page in order {
                if self.pages[page].largest <= most {
                    break;
                }
                self.touch(store, log, page)?;
                most = larger(most, self.pages[page].largest);
            }
            return Ok(most);
        }
        Ok(self.largest())
    }

    /// The points, if they are in memory.
    pub(super) fn slab(&mut self) -> Option<&mut Slab<T>> {
        self.slab.as_mut()
    }

    /// Brings all points to memory, with all that is known of their distances.
    pub(super) fn load(&mut self, store: &mut impl Store<T>, log: &Log) -> Result<(), StoreError> {
        if self.slab.is_some() {
            return Ok(());
        }
        self.cache = HashMap::new();
        let mut slab = Slab::new(self.level, self.options.threads);
        slab.reserve(store.points());
        for first in (0..self.pages.len()).step_by(READ) {
            self.read(store, first..(first + READ).min(self.pages.len()), self.stored)?;
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

    /// Whether the points need not stay in memory.
    pub(super) fn can_unload(&self) -> bool {
        !self.options.resident
    }

    /// Writes the distances and frees the memory.
    pub(super) fn unload(&mut self, store: &mut impl Store<T>) -> Result<(), StoreError> {
        let Some(slab) = self.slab.take() else { return Ok(()) };
        self.buffer = Pages::default();
        self.stored = false;
        let mut values = Vec::with_capacity(READ * self.page_points);
        let (mut first, mut left) = (0, slab.values());
        loop {
            values.clear();
            values.extend(left.by_ref().take(READ * self.page_points));
            if values.is_empty() {
                break;
            }
            store.write_values(first, &values)?;
            first += READ;
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
                self.note(facts.get(k));
            }
            if let Some(recent) = &mut self.recent {
                recent.push(facts.get(k));
            }
        }
    }

    /// Lowers bounds of pages by a sample whose effect on their points is still to come.
    fn note(&mut self, at: [T; 3]) {
        let largest = self.pages.iter().fold(T::ZERO, |most, page| larger(most, page.largest));
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

    /// Brings a page to memory and makes its bound exact.
    fn touch(
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

    /// Adds the candidates of a band, the first `most` at most; above which floor these are all.
    pub(super) fn collect(
        &mut self,
        store: &mut impl Store<T>,
        log: &Log,
        (tile, floor, most): (TileId, Key, usize),
        into: &mut Collected<T>,
    ) -> Result<Key, StoreError> {
        if let Some(slab) = &self.slab {
            return Ok(slab.collect(floor, tile, &[], most, into));
        }
        let mut floor = floor;
        for page in 0..self.pages.len() {
            if self.pages[page].largest < floor.value() {
                continue;
            }
            self.touch(store, log, page)?;
            let (slab, _) = &self.cache[&page];
            let before = into.len();
            slab.collect(floor, tile, &[], usize::MAX / 4, into);
            into[before..].iter_mut().for_each(|(_, slot)| *slot = NOWHERE);
            if into.len() > 2 * most {
                floor = keep_first(into, most);
            }
        }
        Ok(if into.len() > most { keep_first(into, most) } else { floor })
    }

    /// Points of pages that may hold candidates above a floor, and those of these pages that are within
    /// reach of other tiles.
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
        let largest = self.pages.iter().fold(T::ZERO, |most, page| larger(most, page.largest));
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
        for first in (0..self.pages.len()).step_by(READ) {
            self.read(store, first..(first + READ).min(self.pages.len()), false)?;
            let Pages { at: [x, y, z], rows, .. } = &self.buffer;
            rows.iter().enumerate().for_each(|(k, &row)| each(row, [x[k], y[k], z[k]]));
        }
        Ok(())
    }
}
