//! Reductions by row against the straightforward loops, bit by bit, on any number of threads.

use crate::values_common::{Numbers, SHAPES, bits, indices};
use farpoint::values::{self, RowIndex, ValueShape, reference};
use farpoint::{Cpu, Scalar};

/// Compares all reductions with the reference on `threads` threads.
fn compare<T: Scalar, I: RowIndex>(shape: ValueShape, threads: usize, index: fn(i64) -> I) {
    let cpu = Cpu::new().threads(threads);
    let mut numbers = Numbers::new(shape.rows as u64 + threads as u64);
    let indices: Vec<I> = indices(&shape, &mut numbers).into_iter().map(index).collect();
    let mut values: Vec<T> = numbers.many(shape.gathered().unwrap());
    let grad: Vec<T> = numbers.many(shape.values().unwrap());
    let about = format!("{shape:?}, {threads} threads");

    let found = values::scatter_mean(&cpu, &shape, &values, &indices).unwrap();
    assert_eq!(bits(&found), bits(&reference::scatter_mean(&shape, &values, &indices)), "{about}");
    let found = values::scatter_mean_backward(&cpu, &shape, &indices, &grad).unwrap();
    let truth = reference::scatter_mean_backward(&shape, &indices, &grad);
    assert_eq!(bits(&found), bits(&truth), "{about}");

    // Ties, NaN and infinities.
    for (place, value) in values.iter_mut().enumerate() {
        let special = [f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -0.0, 0.0];
        if let Some(&number) = special.get(place * 7 % 40) {
            *value = T::from_f64(number);
        }
    }
    let found = values::scatter_max(&cpu, &shape, &values, &indices).unwrap();
    let truth = reference::scatter_max(&shape, &values, &indices);
    assert_eq!(bits(&found.values), bits(&truth.values), "{about}");
    assert_eq!(found.chosen, truth.chosen, "{about}");
    let found = values::scatter_max_backward(&cpu, &shape, &indices, &truth.chosen, &grad).unwrap();
    let truth = reference::scatter_max_backward(&shape, &indices, &truth.chosen, &grad);
    assert_eq!(bits(&found), bits(&truth), "{about}");

    let labels: Vec<i64> = indices.iter().map(|_| (numbers.next() % 5) as i64 - 2).collect();
    let found = values::scatter_mode(&cpu, &shape, &labels, &indices, 77).unwrap();
    let truth = reference::scatter_mode(&shape, &labels, &indices, 77);
    assert_eq!(found, truth, "{about}");
}

#[test]
fn every_reduction_has_the_bits_of_the_reference() {
    for (shape_number, shape) in SHAPES.into_iter().enumerate() {
        let threads = shape_number % 9 + 1;
        compare::<f32, i32>(shape, threads, |index| index as i32);
        compare::<f64, i64>(shape, threads, |index| index);
        compare::<f32, u32>(shape, threads, |index| index as u32);
    }
}

#[test]
fn threads_change_no_bit_of_a_reduction() {
    let shape = ValueShape { clouds: 3, rows: 300, places: 9_000, k: 2, channels: 3 };
    for threads in 1..=9 {
        compare::<f32, i64>(shape, threads, |index| index);
        compare::<f64, u32>(shape, threads, |index| index as u32);
    }
}

#[test]
fn reductions_name_wrong_arguments() {
    let shape = ValueShape { clouds: 1, rows: 2, places: 3, k: 1, channels: 2 };
    let cpu = Cpu::new();
    let (values, indices) = ([0.0f32; 6], [0i64, 1, 2]);
    let error = values::scatter_mean(&cpu, &shape, &values, &indices).unwrap_err();
    assert!(error.to_string().contains("index 2 at place 2"), "{error}");
    let error = values::scatter_max(&cpu, &shape, &values[1..], &[0i64, 1, 1]).unwrap_err();
    assert!(error.to_string().contains("values: 5 numbers"), "{error}");
    let error = values::scatter_mode(&cpu, &shape, &[1, 2], &[0i64, 1, 1], 0).unwrap_err();
    assert!(error.to_string().contains("labels: 2 numbers"), "{error}");
    let chosen = [0i64, 3, -1, 0];
    let error = values::scatter_max_backward(&cpu, &shape, &[0i64, 1, 1], &chosen, &[0.0f32; 4]);
    let text = error.unwrap_err().to_string();
    assert!(text.contains("chosen place 3 of number 1"), "{text}");
}
