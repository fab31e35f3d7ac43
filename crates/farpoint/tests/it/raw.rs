//! Coordinates in records of any layout: the same numbers as a dense array's, and errors with numbers.

use crate::cases::random;
use farpoint::backend::SplitMix64;
use farpoint::{Error, Points, RawLayout, RawPoints, Sampler, Scalar};
use proptest::prelude::*;

/// A number's bytes in memory.
trait Bytes: Scalar {
    fn bytes(self, swapped: bool) -> Vec<u8>;
    /// Also NaN and negative zero.
    fn of(random: u64) -> Self;
    fn same(self, other: Self) -> bool;
}

macro_rules! bytes {
    ($float:ident) => {
        impl Bytes for $float {
            fn bytes(self, swapped: bool) -> Vec<u8> {
                let mut bytes = self.to_ne_bytes().to_vec();
                if swapped {
                    bytes.reverse();
                }
                bytes
            }
            fn of(random: u64) -> Self {
                $float::from_bits(random as _)
            }
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits()
            }
        }
    };
}

bytes!(f32);
bytes!(f64);

/// Records whose numbers do not overlap: a stride that is longer than the rest, in either direction.
#[derive(Debug, Clone)]
struct Case {
    points: usize,
    dims: usize,
    /// Bytes besides the numbers of a record, or of a column.
    gap: usize,
    /// True for columns instead of records.
    columns: bool,
    backwards: [bool; 2],
    offsets: bool,
    swapped: bool,
    /// Bytes before all numbers, and behind.
    margins: [usize; 2],
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let sizes = (1..40usize, 1..6usize, 0..30usize, 0..9usize, 0..3usize);
    let flags = (any::<[bool; 2]>(), any::<[bool; 3]>(), any::<u64>());
    (sizes, flags).prop_map(|((points, dims, gap, before, behind), (backwards, flags, seed))| {
        let [columns, offsets, swapped] = flags;
        let margins = [before, behind];
        Case { points, dims, gap, columns, backwards, offsets, swapped, margins, seed }
    })
}

/// Returns the numbers, their bytes in the layout of the case, and the layout's offset, strides, offsets.
fn laid_out<T: Bytes>(case: &Case) -> (Vec<T>, Vec<u8>, isize, [isize; 2], Vec<isize>) {
    let mut random = SplitMix64::new(case.seed);
    let numbers: Vec<T> = (0..case.points * case.dims).map(|_| T::of(random.next_u64())).collect();
    let size = size_of::<T>();
    let (inner, outer) = match case.columns {
        true => (case.points, case.dims),
        false => (case.dims, case.points),
    };
    let long = inner * size + case.gap;
    let lengths = if case.columns { [size, long] } else { [long, size] };
    let counts = [case.points, case.dims];
    let mut offset = case.margins[0] as isize;
    let mut strides = lengths.map(|length| length as isize);
    for side in 0..2 {
        if case.backwards[side] {
            offset += strides[side] * (counts[side] as isize - 1);
            strides[side] = -strides[side];
        }
    }
    // Exactly as long as the numbers read, and the requested rest: a tool sees a step beyond.
    let mut bytes =
        vec![0xaa; case.margins[0] + (outer - 1) * long + inner * size + case.margins[1]];
    for (k, &number) in numbers.iter().enumerate() {
        let at =
            offset + (k / case.dims) as isize * strides[0] + (k % case.dims) as isize * strides[1];
        bytes[at as usize..][..size].copy_from_slice(&number.bytes(case.swapped));
    }
    let offsets = (0..case.dims as isize).map(|axis| axis * strides[1]).collect();
    (numbers, bytes, offset, strides, offsets)
}

fn check<T: Bytes>(case: &Case) {
    let (numbers, bytes, offset, strides, offsets) = laid_out::<T>(case);
    let layout = RawLayout::dense(case.points, case.dims)
        .point_stride(strides[0])
        .axis_stride(strides[1])
        .byte_swapped(case.swapped);
    let layout = if case.offsets { layout.axis_offsets(&offsets) } else { layout };
    let safe = RawPoints::<T>::new(&bytes, layout.offset(offset)).expect("it lies inside");
    let first = bytes.as_ptr().wrapping_offset(offset);
    // SAFETY: `safe` has found all numbers in the buffer, which outlives the points.
    let by_address = unsafe { RawPoints::<T>::from_ptr(first, layout) }.expect("no null");
    for (k, &number) in numbers.iter().enumerate() {
        let (row, axis) = (k / case.dims, k % case.dims);
        assert!(safe.coordinate(row, axis).same(number), "{case:?}");
        assert!(by_address.coordinate(row, axis).same(number), "{case:?}");
    }
    let from = case.seed as usize % case.points;
    let part = safe.part(from..case.points).expect("its end");
    assert_eq!((part.len(), part.dim()), (case.points - from, case.dims));
    assert!(part.coordinate(0, 0).same(numbers[from * case.dims]));
    assert!(safe.part(from..case.points + 1).is_err());
    // One byte less at either end is an error.
    let (low, high) = (case.margins[0], bytes.len() - case.margins[1]);
    for (buffer, offset) in
        [(&bytes[..high - 1], offset), (&bytes[low + 1..], offset - low as isize - 1)]
    {
        let refused = RawPoints::<T>::new(buffer, layout.offset(offset));
        let text = refused.expect_err("a number is cut").to_string();
        assert!(text.contains(&format!("{} bytes", buffer.len())), "{text}");
    }
}

