//! Facts about all rows of a cloud that writers need, kept or found if only some rows are in memory.

use crate::cloud::column::Column;
use crate::error::Error;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

/// Facts about all rows of a file.
#[derive(Clone, Debug)]
pub(crate) struct Statistics {
    /// The minimum and maximum coordinates of the finite points.
    pub(crate) bounds: Option<[[f64; 3]; 2]>,
    /// True if float32 holds all coordinates exactly.
    pub(crate) single: bool,
    /// Values of each attribute by name, among them one of every kind.
    pub(crate) values: BTreeMap<String, Witnesses>,
}

/// Rows of a file that were not read because a filter uses none of them, for facts about all rows.
pub(crate) struct Unread {
    /// The rows that were read.
    pub(crate) read: Vec<Range<usize>>,
    /// Number of such ranges in the file.
    pub(crate) nodes: usize,
    find: Box<Find>,
    found: OnceLock<(Statistics, Option<Error>)>,
}

type Find = dyn Fn() -> Result<Statistics, Error> + Send + Sync;

impl Unread {
    pub(crate) fn new(read: Vec<Range<usize>>, nodes: usize, find: Box<Find>) -> Unread {
        Unread { read, nodes, find, found: OnceLock::new() }
    }

    /// Returns the facts about all rows, which are read at the first call; none if that fails, which
    /// [`Unread::failed`] then reports.
    pub(crate) fn statistics(&self) -> &Statistics {
        let find = || match (self.find)() {
            Ok(statistics) => (statistics, None),
            Err(error) => (Statistics::default(), Some(error)),
        };
        &self.found.get_or_init(find).0
    }

    /// Returns the error if the other rows could not be read.
    pub(crate) fn failed(&self) -> Option<&Error> {
        self.found.get().and_then(|(_, error)| error.as_ref())
    }
}

impl fmt::Debug for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unread(all but {} of {} nodes)", self.read.len(), self.nodes)
    }
}

/// Values of a column that pass any test of a bound of finite values, of fractions, of infinity or of NaN that one of its
/// values passes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Witnesses {
    low: Option<f64>,
    high: Option<f64>,
    fraction: Option<f64>,
    /// NaN and both infinities.
    odd: [Option<f64>; 3],
}

impl Witnesses {
    pub(crate) fn add(&mut self, column: &Column) {
        for row in 0..column.len() {
            let value = column.get(row);
            if !value.is_finite() {
                let place = if value.is_nan() { 0 } else { 1 + usize::from(value > 0.0) };
                self.odd[place] = Some(value);
                continue;
            }
            self.low = Some(self.low.map_or(value, |low| low.min(value)));
            self.high = Some(self.high.map_or(value, |high| high.max(value)));
            if value.fract() != 0.0 {
                self.fraction = Some(value);
            }
        }
    }

    pub(crate) fn join(&mut self, other: &Witnesses) {
        self.low = self.low.into_iter().chain(other.low).reduce(f64::min);
        self.high = self.high.into_iter().chain(other.high).reduce(f64::max);
        self.fraction = self.fraction.or(other.fraction);
        for (one, other) in self.odd.iter_mut().zip(other.odd) {
            *one = one.or(other);
        }
    }

    /// Returns whether one of the values passes.
    pub(crate) fn any(&self, test: &dyn Fn(f64) -> bool) -> bool {
        [self.low, self.high, self.fraction].into_iter().chain(self.odd).flatten().any(test)
    }
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics { bounds: None, single: true, values: BTreeMap::new() }
    }
}

impl Statistics {
    pub(crate) fn join(&mut self, other: Statistics) {
        if let Some([low, high]) = other.bounds {
            let [a, b] = self.bounds.unwrap_or([low, high]);
            self.bounds = Some([
                std::array::from_fn(|axis| a[axis].min(low[axis])),
                std::array::from_fn(|axis| b[axis].max(high[axis])),
            ]);
        }
        self.single &= other.single;
        for (name, values) in other.values {
            self.values.entry(name).or_default().join(&values);
        }
    }
}
