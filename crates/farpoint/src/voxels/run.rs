//! Voxels on the CPU: keys of cells, their numbers, and what stands for each.

use super::groups::Groups;
use super::keys::Keys;
use super::numbering;
use super::prepared::{Found, Prepared, SMALL};
use crate::scalar::compiled_once;
use crate::threads::{self, on_threads};
use crate::unwind::caught;
use crate::watch::Watch;
use crate::{Cpu, Error, Level, Observer, Points, Reduce, Scalar, VoxelGrid, Voxels};
use crate::{memory, simd};

compiled_once! {
    /// Finds the voxels of a cloud.
    pub(super) fn downsample<'a, 'b, T: Scalar>(
        cpu: &'a Cpu,
        job: &'a VoxelGrid,
        points: &'a dyn Points<T>,
        observer: Option<Observer<'b>>,
    ) -> Result<Voxels<T>, Error> {
        let threads = threads::count_for(points.len() >= SMALL, cpu.threads)?;
        let level = simd::choose(cpu.level)?;
        let watch = Watch::new(observer, points.len());
        let run = Run { job, level, watch: &watch };
        let found = caught(|| on_threads(threads, || run.one(points, threads)));
        watch.end(Error::SearchCancelled).and(found)
    }
}

compiled_once! {
    /// Finds the voxels of each cloud.
    pub(super) fn downsample_batch<'a, 'b, T: Scalar>(
        cpu: &'a Cpu,
        job: &'a VoxelGrid,
        clouds: &'a [&'a dyn Points<T>],
        observer: Option<Observer<'b>>,
    ) -> Result<Vec<Voxels<T>>, Error> {
        let level = simd::choose(cpu.level)?;
        let sizes = memory::collected(clouds.iter().map(|cloud| cloud.len()));
        let watch = Watch::new(observer, sizes.iter().fold(0, |sum, &n| sum.saturating_add(n)));
        let run = Run { job, level, watch: &watch };
        let found = threads::spread(&sizes, SMALL, cpu.threads, |cloud, threads| {
            on_threads(threads, || run.one(clouds[cloud], threads))
        });
        watch.end(Error::SearchCancelled).and(found)
    }
}

/// A job with what all clouds of a call share.
struct Run<'a, 'w> {
    job: &'a VoxelGrid,
    level: Level,
    watch: &'a Watch<'w>,
}

impl Run<'_, '_> {
    /// Finds the voxels of one cloud.
    fn one<T: Scalar>(&self, points: &dyn Points<T>, threads: usize) -> Result<Voxels<T>, Error> {
        let prepared = Prepared::with_threads(threads, self.job, points)?;
        if !self.watch.step(0) {
            return Err(Error::SearchCancelled(0));
        }
        let found = self.find(&prepared, threads);
        self.watch.step(points.len());
        Ok(prepared.voxels(found))
    }

    fn find<T: Scalar>(&self, cloud: &Prepared<T>, threads: usize) -> Found<T> {
        let Self { job, level, .. } = self;
        let keys = Keys::new(cloud, *level, threads);
        let numbers = numbering::number(&keys.all, |a, b| keys.same(cloud, a, b), threads);
        let mut groups = Groups::new(numbers);
        if job.sorted || job.min_points > 1 {
            groups.renumber(&groups.kept(job, cloud, &keys, threads));
        }
        let cells = keys.cells(cloud, &groups.first);
        let chosen = match job.reduce {
            Reduce::Mean | Reduce::First => memory::collected(groups.first.iter().copied()),
            Reduce::Center => groups.nearest_to_center(cloud),
            Reduce::Random(seed) => groups.random(seed, &cells, cloud.dims()),
        };
        let coordinates = match job.reduce {
            Reduce::Mean => groups.means(cloud, threads),
            _ => cloud.coordinates(&chosen),
        };
        Found { of: groups.of, counts: groups.counts, chosen, coordinates, cells }
    }
}
