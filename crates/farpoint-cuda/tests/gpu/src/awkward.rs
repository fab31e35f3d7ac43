//! Numbers of axes, starts, amounts, and coordinates at the limits of floating point.

use crate::clouds::{Cloud, any_exponent};
use crate::edges;
use crate::equality::{Case, Depth};
use crate::runner::Group;
use crate::tally::Tally;
use crate::truth::{job, on_cpu};
use crate::variants::{self, ALL, Variant};
use anyhow::Result;
use farpoint::backend::SplitMix64;
use farpoint::{Amount, NonFinite, Points, Sample, Sampler, Start};
use farpoint_cuda::{CudaScalar, Error, Gpu};
use farpoint_generate::Kind;

pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = Vec::new();
    for dims in [1, 2, 4, 5, 16] {
        groups.push(axes::<f32>(dims, &[1, 33, 700]));
        groups.push(axes::<f64>(dims, &[1, 33, 700]));
        if !quick {
            groups.push(axes::<f32>(dims, &[20_000]));
        }
    }
    groups.extend([scales::<f32>(&[150, 3_000]), scales::<f64>(&[150, 3_000])]);
    groups.extend([exponents(), offsets::<f32>(), offsets::<f64>(), corners()]);
    groups.extend([far::<f32>(&[1_200, 5_000, 30_000]), far::<f64>(&[1_200, 5_000, 30_000])]);
    groups.extend([amounts::<f32>(1_600), amounts::<f64>(1_600), amounts::<f32>(20_000)]);
    groups.extend([starts::<f32>(2_000), starts::<f64>(2_000), non_finite()]);
    groups
}

/// Named clouds, each compared by every algorithm.
fn compared<T: CudaScalar>(
    name: String,
    depth: Depth,
    clouds: impl FnOnce() -> Vec<(String, Cloud<T>)> + Send + 'static,
) -> Group {
    Group::new(name, ALL, move || {
        let case = |(name, cloud)| Ok((name, Case::new(cloud, depth)?));
        let cases = clouds().into_iter().map(case).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for (name, case) in &cases {
                let previous = tally.failures.len();
                case.compare(device, part, depth, tally);
                tally.failures[previous..]
                    .iter_mut()
                    .for_each(|f| f.insert_str(0, &format!("{name}: ")));
            }
            Ok(())
        })
    })
}

/// Points of `dims` coordinates, without and with ties.
pub(crate) fn axes<T: CudaScalar>(dims: usize, sizes: &'static [usize]) -> Group {
    let depth = if sizes[0] > 1_000 { Depth::Quarter } else { Depth::Switches };
    let largest = sizes.iter().max().expect("sizes");
    compared(format!("{dims} axes {}, n <= {largest}", T::SUFFIX), depth, move || {
        let clouds = sizes.iter().flat_map(|&n| {
            [("any", None), ("tied", Some(3))].map(|(name, tied)| {
                (format!("{name} {n}"), Cloud::<T>::random(n, dims, tied, n as u64))
            })
        });
        clouds.collect()
    })
}

/// From subnormal numbers to squares that overflow.
fn scales<T: CudaScalar>(sizes: &'static [usize]) -> Group {
    let narrow = [1e-45, 3e-42, 1e-38, 1e-30, 1e-23, 1e-19, 1e15, 1e19, 1e30, 3e37];
    let wide = [5e-324, 1e-310, 1e-162, 1e-154, 1e-30, 1e19, 1e150, 1e154, 1e300, 4e307];
    let scales = if T::SUFFIX == "f32" { narrow } else { wide };
    compared(format!("tiny and huge {}", T::SUFFIX), Depth::Switches, move || {
        let mut clouds = Vec::new();
        for (&n, scale) in sizes.iter().flat_map(|n| scales.map(|scale| (n, scale))) {
            for (name, tied) in [("any", None), ("tied", Some(7))] {
                let cloud = Cloud::<T>::random(n, 3, tied, 5).times(10.0).times(scale);
                clouds.push((format!("{name} {n} times {scale:e}"), cloud));
            }
        }
        clouds
    })
}

