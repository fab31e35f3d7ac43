//! Every algorithm with every switch worth testing.

use farpoint::{Algorithm, PeakOptions, RadiusOptions, Sampler};
use farpoint_cuda::Properties;
use std::sync::atomic::{AtomicBool, Ordering};

/// Names of all algorithms, in the order of the report.
pub(crate) const ALL: &[&str] = &["naive", "radius", "persistent", "peak", "auto"];

/// Set if no block may wait for another: every cloud is processed by one block.
static ALONE: AtomicBool = AtomicBool::new(false);

/// Prevents blocks from waiting for each other from now on.
pub(crate) fn set_alone() {
    ALONE.store(true, Ordering::Relaxed);
}

pub(crate) fn is_alone() -> bool {
    ALONE.load(Ordering::Relaxed)
}

/// An algorithm with its options.
#[derive(Clone)]
pub(crate) struct Variant {
    pub(crate) name: String,
    algorithm: Algorithm,
}

impl Variant {
    /// Returns a sampler with this algorithm and options.
    pub(crate) fn of(&self, sampler: Sampler) -> Sampler {
        sampler.algorithm(self.algorithm)
    }

    /// The algorithm with its default options.
    pub(crate) fn plain(algorithm: Algorithm) -> Self {
        Self { name: algorithm.name().into(), algorithm }
    }

    fn radius(name: &str, nvox: Option<u32>, fuse_selection: bool, fuse_update: bool) -> Self {
        let options = RadiusOptions::default().nvox(nvox);
        let options = options.fuse_selection(fuse_selection).fuse_update(fuse_update);
        Self { name: format!("radius, {name}"), algorithm: Algorithm::Radius(options) }
    }

    fn peak(name: &str, options: PeakOptions) -> Self {
        Self { name: format!("peak, {name}"), algorithm: Algorithm::Peak(options) }
    }
}

/// Returns the algorithm of a part's name.
pub(crate) fn algorithm(part: &str) -> Algorithm {
    part.parse().expect("parts are named after algorithms")
}

/// Returns the algorithm with its defaults, then with its switches set in every way.
pub(crate) fn all(part: &str) -> Vec<Variant> {
    let algorithm = algorithm(part);
    if is_alone() && part == "peak" {
        // With clusters, clouds as small as these are held by a block each.
        let clusters = Properties::all().is_ok_and(|cards| cards.iter().all(|card| card.clusters));
        let plain = clusters.then(|| Variant::plain(algorithm));
        let team = Variant::peak("team 1", PeakOptions::default().team(1));
        return plain.into_iter().chain([team]).collect();
    }
    let mut variants = vec![Variant::plain(algorithm)];
    match algorithm {
        Algorithm::Radius(_) => variants.extend(fusions().into_iter().skip(1)),
        Algorithm::Peak(_) => {
            let peak = PeakOptions::default;
            variants.extend([
                Variant::peak("gamma 0.5", peak().gamma(0.5)),
                Variant::peak("gamma 0.95", peak().gamma(0.95)),
                Variant::peak("single 1", peak().single(1)),
                Variant::peak("team 1", peak().team(1)),
                Variant::peak("team 40", peak().team(40)),
                Variant::peak("team 3, gamma 0.95, single 1", peak().team(3).gamma(0.95).single(1)),
            ]);
        }
        _ => {}
    }
    variants
}

/// Returns switches that cost more time than those of [`all`]: for small clouds.
pub(crate) fn odd(part: &str) -> Vec<Variant> {
    let mut variants = all(part);
    if part == "radius" {
        for nvox in [1, 2, 33, 1024] {
            variants.push(Variant::radius(&format!("nvox {nvox}"), Some(nvox), true, true));
        }
        variants.push(Variant::radius("nvox 5, nothing fused", Some(5), false, false));
    }
    variants
}

/// Returns the four rows of the paper's table 4, all fused first.
pub(crate) fn fusions() -> [Variant; 4] {
    [
        Variant::radius("both fused", None, true, true),
        Variant::radius("selection fused", None, true, false),
        Variant::radius("update fused", None, false, true),
        Variant::radius("nothing fused", None, false, false),
    ]
}
