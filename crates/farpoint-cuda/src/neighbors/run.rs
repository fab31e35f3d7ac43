//! Jobs on clouds in host memory: check, upload, launch, download, translate.

use super::method::Choice;
use super::{DeviceGradients, DevicePairs};
use crate::gpus::spread;
use crate::input::{self, Columns, invalid_result, sums};
use crate::memory::Buffer;
use crate::progress::Watch;
use crate::{CudaScalar, Error, Event, Gpu, Stream};
use farpoint::backend::memory as fallible;
use farpoint::backend::{PreparedPair as Prepared, check_backward, placed_chamfer};
use farpoint::{Chamfer, Gradients, Matcher, Nearest, Observer, Points, Statistics};
use std::mem::MaybeUninit;
use std::time::Instant;

/// Finds the nearest point of `b` for each point of `a`.
pub(crate) fn nearest<T: CudaScalar>(
    gpu: &Gpu,
    job: &Matcher,
    a: &dyn Points<T>,
    b: &dyn Points<T>,
    observer: Option<Observer<'_>>,
) -> Result<Nearest<T>, Error> {
    let begin = Instant::now();
    Choice::new(job)?;
    let pair = [Prepared::new(job, false, a, b)?];
    let watch = watch(observer, &pair, false);
    let [mut nearest, _] = search(gpu, job, &pair, false, begin, &watch)?.nearest;
    Ok(nearest.remove(0))
}

/// Finds the nearest points in both directions.
pub(crate) fn chamfer<T: CudaScalar>(
    gpu: &Gpu,
    job: &Matcher,
    a: &dyn Points<T>,
    b: &dyn Points<T>,
    observer: Option<Observer<'_>>,
) -> Result<Chamfer<T>, Error> {
    measured(gpu, job, a, b, observer).map(|(chamfer, _)| chamfer)
}

/// Both directions, with the time and memory of the call.
fn measured<T: CudaScalar>(
    gpu: &Gpu,
    job: &Matcher,
    a: &dyn Points<T>,
    b: &dyn Points<T>,
    observer: Option<Observer<'_>>,
) -> Result<(Chamfer<T>, Statistics), Error> {
    let begin = Instant::now();
    Choice::new(job)?;
    let pair = [Prepared::new(job, true, a, b)?];
    let watch = watch(observer, &pair, true);
    let found = search(gpu, job, &pair, true, begin, &watch)?;
    let [mut a_to_b, mut b_to_a] = found.nearest;
    let chamfer = Chamfer { a_to_b: a_to_b.remove(0), b_to_a: b_to_a.remove(0) };
    Ok((chamfer, found.statistics))
}

/// [`nearest`] for many pairs, on one GPU or several.
pub(crate) fn nearest_batch<T: CudaScalar>(
    gpus: &[Gpu],
    job: &Matcher,
    a: &[&dyn Points<T>],
    b: &[&dyn Points<T>],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Nearest<T>>, Error> {
    batch(gpus, job, a, b, false, observer, |[nearest, _]| nearest)
}

/// [`chamfer`] for many pairs, on one GPU or several.
pub(crate) fn chamfer_batch<T: CudaScalar>(
    gpus: &[Gpu],
    job: &Matcher,
    a: &[&dyn Points<T>],
    b: &[&dyn Points<T>],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Chamfer<T>>, Error> {
    batch(gpus, job, a, b, true, observer, |[a_to_b, b_to_a]| {
        let chamfer = |(a_to_b, b_to_a)| Chamfer { a_to_b, b_to_a };
        std::iter::zip(a_to_b, b_to_a).map(chamfer).collect()
    })
}

/// Searches by one launch per GPU; `finish` makes results of the nearest points of each side.
fn batch<T: CudaScalar, R: Send>(
    gpus: &[Gpu],
    job: &Matcher,
    a: &[&dyn Points<T>],
    b: &[&dyn Points<T>],
    both: bool,
    observer: Option<Observer<'_>>,
    finish: impl Fn([Vec<Nearest<T>>; 2]) -> Vec<R> + Sync,
) -> Result<Vec<R>, Error> {
    let begin = Instant::now();
    Choice::new(job)?;
    let pairs = Prepared::batch(job, both, a, b)?;
    let watch = watch(observer, &pairs, both);
    let work = |pair: &Prepared<T>| pair.points(0) + pair.points(1);
    spread(gpus, &pairs, work, |gpu, pairs| {
        Ok(finish(search(gpu, job, pairs, both, begin, &watch)?.nearest))
    })
}

/// Number of points whose nearest is requested.
fn point_count<T: CudaScalar>(pairs: &[Prepared<T>], both: bool) -> usize {
    let points = |pair: &Prepared<T>| pair.points(0) + if both { pair.points(1) } else { 0 };
    pairs.iter().map(points).sum()
}

fn watch<'a, T: CudaScalar>(
    observer: Option<Observer<'a>>,
    pairs: &[Prepared<T>],
    both: bool,
) -> Watch<'a> {
    Watch::new(observer, point_count(pairs, both), farpoint::Error::SearchCancelled)
}

