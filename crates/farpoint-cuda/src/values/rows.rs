//! Common input of all operators, as callers and as kernels see it.

use crate::input::{MAX_ROWS, check_aligned};
use crate::module::Function;
use crate::{Error, Gpu};
use farpoint::values::ValueShape;

/// Type of values in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// IEEE half precision; sums are taken in `f32`.
    F16,
    /// bfloat16; sums are taken in `f32`.
    Bf16,
}

impl ValueKind {
    /// Bytes per number.
    pub fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// Bytes per weight, and per gradient of one: those of `f64` or `f32`.
    pub fn weight_bytes(self) -> usize {
        if self == Self::F64 { 8 } else { 4 }
    }

    /// Selects a kernel's name for this type: of `f32` and `f64` (they differ in precision), half,
    /// bfloat16.
    pub(super) fn function(
        self,
        gpu: &Gpu,
        module: &'static str,
        [plain, half, bfloat]: [&'static str; 3],
    ) -> Result<Function, Error> {
        match self {
            Self::F32 => gpu.function::<f32>(module, plain),
            Self::F64 => gpu.function::<f64>(module, plain),
            Self::F16 => gpu.function::<f32>(module, half),
            Self::Bf16 => gpu.function::<f32>(module, bfloat),
        }
    }
}

/// Type of indices in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// `i32`.
    I32,
    /// `i64`.
    I64,
}

impl IndexKind {
    /// Bytes per index.
    pub fn bytes(self) -> usize {
        match self {
            Self::I32 => 4,
            Self::I64 => 8,
        }
    }
}

/// Input of an operator on values: sizes, types, and the indices. Addresses are of device memory, all
/// arrays dense with the shapes of [`ValueShape`].
///
/// There may be up to 4,293,918,720 (2^32 - 2^20) indices, rows and places in all clouds together; the numbers are
/// limited by memory only.
///
/// # Safety
/// The caller must ensure that all arrays passed to an operator are allocated with these sizes, and neither freed nor
/// written otherwise until the stream has finished; and that outputs and memory do not overlap anything else. If the
/// call is captured into a graph, this holds for every launch of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceRows {
    /// Sizes.
    pub shape: ValueShape,
    /// Type of values, results and their gradients.
    pub kind: ValueKind,
    /// Address of the indices, `(clouds, places, k)`.
    pub indices: u64,
    /// Type of the indices.
    pub index_kind: IndexKind,
}

/// `struct Divisor` of `kernels/values/rows.cuh`: division of 32 bits by a multiplication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct Divisor {
    magic: u32,
    first: u32,
    second: u32,
}

impl Divisor {
    /// Divides by `divisor`, which is not 0 and below 2^32 (Granlund and Montgomery, 1994, figure 4.1).
    fn new(divisor: usize) -> Self {
        let divisor = divisor as u64;
        let log = divisor.next_power_of_two().trailing_zeros();
        let magic =
            (((1u128 << 32) * ((1u128 << log) - u128::from(divisor))) / u128::from(divisor)) + 1;
        Self { magic: magic as u32, first: log.min(1), second: log.saturating_sub(1) }
    }
}

/// `struct Rows` of `kernels/values/rows.cuh`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Rows {
    indices: u64,
    wide: u32,
    clouds: u32,
    rows: u32,
    places: u32,
    pub(super) k: u32,
    pub(super) channels: u32,
    by_places: Divisor,
    pub(super) by_k: Divisor,
}

impl DeviceRows {
    /// Number of indices of all clouds.
    pub(super) fn flat(&self) -> usize {
        self.shape.clouds * self.shape.places * self.shape.k
    }

    /// Number of places of all clouds.
    pub(super) fn places(&self) -> usize {
        self.shape.clouds * self.shape.places
    }

    /// Number of rows of values of all clouds.
    pub(super) fn rows(&self) -> usize {
        self.shape.clouds * self.shape.rows
    }

    /// Checks sizes and the address of the indices.
    pub(super) fn check(&self) -> Result<(), Error> {
        let ValueShape { clouds, rows, places, k, channels } = self.shape;
        let (_, _) = (self.shape.values()?, self.shape.gathered()?);
        let in_range = |sizes: &[usize]| {
            let product = sizes.iter().try_fold(1usize, |total, &size| total.checked_mul(size));
            product.is_some_and(|product| product <= MAX_ROWS)
        };
        if !in_range(&[clouds, rows])
            || !in_range(&[clouds, places, k.max(1)])
            || !in_range(&[k])
            || !in_range(&[channels])
        {
            return shape_error(format!(
                "{clouds} clouds of {rows} rows, {places} places and {k} indices per place exceed the limit \
                 of {MAX_ROWS} rows or indices per call on a GPU; split the batch"
            ));
        }
        self.check_address(self.indices, self.flat(), self.index_kind.bytes(), "indices")
    }

    /// Refuses an address that can't be of this many numbers of the values' type.
    pub(super) fn check_values(
        &self,
        address: u64,
        numbers: Result<usize, farpoint::Error>,
        name: &str,
    ) -> Result<(), Error> {
        self.check_address(address, numbers?, self.kind.bytes(), name)
    }

    /// Refuses an address that can't be of numbers of this many bytes.
    pub(super) fn check_address(
        &self,
        address: u64,
        numbers: usize,
        bytes: usize,
        name: &str,
    ) -> Result<(), Error> {
        if address == 0 && numbers > 0 {
            return shape_error(format!("the address of the {name} is null"));
        }
        match bytes {
            8 => check_aligned::<u64>(address, name),
            4 => check_aligned::<u32>(address, name),
            _ => check_aligned::<u16>(address, name),
        }
    }

