//! The host path: check, upload, launch, download, translate.

use super::{DeviceGradients, DevicePairs, Matcher, gradients, pointers};
use crate::input::{self, Columns, impossible, sums};
use crate::memory::Buffer;
use crate::{CudaScalar, Error, Event, Gpu, Points, Statistics, Stream};
use farpoint::chamfer::{Chamfer, Gradients, Nearest, Prepared, check_backward};
use std::time::Instant;

/// What was found for a batch of pairs.
pub(super) struct Found<T> {
    /// For either side, by pair; nothing for a side that nobody asked for.
    pub(super) nearest: [Vec<Nearest<T>>; 2],
    pub(super) statistics: Statistics,
}

/// One cloud of a prepared pair.
struct Cloud<'a, T>(&'a Prepared<T>, usize);

impl<T: CudaScalar> Columns<T> for Cloud<'_, T> {
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

/// Finds the nearest points of prepared pairs by one launch: from the first clouds to the second,
/// and if `both` also back.
pub(super) fn search<T: CudaScalar>(
    matcher: &Matcher,
    device: &Gpu,
    pairs: &[Prepared<T>],
    both: bool,
    begin: Instant,
) -> Result<Found<T>, Error> {
    let stream = Stream::new(device)?;
    let dims = pairs.iter().map(Prepared::dims).max().unwrap_or(1);
    let sides = [
        Side::upload(&stream, pairs, 0, dims, true)?,
        Side::upload(&stream, pairs, 1, dims, both)?,
    ];
    let points = sides.each_ref().map(|side| side.points.pointer());
    let rows = sides.each_ref().map(|side| side.longest);
    let mut batch = DevicePairs::<T>::padded(points, pairs.len(), rows, dims);
    for (told, side) in batch.sides.iter_mut().zip(&sides) {
        side.tell(told);
    }
    // Rows were left out on the host, where that was asked for.
    let matcher = &Matcher { bad_rows: Default::default(), ..*matcher };
    let shape = batch.check()?;
    let choice = matcher.choice().resolve(device, shape);
    let mut statistics = Statistics {
        upload_seconds: begin.elapsed().as_secs_f64(),
        input_bytes: sides.iter().map(Side::input_bytes).sum(),
        answer_bytes: sides.iter().map(Side::answer_bytes).sum(),
        scratch_bytes: choice.scratch_bytes::<T>(device, shape),
        ..Statistics::default()
    };
    let events = [Event::new(device)?, Event::new(device)?];
    events[0].record(&stream)?;
    // SAFETY: the buffers have the sizes that the batch tells, and are freed in stream order.
    unsafe { pointers::enqueue(matcher, device, &stream, &batch)? };
    events[1].record(&stream)?;
    stream.wait(choice.method.name())?;
    statistics.seconds = events[1].seconds_since(&events[0])?;
    let fetch = Instant::now();
    let [a, b] = sides;
    let name = choice.method.name();
    let nearest = [a.download(pairs, 0, name)?, b.download(pairs, 1, name)?];
    statistics.download_seconds = fetch.elapsed().as_secs_f64();
    Ok(Found { nearest, statistics })
}

/// One cloud of every pair in device memory, and room for what is found for its points.
struct Side<T> {
    points: Buffer<T>,
    /// Points of all clouds together, and of the largest.
    rows: usize,
    longest: usize,
    offsets: Buffer<i64>,
    /// Empty if nobody asks.
    distances: Buffer<T>,
    indices: Buffer<i64>,
}

impl<T: CudaScalar> Side<T> {
    fn upload(
        stream: &Stream,
        pairs: &[Prepared<T>],
        which: usize,
        dims: usize,
        asked: bool,
    ) -> Result<Self, Error> {
        let clouds: Vec<_> = pairs.iter().map(|pair| Cloud(pair, which)).collect();
        let points = input::upload(stream, &clouds, dims)?;
        let offsets = sums(clouds.iter().map(Columns::points));
        let rows = offsets[clouds.len()] as usize;
        let answers = if asked { rows } else { 0 };
        Ok(Self {
            points,
            rows,
            longest: clouds.iter().map(Columns::points).max().unwrap_or(0),
            offsets: Buffer::upload(stream, &offsets, "the offsets of the clouds")?,
            distances: Buffer::new(stream, answers, "the distances")?,
            indices: Buffer::new(stream, answers, "the indices")?,
        })
    }