/// Nearest points of a batch of pairs.
struct SearchResult<T> {
    /// For each side, by pair; empty for a side that is not requested.
    nearest: [Vec<Nearest<T>>; 2],
    statistics: Statistics,
}

/// Finds the nearest points of prepared pairs by one launch: from the first clouds to the second, and
/// if `both` also back.
fn search<T: CudaScalar>(
    gpu: &Gpu,
    job: &Matcher,
    pairs: &[Prepared<T>],
    both: bool,
    begin: Instant,
    watch: &Watch<'_>,
) -> Result<SearchResult<T>, Error> {
    let mut part = watch.part(point_count(pairs, both));
    part.reach(0)?;
    let stream = Stream::new(gpu)?;
    let dims = pairs.iter().map(Prepared::dims).max().unwrap_or(1);
    let sides = [
        Side::upload(&stream, pairs, 0, dims, true)?,
        Side::upload(&stream, pairs, 1, dims, both)?,
    ];
    let points = sides.each_ref().map(|side| side.points.pointer());
    let rows = sides.each_ref().map(|side| side.longest);
    let mut batch = DevicePairs::<T>::padded(points, pairs.len(), rows, dims);
    for (target, side) in batch.sides.iter_mut().zip(&sides) {
        side.describe(target);
    }
    let shape = batch.check()?;
    let choice = Choice::new(job)?.resolve(gpu, shape);
    let mut statistics = Statistics::default();
    statistics.seconds.copy = begin.elapsed().as_secs_f64();
    statistics.bytes.input = sides.iter().map(Side::input_bytes).sum();
    statistics.bytes.answer = sides.iter().map(Side::output_bytes).sum();
    statistics.bytes.scratch = choice.scratch_bytes::<T>(gpu, shape);
    let events = [Event::new(gpu)?, Event::new(gpu)?];
    events[0].record(&stream)?;
    // SAFETY: the buffers have the sizes that the batch says, and are freed in stream order; no
    // prepared cloud is empty that points are compared with.
    unsafe { choice.enqueue::<T>(&stream, &batch.matching(), shape, None)? };
    events[1].record(&stream)?;
    stream.wait(choice.name())?;
    part.end()?;
    statistics.seconds.kernels = events[1].seconds_since(&events[0])?;
    let download_begin = Instant::now();
    let ([a, b], name) = (sides, choice.name());
    let back = if both { b.download(pairs, 1, name)? } else { Vec::new() };
    let nearest = [a.download(pairs, 0, name)?, back];
    statistics.seconds.download = download_begin.elapsed().as_secs_f64();
    Ok(SearchResult { nearest, statistics })
}

/// Comparison with statistics.
impl Gpu {
    /// Returns the nearest points of two clouds in host memory, in both directions, with the time and
    /// memory of the call: [`farpoint::Matcher::chamfer`] with statistics.
    ///
    /// # Errors
    /// On empty clouds, non-finite rows, and clouds with different numbers of coordinates, as on the
    /// CPU; and if the GPU has too little memory, or fails.
    pub fn chamfer_measured<T: CudaScalar, A, B>(
        &self,
        job: &Matcher,
        a: &A,
        b: &B,
    ) -> Result<(Chamfer<T>, Statistics), Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        measured(self, job, &a, &b, None)
    }
}

/// One cloud of a prepared pair.
struct PairSide<'a, T>(&'a Prepared<T>, usize);

