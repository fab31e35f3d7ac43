//! Every algorithm on every kind of cloud returns the CPU's result: indices, selection distances and
//! covering radius, bit for bit.

use crate::clouds::Cloud;
use crate::runner::Group;
use crate::tally::Tally;
use crate::truth::Truth;
use crate::variants::{self, Variant};
use anyhow::Result;
use farpoint::{Points, Sampler, Start};
use farpoint_cuda::{CudaScalar, Gpu};
use farpoint_generate::Kind;

/// Numbers of samples, and switches to test.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Depth {
    /// All amounts by all switches, even those that are feasible only for small clouds.
    Everything,
    /// All amounts by the algorithm with its defaults, a quarter by its switches.
    Switches,
    /// A quarter, and the whole cloud where that is quick.
    Quarter,
}

/// Clouds of some sizes.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) sizes: &'static [usize],
    pub(crate) parts: &'static [&'static str],
    pub(crate) depth: Depth,
}

pub(crate) const TINY: Class = Class {
    name: "n = 1, 2, 3, 31..33",
    sizes: &[1, 2, 3, 31, 32, 33],
    parts: variants::ALL,
    depth: Depth::Everything,
};
pub(crate) const THOUSAND: Class = Class {
    name: "n = 1023..1025",
    sizes: &[1023, 1024, 1025],
    parts: variants::ALL,
    depth: Depth::Everything,
};
pub(crate) const MIDDLE: Class =
    Class { name: "n = 5,000", sizes: &[5_000], parts: variants::ALL, depth: Depth::Switches };
const LARGE: Class =
    Class { name: "n = 30,000", sizes: &[30_000], parts: variants::ALL, depth: Depth::Quarter };
const LARGER: Class = Class {
    name: "n = 200,000",
    sizes: &[200_000],
    parts: &["radius", "persistent", "peak", "auto"],
    depth: Depth::Quarter,
};
const MILLION: Class =
    Class { name: "n = 1,000,000", sizes: &[1_000_000], parts: &["peak"], depth: Depth::Quarter };

/// All kinds in all sizes; without those above 30,000 if `quick`.
pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = Vec::new();
    for class in [TINY, THOUSAND, MIDDLE] {
        groups.extend(Kind::ALL.into_iter().flat_map(|kind| both(kind, class)));
    }
    let selected = [Kind::Room, Kind::Lattice, Kind::Duplicated, Kind::Clusters];
    if quick {
        groups.extend(selected.map(|kind| group::<f32>(kind, LARGE)));
        groups.push(group::<f32>(Kind::Room, MILLION));
        return groups;
    }
    groups.extend(Kind::ALL.into_iter().flat_map(|kind| both(kind, LARGE)));
    groups.extend(selected.into_iter().flat_map(|kind| both(kind, LARGER)));
    groups.push(group::<f32>(Kind::Lidar, LARGER));
    groups.extend(Kind::ALL.map(|kind| group::<f32>(kind, MILLION)));
    groups.extend(selected.map(|kind| group::<f64>(kind, MILLION)));
    groups
}

/// A few clouds that are processed by several blocks, in both precisions.
pub(crate) fn several_blocks() -> Vec<Group> {
    let kinds = [Kind::Room, Kind::Lattice, Kind::Duplicated];
    let mut groups: Vec<_> = kinds.into_iter().flat_map(|kind| both(kind, MIDDLE)).collect();
    groups.extend([group::<f32>(Kind::Room, LARGE), group::<f64>(Kind::Lattice, LARGE)]);
    groups.push(group::<f32>(Kind::Room, LARGER));
    groups
}

fn both(kind: Kind, class: Class) -> [Group; 2] {
    [group::<f32>(kind, class), group::<f64>(kind, class)]
}

/// A cloud and its samples on the CPU from some starts.
pub(crate) struct Case<T> {
    cloud: Cloud<T>,
    truths: Vec<(Start, Truth<T>)>,
}