/// Coordinates whose exponents differ, so that squares vanish or overflow side by side.
fn exponents() -> Group {
    compared("all exponents f32".into(), Depth::Switches, || {
        let mut clouds = Vec::new();
        for n in [150, 3_000] {
            for (low, high) in [(63, 127), (60, 66), (-149, 127), (-149, -120), (-75, -60)] {
                let name = format!("{n}, 2^{low}..2^{high}");
                clouds.push((name, any_exponent::<f32>(n, low, high, 6)));
            }
        }
        let mut random = SplitMix64::new(5);
        let data = (0..3 * 2_000).map(|_| f32::from_bits(random.below(40) as u32)).collect();
        clouds.push(("subnormal".into(), Cloud { data, dims: 3 }));
        clouds
    })
}

/// Points far from most others, in clouds of more rows than a group of the tree has.
pub(crate) fn far<T: CudaScalar>(sizes: &'static [usize]) -> Group {
    let largest = sizes.iter().max().expect("sizes");
    compared(format!("outliers {}, n <= {largest}", T::SUFFIX), Depth::Quarter, move || {
        let mut clouds = Vec::new();
        for &n in sizes {
            for (name, cloud) in edges::clouds::<T>(n) {
                clouds.push((format!("{name} {n}"), cloud));
            }
            let mut plane = Cloud::<T>::random(n, 2, Some(60), 4);
            plane.data[3] = T::from_f64(1e18);
            clouds.push((format!("tied in a plane, with an outlier {n}"), plane));
        }
        clouds
    })
}

/// Coordinates so large that few bits are left for their differences.
fn offsets<T: CudaScalar>() -> Group {
    compared(format!("huge offsets {}", T::SUFFIX), Depth::Switches, || {
        let offsets = [4.5e5, 5e6, 1e9, -1e7];
        let clouds = offsets.into_iter().flat_map(|offset| {
            [3.0, 500.0].map(|scale| {
                let cloud = Cloud::<T>::random(2_000, 3, None, 3).times(scale).plus(offset);
                (format!("times {scale} plus {offset}"), cloud)
            })
        });
        clouds.collect()
    })
}

/// All corners of the range, and signed zeros.
fn corners() -> Group {
    compared("ends of the range f32".into(), Depth::Switches, || {
        let ends = [f32::MAX, -f32::MAX, 0.0, -0.0, f32::MIN_POSITIVE, 1e-45, 1.8e19, -1.8e19];
        let data = (0..512).flat_map(|i: usize| [ends[i % 8], ends[i / 8 % 8], ends[i / 64]]);
        let corners = Cloud { data: data.collect(), dims: 3 };
        let sign = |bit: usize| if bit == 0 { 0.0 } else { -0.0 };
        let data = (0..64).flat_map(|i: usize| [sign(i & 1), sign(i & 2), sign(i & 4)]);
        let zeros = Cloud { data: data.collect(), dims: 3 };
        let series = (0..150).flat_map(|k| [2f32.powi(-k), 0.0, 0.0]);
        let series = Cloud { data: series.collect(), dims: 3 };
        vec![("corners".into(), corners), ("signed zeros".into(), zeros), ("2^-k".into(), series)]
    })
}

/// A job for the GPU with all switches, and the CPU's result.
struct Check<T> {
    label: String,
    cloud: Cloud<T>,
    sampler: Sampler,
    truth: Result<Sample<T>, farpoint::Error>,
}

impl<T: CudaScalar> Check<T> {
    fn new(
        name: &str,
        cloud: &Cloud<T>,
        amount: Amount,
        start: Start,
        non_finite: NonFinite,
    ) -> Self {
        let label = format!("{name}, {} points, {amount:?}, {start:?}", cloud.len());
        let sampler = job(amount, start, non_finite);
        let truth = on_cpu(sampler.clone(), cloud.len()).sample(cloud);
        Self { label, cloud: cloud.clone(), sampler, truth }
    }

    fn compare(&self, device: &Gpu, variant: &Variant, tally: &mut Tally) {
        let found = variant.of(self.sampler.clone()).on(device).sample(&self.cloud);
        let label = format!("{}, {}", variant.name, self.label);
        match (&self.truth, found) {
            (Ok(truth), found) => tally.sample(label, found, truth),
            (Err(expected), Err(Error::Sampling(error))) => {
                let same = error == *expected;
                let reason = format!("the error '{error}', not '{expected}'");
                tally.check(label, if same { Ok(()) } else { Err(reason) });
            }
            (Err(expected), Ok(_)) => tally.check(label, Err(format!("no error '{expected}'"))),
            (Err(_), found) => drop(tally.take(label, found)),
        }
    }
}

