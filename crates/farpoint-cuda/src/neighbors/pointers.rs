//! Jobs on clouds in device memory, with results there.

use super::matching::{Matching, Shape, Side};
use super::method::Choice;
use crate::{CudaScalar, Error, Gpu, Stream, input};
use farpoint::Matcher;
use std::marker::PhantomData;

/// One cloud of every pair in device memory, and the addresses of its rows' results. See
/// [`DevicePairs`].
#[derive(Debug, Clone, Copy)]
pub struct DeviceSide {
    /// Coordinates.
    pub points: u64,
    /// Strides from a row to the next, and from an axis to the next, in numbers.
    pub strides: [i64; 2],
    /// Rows of each cloud of a padded batch; of a ragged one, at least those of its largest cloud.
    pub rows: usize,
    /// First row of each cloud and the end, `pairs + 1` numbers: a ragged batch.
    pub offsets: Option<u64>,
    /// Number of valid rows of each cloud.
    pub lengths: Option<u64>,
    /// Address of the distances, if requested: one `T` per row of the batch.
    pub distances: Option<u64>,
    /// Address of the indices of the nearest points, if requested: one `i64` per row of the batch.
    pub indices: Option<u64>,
}

/// Pairs of clouds in device memory, with the addresses of their nearest points. All addresses are of device memory,
/// and all numbers in it are `i64`, except coordinates and distances, which are of type `T`.
///
/// # Units and shapes
/// Coordinate `a` of row `i` of a side is at `points[i * strides[0] + a * strides[1]]`, strides
/// counting numbers. The cloud of pair `p` is
///
/// * rows `p * rows ..` of a padded batch, the first `lengths[p]` of them if lengths are given, which are clamped to
///   `0..=rows`;
/// * rows `offsets[p] .. offsets[p + 1]` of a ragged one.
///
/// The two sides may differ in all of that. For each row of a side with a result the nearest row of the
/// pair's other cloud is found: its distance (squared with norm 2) and its index, counted from that
/// cloud's own first row, go to the same row of `distances` and `indices`. A side with neither is not
/// processed. Rows that pad a cloud get 0 and -1. If the other cloud has no row, which only `lengths`
/// and `offsets` determine, rows get infinity and -1.
///
/// # Checks
/// Everything known to the host is checked: sizes, null pointers, clouds known to be empty. Device memory is not
/// read: no coordinate of a cloud may be NaN or infinite ([`find_non_finite`](crate::find_non_finite) finds those), or the result
/// is meaningless.
///
/// # Safety
/// The caller must ensure that memory is allocated as described, and neither freed nor written
/// otherwise until the stream has finished, scratch memory included; that results do not overlap; and
/// that offsets are as described above, because kernels would otherwise access memory out of bounds. If
/// the call is captured into a graph, this holds for every launch of the graph.
///
/// # Order and graphs
/// [`Gpu::enqueue_nearest`] queues work on the stream and returns. It copies nothing to or from the
/// host and does not synchronize, so that it can be captured into a CUDA graph. Unless given, scratch
/// memory comes from the GPU's stream-ordered pool (inside a graph: from the graph) and is freed after
/// the kernel. The first use of a method loads its kernel ([`Gpu::warm_up`]).
///
/// # Timeouts
/// Blocks that wait for each other in vain leave after [`Gpu::patience`]; see [`Error::GaveUp`] for the content of
/// the result then. [`Stream::synchronize`] and [`Stream::check`] return that error.
#[derive(Debug, Clone, Copy)]
pub struct DevicePairs<T> {
    /// The first and the second cloud of every pair.
    pub sides: [DeviceSide; 2],
    /// Coordinates per row.
    pub dims: usize,
    /// Number of pairs.
    pub pairs: usize,
    /// Address and size of scratch memory: at least [`Gpu::nearest_scratch_bytes`], aligned to 256 bytes; from the
    /// pool if `None`.
    pub scratch: Option<(u64, usize)>,
    /// The precision.
    pub precision: PhantomData<T>,
}

impl<T: CudaScalar> DevicePairs<T> {
    /// Two dense arrays, `(pairs, rows[0], dims)` and `(pairs, rows[1], dims)`, with no results
    /// requested yet: see [`outputs`](Self::outputs).
    pub fn padded(points: [u64; 2], pairs: usize, rows: [usize; 2], dims: usize) -> Self {
        let side = |side: usize| DeviceSide {
            points: points[side],
            strides: [dims as i64, 1],
            rows: rows[side],
            offsets: None,
            lengths: None,
            distances: None,
            indices: None,
        };
        let sides = [side(0), side(1)];
        Self { sides, dims, pairs, scratch: None, precision: PhantomData }
    }

