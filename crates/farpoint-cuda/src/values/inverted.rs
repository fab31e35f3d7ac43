//! Inverted lists of indices: a stable sort of the indices by row, in ordinary launches.
//!
//! An inverted list is, in one piece of memory, the beginnings of the rows' lists (and the end of the last), one u32
//! per row and one more, and then all flat places `m * k + j` by row, ascending: 4 bytes per row and per index.
//! Memory to build it: 12 bytes per index, and 1 KB per 2,048 of them.

use super::rows::{DeviceRows, Rows, THREADS, shape_error};
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::team::aligned;
use crate::{Error, Gpu, Stream};
use farpoint::values::ValueShape;

/// `struct InvertArgs` of `kernels/values/invert.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    rows: Rows,
    keys_in: u64,
    keys_out: u64,
    places_in: u64,
    places_out: u64,
    counts: u64,
    totals: u64,
    begins: u64,
    count: u32,
    tiles: u32,
    shift: u32,
    bits: u32,
}

/// `TILE` of `kernels/values/invert.cuh`: indices that a block sorts.
const TILE: usize = 2_048;

/// Maximum number of bits per digit; a block has as many threads as there are digits.
const BITS: u32 = 8;

/// Addresses of the parts of an inverted list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct List {
    pub(super) begins: u64,
    pub(super) places: u64,
}

impl List {
    /// The list for this many rows, in memory at this address.
    pub(super) fn at(address: u64, rows: usize) -> Self {
        Self { begins: address, places: address + aligned(4 * (rows + 1)) as u64 }
    }
}

/// Bytes of an inverted list.
pub(super) fn list_bytes(shape: &ValueShape) -> usize {
    let rows = shape.clouds.saturating_mul(shape.rows);
    let begins = aligned(rows.saturating_add(1).saturating_mul(4).min(usize::MAX / 2));
    begins.saturating_add(aligned(count(shape).saturating_mul(4).min(usize::MAX / 2)))
}

/// Bytes of memory to build an inverted list, besides the list.
pub(super) fn scratch_bytes(shape: &ValueShape) -> usize {
    let count = count(shape).min(usize::MAX / 64);
    3 * aligned(4 * count) + aligned((4 * count.div_ceil(TILE)) << BITS) + aligned(4 << BITS)
}

fn count(shape: &ValueShape) -> usize {
    shape.clouds.saturating_mul(shape.places).saturating_mul(shape.k)
}

/// Queues an inverted list.
///
/// # Safety
/// `list` must have [`list_bytes`], `scratch` [`scratch_bytes`], and the indices must match `rows`.
pub(super) unsafe fn enqueue(
    gpu: &Gpu,
    stream: &Stream,
    rows: &DeviceRows,
    list: List,
    scratch: u64,
) -> Result<(), Error> {
    let count = rows.flat();
    let array = aligned(4 * count) as u64;
    let (keys, places) = ([scratch, scratch + array], [list.places, scratch + 2 * array]);
    let tiles = count.div_ceil(TILE);
    let counts = scratch + 3 * array;
    let mut args = Args {
        rows: rows.kernel_view(),
        keys_in: 0,
        keys_out: 0,
        places_in: 0,
        places_out: 0,
        counts,
        totals: counts + aligned((4 * tiles) << BITS) as u64,
        begins: list.begins,
        count: count as u32,
        tiles: tiles as u32,
        shift: 0,
        bits: 0,
    };
    let function = |name| gpu.function::<f32>("sent", name);
    if count > 0 {
        let (passes, bits) = passes(rows.rows());
        for pass in 0..passes {
            // The last pass writes the list; the first makes its keys from the indices.
            let out = ((passes - 1 - pass) % 2) as usize;
            args.keys_in = if pass == 0 { 0 } else { keys[1 - out] };
            args.places_in = if pass == 0 { 0 } else { places[1 - out] };
            (args.keys_out, args.places_out) = (keys[out], places[out]);
            (args.shift, args.bits) = (pass * bits, bits);
            // SAFETY: `Args` mirrors the kernels' parameter; arrays lie one after another in the scratch
            // memory, which has room for all by this function's contract.
            unsafe {
                Launch::new(tiles as u32, THREADS).start(
                    stream,
                    function("invert_count")?,
                    &args,
                )?;
                Launch::new(1 << bits, THREADS).start(stream, function("invert_scan")?, &args)?;
                Launch::new(tiles as u32, THREADS).start(
                    stream,
                    function("invert_move")?,
                    &args,
                )?;
            }
        }
    }
    args.keys_in = keys[0];
    let blocks = (rows.rows() + 1).div_ceil(THREADS as usize).min(1 << 20) as u32;
    // SAFETY: the same; the last pass has written the keys that this kernel reads.
    unsafe { Launch::new(blocks, THREADS).start(stream, function("invert_begins")?, &args) }
}

