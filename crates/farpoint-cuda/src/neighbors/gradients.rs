//! Gradients of clouds in device memory.

use super::backward::{self, Addresses};
use super::matching::Shape;
use super::method::Choice;
use super::pointers::in_side;
use super::{DevicePairs, ValueGradient};
use crate::{CudaScalar, Error, Gpu, Stream, input};
use farpoint::Matcher;
use farpoint::neighbors::Reduction;

/// Gradients of the distances of [`DevicePairs`], with the addresses of the coordinates' gradients. All
/// addresses are of device memory.
///
/// The pairs are those of the forward run: the same clouds, and `indices` as it wrote them (`distances` are not read
/// unless `value` needs them, nor is their `scratch`). The distance of a point `p` to its nearest `q` with gradient
/// `g` adds `(2 * g) * (p - q)` to `p` and the negative of it to `q`; with norm 1 `g` times the sign of the
/// difference. A point sums its own term and then those of the points whose nearest it is, by ascending index: the
/// same bits on every run, and those of [`farpoint::neighbors::backward`]. Index -1 adds nothing; rows that pad a
/// cloud get 0.
///
/// # Safety
/// As for [`DevicePairs`]; and indices must be -1 or within the pair's other cloud.
#[derive(Debug, Clone, Copy)]
pub struct DeviceGradients<T> {
    /// The clouds and their nearest points.
    pub pairs: DevicePairs<T>,
    /// Gradient of each row's distance, laid out as the distances are; `None` for a direction that has
    /// none. The others need the side's `indices`.
    pub grads: [Option<u64>; 2],
    /// Addresses of the gradients of the coordinates, if requested: dense, coordinate `a` of row `i` of
    /// a side's batch at `i * dims + a`.
    pub gradients: [Option<u64>; 2],
    /// Gradients of the values to which the distances were reduced, in place of `grads`. Used for each
    /// side that has indices.
    pub value: Option<ValueGradient>,
    /// Address and size of scratch memory: at least [`Gpu::gradients_scratch_bytes`], aligned to 256
    /// bytes; from the pool if `None`.
    pub scratch: Option<(u64, usize)>,
}

impl<T: CudaScalar> DeviceGradients<T> {
    /// Requests the gradients of these pairs, of both directions and for both clouds.
    pub fn new(pairs: DevicePairs<T>, grads: [u64; 2], gradients: [u64; 2]) -> Self {
        let gradients = gradients.map(Some);
        Self { pairs, grads: grads.map(Some), gradients, value: None, scratch: None }
    }

    /// Requests the gradients from that of the values that the distances were reduced to.
    pub fn of_value(pairs: DevicePairs<T>, value: ValueGradient, gradients: [u64; 2]) -> Self {
        let gradients = gradients.map(Some);
        Self { pairs, grads: [None; 2], gradients, value: Some(value), scratch: None }
    }

    /// Checks everything known to the host, and returns the size.
    fn check(&self) -> Result<Shape, Error> {
        let shape = self.pairs.check()?;
        for which in 0..2 {
            in_side(which, self.check_side(which))?;
        }
        if let Some(value) = &self.value {
            self.check_value(value)?;
        }
        Ok(shape)
    }

    fn check_value(&self, value: &ValueGradient) -> Result<(), Error> {
        let shape_error = |message: &str| Err(farpoint::Error::Shape(message.into()).into());
        let ((upstream, _), max) = (value.upstream, value.reduction == Reduction::Max);
        if self.grads != [None; 2] {
            return shape_error("pass gradients of distances or gradients of values, not both");
        }
        if self.pairs.pairs > 0 && (upstream == 0 || (max && value.extremes.unwrap_or(0) == 0)) {
            return shape_error(
                "the address of the gradients of the values, or of the extremes, is null",
            );
        }
        for (which, side) in self.pairs.sides.iter().enumerate() {
            let reads = side.indices.is_some() && (value.plain || max);
            if reads && side.distances.is_none() {
                in_side(which, shape_error("gradients of roots or a maximum need the distances"))?;
            }
        }
        input::check_aligned::<T>(upstream, "gradients of the values")?;
        input::check_aligned::<T>(value.extremes.unwrap_or(0), "extremes")
    }

    fn check_side(&self, which: usize) -> Result<(), Error> {
        let side = &self.pairs.sides[which];
        let shape_error = |message: &str| Err(farpoint::Error::Shape(message.into()).into());
        let filled = self.pairs.pairs > 0 && side.rows > 0;
        if filled && (self.grads[which] == Some(0) || self.gradients[which] == Some(0)) {
            return shape_error("the address of the gradients is null");
        }
        if filled && self.grads[which].is_some() && side.indices.is_none() {
            return shape_error(
                "gradients of its distances need the indices of the nearest points",
            );
        }
        input::check_aligned::<T>(self.grads[which].unwrap_or(0), "gradients of distances")?;
        input::check_aligned::<T>(self.gradients[which].unwrap_or(0), "gradients")
    }
}

