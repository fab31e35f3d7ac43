//! Samples a cloud in tiles and compares with the obvious loop.

use farpoint::backend::SplitMix64;
use farpoint::{Algorithm, Amount, Cpu, NonFinite, Sampler, Scalar, Start};
use farpoint_tiles::{
    Local, Mode, Plan, Statistics, Threads, TileOptions, Tiled, TiledSample, sample,
};

/// Parameters of cutting and sampling a cloud.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) tiles: usize,
    pub(crate) page_points: usize,
    pub(crate) mode: Mode,
    pub(crate) resident: bool,
    /// Maximum number of candidates of a band in all tiles.
    pub(crate) max_candidates: u64,
    /// Maximum number of candidates that a tile processes at a time.
    pub(crate) narrow: usize,
    pub(crate) cached_pages: usize,
    pub(crate) threads: bool,
    pub(crate) deep: f64,
    /// Undecided points that one tile decides at once.
    pub(crate) gather: u64,
    /// Maximum number of undecided points that a sweep carries.
    pub(crate) carried: u64,
    pub(crate) amount: Amount,
    pub(crate) start: Start,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            tiles: 5,
            page_points: 64,
            mode: Mode::Rounds,
            resident: true,
            max_candidates: 1 << 20,
            narrow: 1 << 20,
            cached_pages: 8,
            threads: false,
            deep: 0.25,
            gather: 256,
            carried: u64::MAX,
            amount: Amount::Ratio(0.25),
            start: Start::Index(0),
        }
    }
}

impl Setup {
    pub(crate) fn plan<T: Scalar>(&self, tiled: &Tiled<T>) -> Plan<T> {
        let starts = tiled.starts(&self.start).unwrap();
        let plan =
            Plan::new(self.amount, starts).mode(self.mode).max_candidates(self.max_candidates);
        plan.deep(self.deep).gather(self.gather).carried(self.carried)
    }

    pub(crate) fn options(&self) -> TileOptions {
        let options = TileOptions::default().resident(self.resident).max_candidates(self.narrow);
        options.cached_pages(self.cached_pages)
    }

    pub(crate) fn sample<T: Scalar>(&self, tiled: &Tiled<T>) -> TiledSample<T> {
        let workers = tiled.workers(self.options());
        match self.threads {
            true => sample(self.plan(tiled), tiled.tiles(), &mut Threads(workers)),
            false => sample(self.plan(tiled), tiled.tiles(), &mut Local(workers)),
        }
        .unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }
}

pub(crate) fn job(setup: &Setup) -> Sampler {
    let job = Sampler::new(setup.amount).start(setup.start.clone());
    job.non_finite(NonFinite::Skip).algorithm(Algorithm::Reference)
}

/// Compares with the obvious loop.
pub(crate) fn compare<T: Scalar>(cloud: &[[T; 3]], setup: &Setup, found: &TiledSample<T>) {
    let truth = job(setup).on(&Cpu::new().threads(1)).sample(cloud).unwrap();
    let rows: Vec<usize> = found.indices.iter().map(|&index| index as usize).collect();
    let differs = rows.iter().zip(&truth.indices).position(|(a, b)| a != b);
    let counts = (rows.len(), truth.indices.len());
    assert!(
        differs.is_none() && counts.0 == counts.1,
        "{setup:?}: differs at {differs:?}, {counts:?} samples"
    );
    assert_eq!(found.squared_distances, truth.squared_distances, "{setup:?}");
    let radius = (found.squared_covering_radius, truth.squared_covering_radius);
    assert_eq!(radius.0, radius.1, "{setup:?}");
}

pub(crate) fn check<T: Scalar>(cloud: &[[T; 3]], setup: Setup) -> Statistics {
    let tiled = Tiled::new(cloud, NonFinite::Skip, setup.tiles, setup.page_points).unwrap();
    let found = setup.sample(&tiled);
    compare(cloud, &setup, &found);
    found.statistics
}

/// Checks both precisions, both modes, in memory and not; undecided points go through rounds or to one tile.
pub(crate) fn check_both(cloud: &[[f64; 3]], setup: Setup) {
    let single: Vec<[f32; 3]> = cloud.iter().map(|at| at.map(|x| x as f32)).collect();
    let modes = [(Mode::Rounds, true), (Mode::Rounds, false), (Mode::Sweep, false)];
    for (number, (mode, resident)) in modes.into_iter().enumerate() {
        let gather = if number == 1 { u64::MAX } else { setup.gather };
        let setup = Setup { mode, resident, gather, ..setup.clone() };
        check(cloud, setup.clone());
        check(&single, setup);
    }
}

pub(crate) fn uniform(n: usize, seed: u64) -> Vec<[f64; 3]> {
    let mut random = SplitMix64::new(seed);
    (0..n).map(|_| std::array::from_fn(|_| random.unit())).collect()
}

/// Whole numbers below `side`, times a scale: ties and duplicates.
pub(crate) fn integers(n: usize, side: u64, scale: f64, seed: u64) -> Vec<[f64; 3]> {
    let mut random = SplitMix64::new(seed);
    (0..n).map(|_| std::array::from_fn(|_| random.below(side) as f64 * scale)).collect()
}
