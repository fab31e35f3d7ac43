//! Gradients of values: each row sums the gradients of the places that name it, by ascending flat place.

use super::inverted::{self, List};
use super::rows::{DeviceRows, Divisor, Rows, Spread, THREADS};
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::{Error, Gpu, Stream};

/// Memory for gradients of values: an inverted list of the indices, or room for one.
///
/// # Safety
/// A list must be as [`Gpu::enqueue_invert`] wrote it for the same indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradientMemory {
    /// Address and size of the list written by [`Gpu::enqueue_invert`].
    Inverted(u64, usize),
    /// Address and size of memory of [`Gpu::gradient_bytes`], aligned to 256 bytes, in which the list is made.
    Provided(u64, usize),
    /// The same memory from the GPU's stream-ordered pool.
    Pool,
}

/// Source of the gradients that are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// A row of gradients per index.
    Gathered,
    /// A row per place, which counts where this place was chosen; the address of the choices.
    Chosen(u64),
    /// A row per place, times the weight of the index; the address of the weights.
    Weighted(u64),
}

impl From {
    /// Kernels for rows that are read in vectors of 16 bytes, and for all others; by type.
    fn names(self, vectored: bool) -> [&'static str; 3] {
        match (self, vectored) {
            (Self::Gathered, true) => {
                ["sent_gathered", "sent_gathered_half", "sent_gathered_bfloat"]
            }
            (Self::Gathered, false) => {
                ["sent_gathered_1", "sent_gathered_half_1", "sent_gathered_bfloat_1"]
            }
            (Self::Chosen(_), true) => ["sent_chosen", "sent_chosen_half", "sent_chosen_bfloat"],
            (Self::Chosen(_), false) => {
                ["sent_chosen_1", "sent_chosen_half_1", "sent_chosen_bfloat_1"]
            }
            (Self::Weighted(_), true) => {
                ["sent_weighted", "sent_weighted_half", "sent_weighted_bfloat"]
            }
            (Self::Weighted(_), false) => {
                ["sent_weighted_1", "sent_weighted_half_1", "sent_weighted_bfloat_1"]
            }
        }
    }
}

impl From {
    /// Kernels for rows whose lists are long; by type.
    fn long_names(self) -> [&'static str; 3] {
        match self {
            Self::Gathered => {
                ["sent_gathered_long", "sent_gathered_half_long", "sent_gathered_bfloat_long"]
            }
            Self::Chosen(_) => {
                ["sent_chosen_long", "sent_chosen_half_long", "sent_chosen_bfloat_long"]
            }
            Self::Weighted(_) => {
                ["sent_weighted_long", "sent_weighted_half_long", "sent_weighted_bfloat_long"]
            }
        }
    }
}

/// `LONG` of `kernels/values/sent.cu`: longer lists have a kernel of their own.
const LONG: usize = 1024;

/// Maximum numbers of blocks of that kernel, for rows and for slices of channels.
const MAX_LONG: [usize; 2] = [1 << 16, 1 << 10];

/// `struct SentArgs` of `kernels/values/sent.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    begins: u64,
    places: u64,
    grad: u64,
    /// Choices or weights.
    factors: u64,
    output: u64,
    rows: u32,
    channels: u32,
    k: u32,
    lanes: u32,
    by_k: Divisor,
}

/// Bytes of memory for an inverted list and for building it.
fn gradient_bytes(rows: &DeviceRows) -> usize {
    inverted::list_bytes(&rows.shape).saturating_add(inverted::scratch_bytes(&rows.shape))
}