/// Gradients of clouds in device memory.
impl Gpu {
    /// Queues the gradients of clouds in device memory without synchronizing; see [`DeviceGradients`].
    /// Of the job only the norm is used.
    ///
    /// # Errors
    /// If the job, sizes or addresses are wrong as far as the host can tell, and if the driver refuses
    /// a call.
    ///
    /// # Safety
    /// See [`DeviceGradients`].
    pub unsafe fn enqueue_gradients<T: CudaScalar>(
        &self,
        job: &Matcher,
        stream: &Stream,
        request: &DeviceGradients<T>,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        Choice::new(job)?;
        let shape = request.check()?;
        let rows = |side: usize| request.gradients[side].map_or(0, |_| shape.rows[side]);
        if shape.pairs == 0 || rows(0) + rows(1) == 0 {
            return Ok(());
        }
        let mut matching = request.pairs.matching();
        for (side, grads) in matching.sides.iter_mut().zip(request.grads) {
            // A distance without a gradient adds none.
            let sends = request.value.is_some() || grads.is_some();
            side.indices = if sends { side.indices } else { 0 };
        }
        let grads = request.grads.map(Option::unwrap_or_default);
        let gradients = request.gradients.map(Option::unwrap_or_default);
        let addresses = Addresses { grads, gradients, value: request.value };
        let (scratch, norm) = (request.scratch, job.norm);
        // SAFETY: what is in device memory is as `DeviceGradients` requires, by this function's contract;
        // what the host knows was checked.
        unsafe { backward::enqueue::<T>(self, stream, &matching, shape, addresses, scratch, norm) }
    }

    /// Returns the bytes of device memory that [`Gpu::enqueue_gradients`] uses for these pairs besides
    /// input and result; 0 if the GPU can't run the kernel.
    pub fn gradients_scratch_bytes<T: CudaScalar>(&self, pairs: &DevicePairs<T>) -> usize {
        backward::scratch_bytes::<T>(self, pairs.shape())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_arguments_are_rejected() {
        let pairs = DevicePairs::<f64>::padded([256, 512], 2, [10, 20], 3);
        let indexed = pairs.outputs([None; 2], [Some(1024), Some(2048)]);
        let valid = DeviceGradients::new(indexed, [8, 16], [24, 32]);
        let message = |request: DeviceGradients<f64>| request.check().unwrap_err().to_string();
        assert_eq!(valid.check().unwrap().rows, [10, 20]);
        let text = message(DeviceGradients { pairs, ..valid });
        assert!(text.starts_with("the first cloud: ") && text.contains("indices"), "{text}");
        // A direction without gradients needs no indices.
        let pairs = pairs.outputs([None; 2], [Some(1024), None]);
        assert!(DeviceGradients { pairs, grads: [Some(8), None], ..valid }.check().is_ok());
        assert!(message(DeviceGradients { grads: [Some(8), Some(0)], ..valid }).contains("null"));
        assert!(
            message(DeviceGradients { gradients: [Some(4), None], ..valid }).contains("aligned")
        );
    }

    #[test]
    fn gradients_of_values_need_their_inputs() {
        let pairs = DevicePairs::<f32>::padded([256, 512], 2, [10, 20], 3);
        let indexed = pairs.outputs([None; 2], [Some(1024), Some(2048)]);
        let mean = ValueGradient {
            reduction: Reduction::Mean,
            plain: false,
            upstream: (64, 0),
            extremes: None,
        };
        let check = |pairs, value| DeviceGradients::of_value(pairs, value, [24, 32]).check();
        let message = |pairs, value| check(pairs, value).unwrap_err().to_string();
        assert!(check(indexed, mean).is_ok());
        assert!(message(indexed, ValueGradient { upstream: (0, 0), ..mean }).contains("null"));
        assert!(message(indexed, ValueGradient { upstream: (66, 1), ..mean }).contains("aligned"));
        let text = message(indexed, ValueGradient { plain: true, ..mean });
        assert!(text.starts_with("the first cloud: ") && text.contains("distances"), "{text}");
        let with_distances = indexed.outputs([Some(8), Some(16)], [Some(1024), Some(2048)]);
        assert!(check(with_distances, ValueGradient { plain: true, ..mean }).is_ok());
        let max = ValueGradient { reduction: Reduction::Max, ..mean };
        assert!(message(with_distances, max).contains("extremes"));
        assert!(check(with_distances, ValueGradient { extremes: Some(4), ..max }).is_ok());
        let both = DeviceGradients::of_value(with_distances, mean, [24, 32]);
        let both = DeviceGradients { grads: [Some(8), None], ..both };
        assert!(both.check().unwrap_err().to_string().contains("not both"));
    }
}
