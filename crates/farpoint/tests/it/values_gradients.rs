//! Gradients of the operators on values against differences of the operators, in f64.

use crate::values_common::{Numbers, indices};
use farpoint::Cpu;
use farpoint::values::{self, InverseDistance, ValueShape};

const SHAPE: ValueShape = ValueShape { clouds: 2, rows: 6, places: 5, k: 3, channels: 4 };

/// A step that is small compared with the numbers, and exact.
const STEP: f64 = 1.0 / 1_048_576.0;

/// Returns the slope of the sum of `grad * operator(numbers)` along each number.
fn slopes(numbers: &[f64], grad: &[f64], operator: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let value = |numbers: &[f64]| -> f64 {
        operator(numbers).iter().zip(grad).map(|(value, grad)| value * grad).sum()
    };
    let slope = |at: usize| {
        let mut moved = numbers.to_vec();
        moved[at] += STEP;
        let above = value(&moved);
        moved[at] -= 2.0 * STEP;
        (above - value(&moved)) / (2.0 * STEP)
    };
    (0..numbers.len()).map(slope).collect()
}

fn near(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let tolerance = 1e-6 * (1.0 + expected.abs());
        assert!((found - expected).abs() < tolerance, "{what} {at}: {found}, not {expected}");
    }
}

fn inputs() -> (Vec<i64>, Numbers) {
    let mut numbers = Numbers::new(11);
    (indices(&SHAPE, &mut numbers), numbers)
}

#[test]
fn of_gather() {
    let (indices, mut numbers) = inputs();
    let values: Vec<f64> = numbers.many(SHAPE.values().unwrap());
    let grad: Vec<f64> = numbers.many(SHAPE.gathered().unwrap());
    let cpu = Cpu::new();
    let expected =
        slopes(&values, &grad, |values| values::gather(&cpu, &SHAPE, values, &indices).unwrap());
    let found = values::gather_backward(&cpu, &SHAPE, &indices, &grad).unwrap();
    near("gather", &found, &expected);
}

#[test]
fn of_gather_max() {
    let (indices, mut numbers) = inputs();
    // No two within a step: at a tie there is no slope.
    let mut distinct = |count: usize| -> Vec<f64> {
        (0..count)
            .map(|at| (numbers.next() >> 40) as f64 / 2_097_152.0 + at as f64 * 1e-4)
            .collect()
    };
    let values = distinct(SHAPE.values().unwrap());
    let add = distinct(SHAPE.gathered().unwrap());
    let grad = distinct(SHAPE.reduced().unwrap());
    let cpu = Cpu::new();
    let largest = |values: &[f64], add: &[f64]| {
        values::gather_max(&cpu, &SHAPE, values, &indices, Some(add)).unwrap()
    };
    let chosen = largest(&values, &add).chosen;
    let found = values::gather_max_backward(&cpu, &SHAPE, &indices, &chosen, &grad, true).unwrap();
    near("values", &found.values, &slopes(&values, &grad, |values| largest(values, &add).values));
    near("added", &found.add.unwrap(), &slopes(&add, &grad, |add| largest(&values, add).values));
}

#[test]
fn of_interpolate() {
    let (indices, mut numbers) = inputs();
    let values: Vec<f64> = numbers.many(SHAPE.values().unwrap());
    let weights: Vec<f64> = numbers.many(SHAPE.indices().unwrap());
    let grad: Vec<f64> = numbers.many(SHAPE.reduced().unwrap());
    let cpu = Cpu::new();
    let sums = |values: &[f64], weights: &[f64]| {
        values::interpolate(&cpu, &SHAPE, values, &indices, weights).unwrap()
    };
    let found = values::interpolate_backward(&cpu, &SHAPE, &indices, &weights, &grad).unwrap();
    near("values", &found, &slopes(&values, &grad, |values| sums(values, &weights)));
    let found =
        values::interpolate_weights_backward(&cpu, &SHAPE, &values, &indices, &grad).unwrap();
    near("weights", &found, &slopes(&weights, &grad, |weights| sums(&values, weights)));
}

#[test]
fn of_weights() {
    let mut numbers = Numbers::new(4);
    let mut distances: Vec<f64> =
        (0..40).map(|_| 0.5 + (numbers.next() >> 44) as f64 / 1_048_576.0).collect();
    distances[3] = f64::INFINITY;
    let grad: Vec<f64> = numbers.many(40);
    let cpu = Cpu::new();
    for (power, eps) in [(1, 1e-8), (2, 0.125)] {
        let how = InverseDistance { power, eps };
        let expected = slopes(&distances, &grad, |distances| {
            values::inverse_distance_weights(&cpu, 4, distances, how).unwrap()
        });
        let found =
            values::inverse_distance_weights_backward(&cpu, 4, &distances, how, &grad).unwrap();
        near("distances", &found, &expected);
    }
}
