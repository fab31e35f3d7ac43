//! Voxels on the CPU.

use super::numbering::{self, Equality};
use super::prepared::{Found, Prepared, SMALL, random_place};
use crate::memory;
use crate::scalar::compiled_once;
use crate::threads::{self, on_threads};
use crate::unwind::caught;
use crate::watch::Watch;
use crate::{Cpu, Error, Observer, Points, Reduce, Scalar, VoxelGrid, Voxels};

/// Points per task of a thread.
const CHUNK: usize = 1 << 14;

const NONE: u32 = Voxels::<f32>::NONE;

compiled_once! {
    /// Finds the voxels of a cloud.
    pub(super) fn downsample<'a, 'b, T: Scalar>(
        cpu: &'a Cpu,
        job: &'a VoxelGrid,
        points: &'a dyn Points<T>,
        observer: Option<Observer<'b>>,
    ) -> Result<Voxels<T>, Error> {
        let threads = threads::count_for(points.len() >= SMALL, cpu.threads)?;
        let watch = Watch::new(observer, points.len());
        let found = caught(|| on_threads(threads, || one(job, points, threads, &watch)));
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
        let sizes = memory::collected(clouds.iter().map(|cloud| cloud.len()));
        let watch = Watch::new(observer, sizes.iter().fold(0, |sum, &n| sum.saturating_add(n)));
        let found = threads::spread(&sizes, SMALL, cpu.threads, |cloud, threads| {
            on_threads(threads, || one(job, clouds[cloud], threads, &watch))
        });
        watch.end(Error::SearchCancelled).and(found)
    }
}

/// Finds the voxels of one cloud.
fn one<T: Scalar>(
    job: &VoxelGrid,
    points: &dyn Points<T>,
    threads: usize,
    watch: &Watch<'_>,
) -> Result<Voxels<T>, Error> {
    let prepared = Prepared::with_threads(threads, job, points)?;
    if !watch.step(0) {
        return Err(Error::SearchCancelled(0));
    }
    let found = find(job, &prepared, threads);
    watch.step(points.len());
    Ok(prepared.voxels(found))
}

/// Finds the voxels of a checked cloud.
fn find<T: Scalar>(job: &VoxelGrid, cloud: &Prepared<T>, threads: usize) -> Found<T> {
    let cells = Cells::new(cloud, threads);
    let (of, count) = numbering::number(cloud.points(), &cells, threads);
    let mut groups = Groups::new(of, count);
    if job.sorted || job.min_points > 1 {
        let kept = groups.kept(job, &cells);
        groups.renumber(&kept);
    }
    let chosen = match job.reduce {
        Reduce::Mean | Reduce::First => groups.first.clone(),
        Reduce::Center => groups.nearest_to_center(cloud),
        Reduce::Random(seed) => groups.random(seed, &cells),
    };
    let coordinates = match job.reduce {
        Reduce::Mean => groups.means(cloud),
        _ => rows(cloud.dims(), &chosen, |axis, point| cloud.axis(axis)[point as usize]),
    };
    let cells = rows(cloud.dims(), &groups.first, |axis, point| cells.at(point, axis));
    Found { of: groups.of, counts: groups.counts, chosen, coordinates, cells }
}

/// Returns `dims` numbers for each of these points, one point after another.
fn rows<A>(dims: usize, points: &[u32], at: impl Fn(usize, u32) -> A) -> Vec<A> {
    let mut rows = memory::with_capacity(points.len() * dims);
    for &point in points {
        rows.extend((0..dims).map(|axis| at(axis, point)));
    }
    rows
}

/// Cells of all points, one array per axis.
struct Cells(Vec<Vec<i32>>);

impl Cells {
    fn new<T: Scalar>(cloud: &Prepared<T>, threads: usize) -> Self {
        let axis = |axis: usize| {
            let mut cells = memory::zeros(cloud.points());
            threads::for_each_chunk(&mut cells, CHUNK, threads, |chunk, cells| {
                for (cell, &x) in cells.iter_mut().zip(&cloud.axis(axis)[chunk * CHUNK..]) {
                    *cell = cloud.quotient(axis, x).to_f64().floor() as i32;
                }
            });
            cells
        };
        Self((0..cloud.dims()).map(axis).collect())
    }

    fn at(&self, point: u32, axis: usize) -> i32 {
        self.0[axis][point as usize]
    }

    fn of(&self, point: u32) -> impl Iterator<Item = i32> {
        self.0.iter().map(move |axis| axis[point as usize])
    }
}

