//! The interface of matching on a GPU: what to ask for.

use super::method::Choice;
use super::{DeviceGradients, DevicePairs, DeviceValues, Method, TreeOptions};
use super::{backward, gradients, pointers, reduced, run};
use crate::{CudaScalar, Error, Gpu, Statistics, Stream};
use farpoint::chamfer::{Gradients, Prepared};
use farpoint::{BadRows, Chamfer, Nearest, Norm, Points};
use std::time::Instant;

/// A search for nearest points on a GPU: by which norm, by which means. It asks and answers as
/// [`farpoint::Matcher`] does, bit for bit.
///
/// ```
/// use farpoint_cuda::{Gpu, Matcher};
///
/// let (a, b) = ([[0.0f32, 0.0], [3.0, 4.0]], [[0.0f32, 1.0]]);
/// match Gpu::new(0) {
///     Ok(device) => {
///         let chamfer = Matcher::new().chamfer(&device, &a[..], &b[..])?;
///         assert_eq!(chamfer, farpoint::chamfer(&a[..], &b[..])?);
///     }
///     Err(error) => println!("skipped: {error}"),
/// }
/// # Ok::<(), farpoint_cuda::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matcher {
    pub(super) method: Method,
    pub(super) norm: Norm,
    pub(super) bad_rows: BadRows,
    pub(super) tree: TreeOptions,
}

impl Default for Matcher {
    fn default() -> Self {
        let tree = TreeOptions::default();
        Self { method: Method::Auto, norm: Norm::Two, bad_rows: BadRows::Error, tree }
    }
}

impl Matcher {
    /// Squared Euclidean distances, the fastest method.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which method; `Auto` unless told.
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Which norm; `Norm::Two` unless told.
    pub fn norm(self, norm: Norm) -> Self {
        Self { norm, ..self }
    }

    /// What to do with NaN and infinity in clouds in host memory; an error unless told.
    pub fn bad_rows(self, bad_rows: BadRows) -> Self {
        Self { bad_rows, ..self }
    }

    /// Knobs for tests.
    #[doc(hidden)]
    pub fn tree(self, tree: TreeOptions) -> Self {
        Self { tree, ..self }
    }