    /// Returns whether rows of channels at these addresses can be read 16 bytes at a time.
    pub(super) fn is_vectored(&self, addresses: &[u64]) -> bool {
        let bytes = self.shape.channels * self.kind.bytes();
        bytes.is_multiple_of(16) && addresses.iter().all(|address| address.is_multiple_of(16))
    }

    /// Returns the kernels' view.
    pub(super) fn kernel_view(&self) -> Rows {
        Rows {
            indices: self.indices,
            wide: u32::from(self.index_kind == IndexKind::I64),
            clouds: self.shape.clouds as u32,
            rows: self.shape.rows as u32,
            places: self.places() as u32,
            k: self.shape.k as u32,
            channels: self.shape.channels as u32,
            by_places: Divisor::new(self.shape.places.max(1)),
            by_k: Divisor::new(self.shape.k.max(1)),
        }
    }
}

pub(super) fn shape_error<T>(message: String) -> Result<T, Error> {
    Err(farpoint::Error::Shape(message).into())
}

/// Threads per block of the kernels with a group of lanes per row, and maximum number of blocks; each loops over
/// rows.
pub(crate) const THREADS: u32 = 256;
const MAX_BLOCKS: usize = 1 << 22;

/// Distribution of rows over the lanes of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spread {
    /// Number of blocks.
    pub(crate) blocks: u32,
    /// Binary logarithm of the lanes per row.
    pub(crate) lanes: u32,
}

impl Spread {
    /// Distributes rows of `units` units (what a lane handles at once), `rows_per_group` rows per group of lanes.
    pub(crate) fn new(rows: usize, units: usize, rows_per_group: usize) -> Self {
        let lanes = units.clamp(1, 32).next_power_of_two().trailing_zeros();
        let rows_per_block = (THREADS as usize >> lanes) * rows_per_group;
        Self { blocks: rows.div_ceil(rows_per_block).clamp(1, MAX_BLOCKS) as u32, lanes }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::source::fields;

    const SOURCE: &str = include_str!("../../kernels/values/rows.cuh");

    /// Rows that pass the check.
    pub(in crate::values) fn valid() -> DeviceRows {
        let shape = ValueShape { clouds: 2, rows: 10, places: 5, k: 3, channels: 8 };
        DeviceRows { shape, kind: ValueKind::F32, indices: 256, index_kind: IndexKind::I32 }
    }

    #[test]
    fn laid_out_as_in_rows_cuh() {
        let names = "indices wide clouds rows places k channels by_places by_k";
        assert_eq!(fields(SOURCE, "Rows"), names);
        assert_eq!(fields(SOURCE, "Divisor"), "magic first second");
        assert_eq!((size_of::<Divisor>(), size_of::<Rows>()), (12, 56));
        assert_eq!(std::mem::offset_of!(Rows, by_places), 32);
        assert!(SOURCE.contains(&format!("THREADS = {THREADS};")));
    }

    #[test]
    fn a_multiplication_divides() {
        let divide = |divisor: &Divisor, n: u32| {
            let t = ((u64::from(divisor.magic) * u64::from(n)) >> 32) as u32;
            (t + ((n - t) >> divisor.first)) >> divisor.second
        };
        for by in (1..100).chain([
            255,
            256,
            257,
            1 << 20,
            (1 << 31) - 1,
            1 << 31,
            (1 << 31) + 1,
            u32::MAX,
        ]) {
            let divisor = Divisor::new(by as usize);
            let near = |n: u32| [n.wrapping_sub(1), n, n.wrapping_add(1)];
            let multiples = [1, 2, 3, 1_000, u32::MAX / by].map(|m: u32| m.wrapping_mul(by));
            for n in multiples.into_iter().chain([0, 1 << 31, u32::MAX]).flat_map(near) {
                assert_eq!(divide(&divisor, n), n / by, "{n} / {by}");
            }
        }
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        let message = |rows: DeviceRows| rows.check().unwrap_err().to_string();
        assert_eq!(valid().check(), Ok(()));
        assert!(message(DeviceRows { indices: 0, ..valid() }).contains("indices is null"));
        assert!(message(DeviceRows { indices: 258, ..valid() }).contains("not aligned"));
        let wide = DeviceRows { indices: 260, index_kind: IndexKind::I64, ..valid() };
        assert!(message(wide).contains("not aligned"));
        let many = ValueShape { places: 1 << 31, ..valid().shape };
        let text = message(DeviceRows { shape: many, ..valid() });
        assert!(text.contains("2147483648 places") && text.contains("split"), "{text}");
        let none = ValueShape { clouds: 0, ..valid().shape };
        assert_eq!(DeviceRows { shape: none, indices: 0, ..valid() }.check(), Ok(()));
    }

    #[test]
    fn rows_of_full_vectors_are_vectored() {
        let rows = |kind, channels| DeviceRows {
            kind,
            shape: ValueShape { channels, ..valid().shape },
            ..valid()
        };
        assert!(rows(ValueKind::F32, 4).is_vectored(&[16, 32]));
        assert!(!rows(ValueKind::F32, 4).is_vectored(&[16, 36]));
        assert!(!rows(ValueKind::F16, 4).is_vectored(&[16]));
        assert!(rows(ValueKind::Bf16, 8).is_vectored(&[16]));
        assert!(rows(ValueKind::F64, 2).is_vectored(&[16]));
    }

    #[test]
    fn lanes_share_a_row() {
        assert_eq!(Spread::new(1_000, 16, 4), Spread { blocks: 16, lanes: 4 });
        assert_eq!(Spread::new(1_000, 1, 1), Spread { blocks: 4, lanes: 0 });
        assert_eq!(Spread::new(1, 513, 1), Spread { blocks: 1, lanes: 5 });
        assert_eq!(Spread::new(0, 0, 1), Spread { blocks: 1, lanes: 0 });
    }
}