    /// Two dense `(rows, dims)` arrays, of which cloud `p` of a side is rows
    /// `offsets[side][p]..offsets[side][p + 1]`, none having more than `longest[side]`.
    pub fn ragged(
        points: [u64; 2],
        offsets: [u64; 2],
        pairs: usize,
        longest: [usize; 2],
        dims: usize,
    ) -> Self {
        let mut ragged = Self::padded(points, pairs, longest, dims);
        for (side, offsets) in ragged.sides.iter_mut().zip(offsets) {
            side.offsets = Some(offsets);
        }
        ragged
    }

    /// Sets the addresses of the distances and indices of the rows of each side.
    pub fn outputs(mut self, distances: [Option<u64>; 2], indices: [Option<u64>; 2]) -> Self {
        for (which, side) in self.sides.iter_mut().enumerate() {
            (side.distances, side.indices) = (distances[which], indices[which]);
        }
        self
    }

    /// Sets the number of valid rows of each cloud; padded batches only.
    pub fn lengths(mut self, lengths: [Option<u64>; 2]) -> Self {
        for (side, lengths) in self.sides.iter_mut().zip(lengths) {
            side.lengths = lengths;
        }
        self
    }

    /// Checks everything known to the host, and returns the size.
    pub(super) fn check(&self) -> Result<Shape, Error> {
        input::check_batch(self.pairs, self.dims)?;
        for which in 0..2 {
            in_side(which, self.check_side(which))?;
        }
        Ok(self.shape())
    }

    pub(super) fn shape(&self) -> Shape {
        let requested = |side: DeviceSide| side.distances.is_some() || side.indices.is_some();
        let (rows, requested) = (self.sides.map(|side| side.rows), self.sides.map(requested));
        Shape { pairs: self.pairs, rows, dims: self.dims, requested }
    }

    fn check_side(&self, which: usize) -> Result<(), Error> {
        let side = &self.sides[which];
        input::check_points::<T>(side.points, self.pairs, side.rows)?;
        let filled = self.pairs > 0 && side.rows > 0;
        let checked_address = |address: Option<u64>, name: &str| match address {
            Some(0) if filled => {
                let text = format!("the address of the {name} is null");
                Err(Error::Sampling(farpoint::Error::Shape(text)))
            }
            address => Ok(address.unwrap_or(0)),
        };
        input::check_aligned::<i64>(checked_address(side.offsets, "offsets")?, "offsets")?;
        input::check_aligned::<i64>(checked_address(side.lengths, "lengths")?, "lengths")?;
        input::check_aligned::<T>(checked_address(side.distances, "distances")?, "distances")?;
        input::check_aligned::<i64>(checked_address(side.indices, "indices")?, "indices")
    }

    /// Refuses rows to be compared with an empty cloud.
    fn check_filled(&self, shape: Shape) -> Result<(), Error> {
        for side in 0..2 {
            let rows = shape.pairs > 0 && shape.requested_rows(side) > 0;
            if rows && shape.rows[1 - side] == 0 {
                return in_side(1 - side, Err(farpoint::Error::EmptyCloud.into()));
            }
        }
        Ok(())
    }

    /// Returns the kernels' view.
    pub(super) fn matching(&self) -> Matching {
        let side = |side: &DeviceSide| Side {
            points: side.points,
            row_stride: side.strides[0],
            axis_stride: side.strides[1],
            offsets: side.offsets.unwrap_or(0),
            lengths: side.lengths.unwrap_or(0),
            rows: side.rows as i64,
            distances: side.distances.unwrap_or(0),
            indices: side.indices.unwrap_or(0),
        };
        let sides = self.sides.each_ref().map(side);
        Matching { sides, dims: self.dims as u32, pairs: self.pairs as u32 }
    }
}

/// Adds to an error which of the two clouds caused it.
pub(crate) fn in_side(which: usize, result: Result<(), Error>) -> Result<(), Error> {
    result.map_err(|error| match error {
        Error::Sampling(source) => {
            let which = ["first", "second"][which];
            farpoint::Error::InPair { which, source: Box::new(source) }.into()
        }
        error => error,
    })
}