impl<T: CudaScalar> Columns<T> for PairSide<'_, T> {
    fn points(&self) -> usize {
        self.0.points(self.1)
    }
    fn dims(&self) -> usize {
        self.0.dims()
    }
    fn axis(&self, axis: usize) -> &[T] {
        self.0.axis(self.1, axis)
    }
}

/// One cloud of every pair in device memory, and room for its points' results.
struct Side<T> {
    points: Buffer<T>,
    /// Points of all clouds together, and of the largest.
    rows: usize,
    longest: usize,
    offsets: Buffer<i64>,
    /// Empty if not requested.
    distances: Buffer<T>,
    indices: Buffer<i64>,
}

impl<T: CudaScalar> Side<T> {
    fn upload(
        stream: &Stream,
        pairs: &[Prepared<T>],
        which: usize,
        dims: usize,
        requested: bool,
    ) -> Result<Self, Error> {
        let clouds: Vec<_> = pairs.iter().map(|pair| PairSide(pair, which)).collect();
        let points = input::upload(stream, &clouds, dims)?;
        let offsets = sums(clouds.iter().map(Columns::points));
        let rows = offsets[clouds.len()] as usize;
        let results = if requested { rows } else { 0 };
        Ok(Self {
            points,
            rows,
            longest: clouds.iter().map(Columns::points).max().unwrap_or(0),
            offsets: Buffer::upload(stream, &offsets, "the offsets of the clouds")?,
            distances: Buffer::new(stream, results, "the distances")?,
            indices: Buffer::new(stream, results, "the indices")?,
        })
    }

    /// Sets all addresses.
    fn describe(&self, side: &mut super::DeviceSide) {
        side.strides = [1, self.rows as i64];
        side.offsets = Some(self.offsets.pointer());
        if !self.distances.is_empty() {
            side.distances = Some(self.distances.pointer());
            side.indices = Some(self.indices.pointer());
        }
    }

    fn input_bytes(&self) -> usize {
        self.points.len() * size_of::<T>() + self.offsets.len() * 8
    }

    fn output_bytes(&self) -> usize {
        self.distances.len() * size_of::<T>() + self.indices.len() * 8
    }

    /// Downloads the results, once the kernel is done.
    fn download(
        self,
        pairs: &[Prepared<T>],
        which: usize,
        kernel: &str,
    ) -> Result<Vec<Nearest<T>>, Error> {
        let distances = self.distances.download(self.rows)?;
        let indices = self.indices.download(self.rows)?;
        let mut from = 0;
        let one = |pair: &Prepared<T>| {
            let rows = from..from + pair.points(which);
            from = rows.end;
            let indices = &indices[rows.clone()];
            // Never use a kernel's number as a size unchecked.
            pair.nearest(which, &distances[rows], indices).ok_or_else(|| {
                let limit = pair.points(1 - which) as i64;
                let invalid = indices.iter().find(|index| !(0..limit).contains(*index));
                invalid_result(kernel, invalid.copied().unwrap_or(-1))
            })
        };
        pairs.iter().map(one).collect()
    }
}

