//! Shared code of the tests of exactness: every algorithm by every means, compared with
//! `reference` index by index and distance by distance.

use farpoint::{
    Algorithm, Cpu, DeviceKind, Error, Level, Points, RadiusOptions, Sample, Sampler, Scalar,
    Start, reference,
};

/// An algorithm with its options, a number of threads and an instruction set.
pub(crate) struct Config {
    pub(crate) name: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) cpu: Cpu,
}

impl Config {
    fn new(algorithm: Algorithm, level: Level, threads: usize) -> Self {
        let name = format!("{algorithm}, {level}, {threads} threads");
        Self { name, algorithm, cpu: Cpu::new().level(level).threads(threads) }
    }

    pub(crate) fn threads(&self) -> usize {
        self.cpu.threads.expect("set above")
    }

    /// Returns the job with this algorithm.
    pub(crate) fn job(&self, sampler: Sampler) -> Sampler {
        sampler.algorithm(self.algorithm)
    }

    /// Runs a job in this way.
    pub(crate) fn sample<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        sampler: Sampler,
        cloud: &P,
    ) -> Result<Sample<T>, Error> {
        self.job(sampler).on(&self.cpu).sample(cloud)
    }
}

/// Returns the algorithms of the CPU, `reference` excepted.
pub(crate) fn algorithms() -> impl Iterator<Item = Algorithm> {
    Algorithm::of(DeviceKind::Cpu).filter(|algorithm| *algorithm != Algorithm::Reference)
}

/// Returns every algorithm on every instruction set of this machine with these numbers of threads.
pub(crate) fn configs(threads: &[usize]) -> Vec<Config> {
    let mut configs = Vec::new();
    for algorithm in algorithms() {
        for level in Level::available() {
            configs.extend(threads.iter().map(|&threads| Config::new(algorithm, level, threads)));
        }
    }
    configs
}

/// Returns the four combinations of the radius algorithm's prunings, at some resolutions.
pub(crate) fn radius_configs(nvox: &[Option<u32>]) -> Vec<Config> {
    let mut configs = Vec::new();
    for (&nvox, level) in
        nvox.iter().flat_map(|n| Level::available().into_iter().map(move |l| (n, l)))
    {
        for switches in 0..4 {
            let radius = RadiusOptions::default().nvox(nvox);
            let radius = radius.radius_pruning(switches & 1 == 0).point_skip(switches & 2 == 0);
            configs.push(Config::new(Algorithm::Radius(radius), level, 1));
        }
    }
    configs
}

/// Returns the whole cloud in farthest-first order by `reference`: every shorter run is a prefix.
pub(crate) fn full_sample<T: Scalar, P: Points<T> + ?Sized>(cloud: &P, start: usize) -> Sample<T> {
    reference(cloud, cloud.len(), start).expect("the cloud can be sampled")
}

/// Panics unless `sample` is the first of `full_sample`, from `starts` start points on, with its
/// distances and its covering radius.
pub(crate) fn assert_prefix<T: Scalar>(
    name: &str,
    sample: &Sample<T>,
    full_sample: &Sample<T>,
    starts: usize,
) {
    let m = sample.len();
    assert!(m <= full_sample.len(), "{name}: {m} samples");
    if let Some(k) = (0..m).find(|&k| sample.indices[k] != full_sample.indices[k]) {
        panic!(
            "{name}: sample {k} is {} at {}, not {} at {}",
            sample.indices[k],
            sample.squared_distances[k],
            full_sample.indices[k],
            full_sample.squared_distances[k]
        );
    }
    let distance =
        |k: usize| if k < starts { T::INFINITY } else { full_sample.squared_distances[k] };
    if let Some(k) = (0..m).find(|&k| sample.squared_distances[k] != distance(k)) {
        panic!("{name}: distance {k} is {}, not {}", sample.squared_distances[k], distance(k));
    }
    let covering = full_sample.squared_distances.get(m).copied().unwrap_or(T::ZERO);
    if m > 0 {
        assert_eq!(sample.squared_covering_radius, covering, "{name}: covering radius");
    }
}

/// Compares all `configs` with `reference` for these numbers of samples from `start`.
pub(crate) fn check<T: Scalar, P: Points<T> + ?Sized>(
    name: &str,
    cloud: &P,
    counts: &[usize],
    start: usize,
    configs: &[Config],
) {
    let full_sample = match counts.iter().max() {
        Some(&max_count) if max_count < cloud.len() => {
            reference(cloud, max_count + 1, start).expect("the cloud can be sampled")
        }
        _ => full_sample(cloud, start),
    };
    for config in configs {
        for &m in counts {
            let name = format!("{name}, m = {m}, start {start}: {}", config.name);
            let sampler = Sampler::count(m).start(Start::Index(start));
            let sample = config.sample(sampler, cloud);
            let sample = sample.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(sample.len(), m, "{name}");
            assert_prefix(&name, &sample, &full_sample, 1);
        }
    }
}

/// Returns random rows of whole numbers below `end`, times `scale`.
pub(crate) fn integers<const D: usize>(n: usize, end: u64, scale: f64, seed: u64) -> Vec<[f64; D]> {
    let mut random = farpoint::backend::SplitMix64::new(seed);
    (0..n).map(|_| std::array::from_fn(|_| random.below(end) as f64 * scale)).collect()
}

/// Returns random rows in `0.0..1.0`.
pub(crate) fn uniform<const D: usize>(n: usize, seed: u64) -> Vec<[f64; D]> {
    let mut random = farpoint::backend::SplitMix64::new(seed);
    (0..n).map(|_| std::array::from_fn(|_| random.unit())).collect()
}

/// Returns random rows of which every third lies at one of `places` places.
pub(crate) fn crowded<const D: usize>(n: usize, places: usize, seed: u64) -> Vec<[f64; D]> {
    let (mut rows, places) = (uniform(n, seed), uniform(places, 7));
    for (k, row) in rows.iter_mut().enumerate().filter(|(k, _)| k % 5 % 3 == 0) {
        *row = places[k * 31 % places.len()];
    }
    rows
}

/// Returns the cloud in `f32`.
pub(crate) fn as_f32<const D: usize>(cloud: &[[f64; D]]) -> Vec<[f32; D]> {
    cloud.iter().map(|row| row.map(|x| x as f32)).collect()
}
