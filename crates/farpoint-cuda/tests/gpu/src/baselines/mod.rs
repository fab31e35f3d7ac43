//! The laboratory's baselines on a GPU return the result of the CPU, which is their definition: indices, radii and all
//! details of FastPoint, indices and distances of QuickFPS.

mod resident;

use crate::clouds::{Cloud, any_exponent};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::{Algorithm, Amount, Start};
use farpoint_baselines::{Estimator, First, Found, Job, Method, gpu, sample};
use farpoint_cuda::{CudaScalar, Error, Gpu};
use farpoint_generate::Kind;
use resident::{graphs, pointers};
use std::time::Duration;

/// The one part of these groups.
const PART: &[&str] = &["baselines"];

pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = Vec::new();
    for kind in Kind::ALL {
        groups.push(of_host::<f32>(kind, &[320, 1_025, 5_000]));
        groups.push(of_host::<f64>(kind, &[3_000]));
    }
    for kind in [Kind::Room, Kind::Lidar, Kind::Lattice, Kind::Duplicated] {
        groups.push(of_host::<f32>(kind, if quick { &[30_000] } else { &[30_000, 300_000] }));
    }
    groups.extend([options::<f32>(), options::<f64>(), edges(), orders()]);
    groups.extend([pointers::<f32>(), pointers::<f64>(), graphs(), gives_up()]);
    groups.extend([exact::<f32>(), exact::<f64>()]);
    groups
}

/// For the sanitizer.
pub(crate) fn small() -> Vec<Group> {
    vec![of_host::<f32>(Kind::Room, &[700]), pointers::<f32>(), exact::<f32>()]
}

fn job(count: usize) -> Job {
    with(count, First::Exact(Algorithm::Auto), Estimator::Network)
}

fn with(count: usize, first: First, estimator: Estimator) -> Job {
    Job::new(Method::FastPoint { first, estimator }, Amount::Count(count))
}

/// A job on a cloud, and the CPU's result.
struct Case<T> {
    name: String,
    cloud: Cloud<T>,
    job: Job,
    truth: Found<T>,
}

impl<T: CudaScalar> Case<T> {
    fn new(name: impl Into<String>, cloud: Cloud<T>, job: Job) -> Result<Self> {
        let truth = sample(&job, &cloud)?;
        Ok(Self { name: name.into(), cloud, job, truth })
    }

    fn compare(&self, device: &Gpu, tally: &mut Tally) {
        let found = gpu::sample_on(device, &self.job, &self.cloud);
        let found = found.map_err(|error| format!("{error:#}"));
        tally.check(&self.name, found.and_then(|found| same(&found, &self.truth)));
    }
}

fn same<T: CudaScalar>(found: &Found<T>, truth: &Found<T>) -> Result<(), String> {
    let difference = std::iter::zip(&found.indices, &truth.indices).position(|(a, b)| a != b);
    let details = || format!("{:?}, not {:?}", found.fastpoint, truth.fastpoint);
    if let Some(difference) = difference {
        let (a, b) = (found.indices[difference], truth.indices[difference]);
        return Err(format!("sample {difference} is {a}, not {b}; {}", details()));
    }
    match found.indices.len() == truth.indices.len()
        && found.fastpoint == truth.fastpoint
        && found.squared_distances == truth.squared_distances
    {
        true => Ok(()),
        false => Err(format!("{} samples, {}", found.indices.len(), details())),
    }
}

fn group<T: CudaScalar>(
    name: String,
    cases: impl FnOnce() -> Result<Vec<Case<T>>> + Send + 'static,
) -> Group {
    Group::new(name, PART, move || {
        let cases = cases()?;
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            cases.iter().for_each(|case| case.compare(device, tally));
            Ok(())
        })
    })
}

