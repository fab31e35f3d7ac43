//! Stores: integers of LAS files, and stores that fail.

use crate::common::{Setup, check, compare, uniform};
use farpoint::NonFinite;
use farpoint_tiles::{
    Bytes, Column, Entry, Error, Local, MemoryStore, Mode, Pages, Plan, Store, StoreError, Tile,
    Tiled, cut, sample,
};
use std::ops::Range;

/// A survey in steps of a centimeter, as a LAS file has it.
#[test]
fn integers_of_las_files() {
    let transforms = [(0.01, 447_000.0), (0.01, 5_411_000.0), (0.001, -3.0)];
    let raw: Vec<[i32; 3]> =
        uniform(2500, 4).iter().map(|at| at.map(|x| (x * 9e4) as i32)).collect();
    let value = |n: i32, a: usize| f64::from(n) * transforms[a].0 + transforms[a].1;
    let cloud: Vec<[f64; 3]> =
        raw.iter().map(|at| std::array::from_fn(|a| value(at[a], a))).collect();
    let axes: [Vec<f64>; 3] = std::array::from_fn(|a| cloud.iter().map(|at| at[a]).collect());
    let columns = transforms.map(|(scale, offset)| Column::Integer { scale, offset });
    let mut start = None;
    let mut tiles = Vec::new();
    for (tile, points) in (0..).zip(cut::tiles(&axes, 6)) {
        let coordinates = [0, 1, 2].map(|a| points.iter().map(|&p| axes[a][p as usize]).collect());
        let order: Vec<u32> =
            cut::pages(&coordinates, 128).iter().map(|&k| points[k as usize]).collect();
        if points.contains(&0) {
            start = Some(Entry { at: cloud[0], value: 0.0, index: 0, tile });
        }
        let bytes = |a: usize| -> Bytes {
            order.iter().flat_map(|&p| raw[p as usize][a].to_le_bytes()).collect()
        };
        let rows = order.iter().map(|&p| u64::from(p)).collect();
        let store = MemoryStore::<f64>::new(columns, [0, 1, 2].map(bytes), rows, 128);
        tiles.push(Tile::new(store, Setup::default().options().resident(false)));
    }
    let setup = Setup { tiles: 6, mode: Mode::Sweep, ..Setup::default() };
    let plan = Plan::new(setup.amount, vec![start.unwrap()]).mode(setup.mode);
    let found = sample(plan, 6, &mut Local(tiles)).unwrap();
    compare(&cloud, &setup, &found);
}

/// Store that fails after `remaining` operations.
struct Failing {
    inner: MemoryStore<f32>,
    remaining: usize,
}

impl Failing {
    fn step(&mut self) -> Result<(), StoreError> {
        if self.remaining == 0 {
            return Err("no space left on device".into());
        }
        self.remaining -= 1;
        Ok(())
    }
}

impl Store<f32> for Failing {
    fn points(&self) -> usize {
        self.inner.points()
    }
    fn page_points(&self) -> usize {
        self.inner.page_points()
    }
    fn read(
        &mut self,
        pages: Range<usize>,
        values: bool,
        into: &mut Pages<f32>,
    ) -> Result<(), StoreError> {
        self.step()?;
        self.inner.read(pages, values, into)
    }
    fn write_values(&mut self, first: usize, values: &[f32]) -> Result<(), StoreError> {
        self.step()?;
        self.inner.write_values(first, values)
    }
    fn records(&self) -> u64 {
        self.inner.records()
    }
    fn append(&mut self, record: &[u8]) -> Result<(), StoreError> {
        self.step()?;
        self.inner.append(record)
    }
    fn record(&mut self, number: u64) -> Result<Vec<u8>, StoreError> {
        self.step()?;
        self.inner.record(number)
    }
    fn truncate(&mut self, records: u64) -> Result<(), StoreError> {
        self.step()?;
        self.inner.truncate(records)
    }
}

#[test]
fn a_full_disk_is_an_error_and_the_run_can_go_on() {
    let cloud: Vec<[f32; 3]> =
        uniform(900, 2).iter().map(|at| [at[0] as f32, at[1] as f32, 0.0]).collect();
    let setup = Setup { mode: Mode::Sweep, resident: false, tiles: 3, ..Setup::default() };
    for remaining in (0..150).step_by(7) {
        let tiled = Tiled::new(&cloud, NonFinite::Error, 3, 64).unwrap();
        let tile = |(k, store): (usize, &MemoryStore<f32>)| {
            let remaining = if k == 1 { remaining } else { usize::MAX };
            Tile::new(Failing { inner: store.clone(), remaining }, setup.options())
        };
        let tiles = tiled.stores.iter().enumerate().map(tile).collect();
        match sample(setup.plan(&tiled), 3, &mut Local(tiles)) {
            Ok(found) => compare(&cloud, &setup, &found),
            Err(error) => {
                assert!(matches!(error, Error::Tile { tile: 1, .. }), "{error}");
                assert!(error.to_string().contains("no space left"), "{error}");
                // A new run ignores what it wrote.
                compare(&cloud, &setup, &setup.sample(&tiled));
            }
        }
    }
}

#[test]
fn a_damaged_log_is_an_error() {
    let cloud: Vec<[f32; 3]> = uniform(400, 2).iter().map(|at| at.map(|x| x as f32)).collect();
    let setup = Setup { tiles: 2, ..Setup::default() };
    let mut tiled = Tiled::new(&cloud, NonFinite::Error, 2, 64).unwrap();
    let mut transport = Local(tiled.workers(setup.options()));
    let plan = || setup.plan(&tiled);
    let mut conductor = farpoint_tiles::Conductor::begin(plan(), 2, &mut transport).unwrap();
    for _ in 0..4 {
        conductor.advance(&mut transport).unwrap();
    }
    let manifest = conductor.manifest();
    let plan = plan();
    let store = &mut tiled.stores[1];
    let records: Vec<_> = (0..store.records()).map(|k| store.record(k).unwrap()).collect();
    for (damage, expected) in [("changed", "checksum"), ("gone", "3 finished bands")] {
        store.truncate(0).unwrap();
        for (k, record) in records.iter().enumerate() {
            let mut record = record.clone();
            match damage {
                "changed" if k == 2 => record[20] ^= 4,
                "gone" if k == 3 => break,
                _ => {}
            }
            store.append(&record).unwrap();
        }
        let mut transport = Local(vec![
            Tile::new(transport_store(&transport, 0), setup.options()),
            Tile::new(store.clone(), setup.options()),
        ]);
        let error =
            farpoint_tiles::Conductor::resume(plan.clone(), &manifest, &mut transport).err();
        let message = error.expect(damage).to_string();
        assert!(message.contains(expected), "{damage}: {message}");
    }
}

fn transport_store(
    transport: &Local<Tile<f32, MemoryStore<f32>>>,
    tile: usize,
) -> MemoryStore<f32> {
    transport.0[tile].store().clone()
}

/// In thin bands its pages would be lowered one by one, each by all samples since it was read.
#[test]
fn a_single_tile_is_loaded_whole() {
    let setup = Setup { mode: Mode::Sweep, resident: false, tiles: 1, ..Setup::default() };
    let plane: Vec<[f64; 3]> = uniform(4000, 2).iter().map(|at| [at[0], at[1], 0.0]).collect();
    let statistics = check(&plane, setup);
    assert!(
        statistics.deep_bands > 0 && statistics.deep_bands < statistics.bands,
        "{statistics:?}"
    );
}
