//! Calls are lost, repeated and delayed, replies are lost or damaged, tiles begin anew: the same indices.

use crate::cases::some;
use crate::common::{Setup, compare, integers, uniform};
use farpoint::backend::SplitMix64;
use farpoint::{Amount, NonFinite, Scalar};
use farpoint_tiles::message::{Reply, Request};
use farpoint_tiles::{
    ByteTransport, ByteWorker, Bytes, Conductor, Encoded, Error, Key, Local, Lost, MemoryStore,
    Mode, Tile, TileId, Tiled, TiledSample, Transport, sample,
};

/// Tiles of this process behind an unreliable transport.
struct Unreliable<'a, T: Scalar> {
    random: SplitMix64,
    tiled: &'a Tiled<T>,
    setup: Setup,
    tiles: Vec<Tile<T, MemoryStore<T>>>,
    /// Requests that will be repeated later.
    late: Vec<(TileId, Bytes)>,
    restarts: usize,
    delays: usize,
}

impl<'a, T: Scalar> Unreliable<'a, T> {
    fn new(seed: u64, tiled: &'a Tiled<T>, setup: &Setup) -> Self {
        let tiles = tiled.workers(setup.options());
        let (random, setup) = (SplitMix64::new(seed), setup.clone());
        Self { random, tiled, setup, tiles, late: Vec::new(), restarts: 0, delays: 0 }
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    fn restart(&mut self, tile: TileId) {
        let store = self.tiled.stores[tile as usize].clone();
        self.tiles[tile as usize] = Tile::new(store, self.setup.options());
        // Requests on their way to the old process are gone, too.
        self.late.retain(|(to, _)| *to != tile);
        self.restarts += 1;
    }

    fn call_once(&mut self, tile: TileId, request: &[u8]) -> Result<Bytes, Lost> {
        if self.one_in(12) {
            self.restart(tile);
        }
        if self.one_in(10) {
            return Err(Lost("the request was lost".into()));
        }
        if self.one_in(6) {
            self.late.push((tile, request.to_vec()));
        }
        if self.one_in(8) {
            self.tiles[tile as usize].answer_bytes(request);
        }
        let mut reply = self.tiles[tile as usize].answer_bytes(request);
        if self.one_in(30) {
            let at = self.random.below(reply.len() as u64) as usize;
            reply[at] ^= 1 << self.random.below(8);
        }
        if self.one_in(30) {
            reply.truncate(self.random.below(reply.len() as u64) as usize);
        }
        if self.one_in(10) { Err(Lost("the reply was lost".into())) } else { Ok(reply) }
    }
}

impl<T: Scalar> ByteTransport for Unreliable<'_, T> {
    fn call(&mut self, calls: &[(TileId, Bytes)]) -> Vec<Result<Bytes, Lost>> {
        let mut results = Vec::new();
        for (tile, request) in calls {
            if !self.late.is_empty() && self.one_in(3) {
                let k = self.random.below(self.late.len() as u64) as usize;
                let (tile, request) = self.late.swap_remove(k);
                self.tiles[tile as usize].answer_bytes(&request);
                self.delays += 1;
            }
            results.push(self.call_once(*tile, request));
        }
        results
    }
}

fn survives<T: Scalar>(seed: u64, cloud: &[[T; 3]], setup: &Setup) -> (usize, usize) {
    let tiled = Tiled::new(cloud, NonFinite::Skip, setup.tiles, setup.page_points).unwrap();
    let mut transport = Unreliable::new(seed, &tiled, setup);
    let found = sample(setup.plan(&tiled).tries(1000), tiled.tiles(), &mut Encoded(&mut transport));
    let found = found.unwrap_or_else(|error| panic!("seed {seed}, {setup:?}: {error}"));
    compare(cloud, setup, &found);
    (transport.restarts, transport.delays)
}

fn setups() -> Vec<Setup> {
    let modes = [(Mode::Rounds, true), (Mode::Rounds, false), (Mode::Sweep, false)];
    let setup = |(mode, resident)| Setup { mode, resident, tiles: 6, ..Setup::default() };
    modes.map(setup).to_vec()
}

#[test]
fn lost_repeated_and_delayed_calls() {
    let (mut restarts, mut delays) = (0, 0);
    for seed in 0..4 {
        let clouds = [uniform(1500, seed), integers(1200, 9, 0.5, seed)];
        for (cloud, setup) in clouds.iter().flat_map(|c| setups().into_iter().map(move |s| (c, s)))
        {
            let (new_restarts, new_delays) = survives(seed, cloud, &setup);
            (restarts, delays) = (restarts + new_restarts, delays + new_delays);
            let amount = Amount::All;
            survives(seed, cloud, &Setup { amount, max_candidates: 40, narrow: 40, ..setup });
        }
    }
    assert!(restarts > 100 && delays > 100, "{restarts} restarts, {delays} delayed calls");
}

/// A line has many deep bands.
#[test]
fn deep_bands_survive() {
    for seed in some(0, 5, 0..6) {
        let random = uniform(2000, seed);
        let line: Vec<[f32; 3]> = random.iter().map(|at| [at[0] as f32, 0.0, 0.0]).collect();
        let sheet: Vec<[f32; 3]> =
            random.iter().map(|at| [at[0] as f32, at[1] as f32, 0.0]).collect();
        for setup in setups() {
            survives(seed, &line, &Setup { amount: Amount::Ratio(0.5), ..setup.clone() });
            let carried = 10 + 10 * seed;
            let small = Setup { amount: Amount::Ratio(0.7), carried, ..setup.clone() };
            survives(seed, &line, &small);
            survives(seed, &sheet, &small);
            let tiles = 2;
            survives(seed, &sheet, &Setup { amount: Amount::Ratio(0.9), tiles, ..setup });
        }
    }
}

