//! Searches of clouds in host memory: check, upload, launch, download.
//!
//! Rows to be dropped are uploaded as they are: on the GPU they have no neighbors and are none.

use super::clouds::DeviceClouds;
use super::method::Choice;
use super::request::DeviceSearch;
use super::within::DeviceWithin;
use crate::gpus::spread;
use crate::input::{invalid_result, sums};
use crate::memory::Buffer;
use crate::neighbors::Size;
use crate::progress::Watch;
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::backend::memory as fallible;
use farpoint::backend::{FoundNeighbors, PreparedPair};
use farpoint::{Matcher, Neighbors, NonFinite, Observer, Points, Searcher, Subset, WithinBall};

/// Finds several neighbors in `y` of each point of `x`.
pub(crate) fn search<T: CudaScalar>(
    gpu: &Gpu,
    job: &Searcher,
    x: &dyn Points<T>,
    y: &dyn Points<T>,
    observer: Option<Observer<'_>>,
) -> Result<Neighbors<T>, Error> {
    job.check()?;
    let pair = [Pair::new(job, x, y)?];
    let watch = Watch::new(observer, rows(&pair), farpoint::Error::SearchCancelled);
    Ok(best(gpu, job, &pair, &watch)?.remove(0))
}

/// [`search`] for many pairs, on one GPU or several.
pub(crate) fn search_batch<T: CudaScalar>(
    gpus: &[Gpu],
    job: &Searcher,
    x: &[&dyn Points<T>],
    y: &[&dyn Points<T>],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Neighbors<T>>, Error> {
    job.check()?;
    let pairs = Pair::batch(job, x, y)?;
    let watch = Watch::new(observer, rows(&pairs), farpoint::Error::SearchCancelled);
    spread(gpus, &pairs, Pair::work, |gpu, pairs| best(gpu, job, pairs, &watch))
}

/// Finds all neighbors in the ball of each point of `x`.
pub(crate) fn within<T: CudaScalar>(
    gpu: &Gpu,
    job: &Searcher,
    x: &dyn Points<T>,
    y: &dyn Points<T>,
    observer: Option<Observer<'_>>,
) -> Result<WithinBall<T>, Error> {
    job.check_within()?;
    let pair = [Pair::new(job, x, y)?];
    let watch = Watch::new(observer, 2 * rows(&pair), farpoint::Error::SearchCancelled);
    Ok(all(gpu, job, &pair, &watch)?.remove(0))
}

/// [`within`] for many pairs, on one GPU or several.
pub(crate) fn within_batch<T: CudaScalar>(
    gpus: &[Gpu],
    job: &Searcher,
    x: &[&dyn Points<T>],
    y: &[&dyn Points<T>],
    observer: Option<Observer<'_>>,
) -> Result<Vec<WithinBall<T>>, Error> {
    job.check_within()?;
    let pairs = Pair::batch(job, x, y)?;
    let watch = Watch::new(observer, 2 * rows(&pairs), farpoint::Error::SearchCancelled);
    spread(gpus, &pairs, Pair::work, |gpu, pairs| all(gpu, job, pairs, &watch))
}

/// Two checked clouds, as dense rows.
struct Pair<T> {
    sizes: [Size; 2],
    points: [Vec<T>; 2],
    /// Number of dropped rows of the first cloud.
    dropped: usize,
    /// Rows of a whole cloud selected as the second, if any: kernels return positions in the selection.
    subset: Option<Subset>,
}

impl<T: CudaScalar> Pair<T> {
    fn new(job: &Searcher, x: &dyn Points<T>, y: &dyn Points<T>) -> Result<Self, Error> {
        Choice::new(job)?;
        check_exclude_self(job, x, y)?;
        Ok(Self::of(&PreparedPair::new(&matcher(job), false, x, y)?, x, y))
    }

    fn batch(
        job: &Searcher,
        x: &[&dyn Points<T>],
        y: &[&dyn Points<T>],
    ) -> Result<Vec<Self>, Error> {
        Choice::new(job)?;
        std::iter::zip(x, y).try_for_each(|(x, y)| check_exclude_self(job, *x, *y))?;
        let prepared = PreparedPair::batch(&matcher(job), false, x, y)?;
        let pairs = prepared.iter().zip(x.iter().zip(y));
        Ok(pairs.map(|(prepared, (x, y))| Self::of(prepared, *x, *y)).collect())
    }

    fn of(prepared: &PreparedPair<T>, x: &dyn Points<T>, y: &dyn Points<T>) -> Self {
        let sizes = [Size::of(x), Size::of(y)];
        let points = [sizes[0].dense(x), sizes[1].dense(y)];
        let dropped = sizes[0].rows.saturating_sub(prepared.points(0));
        let rows = |subset: &&Subset| subset.rows().len() == sizes[1].rows;
        let subset = y.subset().filter(rows).cloned();
        Self { sizes, points, dropped, subset }
    }

    /// Converts positions in the selection to rows of the caller's cloud.
    fn name(&self, indices: &mut [u32]) {
        let Some(subset) = &self.subset else { return };
        for index in indices.iter_mut().filter(|index| **index != Neighbors::<T>::NONE) {
            *index = subset.row(*index as usize) as u32;
        }
    }

    fn work(&self) -> usize {
        self.sizes[0].rows + self.sizes[1].rows
    }
}

/// Checks for a GPU's limitation: kernels exclude a query's own position, not its row.
fn check_exclude_self<T: CudaScalar>(
    job: &Searcher,
    x: &dyn Points<T>,
    y: &dyn Points<T>,
) -> Result<(), Error> {
    if job.exclude_self && x.subset() != y.subset() {
        return Err(Error::Unsupported(
            "on a GPU, exclude_self requires the same selection of rows in both clouds; use the CPU"
                .into(),
        ));
    }
    Ok(())
}

fn matcher(job: &Searcher) -> Matcher {
    Matcher::new().norm(job.norm).non_finite(job.non_finite)
}

fn rows<T>(pairs: &[Pair<T>]) -> usize {
    pairs.iter().map(|pair| pair.sizes[0].rows).sum()
}

/// One side of all pairs in device memory.
struct Side<T> {
    points: Buffer<T>,
    offsets: Buffer<i64>,
    longest: usize,
}

impl<T: CudaScalar> Side<T> {
    fn upload(stream: &Stream, pairs: &[Pair<T>], side: usize, dims: usize) -> Result<Self, Error> {
        let mut coordinates = Vec::new();
        for pair in pairs {
            let size = pair.sizes[side];
            if size.dims == dims {
                fallible::extend(&mut coordinates, pair.points[side].iter().copied());
                continue;
            }
            // A cloud with fewer axes than others gets zeros, which change no distance.
            for row in 0..size.rows {
                let values = &pair.points[side][row * size.dims..][..size.dims];
                fallible::extend(&mut coordinates, values.iter().copied());
                fallible::extend(&mut coordinates, std::iter::repeat_n(T::ZERO, dims - size.dims));
            }
        }
        let lengths = || pairs.iter().map(|pair| pair.sizes[side].rows);
        Ok(Self {
            points: Buffer::upload(stream, &coordinates, "the points")?,
            offsets: Buffer::upload(stream, &sums(lengths()), "the offsets of the clouds")?,
            longest: lengths().max().unwrap_or(0),
        })
    }

    fn clouds(&self, dims: usize) -> DeviceClouds {
        let (points, offsets) = (self.points.pointer(), self.offsets.pointer());
        DeviceClouds::ragged(points, offsets, self.longest, dims)
    }
}

/// A batch of pairs in device memory.
struct Batch<T> {
    stream: Stream,
    sides: [Side<T>; 2],
    dims: usize,
    clouds: usize,
}

impl<T: CudaScalar> Batch<T> {
    fn upload(gpu: &Gpu, pairs: &[Pair<T>]) -> Result<Self, Error> {
        let stream = Stream::new(gpu)?;
        let dims = pairs.iter().map(|pair| pair.sizes[0].dims).max().unwrap_or(1).max(1);
        let sides =
            [Side::upload(&stream, pairs, 0, dims)?, Side::upload(&stream, pairs, 1, dims)?];
        Ok(Self { stream, sides, dims, clouds: pairs.len() })
    }

    fn search(&self) -> DeviceSearch<T> {
        let [x, y] = self.sides.each_ref().map(|side| side.clouds(self.dims));
        DeviceSearch { narrow: true, ..DeviceSearch::new(x, y, self.clouds, self.dims) }
    }
}

/// Returns the job without checks of rows.
fn without_row_checks(job: &Searcher) -> Searcher {
    job.clone().non_finite(NonFinite::Error)
}

/// Converts indices of the device, -1 for none, to unsigned ones.
fn unsigned(indices: Vec<i32>) -> Vec<u32> {
    indices.into_iter().map(|index| index as u32).collect()
}

fn copied<V: Copy>(values: &[V]) -> Vec<V> {
    fallible::collected(values.iter().copied())
}

/// Finds the best `k` neighbors of each row in one launch.
fn best<T: CudaScalar>(
    gpu: &Gpu,
    job: &Searcher,
    pairs: &[Pair<T>],
    watch: &Watch<'_>,
) -> Result<Vec<Neighbors<T>>, Error> {
    let (rows, k) = (rows(pairs), job.k);
    let mut part = watch.part(rows);
    part.reach(0)?;
    let batch = Batch::upload(gpu, pairs)?;
    let places = rows.checked_mul(k).ok_or(farpoint::Error::TooManyNeighbors(usize::MAX))?;
    let distances = Buffer::<T>::new(&batch.stream, places, "the distances")?;
    let indices = Buffer::<i32>::new(&batch.stream, places, "the indices")?;
    let counts = Buffer::<i32>::new(&batch.stream, rows, "the numbers of neighbors")?;
    let outputs = [distances.pointer(), indices.pointer(), counts.pointer()].map(Some);
    let request = batch.search().outputs(outputs[0], outputs[1], outputs[2]);
    // SAFETY: the buffers have the sizes that the batch says, and are freed in stream order.
    unsafe { gpu.enqueue_search(&without_row_checks(job), &batch.stream, &request)? };
    batch.stream.wait("search")?;
    part.end()?;
    let (distances, indices, counts) =
        (distances.download(places)?, unsigned(indices.download(places)?), counts.download(rows)?);
    let mut from = 0;
    let one = |pair: &Pair<T>| {
        let range = from..from + pair.sizes[0].rows;
        from = range.end;
        let found = FoundNeighbors {
            distances: copied(&distances[range.start * k..range.end * k]),
            indices: copied(&indices[range.start * k..range.end * k]),
            counts: unsigned(copied(&counts[range])),
            dropped: pair.dropped,
        };
        // Never use a kernel's number as a size unchecked.
        let found = found.neighbors(job, pair.sizes[1].rows);
        let mut found = found.ok_or_else(|| invalid_result("search", -1))?;
        pair.name(&mut found.all_indices);
        Ok(found)
    };
    pairs.iter().map(one).collect()
}

/// Finds all neighbors in each ball: counted by one launch, written by another.
fn all<T: CudaScalar>(
    gpu: &Gpu,
    job: &Searcher,
    pairs: &[Pair<T>],
    watch: &Watch<'_>,
) -> Result<Vec<WithinBall<T>>, Error> {
    let rows = rows(pairs);
    let mut part = watch.part(2 * rows);
    part.reach(0)?;
    let batch = Batch::upload(gpu, pairs)?;
    let counts = Buffer::<i32>::new(&batch.stream, rows, "the numbers of neighbors")?;
    let (searched, job) = (job, &without_row_checks(job));
    let request = batch.search().outputs(None, None, Some(counts.pointer()));
    // SAFETY: the buffers have the sizes that the batch says, and are freed in stream order.
    unsafe { gpu.enqueue_search_counts(job, &batch.stream, &request)? };
    let counts = unsigned(counts.download(rows)?);
    part.reach(rows)?;
    let offsets = sums(counts.iter().map(|&count| count as usize));
    let all = offsets[rows] as usize;
    let offsets_buffer = Buffer::upload(&batch.stream, &offsets, "the offsets of the rows")?;
    let distances = Buffer::<T>::new(&batch.stream, all, "the distances")?;
    let indices = Buffer::<i32>::new(&batch.stream, all, "the indices")?;
    let (outputs, offsets_at) =
        ([distances.pointer(), indices.pointer()], offsets_buffer.pointer());
    let search = batch.search().outputs(Some(outputs[0]), Some(outputs[1]), None);
    // SAFETY: as above; the offsets are the running sums of the counts.
    unsafe {
        let within = DeviceWithin { search, offsets: offsets_at };
        gpu.enqueue_search_fill(job, &batch.stream, &within)?;
    }
    batch.stream.wait("search")?;
    part.end()?;
    let (distances, indices) = (distances.download(all)?, unsigned(indices.download(all)?));
    let mut from = 0;
    let one = |pair: &Pair<T>| {
        let range = from..from + pair.sizes[0].rows;
        from = range.end;
        let [begin, end] = [range.start, range.end].map(|row| offsets[row] as usize);
        let relative_offsets =
            offsets[range.start..=range.end].iter().map(|&at| at as usize - begin).collect();
        let found = FoundNeighbors {
            distances: copied(&distances[begin..end]),
            indices: copied(&indices[begin..end]),
            counts: Vec::new(),
            dropped: pair.dropped,
        };
        let result = found.within(searched, relative_offsets, pair.sizes[1].rows);
        let mut result = result.ok_or_else(|| invalid_result("search", -1))?;
        pair.name(&mut result.indices);
        Ok(result)
    };
    pairs.iter().map(one).collect()
}