/// A kind of cloud, from a sixteenth of its points up to all.
fn of_host<T: CudaScalar>(kind: Kind, sizes: &'static [usize]) -> Group {
    let name = format!("fastpoint, {kind} {}, n <= {}", T::SUFFIX, sizes[sizes.len() - 1]);
    group::<T>(name, move || {
        let mut cases = Vec::new();
        for &n in sizes {
            let cloud = Cloud::<T>::of(kind, n, 7);
            let counts: &[usize] =
                if n > 30_000 { &[n / 4] } else { &[1, 310, 311, n / 16, n / 4, n / 2, n] };
            for &count in counts.iter().filter(|&&count| count <= n) {
                for estimator in [Estimator::Network, Estimator::Fit] {
                    let name = format!("{n} -> {count}, {estimator:?}");
                    cases.push(Case::new(
                        name,
                        cloud.clone(),
                        with(count, First::Exact(Algorithm::Auto), estimator),
                    )?);
                }
            }
        }
        Ok(cases)
    })
}

/// Starts, first stages, and numbers of axes.
fn options<T: CudaScalar>() -> Group {
    group::<T>(format!("fastpoint, options {}", T::SUFFIX), || {
        let mut cases = Vec::new();
        let cloud = Cloud::<T>::of(Kind::Room, 4_000, 3);
        let many: Vec<usize> = (0..300).map(|k| k * 13 + 5).collect();
        let crowded: Vec<usize> = (1_000..1_950).collect();
        let starts = [
            Start::Index(3_999),
            Start::Random(5),
            Start::Indices(vec![0]),
            Start::Indices(vec![7, 0, 3_000]),
            Start::Indices(many),
            Start::Indices(crowded),
        ];
        for start in starts {
            for count in [950, 1_000, 2_000] {
                let name = format!("-> {count}, {:.40}", format!("{start:?}"));
                cases.push(Case::new(
                    name,
                    cloud.clone(),
                    Job { start: start.clone(), ..job(count) },
                )?);
            }
        }
        let truth = sample(&job(1_000), &cloud)?;
        for first in ["naive", "radius", "peak", "persistent", "quick"] {
            let first_stage =
                if first == "quick" { First::Quick } else { First::Exact(first.parse()?) };
            let job = with(1_000, first_stage, Estimator::Network);
            let (name, cloud) = (format!("first stage {first}"), cloud.clone());
            // The CPU does not support all of them.
            cases.push(Case { name, cloud, job, truth: truth.clone() });
        }
        for dims in [1, 2, 4, 7] {
            for tied in [None, Some(9)] {
                let cloud = Cloud::<T>::random(2_500, dims, tied, 8);
                for count in [400, 1_200] {
                    let name = format!("{dims} axes, tied {tied:?}, -> {count}");
                    cases.push(Case::new(name, cloud.clone(), job(count))?);
                }
            }
        }
        Ok(cases)
    })
}

/// Coordinates at the limits of floating point, where radii vanish or overflow.
fn edges() -> Group {
    group::<f32>("fastpoint, edges f32".into(), || {
        let mut cases = Vec::new();
        for scale in [1e-45, 1e-38, 1e-23, 1e-19, 1e15, 1e18, 1e19, 3e37] {
            for tied in [None, Some(7)] {
                let cloud = Cloud::<f32>::random(2_000, 3, tied, 5).times(10.0).times(scale);
                let name = format!("times {scale:e}, tied {tied:?}");
                cases.push(Case::new(name, cloud, job(700))?);
            }
        }
        for (low, high) in [(60, 66), (-149, 127), (-149, -120), (-75, -60)] {
            let cloud = any_exponent::<f32>(2_000, low, high, 6);
            cases.push(Case::new(format!("2^{low}..2^{high}"), cloud, job(500))?);
        }
        let same = Cloud { data: vec![0.25f32; 3 * 2_000], dims: 3 };
        cases.push(Case::new("one place", same, job(500))?);
        let line =
            Cloud { data: (0..20_000).flat_map(|i| [i as f32, 0.0, 0.0]).collect(), dims: 3 };
        cases.push(Case::new("a line", line, job(5_000))?);
        let mut far = Cloud::<f32>::of(Kind::Room, 5_000, 2);
        far.data[0] = 1e6;
        cases.push(Case::new("a stray point", far, job(1_250))?);
        Ok(cases)
    })
}