/// Nearest points of clouds in device memory.
impl Gpu {
    /// Queues the search for nearest points of clouds in device memory without synchronizing; see
    /// [`DevicePairs`].
    ///
    /// # Errors
    /// If the job, sizes or addresses are wrong as far as the host can tell, if the GPU does not
    /// support the job's method, and if the driver refuses a call.
    ///
    /// # Safety
    /// See [`DevicePairs`].
    pub unsafe fn enqueue_nearest<T: CudaScalar>(
        &self,
        job: &Matcher,
        stream: &Stream,
        pairs: &DevicePairs<T>,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        let choice = Choice::new(job)?;
        let shape = check(job, pairs)?;
        // SAFETY: what is in device memory is as `DevicePairs` requires, by this function's contract; what
        // the host knows was checked.
        unsafe { choice.enqueue::<T>(stream, &pairs.matching(), shape, pairs.scratch) }
    }

    /// Returns the bytes of device memory that [`Gpu::enqueue_nearest`] uses for these pairs besides
    /// input and result; 0 if the GPU can't run the method. It depends only on sizes and on which
    /// results are requested.
    pub fn nearest_scratch_bytes<T: CudaScalar>(
        &self,
        job: &Matcher,
        pairs: &DevicePairs<T>,
    ) -> usize {
        Choice::new(job).map_or(0, |choice| choice.scratch_bytes::<T>(self, pairs.shape()))
    }
}

/// Checks everything known to the host, and returns the size.
fn check<T: CudaScalar>(job: &Matcher, pairs: &DevicePairs<T>) -> Result<Shape, Error> {
    input::check_non_finite(job.non_finite)?;
    let shape = pairs.check()?;
    pairs.check_filled(shape)?;
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint::NonFinite;

    fn pairs_of(points: [u64; 2], pairs: usize, rows: [usize; 2], dims: usize) -> DevicePairs<f32> {
        DevicePairs::padded(points, pairs, rows, dims)
            .outputs([Some(1024); 2], [Some(2048), Some(4096)])
    }

    fn message(pairs: &DevicePairs<f32>) -> String {
        check(&Matcher::new(), pairs).unwrap_err().to_string()
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        let good = pairs_of([256, 512], 2, [100, 7], 3);
        let shape = Shape { pairs: 2, rows: [100, 7], dims: 3, requested: [true; 2] };
        assert_eq!(check(&Matcher::new(), &good), Ok(shape));
        assert!(
            message(&pairs_of([0, 512], 2, [100, 7], 3))
                .starts_with("the first cloud: the address")
        );
        assert!(
            message(&pairs_of([256, 0], 2, [100, 7], 3)).starts_with("the second cloud: the addr")
        );
        assert!(message(&pairs_of([256, 514], 2, [100, 7], 3)).contains("aligned"));
        assert!(message(&pairs_of([256, 512], 2, [100, 7], 0)).contains("coordinates"));
        assert!(message(&pairs_of([256, 512], 1 << 25, [100, 7], 3)).contains("33554432"));
        let large = message(&pairs_of([256, 512], 2, [100, u32::MAX as usize], 3));
        assert!(large.contains("second") && large.contains("4294967295"), "{large}");
        for (address, text) in [(0, "null"), (2, "aligned")] {
            assert!(message(&good.outputs([Some(address), None], [None; 2])).contains(text));
            assert!(message(&good.outputs([None; 2], [None, Some(address)])).contains(text));
            assert!(message(&good.lengths([Some(address), None])).contains("lengths"));
        }
        let skip = Matcher::new().non_finite(NonFinite::Skip);
        assert!(check(&skip, &good).unwrap_err().to_string().contains("find_non_finite"));
    }

    #[test]
    fn empty_clouds_are_rejected_if_rows_are_compared_with_them() {
        let empty = pairs_of([256, 0], 2, [100, 0], 3);
        assert_eq!(message(&empty), "the second cloud: the cloud has no usable point");
        // The first side's are not requested.
        let one_sided = empty.outputs([None, Some(1024)], [None; 2]);
        assert!(check(&Matcher::new(), &one_sided).unwrap().is_empty());
        assert!(check(&Matcher::new(), &pairs_of([0, 0], 0, [100, 0], 3)).unwrap().is_empty());
        assert!(check(&Matcher::new(), &pairs_of([0, 0], 3, [0, 0], 3)).unwrap().is_empty());
    }

    #[test]
    fn the_kernels_view_has_all_arguments() {
        let ragged = DevicePairs::<f64>::ragged([256, 512], [8, 16], 4, [10, 20], 2);
        let matching = ragged.outputs([Some(24), None], [None, Some(32)]).matching();
        let [a, b] = matching.sides;
        assert_eq!((a.points, a.offsets, a.rows, a.distances, a.indices), (256, 8, 10, 24, 0));
        assert_eq!((b.points, b.offsets, b.rows, b.distances, b.indices), (512, 16, 20, 0, 32));
        assert_eq!((a.row_stride, a.axis_stride, matching.dims, matching.pairs), (2, 1, 2, 4));
    }
}