    /// For each point of `a` the nearest of `b`, both in host memory.
    ///
    /// Errors on empty clouds, bad rows, and clouds with different numbers of coordinates, as on
    /// the CPU; and if the device has not enough memory, or fails.
    pub fn nearest<T: CudaScalar, A, B>(
        &self,
        device: &Gpu,
        a: &A,
        b: &B,
    ) -> Result<Nearest<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        let begin = Instant::now();
        let pair = [Prepared::new(&self.on_host(), a, b)?];
        let [mut nearest, _] = run::search(self, device, &pair, false, begin)?.nearest;
        Ok(nearest.remove(0))
    }

    /// Both directions: for each point of either cloud the nearest of the other.
    ///
    /// Errors as [`Matcher::nearest`].
    pub fn chamfer<T: CudaScalar, A, B>(
        &self,
        device: &Gpu,
        a: &A,
        b: &B,
    ) -> Result<Chamfer<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        Ok(self.chamfer_measured(device, a, b)?.0)
    }

    /// [`Matcher::chamfer`], with the time and memory that it took.
    pub fn chamfer_measured<T: CudaScalar, A, B>(
        &self,
        device: &Gpu,
        a: &A,
        b: &B,
    ) -> Result<(Chamfer<T>, Statistics), Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        let begin = Instant::now();
        let pair = [Prepared::new(&self.on_host(), a, b)?];
        let found = run::search(self, device, &pair, true, begin)?;
        let [mut a_to_b, mut b_to_a] = found.nearest;
        let chamfer = Chamfer { a_to_b: a_to_b.remove(0), b_to_a: b_to_a.remove(0) };
        Ok((chamfer, found.statistics))
    }

    /// [`Matcher::nearest`] for many pairs of clouds by one launch. A pair's result does not
    /// depend on its batch. The error names the first pair at fault.
    ///
    /// [`farpoint::padded`] and [`farpoint::ragged`] make clouds of batches in one array.
    pub fn nearest_batch<T: CudaScalar, A: Points<T>, B: Points<T>>(
        &self,
        device: &Gpu,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<Nearest<T>>, Error> {
        let begin = Instant::now();
        let pairs = Prepared::batch(&self.on_host(), a, b)?;
        let [nearest, _] = run::search(self, device, &pairs, false, begin)?.nearest;
        Ok(nearest)
    }

    /// [`Matcher::chamfer`] for many pairs of clouds, as [`Matcher::nearest_batch`].
    pub fn chamfer_batch<T: CudaScalar, A: Points<T>, B: Points<T>>(
        &self,
        device: &Gpu,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<Chamfer<T>>, Error> {
        let begin = Instant::now();
        let pairs = Prepared::batch(&self.on_host(), a, b)?;
        let [a_to_b, b_to_a] = run::search(self, device, &pairs, true, begin)?.nearest;
        let chamfer = |(a_to_b, b_to_a)| Chamfer { a_to_b, b_to_a };
        Ok(std::iter::zip(a_to_b, b_to_a).map(chamfer).collect())
    }

    /// The gradients of both clouds, from the gradients `grad_a` of `chamfer.a_to_b.raw_distances` and
    /// `grad_b` of `chamfer.b_to_a.raw_distances`: those of [`farpoint::chamfer::backward()`], bit for
    /// bit. The norm is the result's.
    ///
    /// Errors on clouds, results and gradients that do not fit each other.
    pub fn backward<T: CudaScalar, A, B>(
        &self,
        device: &Gpu,
        chamfer: &Chamfer<T>,
        a: &A,
        b: &B,
        grad_a: &[T],
        grad_b: &[T],
    ) -> Result<Gradients<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        run::backward(device, chamfer, a, b, [grad_a, grad_b])
    }

    /// Queues the search for nearest points of clouds that lie in device memory; see
    /// [`DevicePairs`].
    ///
    /// # Safety
    /// See [`DevicePairs`].
    pub unsafe fn enqueue<T: CudaScalar>(
        &self,
        device: &Gpu,
        stream: &Stream,
        pairs: &DevicePairs<T>,
    ) -> Result<(), Error> {
        // SAFETY: memory, lengths and offsets are as `DevicePairs` asks, by this function's contract,
        // which is that of the one called.
        unsafe { pointers::enqueue(self, device, stream, pairs) }
    }

    /// Queues the search and makes one value a pair of the distances; see [`DeviceValues`].
    ///
    /// # Safety
    /// See [`DeviceValues`].
    pub unsafe fn enqueue_values<T: CudaScalar>(
        &self,
        device: &Gpu,
        stream: &Stream,
        values: &DeviceValues<T>,
    ) -> Result<(), Error> {
        // SAFETY: this function asks of its caller what that one does.
        unsafe { reduced::enqueue(self, device, stream, values) }
    }

    /// Queues the gradients of clouds that lie in device memory; see [`DeviceGradients`].
    ///
    /// # Safety
    /// See [`DeviceGradients`].
    pub unsafe fn enqueue_backward<T: CudaScalar>(
        &self,
        device: &Gpu,
        stream: &Stream,
        gradients: &DeviceGradients<T>,
    ) -> Result<(), Error> {
        // SAFETY: memory, lengths and indices are as `DeviceGradients` asks, by this function's
        // contract, which is that of the one called.
        unsafe { gradients::enqueue(self, device, stream, gradients) }
    }

    /// Bytes of device memory that [`enqueue`](Self::enqueue) uses for these pairs besides input
    /// and answer. Only sizes are looked at, and which answers are wanted.
    pub fn scratch_bytes<T: CudaScalar>(&self, device: &Gpu, pairs: &DevicePairs<T>) -> usize {
        self.choice().scratch_bytes::<T>(device, pairs.shape())
    }

    /// The same for [`enqueue_values`](Self::enqueue_values).
    pub fn values_scratch_bytes<T: CudaScalar>(
        &self,
        device: &Gpu,
        pairs: &DevicePairs<T>,
    ) -> usize {
        reduced::scratch_bytes(self, device, pairs)
    }

    /// Bytes of device memory that [`enqueue_backward`](Self::enqueue_backward) uses for these
    /// pairs besides input and answer.
    pub fn backward_scratch_bytes<T: CudaScalar>(
        &self,
        device: &Gpu,
        pairs: &DevicePairs<T>,
    ) -> usize {
        backward::scratch_bytes::<T>(device, pairs.shape())
    }

    pub(super) fn choice(&self) -> Choice {
        Choice { method: self.method, norm: self.norm, tree: self.tree }
    }

    /// The job as the CPU library knows it, which checks the clouds.
    fn on_host(&self) -> farpoint::Matcher {
        farpoint::Matcher::new().norm(self.norm).bad_rows(self.bad_rows)
    }
}
