//! The operators on values against the straightforward loops, bit by bit, on any number of threads.

use crate::values_common::{Numbers, SHAPES, bits, indices};
use farpoint::values::{self, InverseDistance, RowIndex, ValueShape, reference};
use farpoint::{Cpu, Level, Scalar};

/// Compares all operators with the reference on `threads` threads.
fn compare<T: Scalar, I: RowIndex>(shape: ValueShape, threads: usize, index: fn(i64) -> I) {
    let cpu = Cpu::new().threads(threads);
    let mut numbers = Numbers::new(shape.rows as u64 + threads as u64);
    let indices: Vec<I> = indices(&shape, &mut numbers).into_iter().map(index).collect();
    let values: Vec<T> = numbers.many(shape.values().unwrap());
    let add: Vec<T> = numbers.many(shape.gathered().unwrap());
    let weights: Vec<T> = numbers.many(indices.len());
    let grad: Vec<T> = numbers.many(shape.reduced().unwrap());
    let about = format!("{shape:?}, {threads} threads");

    let found = values::gather(&cpu, &shape, &values, &indices).unwrap();
    assert_eq!(bits(&found), bits(&reference::gather(&shape, &values, &indices)), "{about}");
    let found = values::gather_backward(&cpu, &shape, &indices, &add).unwrap();
    assert_eq!(bits(&found), bits(&reference::gather_backward(&shape, &indices, &add)), "{about}");

    for add in [None, Some(&add[..])] {
        let found = values::gather_max(&cpu, &shape, &values, &indices, add).unwrap();
        let truth = reference::gather_max(&shape, &values, &indices, add);
        assert_eq!(bits(&found.values), bits(&truth.values), "{about}");
        assert_eq!(found.chosen, truth.chosen, "{about}");
        let chosen = &found.chosen;
        let truth = reference::gather_max_backward(&shape, &indices, chosen, &grad);
        for with_add in [false, true] {
            let found =
                values::gather_max_backward(&cpu, &shape, &indices, chosen, &grad, with_add);
            let found = found.unwrap();
            assert_eq!(bits(&found.values), bits(&truth.values), "{about}");
            let truth = with_add.then_some(truth.add.as_deref()).flatten();
            assert_eq!(found.add.as_deref().map(bits), truth.map(bits), "{about}");
        }
    }

    let found = values::interpolate(&cpu, &shape, &values, &indices, &weights).unwrap();
    let truth = reference::interpolate(&shape, &values, &indices, &weights);
    assert_eq!(bits(&found), bits(&truth), "{about}");
    let found = values::interpolate_backward(&cpu, &shape, &indices, &weights, &grad).unwrap();
    let truth = reference::interpolate_backward(&shape, &indices, &weights, &grad);
    assert_eq!(bits(&found), bits(&truth), "{about}");
    let found =
        values::interpolate_weights_backward(&cpu, &shape, &values, &indices, &grad).unwrap();
    let truth = reference::interpolate_weights_backward(&shape, &values, &indices, &grad);
    assert_eq!(bits(&found), bits(&truth), "{about}");
}

#[test]
fn every_operator_has_the_bits_of_the_reference() {
    for (shape_number, shape) in SHAPES.into_iter().enumerate() {
        let threads = shape_number % 9 + 1;
        compare::<f32, i32>(shape, threads, |index| index as i32);
        compare::<f64, i64>(shape, threads, |index| index);
        compare::<f32, u32>(shape, threads, |index| index as u32);
    }
}

#[test]
fn threads_change_no_bit() {
    let shape = ValueShape { clouds: 3, rows: 500, places: 700, k: 5, channels: 33 };
    for threads in 1..=9 {
        compare::<f32, i64>(shape, threads, |index| index);
        compare::<f64, u32>(shape, threads, |index| index as u32);
    }
}

#[test]
fn all_places_may_name_one_row() {
    let shape = ValueShape { clouds: 2, rows: 50, places: 2_000, k: 8, channels: 7 };
    let indices = vec![17i32; shape.indices().unwrap()];
    let grad: Vec<f32> = Numbers::new(5).many(shape.gathered().unwrap());
    let truth = reference::gather_backward(&shape, &indices, &grad);
    for threads in [1, 4, 9] {
        let cpu = Cpu::new().threads(threads);
        let found = values::gather_backward(&cpu, &shape, &indices, &grad).unwrap();
        assert_eq!(bits(&found), bits(&truth));
    }
}

