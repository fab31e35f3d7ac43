//! A cloud in memory, in tiles.

use crate::{
    Bytes, Column, Conductor, Entry, Error, Key, MemoryStore, Plan, Statistics, Tile, TileId,
    TileOptions, Transport, cut,
};
use farpoint::backend::SplitMix64;
use farpoint::{NonFinite, Points, Scalar, Start};

/// A cloud cut into tiles, each in a store in memory.
#[derive(Debug, Clone)]
pub struct Tiled<T> {
    /// The tiles.
    pub stores: Vec<MemoryStore<T>>,
    /// Finite points, as entries without a distance, in the order of the input.
    points: Vec<Entry<T>>,
    /// Number of rows of the input.
    rows: usize,
}

impl<T: Scalar> Tiled<T> {
    /// Cuts the finite points of a cloud of up to three axes into `tiles` tiles of about equal size.
    ///
    /// # Errors
    /// If a row holds NaN or infinity and is not to be skipped, if there are more than three axes, and if the
    /// points are a selection ([`farpoint::Selected`]).
    ///
    /// # Panics
    /// If `tiles` is 0 or `page_points` is no multiple of 64.
    pub fn new<P: Points<T> + ?Sized>(
        cloud: &P,
        non_finite: NonFinite,
        tiles: usize,
        page_points: usize,
    ) -> Result<Self, Error> {
        let (n, dim) = (cloud.len(), cloud.dim());
        if dim > 3 {
            return Err(Error::Mismatch(format!(
                "a cloud in tiles has at most three axes; this one has {dim}"
            )));
        }
        if n >= u32::MAX as usize {
            return Err(farpoint::Error::TooManyPoints(n).into());
        }
        if cloud.subset().is_some() {
            let message = "a selection of rows cannot be cut into tiles; copy them first";
            return Err(Error::Mismatch(message.into()));
        }
        let at = |row: usize| {
            std::array::from_fn(|a| if a < dim { cloud.coordinate(row, a) } else { T::ZERO })
        };
        let finite = |row: &usize| (0..dim).all(|a| cloud.coordinate(*row, a).is_finite());
        let entry = |row: usize| Entry { at: at(row), value: T::ZERO, index: row as u64, tile: 0 };
        let mut points: Vec<_> = (0..n).filter(finite).map(entry).collect();
        if non_finite == NonFinite::Error && points.len() < n {
            let count = n - points.len();
            let first = (0..n).find(|row| !finite(row)).expect("a non-finite row");
            return Err(farpoint::Error::NonFinite { first, count, points: n }.into());
        }
        let axes =
            |points: &[&Entry<T>]| [0, 1, 2].map(|a| points.iter().map(|p| p.at[a]).collect());
        let all: [Vec<T>; 3] = axes(&points.iter().collect::<Vec<_>>());
        let mut stores = Vec::with_capacity(tiles);
        for (tile, members) in (0..).zip(cut::tiles(&all, tiles)) {
            members.iter().for_each(|&point| points[point as usize].tile = tile);
            let ordered: Vec<_> = members.iter().map(|&point| &points[point as usize]).collect();
            let order = cut::pages(&axes(&ordered), page_points);
            let ordered: Vec<_> = order.iter().map(|&k| ordered[k as usize]).collect();
            stores.push(store(
                &axes(&ordered),
                ordered.iter().map(|p| p.index).collect(),
                page_points,
            ));
        }
        Ok(Self { stores, points, rows: n })
    }

    /// Returns the start points.
    ///
    /// # Errors
    /// If there are none, and if one is out of range or was skipped.
    pub fn starts(&self, start: &Start) -> Result<Vec<Entry<T>>, Error> {
        let entry = |row: usize| {
            if row >= self.rows {
                return Err(
                    farpoint::Error::StartOutOfRange { index: row, points: self.rows }.into()
                );
            }
            let found = self.points.binary_search_by_key(&(row as u64), |point| point.index);
            found
                .map(|k| self.points[k])
                .map_err(|_| farpoint::Error::StartIsBad { index: row }.into())
        };
        match start {
            _ if self.points.is_empty() => Ok(Vec::new()),
            Start::First => Ok(vec![self.points[0]]),
            Start::Index(row) => Ok(vec![entry(*row)?]),
            Start::Indices(rows) => rows.iter().map(|&row| entry(row)).collect(),
            Start::Random(seed) => {
                let place = SplitMix64::new(*seed).below(self.points.len() as u64);
                Ok(vec![self.points[place as usize]])
            }
            other => Err(Error::Mismatch(format!("tiles cannot start from {other:?}"))),
        }
    }

    /// Creates tiles over these stores, for [`crate::Local`] or [`crate::Threads`].
    pub fn workers(&self, options: TileOptions) -> Vec<Tile<T, MemoryStore<T>>> {
        self.stores.iter().map(|store| Tile::new(store.clone(), options)).collect()
    }

    /// Returns the number of tiles.
    pub fn tiles(&self) -> TileId {
        self.stores.len() as TileId
    }
}

fn store<T: Scalar>(at: &[Vec<T>; 3], rows: Vec<u64>, page_points: usize) -> MemoryStore<T> {
    let bytes = |axis: &Vec<T>| -> Bytes {
        match size_of::<T>() {
            4 => axis.iter().flat_map(|x| (x.to_f64() as f32).to_le_bytes()).collect(),
            _ => axis.iter().flat_map(|x| x.to_f64().to_le_bytes()).collect(),
        }
    };
    let column = if size_of::<T>() == 4 { Column::F32 } else { Column::F64 };
    MemoryStore::new([column; 3], at.each_ref().map(bytes), rows, page_points)
}

/// A sample: rows of the input in order of choice.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TiledSample<T> {
    /// Distinct rows.
    pub indices: Vec<u64>,
    /// Squared selection distance of each; infinite for the start points.
    pub squared_distances: Vec<T>,
    /// Squared distance of the farthest remaining point.
    pub squared_covering_radius: T,
    /// Counters of the run.
    pub statistics: Statistics,
}

impl<T> TiledSample<T> {
    /// Creates a sample from what [`Conductor::chosen`] returned.
    pub fn new(
        indices: Vec<u64>,
        squared_distances: Vec<T>,
        squared_covering_radius: T,
        statistics: Statistics,
    ) -> Self {
        Self { indices, squared_distances, squared_covering_radius, statistics }
    }
}

/// Samples a cloud whose tiles are reached through a transport.
///
/// # Errors
/// Same as [`Conductor::begin`] and [`Conductor::advance`].
pub fn sample<T: Scalar>(
    plan: Plan<T>,
    tiles: TileId,
    transport: &mut dyn Transport<T>,
) -> Result<TiledSample<T>, Error> {
    let mut conductor = Conductor::begin(plan, tiles, transport)?;
    let outcome = conductor.run(transport)?;
    let (mut indices, mut squared_distances) = (Vec::new(), Vec::new());
    conductor.chosen(transport, &mut |key: Key| {
        indices.push(key.index());
        squared_distances.push(key.value());
        Ok(())
    })?;
    let squared_covering_radius = outcome.squared_covering_radius;
    let statistics = *conductor.statistics();
    Ok(TiledSample { indices, squared_distances, squared_covering_radius, statistics })
}