    /// Says where all of it is.
    fn tell(&self, side: &mut super::DeviceSide) {
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

    fn answer_bytes(&self) -> usize {
        self.distances.len() * size_of::<T>() + self.indices.len() * 8
    }

    /// Fetches what was found. The stream has come past the kernel.
    fn download(
        self,
        pairs: &[Prepared<T>],
        which: usize,
        kernel: &str,
    ) -> Result<Vec<Nearest<T>>, Error> {
        if self.distances.is_empty() {
            return Ok(Vec::new());
        }
        let distances = self.distances.download(self.rows)?;
        let indices = self.indices.download(self.rows)?;
        let mut from = 0;
        let one = |pair: &Prepared<T>| {
            let rows = from..from + pair.points(which);
            from = rows.end;
            let indices = &indices[rows.clone()];
            // Never trust a kernel's number with memory.
            pair.nearest(which, &distances[rows], indices).ok_or_else(|| {
                let most = pair.points(1 - which) as i64;
                let wrong = indices.iter().find(|index| !(0..most).contains(*index));
                impossible(kernel, wrong.copied().unwrap_or(-1))
            })
        };
        pairs.iter().map(one).collect()
    }
}

/// The gradients of clouds in host memory.
pub(super) fn backward<T: CudaScalar, A, B>(
    device: &Gpu,
    chamfer: &Chamfer<T>,
    a: &A,
    b: &B,
    grads: [&[T]; 2],
) -> Result<Gradients<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    let sizes = [Size::of(a), Size::of(b)];
    check_backward(chamfer, &sizes[0], &sizes[1], grads[0], grads[1])?;
    let found = [&chamfer.a_to_b, &chamfer.b_to_a];
    let norm = found[0].norm;
    if norm != found[1].norm {
        return Err(Error::Unsupported(
            "the two directions were measured by different norms; take their gradients one by one"
                .into(),
        ));
    }
    let (rows, dims) = (sizes.map(|size| size.rows), sizes[0].dims);
    input::check_rows(rows[0].max(rows[1]))?;
    if rows.contains(&0) || dims == 0 {
        // Nothing has a nearest point.
        let [a, b] = rows.map(|rows| vec![T::ZERO; rows * dims]);
        return Ok(Gradients { a, b });
    }
    let stream = Stream::new(device)?;
    let points = [
        Buffer::upload(&stream, &sizes[0].dense(a), "the points")?,
        Buffer::upload(&stream, &sizes[1].dense(b), "the points")?,
    ];
    let mut indices = Vec::new();
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for side in 0..2 {
        indices.push(Buffer::upload(&stream, &signed(found[side]), "the indices")?);
        sent.push(Buffer::upload(&stream, grads[side], "the gradients of the distances")?);
        received.push(Buffer::<T>::new(&stream, rows[side] * dims, "the gradients")?);
    }
    let addresses = |buffers: &[Buffer<T>]| [0, 1].map(|side| buffers[side].pointer());
    let pairs = DevicePairs::<T>::padded(addresses(&points), 1, rows, dims)
        .answers([None; 2], [0, 1].map(|side: usize| Some(indices[side].pointer())));
    let wanted = DeviceGradients::new(pairs, addresses(&sent), addresses(&received));
    let matcher = Matcher::new().norm(norm);
    // SAFETY: the buffers have the sizes that the pairs tell, and are freed in stream order; the
    // indices were checked.
    unsafe { gradients::enqueue(&matcher, device, &stream, &wanted)? };
    stream.wait("backward")?;
    let fetch = |side: usize| received[side].download(rows[side] * dims);
    Ok(Gradients { a: fetch(0)?, b: fetch(1)? })
}

/// How large a cloud is, asked once: somebody else's [`Points`] may answer differently each time, and
/// kernels trust the sizes that were checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    rows: usize,
    dims: usize,
}

impl Size {
    fn of<T: CudaScalar>(points: &(impl Points<T> + ?Sized)) -> Self {
        Self { rows: points.len(), dims: points.dim() }
    }

    /// Dense rows: as many numbers as this says.
    fn dense<T: CudaScalar>(self, points: &(impl Points<T> + ?Sized)) -> Vec<T> {
        (0..self.rows)
            .flat_map(|row| (0..self.dims).map(move |axis| points.coordinate(row, axis)))
            .collect()
    }
}

/// For checks that look at sizes alone.
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

/// Indices as kernels know them: -1 for none.
fn signed<T: CudaScalar>(nearest: &Nearest<T>) -> Vec<i64> {
    let none = Nearest::<T>::NONE;
    nearest.indices.iter().map(|&index| if index == none { -1 } else { i64::from(index) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Claims a row and an axis more each time it is asked.
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
    fn points_that_change_their_size_are_taken_at_their_first_word() {
        let points = Growing([2, 3].map(AtomicUsize::new));
        let size = Size::of(&points);
        assert_eq!(size, Size { rows: 2, dims: 3 });
        assert_eq!(size.dense(&points), [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
        assert_eq!((Points::<f32>::len(&size), Points::<f32>::dim(&size)), (2, 3));
        let asked = points.0.map(AtomicUsize::into_inner);
        assert_eq!(asked, [3, 4], "sizes are asked once");
    }
}
