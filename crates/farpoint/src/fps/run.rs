//! From a [`Sampler`] and points to a [`Sample`] on the CPU: check, choose an algorithm, run it.

use super::selection::Selection;
use super::{auto, naive, peak, radius, reference, tree};
use crate::clock::Clock;
use crate::cloud::WorkingCopy;
use crate::scalar::compiled_once;
use crate::simd::{self, Program, Simd};
use crate::threads::{self, Team};
use crate::unwind::caught;
use crate::{Algorithm, Cpu, DeviceKind, Error, Observer, Points, RanOn, Sample, Sampler, Scalar};

/// Indices and squared distances of an earlier sample, whose memory is used again.
pub(crate) type Arrays<T> = (Vec<usize>, Vec<T>);

compiled_once! {
    /// Samples one cloud, into these arrays.
    pub(crate) fn sample<'a, 'b, T: Scalar>(
        cpu: &'a Cpu,
        sampler: &'a Sampler,
        points: &'a dyn Points<T>,
        observer: Option<Observer<'b>>,
        arrays: Arrays<T>,
    ) -> Result<Sample<T>, Error> {
        caught(|| sample_on(cpu, sampler, points, observer, arrays))
    }
}

pub(super) fn sample_on<T: Scalar>(
    cpu: &Cpu,
    sampler: &Sampler,
    points: &dyn Points<T>,
    observer: Option<Observer<'_>>,
    arrays: Arrays<T>,
) -> Result<Sample<T>, Error> {
    let begin = Clock::now();
    let level = simd::choose(cpu.level)?;
    sampler.check(DeviceKind::Cpu)?;
    let threads = threads::count_for(points.len() >= SMALL, cpu.threads)?;
    let team = if points.len() < SMALL { Team::single() } else { Team::new(threads) };
    let ran_on = RanOn::Cpu { threads, level };
    sample_by(&team, sampler, points, (ran_on, begin), observer, arrays)
}

/// Samples with a team, which may have fewer threads than the device.
fn sample_by<T: Scalar>(
    team: &Team,
    sampler: &Sampler,
    points: &dyn Points<T>,
    (ran_on, begin): (RanOn, Clock),
    observer: Option<Observer<'_>>,
    arrays: Arrays<T>,
) -> Result<Sample<T>, Error> {
    let (mut indices, values) = arrays;
    let mut clock = Clock::now();
    let single = Team::single();
    // Other threads may be waited for on a busy machine, and nothing looks at the clock until there is a start.
    let alone = sampler.deadline.is_some() && points.len() < COPIED_ALONE;
    let copying = if alone { &single } else { team };
    let cloud = WorkingCopy::with_team(copying, points, sampler.non_finite)?;
    let mut selection = Selection::new(sampler, &cloud, points.len(), begin, observer, values)?;
    clock.lap(&mut selection.statistics.seconds.copy);
    let algorithm = auto::choose(sampler, &cloud, &selection);
    let starts = selection.starts.clone(); // algorithms take them
    let mut complete = true;
    if selection.remaining() > 0 {
        let team = if cloud.len < SMALL { &single } else { team };
        let RanOn::Cpu { level, .. } = ran_on else { unreachable!("this is the CPU") };
        let run = Run { algorithm, cloud: &cloud, team, selection: &mut selection };
        match simd::dispatch(level, run) {
            Err(Error::Cancelled(_)) if selection.has_ended() => {
                selection.truncate(&cloud, &starts);
                complete = false;
            }
            ended => ended?,
        }
    }
    indices.clear();
    team.extend(&mut indices, selection.points.len(), |k| cloud.row(selection.points[k]));
    Ok(Sample {
        indices,
        squared_distances: selection.values,
        squared_covering_radius: selection.covering,
        starts: starts.len(),
        complete,
        algorithm,
        dropped: points.len() - cloud.len,
        ran_on,
        statistics: sampler.statistics.then_some(selection.statistics),
    })
}

/// Clouds of fewer points are copied by one thread if there is a deadline: half a millisecond.
const COPIED_ALONE: usize = 1 << 18;

/// Clouds of fewer points are sampled by one thread: waking others would take longer.
pub(super) const SMALL: usize = 1 << 14;

/// Input of an algorithm.
pub(super) struct Run<'a, 'b, T> {
    pub(super) algorithm: Algorithm,
    pub(super) cloud: &'a WorkingCopy<T>,
    pub(super) team: &'a Team,
    pub(super) selection: &'a mut Selection<'b, T>,
}

impl<T: Scalar> Program<T> for Run<'_, '_, T> {
    type Output = Result<(), Error>;

    fn run<S: Simd<T>>(self, simd: S) -> Self::Output {
        let Self { algorithm, cloud, team, selection } = self;
        match algorithm {
            Algorithm::Auto | Algorithm::Persistent => unreachable!("resolved, and checked"),
            Algorithm::Reference => reference::run(cloud, selection),
            Algorithm::Naive => naive::run(simd, team, cloud, selection),
            Algorithm::Radius(options) => radius::run(simd, cloud, &options, selection),
            Algorithm::Tree => tree::run(simd, team, cloud, selection),
            Algorithm::Peak(_) => peak::run(simd, team, cloud, selection),
        }
    }
}