/// Rows in other orders, with other dependencies in each.
fn orders() -> Group {
    group::<f32>("fastpoint, orders f32".into(), || {
        let mut cases = Vec::new();
        let cloud = Cloud::<f32>::of(Kind::Lidar, 20_000, 4);
        let mut rows: Vec<[f32; 3]> =
            cloud.data.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
        let mut add = |name: &str, rows: &[[f32; 3]]| -> Result<()> {
            let cloud = Cloud { data: rows.as_flattened().to_vec(), dims: 3 };
            for count in [1_250, 5_000, 12_000] {
                cases.push(Case::new(format!("{name} -> {count}"), cloud.clone(), job(count))?);
            }
            Ok(())
        };
        add("as made", &rows)?;
        rows.reverse();
        add("reversed", &rows)?;
        rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
        add("along x", &rows)?;
        let mut random = farpoint::backend::SplitMix64::new(1);
        for k in (1..rows.len()).rev() {
            rows.swap(k, random.below(k as u64 + 1) as usize);
        }
        add("shuffled", &rows)?;
        Ok(cases)
    })
}

/// QuickFPS, from the first point and others, with trees of several heights.
fn exact<T: CudaScalar>() -> Group {
    group::<T>(format!("quick {}", T::SUFFIX), || {
        let mut cases = Vec::new();
        for kind in Kind::ALL {
            for n in [1usize, 33, 500, 3_000] {
                for (height, start) in
                    [(None, 0), (Some(0), n / 2), (Some(5), n - 1), (Some(20), 0)]
                {
                    let mut job = Job::new(Method::Quick { height }, Amount::Count(n.div_ceil(2)));
                    job.start = Start::Index(start);
                    let name = format!("{kind} {n}, height {height:?}");
                    cases.push(Case::new(name, Cloud::<T>::of(kind, n, 5), job)?);
                }
            }
        }
        for dims in [1, 2, 4, 7] {
            let cloud = Cloud::<T>::random(2_000, dims, Some(9), 8);
            let job = Job::new(Method::Quick { height: None }, Amount::Count(900));
            cases.push(Case::new(format!("{dims} axes"), cloud, job)?);
        }
        Ok(cases)
    })
}

/// Stages at which a block leaves (`enum Stage` of `kernels/common/guard.cuh`).
const STAGES: [(u32, &str); 2] = [(0, "at once"), (2, "in a pass")];

/// A block that never arrives is waited for until the timeout and no longer; the next call is right.
fn gives_up() -> Group {
    Group::new("fastpoint gives up", PART, || {
        let job = with(5_000, First::Exact(Algorithm::Naive), Estimator::Network);
        let case = Case::new("after it", Cloud::<f32>::of(Kind::Room, 20_000, 3), job)?;
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            for (stage, when) in STAGES {
                let before = device.patience();
                device.set_patience(Duration::from_millis(300));
                device.set_absent(Some(stage));
                let found = gpu::sample_on(device, &case.job, &case.cloud);
                device.set_absent(None);
                device.set_patience(before);
                let error = found.err().and_then(|error| error.downcast::<Error>().ok());
                tally.is(format!("{when}: gave up"), matches!(error, Some(Error::GaveUp { .. })));
                case.compare(device, tally);
            }
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases cover levels and none, passes that are repeated, and fills.
    #[test]
    fn cases_are_of_all_kinds() {
        let details = |cloud: &Cloud<f32>, count: usize| {
            sample(&job(count), cloud).unwrap().fastpoint.unwrap()
        };
        let room = Cloud::<f32>::of(Kind::Room, 5_000, 7);
        assert!(details(&room, 310).radii.is_empty() && details(&room, 311).radii.len() == 6);
        let found = details(&room, 1_250);
        assert!(found.found < 1_250 && found.found > 500, "{found:?}");
        let huge = Cloud::<f32>::random(2_000, 3, None, 5).times(10.0).times(1e19);
        assert!(details(&huge, 700).radii.is_empty());
    }
}