/// Queues the gradients of values.
///
/// # Safety
/// The arrays must be as `rows`, `memory` and `from` say, and stay so until the stream has finished.
pub(super) unsafe fn enqueue(
    gpu: &Gpu,
    stream: &Stream,
    rows: &DeviceRows,
    memory: GradientMemory,
    from: From,
    grad: u64,
    output: u64,
) -> Result<(), Error> {
    if rows.shape.values()? == 0 {
        return Ok(());
    }
    let scratch = match memory {
        GradientMemory::Inverted(address, bytes) => {
            inverted::check_list(&rows.shape, (address, bytes))?;
            Scratch::Borrowed(address)
        }
        GradientMemory::Provided(address, bytes) => {
            Scratch::new(stream, Some((address, bytes)), gradient_bytes(rows))?
        }
        GradientMemory::Pool => Scratch::new(stream, None, gradient_bytes(rows))?,
    };
    let list = List::at(scratch.pointer(), rows.rows());
    if !matches!(memory, GradientMemory::Inverted(..)) {
        let list_scratch = scratch.pointer() + inverted::list_bytes(&rows.shape) as u64;
        // SAFETY: the memory has room for the list and, after it, for making it; the indices are as `rows`
        // says by this function's contract.
        unsafe { inverted::enqueue(gpu, stream, rows, list, list_scratch)? };
    }
    // SAFETY: the list is there once the kernels before are done; the rest is this function's contract.
    unsafe { add_up(gpu, stream, rows, list, from, grad, output) }
}

/// Queues the sums.
///
/// # Safety
/// Same as [`enqueue`]; `list` must be that of the indices.
unsafe fn add_up(
    gpu: &Gpu,
    stream: &Stream,
    rows: &DeviceRows,
    list: List,
    from: From,
    grad: u64,
    output: u64,
) -> Result<(), Error> {
    let factors = match from {
        From::Gathered => 0,
        From::Chosen(address) | From::Weighted(address) => address,
    };
    // Choices are read in vectors, too.
    let chosen = if matches!(from, From::Chosen(_)) { factors } else { 0 };
    let vectored = rows.is_vectored(&[grad, output, chosen]);
    let width = if vectored { 16 / rows.kind.bytes() } else { 1 };
    let Spread { blocks, lanes } = Spread::new(rows.rows(), rows.shape.channels / width, 1);
    let Rows { channels, k, by_k, .. } = rows.kernel_view();
    let List { begins, places } = list;
    let row_count = rows.rows() as u32;
    let mut args =
        Args { begins, places, grad, factors, output, rows: row_count, channels, k, lanes, by_k };
    let function = rows.kind.function(gpu, "sent", from.names(vectored))?;
    // SAFETY: `Args` mirrors the kernel's parameter, whose arrays are as this function's contract says.
    unsafe { Launch::new(blocks, THREADS).start(stream, function, &args)? };
    if rows.flat() <= LONG {
        return Ok(());
    }
    args.lanes = Spread::new(rows.rows(), rows.shape.channels, 1).lanes;
    let blocks = rows.rows().div_ceil(THREADS as usize).min(MAX_LONG[0]) as u32;
    let slices = rows.shape.channels.div_ceil(1 << args.lanes).min(MAX_LONG[1]) as u32;
    let function = rows.kind.function(gpu, "sent", from.long_names())?;
    let launch = Launch { grid: [blocks, slices, 1], ..Launch::new(blocks, THREADS) };
    // SAFETY: the same; this kernel writes the rows that the one before left out.
    unsafe { launch.start(stream, function, &args) }
}

/// Memory for gradients of values.
impl Gpu {
    /// Returns the bytes of [`GradientMemory::Provided`]: of an inverted list and of the memory to build it.
    pub fn gradient_bytes(&self, rows: &DeviceRows) -> usize {
        gradient_bytes(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;

    #[test]
    fn laid_out_as_in_sent_cu() {
        let source = include_str!("../../kernels/values/sent.cu");
        let names = "begins places grad factors output rows channels k lanes by_k";
        assert_eq!(fields(source, "SentArgs"), names);
        assert!(source.contains(&format!("LONG = {LONG};")));
        assert_eq!((std::mem::offset_of!(Args, by_k), size_of::<Args>()), (56, 72));
    }
}
