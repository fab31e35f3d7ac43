//! Input and output of a search of clouds in device memory.

use super::clouds::{DeviceClouds, null};
use super::parameter::{self, Parameter, Shape};
use crate::neighbors::in_side;
use crate::{CudaScalar, Error, input};
use farpoint::Searcher;
use farpoint::backend::SearchLimits as Limits;
use std::marker::PhantomData;

/// A search for several neighbors of clouds in device memory, with the addresses of the results. All
/// addresses are of device memory; lengths and offsets are `i64`.
///
/// # Units and shapes
/// Coordinate `a` of row `i` of a side is at `points[i * strides[0] + a * strides[1]]`, strides counting
/// numbers. Cloud `b` of a side is
///
/// * rows `b * rows ..` of a padded batch, the first `lengths[b]` of them if lengths are given, which are clamped to
///   `0..=rows`;
/// * rows `offsets[b] .. offsets[b + 1]` of a ragged one.
///
/// For each row of `x` at most `k` neighbors in the cloud of `y` of the same number are found: place `j` of row `i`
/// of the batch is at `i * k + j` of `indices` and `distances` (squared with norm 2), their number at `i` of
/// `counts`. Indices count from the cloud's own first row, or with `whole` from the first of `y`. Places without a
/// neighbor get -1 and infinity, rows that pad a cloud -1 and 0. A row with NaN or infinity has no neighbors and is
/// none.
///
/// # Checks
/// Everything known to the host is checked: sizes, null pointers, a `y` known to be empty. Device memory is not read;
/// clouds of `y` may have length 0.
///
/// # Safety
/// The caller must ensure that memory is allocated as described, and neither freed nor written otherwise until the
/// stream has finished, scratch memory and indexes included; that results do not overlap; that offsets are as
/// described above, because kernels would otherwise access memory out of bounds; and that an index was built for the
/// very clouds it is passed with. If the call is captured into a graph, this holds for every launch of the graph.
///
/// # Order and graphs
/// [`Gpu::enqueue_search`](crate::Gpu::enqueue_search) queues work on the stream and returns; CUDA graphs can capture
/// it. Unless given, scratch memory comes from the GPU's stream-ordered pool.
#[derive(Debug, Clone, Copy)]
pub struct DeviceSearch<T> {
    /// Queries.
    pub x: DeviceClouds,
    /// Clouds that are searched.
    pub y: DeviceClouds,
    /// Coordinates per row.
    pub dims: usize,
    /// Number of clouds on either side.
    pub clouds: usize,
    /// Address of the distances, if requested: `k` of type `T` per row of `x`.
    pub distances: Option<u64>,
    /// Address of the indices, if requested: `k` per row of `x`, `i64`, or `i32` if `narrow`.
    pub indices: Option<u64>,
    /// Address of the numbers of neighbors, if requested: one per row of `x`, of the type of the indices.
    pub counts: Option<u64>,
    /// Set if indices and counts are `i32`.
    pub narrow: bool,
    /// Set if indices count from the first row of `y`, not of the cloud.
    pub whole: bool,
    /// Address and size of scratch memory: at least [`Gpu::search_scratch_bytes`](crate::Gpu::search_scratch_bytes),
    /// aligned to 256 bytes; from the pool if `None`.
    pub scratch: Option<(u64, usize)>,
    /// The precision.
    pub precision: PhantomData<T>,
}

impl<T: CudaScalar> DeviceSearch<T> {
    /// Creates a search of these clouds, with no results requested yet; indices are `i64`.
    pub fn new(x: DeviceClouds, y: DeviceClouds, clouds: usize, dims: usize) -> Self {
        let (distances, indices, counts) = (None, None, None);
        let (narrow, whole, scratch, precision) = (false, false, None, PhantomData);
        Self { x, y, dims, clouds, distances, indices, counts, narrow, whole, scratch, precision }
    }

    /// Sets the addresses of the results.
    pub fn outputs(
        self,
        distances: Option<u64>,
        indices: Option<u64>,
        counts: Option<u64>,
    ) -> Self {
        Self { distances, indices, counts, ..self }
    }

    /// Checks everything known to the host, and returns the size.
    pub(super) fn check(&self, k: usize) -> Result<Shape, Error> {
        input::check_batch(self.clouds, self.dims)?;
        in_side(0, self.x.check::<T>(self.clouds))?;
        in_side(1, self.y.check::<T>(self.clouds))?;
        let shape = self.shape(k);
        if !shape.is_empty() && self.y.rows == 0 {
            in_side(1, Err(farpoint::Error::EmptyCloud.into()))?;
        }
        let filled = self.clouds > 0 && self.x.rows > 0;
        let answers = [
            (self.distances, "distances"),
            (self.indices, "indices"),
            (self.counts, "numbers of neighbors"),
        ];
        for (address, name) in answers {
            if filled && address == Some(0) {
                return Err(null(name));
            }
        }
        input::check_aligned::<T>(self.distances.unwrap_or(0), "distances")?;
        for (address, name) in &answers[1..] {
            let address = address.unwrap_or(0);
            match self.narrow {
                true => input::check_aligned::<i32>(address, name)?,
                false => input::check_aligned::<i64>(address, name)?,
            }
        }
        Ok(shape)
    }

    pub(super) fn shape(&self, k: usize) -> Shape {
        Shape { clouds: self.clouds, rows: [self.x.rows, self.y.rows], dims: self.dims, k }
    }

    /// Returns the kernels' view.
    pub(super) fn parameter(&self, searcher: &Searcher) -> Parameter<T> {
        let limits = Limits::<T>::of(searcher);
        Parameter {
            sides: [parameter::Clouds::of(&self.x), parameter::Clouds::of(&self.y)],
            distances: self.distances.unwrap_or(0),
            indices: self.indices.unwrap_or(0),
            counts: self.counts.unwrap_or(0),
            limits: [limits.maximum, limits.minimum, limits.near],
            dims: self.dims as u32,
            clouds: self.clouds as u32,
            k: limits.k as u32,
            norm: parameter::number(searcher.norm),
            by_index: u32::from(limits.by_index),
            exclude_self: u32::from(searcher.exclude_self),
            narrow: u32::from(self.narrow),
            whole: u32::from(self.whole),
        }
    }
}