fn checked<T: CudaScalar>(
    name: String,
    checks: impl FnOnce() -> Vec<Check<T>> + Send + 'static,
) -> Group {
    Group::new(name, ALL, move || {
        let checks = checks();
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for variant in variants::all(part) {
                checks.iter().for_each(|check| check.compare(device, &variant, tally));
            }
            Ok(())
        })
    })
}

/// Ratios, spacings that end between samples and on them, the whole cloud.
fn amounts<T: CudaScalar>(n: usize) -> Group {
    checked(format!("ratio, spacing, whole {}, n = {n}", T::SUFFIX), move || {
        let mut checks = Vec::new();
        for kind in [Kind::Room, Kind::Lattice, Kind::Equal, Kind::Sphere] {
            let cloud = Cloud::<T>::of(kind, n, 8);
            let order = on_cpu(Sampler::count(n / 4), n).sample(&cloud);
            let middle = order.expect("a quarter").distance(n / 4 - 1).to_f64();
            let spacings = [0.0, middle, middle * 0.999, middle * 1.001, 1e9];
            // Spacings of zero are whole clouds: enough of them for the small ones.
            let spacings = spacings.into_iter().filter(|spacing| n < 2_000 || *spacing > 0.0);
            let mut amounts: Vec<_> = spacings.map(Amount::Spacing).collect();
            amounts.extend([0.0, 0.1, 0.3333].map(Amount::Ratio));
            if n < 2_000 {
                amounts.extend([Amount::Ratio(1.0), Amount::All]);
            }
            for amount in amounts {
                let name = kind.name();
                checks.push(Check::new(name, &cloud, amount, Start::Index(0), NonFinite::Error));
            }
        }
        checks
    })
}

/// One start, several, an existing sample to continue from, a random one.
fn starts<T: CudaScalar>(n: usize) -> Group {
    checked(format!("starts {}, n = {n}", T::SUFFIX), move || {
        let mut checks = Vec::new();
        for kind in [Kind::Room, Kind::Lattice, Kind::Duplicated] {
            let cloud = Cloud::<T>::of(kind, n, 9);
            let order = on_cpu(Sampler::count(n / 8), n).sample(&cloud);
            let order = order.expect("an eighth").indices;
            let mut starts: Vec<_> = [1, n / 2, n - 1].map(Start::Index).to_vec();
            starts.extend([0, 1, 77].map(Start::Random));
            starts.push(Start::Indices(vec![n - 1, 0, 3, 4, n / 2]));
            starts.extend([1, 33, n / 8].map(|len| Start::Indices(order[..len].to_vec())));
            for start in starts {
                let start_count = if let Start::Indices(rows) = &start { rows.len() } else { 1 };
                for m in [start_count, n / 4 + 7] {
                    let (name, amount) = (kind.name(), Amount::Count(m));
                    checks.push(Check::new(name, &cloud, amount, start.clone(), NonFinite::Error));
                }
                checks.push(Check::new("all", &cloud, Amount::All, start, NonFinite::Error));
            }
        }
        checks
    })
}

/// Rows with NaN and infinity: the CPU's error, or dropped.
fn non_finite() -> Group {
    checked("rows with NaN and infinity f32".into(), || {
        let mut cloud = Cloud::<f32>::of(Kind::Room, 600, 1);
        for (row, value) in [(0, f32::NAN), (8, f32::INFINITY), (599, f32::NEG_INFINITY)] {
            cloud.data[row * 3 + row % 3] = value;
        }
        let none = Cloud { data: vec![f32::NAN; 30], dims: 3 };
        let starts = [Start::Index(0), Start::Index(1), Start::Random(5)];
        let mut checks = Vec::new();
        for start in starts {
            for amount in [Amount::Count(100), Amount::Count(597), Amount::Count(598)] {
                for non_finite in [NonFinite::Error, NonFinite::Skip] {
                    checks.push(Check::new("some", &cloud, amount, start.clone(), non_finite));
                    checks.push(Check::new("all", &none, amount, start.clone(), non_finite));
                }
            }
        }
        checks.push(Check::new("none left", &none, Amount::All, Start::Index(0), NonFinite::Skip));
        checks
    })
}