impl<T: CudaScalar> Case<T> {
    /// From the first row and one more, whole or, of large clouds, a quarter.
    pub(crate) fn new(cloud: Cloud<T>, depth: Depth) -> Result<Self> {
        let n = cloud.len();
        let max_samples = if depth == Depth::Quarter && n > 30_000 { n / 4 } else { n };
        let starts = match depth {
            Depth::Everything if n > 1 => vec![0, n - n / 3 - 1],
            _ => vec![0],
        };
        let truth = |row| {
            let start = Start::Index(row);
            Ok((start.clone(), Truth::new(&cloud, &start, max_samples)?))
        };
        let truths = starts.into_iter().map(truth).collect::<Result<_>>()?;
        Ok(Self { cloud, truths })
    }

    /// Compares the runs of one algorithm that `depth` selects.
    pub(crate) fn compare(&self, device: &Gpu, part: &str, depth: Depth, tally: &mut Tally) {
        let variants = match depth {
            Depth::Everything => variants::odd(part),
            Depth::Switches => variants::all(part),
            // The last switches are those that cost most.
            Depth::Quarter if self.cloud.len() <= 30_000 => variants::all(part),
            Depth::Quarter => vec![Variant::plain(variants::algorithm(part))],
        };
        for (index, variant) in variants.iter().enumerate() {
            for (start_index, (start, truth)) in self.truths.iter().enumerate() {
                // Switches are not tried from every start.
                if start_index > 0 && index > 0 {
                    continue;
                }
                for m in self.amounts(depth, index == 0, part) {
                    let n = self.cloud.len();
                    let sampler = variant.of(Sampler::count(m).start(start.clone()));
                    let label = format!("{}, {n} -> {m}, {start:?}", variant.name);
                    tally.prefix(label, sampler.on(device).sample(&self.cloud), truth, m);
                }
            }
        }
    }

    fn amounts(&self, depth: Depth, plain: bool, part: &str) -> Vec<usize> {
        let n = self.cloud.len();
        let mut amounts = match depth {
            Depth::Everything => vec![0, 1, 2.min(n), n / 4, n - 1, n],
            Depth::Switches if plain => vec![0, 1, 2.min(n), n / 4, n - 1, n],
            Depth::Quarter if plain && n <= 30_000 && part != "naive" => vec![n / 4, n],
            Depth::Switches | Depth::Quarter => vec![n / 4],
        };
        amounts.sort_unstable();
        amounts.dedup();
        amounts
    }
}

/// A kind of cloud in one precision.
pub(crate) fn group<T: CudaScalar>(kind: Kind, class: Class) -> Group {
    let name = format!("{kind} {}, {}", T::SUFFIX, class.name);
    let group = Group::new(name, class.parts, move || {
        let case =
            |(seed, &n): (u64, &usize)| Case::new(Cloud::<T>::of(kind, n, seed), class.depth);
        let cases = (1..).zip(class.sizes).map(case).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            cases.iter().for_each(|case| case.compare(device, part, class.depth, tally));
            Ok(())
        })
    });
    if class.sizes[0] >= 1_000_000 { group.heavy() } else { group }
}

/// Ten million points, with the time of a run.
pub(crate) fn ten_million() -> Group {
    const N: usize = 10_000_000;
    let group = Group::new("room f32, n = 10,000,000", &["peak"], || {
        let cloud = Cloud::<f32>::of(Kind::Room, N, 1);
        let truth = Truth::new(&cloud, &Start::Index(0), N / 4)?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let sampler = Sampler::count(N / 4).algorithm(variants::algorithm(part));
            let sample = sampler.statistics(true).on(device).sample(&cloud);
            if let Some(statistics) = sample.as_ref().ok().and_then(|s| s.statistics.as_ref()) {
                tally.note(format!("{:.1} ms on the device", statistics.seconds.kernels * 1e3));
            }
            tally.prefix(format!("{N} -> {}", N / 4), sample, &truth, N / 4);
            Ok(())
        })
    });
    group.heavy()
}