proptest! {
    #![proptest_config(random(256))]

    #[test]
    fn any_layout_gives_the_numbers_of_a_dense_array(case in cases()) {
        check::<f32>(&case);
        check::<f64>(&case);
    }

    /// No layout reads outside the buffer: every number of a valid one can be read.
    #[test]
    fn accepted_layouts_lie_inside_the_buffer(
        len in 0..200usize, points in 0..20usize, dims in 0..5usize, offset in -20..200isize,
        strides in any::<[i8; 2]>(), offsets in proptest::option::of(
            proptest::collection::vec(-50..50isize, 0..5)),
    ) {
        let bytes = vec![1u8; len];
        let [point, axis] = strides.map(|stride| isize::from(stride) / 4);
        let layout = RawLayout::dense(points, dims).point_stride(point).axis_stride(axis).offset(offset);
        let layout = match &offsets {
            Some(offsets) => layout.axis_offsets(offsets),
            None => layout,
        };
        let one_bits = f32::from_ne_bytes([1; 4]);
        if let Ok(points) = RawPoints::<f32>::new(&bytes, layout) {
            for row in 0..points.len() {
                for axis in 0..points.dim() {
                    assert_eq!(points.coordinate(row, axis), one_bits);
                }
            }
        }
    }
}

#[test]
fn samples_of_records_are_those_of_arrays() {
    let cloud = farpoint_generate::lidar(20_000, 1);
    let truth = Sampler::ratio(0.1).sample(&cloud).unwrap();
    for stride in [12usize, 16, 26, 32, 48] {
        for swapped in [false, true] {
            let mut bytes = vec![0u8; stride * cloud.len()];
            for (record, point) in bytes.chunks_exact_mut(stride).zip(&cloud) {
                for (axis, x) in point.iter().enumerate() {
                    record[axis * 4..][..4].copy_from_slice(&x.bytes(swapped));
                }
            }
            let layout = RawLayout::dense(cloud.len(), 3)
                .point_stride(stride as isize)
                .byte_swapped(swapped);
            let points = RawPoints::<f32>::new(&bytes, layout).unwrap();
            let sample = Sampler::ratio(0.1).sample(&points).unwrap();
            assert_eq!(sample.indices, truth.indices);
            assert_eq!(sample.squared_distances, truth.squared_distances);
        }
    }
}

#[test]
fn layouts_outside_the_buffer_are_errors_with_numbers() {
    let bytes = [0u8; 100];
    let refused = |layout: RawLayout<'_>| RawPoints::<f32>::new(&bytes, layout).unwrap_err();
    for (layout, numbers) in [
        (RawLayout::dense(10, 3), &["10 points", "3 axes", "byte 0", "byte 120", "100 bytes"][..]),
        (RawLayout::dense(2, 2).point_stride(-8), &["byte -8", "byte 8"]),
        (RawLayout::dense(2, 3).axis_offsets(&[0, 4]), &["2 axis offsets", "3 axes"]),
    ] {
        let text = refused(layout).to_string();
        assert!(numbers.iter().all(|number| text.contains(number)), "{text}");
    }
    assert!(matches!(refused(RawLayout::dense(5, 0)), Error::Shape(_)));
    for huge in [usize::MAX, isize::MAX as usize, 1 << 62] {
        refused(RawLayout::dense(huge, 3));
        refused(RawLayout::dense(3, huge));
        refused(RawLayout::dense(huge, huge));
        refused(RawLayout::dense(huge, 3).point_stride(isize::MIN).offset(isize::MAX));
        for stride in [isize::MIN, isize::MAX] {
            let far = RawLayout::dense(huge, huge).point_stride(stride).axis_stride(stride);
            refused(far.offset(stride));
            // SAFETY: it is refused, and nothing is read.
            unsafe { RawPoints::<f64>::from_ptr(bytes.as_ptr(), far) }.unwrap_err();
        }
        let beyond = RawLayout::dense(huge, 1);
        // SAFETY: it is refused, and nothing is read.
        unsafe { RawPoints::<f64>::from_ptr(bytes.as_ptr(), beyond) }.unwrap_err();
    }
    // SAFETY: it is refused, and nothing is read.
    let null = unsafe { RawPoints::<f32>::from_ptr(std::ptr::null(), RawLayout::dense(1, 3)) };
    assert!(null.unwrap_err().to_string().contains("null"));
    // SAFETY: there are no points.
    let none = unsafe { RawPoints::<f32>::from_ptr(std::ptr::null(), RawLayout::dense(0, 3)) };
    assert!(none.unwrap().is_empty());
    assert!(RawPoints::<f32>::new(&[], RawLayout::dense(0, 3)).unwrap().is_empty());
}