/// Transport that stops after some calls; a new conductor resumes from the last manifest, with new tiles.
struct Stopping<T: Scalar> {
    tiles: Local<Tile<T, MemoryStore<T>>>,
    calls_left: usize,
}

impl<T: Scalar> Transport<T> for Stopping<T> {
    fn call(&mut self, calls: Vec<(TileId, Request<T>)>) -> Vec<Result<Reply<T>, Lost>> {
        let call = |request| {
            if self.calls_left == 0 {
                return Err(Lost("stopped".into()));
            }
            self.calls_left -= 1;
            self.tiles.call(vec![request]).remove(0)
        };
        calls.into_iter().map(call).collect()
    }
}

#[test]
fn a_stopped_run_is_resumed() {
    let cloud: Vec<[f32; 3]> =
        uniform(1500, 8).iter().map(|at| [at[0] as f32, at[1] as f32 / 8.0, 0.0]).collect();
    for setup in setups() {
        let setup = Setup { amount: Amount::Ratio(0.6), tiles: 3, carried: 60, ..setup };
        let tiled = Tiled::new(&cloud, NonFinite::Skip, setup.tiles, 64).unwrap();
        let (mut manifest, mut stops) = (None, 0);
        let found = loop {
            let tiles = Local(tiled.workers(setup.options()));
            let mut transport = Stopping { tiles, calls_left: 23 + 7 * (stops % 11) };
            match resume_and_run(&setup, &tiled, &mut manifest, &mut transport) {
                Ok(found) => break found,
                Err(Error::Lost { .. }) => stops += 1,
                Err(error) => panic!("{setup:?}: {error}"),
            }
        };
        assert!(stops > 5, "{stops} stops");
        compare(&cloud, &setup, &found);
    }
}

fn resume_and_run<T: Scalar>(
    setup: &Setup,
    tiled: &Tiled<T>,
    manifest: &mut Option<Bytes>,
    transport: &mut Stopping<T>,
) -> Result<TiledSample<T>, Error> {
    let plan = setup.plan(tiled).tries(1);
    let mut conductor = match manifest {
        None => Conductor::begin(plan, tiled.tiles(), transport)?,
        Some(manifest) => Conductor::resume(plan, manifest, transport)?,
    };
    *manifest = Some(conductor.manifest());
    while conductor.advance(transport)?.is_some() {
        *manifest = Some(conductor.manifest());
    }
    // Reading the result is never interrupted.
    transport.calls_left = usize::MAX;
    collect(&mut conductor, transport)
}

fn collect<T: Scalar>(
    conductor: &mut Conductor<T>,
    transport: &mut dyn Transport<T>,
) -> Result<TiledSample<T>, Error> {
    let (mut indices, mut squared_distances) = (Vec::new(), Vec::new());
    conductor.chosen(transport, &mut |key: Key| {
        indices.push(key.index());
        squared_distances.push(key.value());
        Ok(())
    })?;
    let radius = conductor.outcome().expect("a finished run").squared_covering_radius;
    Ok(TiledSample::new(indices, squared_distances, radius, *conductor.statistics()))
}

#[test]
fn a_tile_that_never_answers_is_an_error() {
    let setup = Setup::default();
    let tiled = Tiled::new(&uniform(300, 1), NonFinite::Error, 5, 64).unwrap();
    let tiles = Local(tiled.workers(setup.options()));
    let mut transport = Stopping { tiles, calls_left: 30 };
    let failed = sample(setup.plan(&tiled), 5, &mut transport).unwrap_err();
    assert!(matches!(failed, Error::Lost { tries: 5, .. }), "{failed}");
    assert_eq!(failed.to_string().matches("5 calls").count(), 1, "{failed}");
}

#[test]
fn a_manifest_of_another_job_is_refused() {
    let setup = Setup::default();
    let tiled = Tiled::new(&uniform(300, 1), NonFinite::Error, 5, 64).unwrap();
    let mut transport = Local(tiled.workers(setup.options()));
    let mut conductor = Conductor::begin(setup.plan(&tiled), 5, &mut transport).unwrap();
    conductor.advance(&mut transport).unwrap();
    let manifest = conductor.manifest();
    let other = Setup { amount: Amount::Ratio(0.26), ..setup.clone() };
    let refused = Conductor::resume(other.plan(&tiled), &manifest, &mut transport);
    assert!(matches!(refused, Err(Error::Mismatch(_))));
    let cut = Conductor::resume(setup.plan(&tiled), &manifest[..50], &mut transport);
    assert!(matches!(cut, Err(Error::Encoding { .. })));
    // Other tiles than those of the manifest.
    let tiled = Tiled::new(&uniform(300, 2), NonFinite::Error, 5, 64).unwrap();
    let mut transport = Local(tiled.workers(setup.options()));
    assert!(Conductor::<f64>::resume(setup.plan(&tiled), &manifest, &mut transport).is_err());
}