/// Returns the passes that sort keys of 0 to `rows` (which stands for no row), and the bits per digit.
fn passes(rows: usize) -> (u32, u32) {
    let bits = (usize::BITS - rows.leading_zeros()).max(1);
    let passes = bits.div_ceil(BITS);
    (passes, bits.div_ceil(passes))
}

/// Inverted lists in device memory.
impl Gpu {
    /// Queues an inverted list: the flat places of the indices by the row that they name, ascending, from which
    /// gradients follow ([`crate::GradientMemory::Inverted`]). It depends on the indices alone, so that one list
    /// serves all calls with the same indices.
    ///
    /// `list` has [`Gpu::inverted_bytes`], aligned to 256 bytes; `scratch`, from the pool if `None`, has
    /// [`Gpu::invert_scratch_bytes`], and is free again after this step.
    ///
    /// # Errors
    /// Same as [`Gpu::enqueue_gather`], and if the memory given is too small.
    ///
    /// # Safety
    /// See [`DeviceRows`].
    pub unsafe fn enqueue_invert(
        &self,
        stream: &Stream,
        rows: &DeviceRows,
        list: (u64, usize),
        scratch: Option<(u64, usize)>,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        rows.check()?;
        check_list(&rows.shape, list)?;
        let scratch = Scratch::new(stream, scratch, scratch_bytes(&rows.shape))?;
        let list = List::at(list.0, rows.rows());
        // SAFETY: the list and the scratch memory were checked to have room.
        unsafe { enqueue(self, stream, rows, list, scratch.pointer()) }
    }

    /// Returns the bytes of the inverted list of indices of this shape.
    pub fn inverted_bytes(&self, shape: &ValueShape) -> usize {
        list_bytes(shape)
    }

    /// Returns the bytes of device memory that [`Gpu::enqueue_invert`] uses besides indices and list.
    pub fn invert_scratch_bytes(&self, shape: &ValueShape) -> usize {
        scratch_bytes(shape)
    }
}

/// Refuses memory that is too small for an inverted list.
pub(super) fn check_list(shape: &ValueShape, (address, bytes): (u64, usize)) -> Result<(), Error> {
    let required = list_bytes(shape);
    if bytes >= required && address != 0 && address.is_multiple_of(256) {
        return Ok(());
    }
    shape_error(format!(
        "the inverted list has {bytes} bytes at {address:#x}; these indices need {required} bytes, aligned \
         to 256"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::valid;
    use super::*;
    use crate::source::fields;

    #[test]
    fn laid_out_as_in_invert_cuh() {
        let source = include_str!("../../kernels/values/invert.cuh");
        let names = "rows keys_in keys_out places_in places_out counts totals begins count tiles shift bits";
        assert_eq!(fields(source, "InvertArgs"), names);
        assert_eq!((std::mem::offset_of!(Args, count), size_of::<Args>()), (112, 128));
        assert!(source.contains("TILE = 8 * THREADS;") && TILE == 8 * THREADS as usize);
        assert_eq!(1 << BITS, THREADS);
    }

    #[test]
    fn digits_cover_all_rows() {
        assert_eq!(passes(0), (1, 1));
        assert_eq!(passes(255), (1, 8));
        assert_eq!(passes(256), (2, 5));
        assert_eq!(passes(30_000), (2, 8));
        assert_eq!(passes(192_000), (3, 6));
        assert_eq!(passes((1 << 32) - (1 << 20)), (4, 8));
    }

    #[test]
    fn lists_are_checked() {
        let shape = valid().shape;
        assert_eq!(list_bytes(&shape), 256 + 256);
        assert_eq!(List::at(512, 20), List { begins: 512, places: 768 });
        assert_eq!(check_list(&shape, (256, 512)), Ok(()));
        for list in [(0, 512), (128, 512), (256, 511)] {
            let text = check_list(&shape, list).unwrap_err().to_string();
            assert!(text.contains("need 512 bytes"), "{text}");
        }
        let huge = ValueShape { clouds: usize::MAX, ..shape };
        assert!(list_bytes(&huge) > 1 << 60 && scratch_bytes(&huge) > 1 << 56);
    }
}
