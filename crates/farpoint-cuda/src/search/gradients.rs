//! Input and output of gradients of the distances of several neighbors.

use super::clouds::{DeviceClouds, null};
use super::parameter::Clouds;
use crate::neighbors::in_side;
use crate::{CudaScalar, Error, input};
use farpoint::Norm;
use std::marker::PhantomData;

/// Gradients of the distances found by a search, with the addresses of the coordinates' gradients. All
/// addresses are of device memory.
///
/// The distance of a row `p` of `x` to its neighbor `q` with gradient `g` adds `(2 * g) * (p - q)` to `p` and the
/// negative to `q`; with norm 1 `g` times the sign of the difference. A row of `x` sums over its places in their
/// order, a row of `y` its terms in the order of the rows of `x` and their places: the same bits on every run. Index
/// -1 adds nothing; rows that pad a cloud get 0.
///
/// # Safety
/// As for [`DeviceSearch`](super::DeviceSearch); indices out of range add nothing.
#[derive(Debug, Clone, Copy)]
pub struct DeviceSearchGradients<T> {
    /// Queries; their index is not used.
    pub x: DeviceClouds,
    /// Clouds that were searched.
    pub y: DeviceClouds,
    /// Coordinates per row.
    pub dims: usize,
    /// Number of clouds on either side.
    pub clouds: usize,
    /// Places per row of `x`; ignored if there are offsets.
    pub k: usize,
    /// Offset of each row's first place, and the end of the last, of all within balls; and the largest number of
    /// places of a cloud.
    pub offsets: Option<(u64, usize)>,
    /// Indices found by the search.
    pub indices: u64,
    /// Set if they are `i32`, not `i64`.
    pub narrow: bool,
    /// Set if they count from the first row of `y`, not of the cloud.
    pub whole: bool,
    /// Norm of the search.
    pub norm: Norm,
    /// Gradient of each distance, laid out as the distances are.
    pub grads: u64,
    /// Addresses of the gradients of the coordinates of `x` and of `y`, if requested: dense, coordinate `a` of row
    /// `i` of a side's batch at `i * dims + a`.
    pub gradients: [Option<u64>; 2],
    /// Address and size of scratch memory: at least
    /// [`Gpu::search_gradients_scratch_bytes`](crate::Gpu::search_gradients_scratch_bytes), aligned to 256 bytes;
    /// from the pool if `None`.
    pub scratch: Option<(u64, usize)>,
    /// The precision.
    pub precision: PhantomData<T>,
}

/// `struct BackwardArgs` of `kernels/search/search_backward.cu` without the fields of the cooperative launch.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct GradientParameter {
    pub(super) sides: [Clouds; 2],
    pub(super) grads: u64,
    pub(super) indices: u64,
    pub(super) offsets: u64,
    pub(super) gradients: [u64; 2],
}

impl<T: CudaScalar> DeviceSearchGradients<T> {
    /// Number of places of the largest cloud of `x`.
    pub(super) fn max_places(&self) -> usize {
        self.offsets.map_or(self.x.rows.saturating_mul(self.k), |(_, max_places)| max_places)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        input::check_batch(self.clouds, self.dims)?;
        in_side(0, self.x.check::<T>(self.clouds))?;
        in_side(1, self.y.check::<T>(self.clouds))?;
        let offsets = self.offsets.map(|(address, _)| address);
        let filled = self.clouds > 0 && self.max_places() > 0;
        let addresses = [
            (Some(self.grads), "gradients of the distances"),
            (Some(self.indices), "indices"),
            (offsets, "offsets"),
            (self.gradients[0], "gradients of the first clouds"),
            (self.gradients[1], "gradients of the second clouds"),
        ];
        for (address, name) in addresses {
            if filled && address == Some(0) {
                return Err(null(name));
            }
        }
        input::check_aligned::<T>(self.grads, "gradients of the distances")?;
        for gradients in self.gradients.into_iter().flatten() {
            input::check_aligned::<T>(gradients, "gradients")?;
        }
        input::check_aligned::<i64>(offsets.unwrap_or(0), "offsets")?;
        match self.narrow {
            true => input::check_aligned::<i32>(self.indices, "indices")?,
            false => input::check_aligned::<i64>(self.indices, "indices")?,
        }
        self.check_max_places()
    }

    fn check_max_places(&self) -> Result<(), Error> {
        if self.max_places() > input::MAX_ROWS {
            return Err(Error::Unsupported(format!(
                "{} neighbors of one cloud exceed the limit of {} for gradients on a GPU; use fewer \
                 rows per call",
                self.max_places(),
                input::MAX_ROWS
            )));
        }
        Ok(())
    }

    pub(super) fn parameter(&self) -> GradientParameter {
        GradientParameter {
            sides: [Clouds::of(&self.x), Clouds::of(&self.y)],
            grads: self.grads,
            indices: self.indices,
            offsets: self.offsets.map_or(0, |(address, _)| address),
            gradients: self.gradients.map(Option::unwrap_or_default),
        }
    }
}