impl Equality for Cells {
    fn key(&self, point: usize) -> u64 {
        self.0.iter().fold(0, |key: u64, axis| {
            let mixed = (key ^ u64::from(axis[point] as u32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
            mixed ^ mixed >> 32
        })
    }

    fn same(&self, a: u32, b: u32) -> bool {
        self.0.iter().all(|axis| axis[a as usize] == axis[b as usize])
    }
}

/// Points by voxel.
struct Groups {
    of: Vec<u32>,
    counts: Vec<u32>,
    first: Vec<u32>,
}

impl Groups {
    /// Groups points by the numbers of their voxels, which are below `count`.
    fn new(of: Vec<u32>, count: usize) -> Self {
        let mut counts = memory::zeros(count);
        let mut first = memory::with_capacity(count);
        for (point, &voxel) in (0..).zip(&of) {
            let count = &mut counts[voxel as usize];
            if *count == 0 {
                first.push(point);
            }
            *count += 1;
        }
        Self { of, counts, first }
    }

    /// Returns the voxels that remain, in the order of their new numbers.
    fn kept(&self, job: &VoxelGrid, cells: &Cells) -> Vec<u32> {
        let enough = |&voxel: &u32| self.counts[voxel as usize] >= job.min_points;
        let mut kept = memory::collected((0..self.counts.len() as u32).filter(enough));
        if job.sorted {
            let first = |voxel: u32| self.first[voxel as usize];
            kept.sort_unstable_by(|&a, &b| cells.of(first(a)).cmp(cells.of(first(b))));
        }
        kept
    }

    /// Numbers these voxels as they come and leaves out all others.
    fn renumber(&mut self, kept: &[u32]) {
        let mut numbers = memory::filled(self.counts.len(), NONE);
        (0..).zip(kept).for_each(|(number, &voxel)| numbers[voxel as usize] = number);
        self.of.iter_mut().for_each(|voxel| *voxel = numbers[*voxel as usize]);
        let pick = |from: &[u32]| memory::collected(kept.iter().map(|&voxel| from[voxel as usize]));
        (self.counts, self.first) = (pick(&self.counts), pick(&self.first));
    }

    /// Calls `visit` with each point that is in a voxel, ascending, and its voxel.
    fn for_each(&self, mut visit: impl FnMut(usize, usize)) {
        for (point, &voxel) in self.of.iter().enumerate().filter(|(_, voxel)| **voxel != NONE) {
            visit(point, voxel as usize);
        }
    }

    fn nearest_to_center<T: Scalar>(&self, cloud: &Prepared<T>) -> Vec<u32> {
        let mut best = memory::filled(self.counts.len(), (T::INFINITY, NONE));
        self.for_each(|point, voxel| {
            let distance = (0..cloud.dims()).fold(T::ZERO, |sum, axis| {
                let q = cloud.quotient(axis, cloud.axis(axis)[point]);
                let off = (q - T::from_f64(q.to_f64().floor())) - T::from_f64(0.5);
                sum + off * off
            });
            if distance < best[voxel].0 {
                best[voxel] = (distance, point as u32);
            }
        });
        memory::collected(best.into_iter().map(|(_, point)| point))
    }

    fn random(&self, seed: u64, cells: &Cells) -> Vec<u32> {
        // Number of points of the voxel to pass over.
        let mut skips =
            memory::collected(self.counts.iter().zip(&self.first).map(|(&count, &first)| {
                let cell: Vec<i32> = cells.of(first).collect();
                random_place(seed, &cell, count)
            }));
        let mut chosen = memory::zeros(self.counts.len());
        self.for_each(|point, voxel| {
            if skips[voxel] == 0 {
                chosen[voxel] = point as u32;
            }
            skips[voxel] = skips[voxel].wrapping_sub(1);
        });
        chosen
    }

    fn means<T: Scalar>(&self, cloud: &Prepared<T>) -> Vec<T> {
        let dims = cloud.dims();
        let mut sums = memory::zeros::<f64>(self.counts.len() * dims);
        for axis in 0..dims {
            let values = cloud.axis(axis);
            self.for_each(|point, voxel| sums[voxel * dims + axis] += values[point].to_f64());
        }
        let count = |at: usize| f64::from(self.counts[at / dims]);
        memory::collected(sums.iter().enumerate().map(|(at, sum)| T::from_f64(sum / count(at))))
    }
}