/// Compares maxima of special values in 32, 8 and single channels.
fn compare_maxima<T: Scalar>(cpu: &Cpu) {
    let shape = ValueShape { clouds: 2, rows: 20, places: 60, k: 9, channels: 45 };
    let mut numbers = Numbers::new(11);
    let indices = indices(&shape, &mut numbers);
    let special = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0];
    for kinds in [3, 8, 80] {
        let mut many = |count: usize| -> Vec<T> {
            let number = |bits: u64| special.get((bits >> 7) as usize % kinds).copied();
            (0..count).map(|_| T::from_f64(number(numbers.next()).unwrap_or(2.0))).collect()
        };
        let (values, add) = (many(shape.values().unwrap()), many(shape.gathered().unwrap()));
        for add in [None, Some(&add[..])] {
            let found = values::gather_max(cpu, &shape, &values, &indices, add).unwrap();
            let truth = reference::gather_max(&shape, &values, &indices, add);
            assert_eq!(found.chosen, truth.chosen, "{cpu:?}");
            let is_nan = |number: &T| number.to_f64().is_nan();
            let same = |(a, b): (&T, &T)| bits(&[*a]) == bits(&[*b]) || (is_nan(a) && is_nan(b));
            assert!(found.values.iter().zip(&truth.values).all(same), "{cpu:?}");
        }
    }
}

#[test]
fn maxima_are_the_same_on_every_instruction_set() {
    for level in Level::available() {
        let cpu = Cpu::new().level(level).threads(3);
        compare_maxima::<f32>(&cpu);
        compare_maxima::<f64>(&cpu);
    }
}

fn compare_weights<T: Scalar>(k: usize, places: usize, threads: usize, how: InverseDistance) {
    let cpu = Cpu::new().threads(threads);
    let mut numbers = Numbers::new(k as u64);
    let mut distances: Vec<T> = numbers.many(k * places);
    for (place, distance) in distances.iter_mut().enumerate() {
        *distance = match place % 11 {
            0 => T::INFINITY,
            1 => T::ZERO,
            _ if *distance < T::ZERO => T::ZERO - *distance,
            _ => *distance,
        };
    }
    // A place without any neighbor.
    distances[..k].fill(T::INFINITY);
    let found = values::inverse_distance_weights(&cpu, k, &distances, how).unwrap();
    let truth = reference::inverse_distance_weights(k, &distances, how);
    assert_eq!(bits(&found), bits(&truth));
    assert!(found[..k].iter().all(|&weight| weight == T::ZERO));
    let grad: Vec<T> = numbers.many(k * places);
    let found = values::inverse_distance_weights_backward(&cpu, k, &distances, how, &grad).unwrap();
    let truth = reference::inverse_distance_weights_backward(k, &distances, how, &grad);
    assert_eq!(bits(&found), bits(&truth));
}

#[test]
fn weights_have_the_bits_of_the_reference() {
    for (k, places) in [(1, 1), (3, 100), (7, 9_000), (64, 13)] {
        for (power, eps) in [(1, 1e-8), (2, 1e-8), (2, 0.5)] {
            let how = InverseDistance { power, eps };
            for threads in [1, 3, 8] {
                compare_weights::<f32>(k, places, threads, how);
                compare_weights::<f64>(k, places, threads, how);
            }
        }
    }
}

#[test]
fn division_has_the_precision_of_the_type() {
    let mut numbers = Numbers::new(3);
    let pairs: Vec<f32> = numbers.many(20_000);
    let how = InverseDistance { power: 1, eps: 0.0 };
    let cpu = Cpu::new();
    for pair in pairs.chunks(2).map(|pair| [pair[0].abs() + 1e-3, pair[1].abs() + 1e-3]) {
        let terms = pair.map(|d| 1.0 / (d + 0.0));
        let sum = (0.0 + terms[0]) + terms[1];
        let weights = values::inverse_distance_weights(&cpu, 2, &pair, how).unwrap();
        assert_eq!(weights, terms.map(|term| term / sum));
    }
}

#[test]
fn nan_wins_at_its_first_place_and_equals_at_the_lowest() {
    let shape = ValueShape { clouds: 1, rows: 4, places: 1, k: 5, channels: 2 };
    let nan = f32::NAN;
    let values = [1.0, 0.0, nan, -0.0, nan, 0.0, 9.0, -1.0];
    let largest =
        values::gather_max(&Cpu::new(), &shape, &values, &[0i32, 1, 2, 3, -1], None).unwrap();
    assert_eq!(largest.chosen, [1, 0]);
    assert!(largest.values[0].is_nan() && largest.values[1].to_bits() == 0);
    let minus = values::gather_max(&Cpu::new(), &shape, &values, &[-1i32, 1, 0, 0, 3], None);
    let minus = minus.unwrap();
    assert_eq!((minus.chosen[1], minus.values[1].to_bits()), (1, (-0.0f32).to_bits()));
    let infinite = [f32::NEG_INFINITY; 8];
    let least =
        values::gather_max(&Cpu::new(), &shape, &infinite, &[-1i32, 3, 1, 1, 1], None).unwrap();
    assert_eq!((least.chosen, least.values), (vec![1, 1], vec![f32::NEG_INFINITY; 2]));
}