/// Computes the gradients of clouds in host memory.
pub(crate) fn backward<T: CudaScalar>(
    gpu: &Gpu,
    chamfer: &Chamfer<T>,
    a: &dyn Points<T>,
    b: &dyn Points<T>,
    grads: [&[T]; 2],
) -> Result<Gradients<T>, Error> {
    let sizes = [Size::of(a), Size::of(b)];
    let chamfer = &*placed_chamfer(chamfer, a, b)?;
    check_backward(chamfer, &sizes[0], &sizes[1], grads[0], grads[1])?;
    let directions = [&chamfer.a_to_b, &chamfer.b_to_a];
    let norm = directions[0].norm;
    if norm != directions[1].norm {
        return Err(Error::Unsupported(
            "the two directions have different norms; compute their gradients separately".into(),
        ));
    }
    let (rows, dims) = (sizes.map(|size| size.rows), sizes[0].dims);
    input::check_rows(rows[0].max(rows[1]))?;
    if rows.contains(&0) || dims == 0 {
        // Nothing has a nearest point.
        let [a, b] = rows.map(|rows| fallible::filled(rows * dims, T::ZERO));
        return Ok(Gradients { a, b });
    }
    let stream = Stream::new(gpu)?;
    let points = [
        Buffer::upload(&stream, &sizes[0].dense(a), "the points")?,
        Buffer::upload(&stream, &sizes[1].dense(b), "the points")?,
    ];
    let mut indices = Vec::new();
    let (mut upstream, mut outputs) = (Vec::new(), Vec::new());
    for side in 0..2 {
        indices.push(Buffer::upload(&stream, &signed(directions[side]), "the indices")?);
        upstream.push(Buffer::upload(&stream, grads[side], "the gradients of the distances")?);
        outputs.push(Buffer::<T>::new(&stream, rows[side] * dims, "the gradients")?);
    }
    let addresses = |buffers: &[Buffer<T>]| [0, 1].map(|side| buffers[side].pointer());
    let pairs = DevicePairs::<T>::padded(addresses(&points), 1, rows, dims)
        .outputs([None; 2], [0, 1].map(|side: usize| Some(indices[side].pointer())));
    let request = DeviceGradients::new(pairs, addresses(&upstream), addresses(&outputs));
    let job = Matcher::new().norm(norm);
    // SAFETY: the buffers have the sizes that the pairs say, and are freed in stream order; the
    // indices were checked.
    unsafe { gpu.enqueue_gradients(&job, &stream, &request)? };
    stream.wait("backward")?;
    let download = |side: usize| outputs[side].download(rows[side] * dims);
    Ok(Gradients { a: download(0)?, b: download(1)? })
}

/// Size of a cloud, read once: a user's [`Points`] may return a different one each time, and kernels
/// rely on the sizes that were checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) dims: usize,
}

impl Size {
    pub(crate) fn of<T: CudaScalar>(points: &dyn Points<T>) -> Self {
        Self { rows: points.len(), dims: points.dim() }
    }

    /// Returns dense rows, of this size.
    pub(crate) fn dense<T: CudaScalar>(self, points: &dyn Points<T>) -> Vec<T> {
        let mut dense = fallible::filled(self.rows * self.dims, T::ZERO);
        let mut column = [MaybeUninit::new(T::ZERO); 1024];
        for (block, rows) in dense.chunks_mut((1024 * self.dims).max(1)).enumerate() {
            for axis in 0..self.dims {
                let column = &mut column[..rows.len() / self.dims];
                points.copy_axis(axis, 1024 * block, column);
                for (row, value) in rows.chunks_mut(self.dims).zip(&*column) {
                    // SAFETY: every value has been written, with zero at least.
                    row[axis] = unsafe { value.assume_init() };
                }
            }
        }
        dense
    }
}

/// For checks of sizes alone.
impl<T: CudaScalar> Points<T> for Size {
    fn len(&self) -> usize {
        self.rows
    }
    fn dim(&self) -> usize {
        self.dims
    }
    fn coordinate(&self, _: usize, _: usize) -> T {
        T::ZERO
    }
}

/// Converts indices to the kernels' type: -1 for none.
fn signed<T: CudaScalar>(nearest: &Nearest<T>) -> Vec<i64> {
    let none = Nearest::<T>::NONE;
    let signed = |&index: &u32| if index == none { -1 } else { i64::from(index) };
    fallible::collected(nearest.indices.iter().map(signed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Reports one more row and axis each time it is called.
    struct Growing([AtomicUsize; 2]);

    impl Points<f32> for Growing {
        fn len(&self) -> usize {
            self.0[0].fetch_add(1, Ordering::Relaxed)
        }
        fn dim(&self) -> usize {
            self.0[1].fetch_add(1, Ordering::Relaxed)
        }
        fn coordinate(&self, row: usize, axis: usize) -> f32 {
            (10 * row + axis) as f32
        }
    }

    #[test]
    fn points_that_change_their_size_are_read_once() {
        let points = Growing([2, 3].map(AtomicUsize::new));
        let size = Size::of(&points);
        assert_eq!(size, Size { rows: 2, dims: 3 });
        assert_eq!(size.dense(&points), [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
        assert_eq!((Points::<f32>::len(&size), Points::<f32>::dim(&size)), (2, 3));
        let calls = points.0.map(AtomicUsize::into_inner);
        assert_eq!(calls, [3, 4], "sizes are read once");
    }
}
