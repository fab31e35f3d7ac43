//! Errors of the operators on values, and the numbers in them.

use farpoint::values::{self, InverseDistance, ValueShape};
use farpoint::{Cpu, Error};

const SHAPE: ValueShape = ValueShape { clouds: 2, rows: 3, places: 2, k: 2, channels: 2 };
const INDICES: [i64; 8] = [0, 1, 2, -1, 0, 1, 2, -1];

fn text<R>(result: Result<R, Error>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn indices_out_of_range_are_named() {
    let cpu = Cpu::new();
    for (wrong, shown) in [(3, "3"), (-2, "-2"), (i64::MIN, "-9223372036854775808")] {
        let mut indices = INDICES;
        (indices[5], indices[7]) = (wrong, wrong);
        let text = text(values::gather(&cpu, &SHAPE, &[0f32; 12], &indices));
        assert!(text.contains(&format!("index {shown} at place 5")), "{text}");
        assert!(text.contains("outside 0..3"), "{text}");
    }
    let indices_i32 = INDICES.map(|index| index as i32);
    assert!(values::gather(&cpu, &SHAPE, &[0f32; 12], &indices_i32).is_ok());
    let mut unsigned = INDICES.map(|index| index as u32);
    assert!(values::gather(&cpu, &SHAPE, &[0f32; 12], &unsigned).is_ok());
    unsigned[0] = u32::MAX - 1;
    let text = text(values::gather_backward(&cpu, &SHAPE, &unsigned, &[0f64; 16]));
    assert!(text.contains("index 4294967294 at place 0"), "{text}");
}

#[test]
fn the_first_wrong_index_is_named_whatever_the_threads() {
    let shape = ValueShape { clouds: 1, rows: 7, places: 100_000, k: 1, channels: 1 };
    let mut indices = vec![0i32; 100_000];
    for wrong in [99_999, 70_001, 31_234] {
        indices[wrong] = 7;
        for threads in 1..=9 {
            let found = values::gather(&Cpu::new().threads(threads), &shape, &[0f32; 7], &indices);
            let expected = Error::IndexOutOfRange { place: wrong, index: 7, rows: 7 };
            assert_eq!(found, Err(expected));
        }
    }
}

#[test]
fn every_operator_checks_indices() {
    let cpu = Cpu::new();
    let mut indices = INDICES;
    indices[1] = 3;
    let (v, w, g, r) = ([0f32; 12], [0f32; 8], [0f32; 16], [0f32; 8]);
    let chosen = [0; 8];
    for text in [
        text(values::gather(&cpu, &SHAPE, &v, &indices)),
        text(values::gather_backward(&cpu, &SHAPE, &indices, &g)),
        text(values::gather_max(&cpu, &SHAPE, &v, &indices, Some(&g))),
        text(values::gather_max_backward(&cpu, &SHAPE, &indices, &chosen, &r, true)),
        text(values::interpolate(&cpu, &SHAPE, &v, &indices, &w)),
        text(values::interpolate_backward(&cpu, &SHAPE, &indices, &w, &r)),
        text(values::interpolate_weights_backward(&cpu, &SHAPE, &v, &indices, &r)),
    ] {
        assert!(text.contains("index 3 at place 1"), "{text}");
    }
}

#[test]
fn every_operator_checks_sizes() {
    let cpu = Cpu::new();
    let (v, w, g, r) = ([0f32; 12], [0f32; 8], [0f32; 16], [0f32; 8]);
    let (chosen, too_short) = ([0; 8], [0f32; 3]);
    let i = &INDICES;
    for (text, what) in [
        (text(values::gather(&cpu, &SHAPE, &too_short, i)), "values: 3 numbers"),
        (text(values::gather(&cpu, &SHAPE, &v, &i[1..])), "indices: 7 numbers"),
        (text(values::gather_backward(&cpu, &SHAPE, i, &too_short)), "gradients: 3 numbers"),
        (text(values::gather_max(&cpu, &SHAPE, &v, i, Some(&too_short))), "add: 3 numbers"),
        (text(values::gather_max_backward(&cpu, &SHAPE, i, &chosen, &g, true)), "gradients: 16"),
        (text(values::gather_max_backward(&cpu, &SHAPE, i, &[], &r, true)), "chosen places: 0"),
        (text(values::interpolate(&cpu, &SHAPE, &v, i, &too_short)), "weights: 3 numbers"),
        (text(values::interpolate_backward(&cpu, &SHAPE, i, &w, &g)), "gradients: 16"),
        (
            text(values::interpolate_weights_backward(&cpu, &SHAPE, &v, i, &too_short)),
            "gradients: 3",
        ),
    ] {
        assert!(text.contains(what), "{text}");
    }
    let huge = ValueShape { places: 1 << 60, k: 1 << 30, ..SHAPE };
    let text = text(values::gather(&cpu, &huge, &v, i));
    assert!(text.contains("1152921504606846976 x 1073741824"), "{text}");
}

#[test]
fn choices_are_checked() {
    let cpu = Cpu::new();
    for (wrong, shown) in [(2, "2"), (-2, "-2")] {
        let mut chosen = [0, 1, -1, 0, 1, 0, 0, 0];
        chosen[3] = wrong;
        let found = values::gather_max_backward(&cpu, &SHAPE, &INDICES, &chosen, &[0f32; 8], false);
        let text = text(found);
        assert!(text.contains(&format!("chosen place {shown} of number 3")), "{text}");
    }
    let many = ValueShape { clouds: 0, k: i32::MAX as usize + 1, ..SHAPE };
    let text = text(values::gather_max::<f32, i32>(&cpu, &many, &[], &[], None));
    assert!(text.contains("k = 2147483648"), "{text}");
}

#[test]
fn weights_check_their_arguments() {
    let cpu = Cpu::new();
    let weights = |k, power, eps| {
        text(values::inverse_distance_weights(&cpu, k, &[1f32; 6], InverseDistance { power, eps }))
    };
    assert_eq!(weights(3, 2, 0.0), "");
    assert!(weights(3, 3, 0.0).contains("power = 3"));
    assert!(weights(3, 1, -1.0).contains("eps = -1"));
    assert!(weights(3, 1, f64::NAN).contains("eps = NaN"));
    assert!(weights(4, 1, 0.0).contains("6 distances") && weights(0, 1, 0.0).contains("k = 0"));
    let how = InverseDistance::default();
    let text = text(values::inverse_distance_weights_backward(&cpu, 3, &[1f32; 6], how, &[0.0; 5]));
    assert!(text.contains("gradients: 5 numbers"), "{text}");
}

#[test]
fn zero_threads_are_rejected() {
    let text = text(values::gather(&Cpu::new().threads(0), &SHAPE, &[0f32; 12], &INDICES));
    assert!(text.contains("0 threads"), "{text}");
}
