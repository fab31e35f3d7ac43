//! Every operator on shapes of all sorts.

use super::PARTS;
use super::case::{Case, IndexPattern};
use super::fixture::Fixture;
use super::numbers::{Bfloat, Double, Half, Number, Single};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::values::ValueShape;
use farpoint_cuda::{Gpu, IndexKind, Stream};

const fn shape(sizes: [usize; 5]) -> ValueShape {
    let [clouds, rows, places, k, channels] = sizes;
    ValueShape { clouds, rows, places, k, channels }
}

/// Odd and even numbers of channels, from one to many; one cloud and many; empty ones.
const SHAPES: [ValueShape; 24] = [
    shape([1, 1, 1, 1, 1]),
    shape([1, 10, 7, 3, 5]),
    shape([4, 100, 30, 1, 3]),
    shape([3, 64, 100, 64, 31]),
    shape([2, 1_000, 333, 2, 33]),
    shape([1, 5, 2_000, 9, 64]),
    shape([1, 3_000, 100, 4, 130]),
    shape([70, 13, 11, 3, 2]),
    shape([1, 300, 20, 5, 513]),
    shape([5, 1, 50, 6, 17]),
    shape([2, 3_000, 1_000, 16, 64]),
    shape([8, 200, 100, 3, 128]),
    shape([3, 77, 55, 7, 8]),
    shape([1, 255, 300, 5, 4]),
    shape([2, 128, 300, 5, 16]),
    shape([1, 70_000, 700, 3, 12]),
    shape([1, 300_000, 500, 2, 1]),
    shape([1, 9_000_000, 50, 2, 1]),
    shape([1, 100, 3_000, 33, 2]),
    shape([0, 10, 10, 3, 4]),
    shape([2, 0, 10, 3, 4]),
    shape([2, 10, 0, 3, 4]),
    shape([2, 10, 10, 0, 4]),
    shape([2, 10, 10, 3, 0]),
];

/// For the sanitizer.
const SMALL: [ValueShape; 5] = [
    shape([3, 20, 30, 5, 31]),
    shape([1, 500, 300, 20, 16]),
    shape([2, 40, 10, 3, 64]),
    shape([2, 0, 10, 3, 4]),
    shape([1, 3, 700, 9, 3]),
];

/// Shapes with long lists, or all empty but one.
const LONG: [ValueShape; 3] =
    [shape([1, 100, 20_000, 8, 8]), shape([3, 1_000, 3_000, 4, 3]), shape([1, 1, 5_000, 3, 65])];

pub(super) fn groups() -> Vec<Group> {
    let mut groups = Vec::new();
    for (kind, name) in [(IndexKind::I32, "i32"), (IndexKind::I64, "i64")] {
        for pattern in [IndexPattern::Any, IndexPattern::Wrong] {
            let name = format!("{name}, {pattern:?}");
            groups.push(group::<Single>(&name, &SHAPES, kind, pattern));
            groups.push(group::<Double>(&name, &SHAPES, kind, pattern));
            groups.push(group::<Half>(&name, &SHAPES, kind, pattern));
            groups.push(group::<Bfloat>(&name, &SHAPES, kind, pattern));
        }
    }
    for pattern in [IndexPattern::One, IndexPattern::InOrder] {
        let name = format!("long lists, {pattern:?}");
        groups.push(group::<Single>(&name, &LONG, IndexKind::I32, pattern));
        groups.push(group::<Double>(&name, &LONG, IndexKind::I64, pattern));
        groups.push(group::<Bfloat>(&name, &LONG, IndexKind::I32, pattern));
    }
    groups
}

/// For the sanitizer.
pub(super) fn small() -> Vec<Group> {
    vec![
        group::<Single>("small, i64", &SMALL, IndexKind::I64, IndexPattern::Wrong),
        group::<Double>("small, i32", &SMALL, IndexKind::I32, IndexPattern::Any),
        group::<Half>("small, i32", &SMALL, IndexKind::I32, IndexPattern::Wrong),
        group::<Bfloat>("small, i64", &SMALL, IndexKind::I64, IndexPattern::One),
    ]
}

fn group<N: Number>(
    name: &str,
    shapes: &'static [ValueShape],
    kind: IndexKind,
    pattern: IndexPattern,
) -> Group {
    Group::new(format!("values {}, {name}", N::NAME), PARTS, move || {
        let case = |(seed, &shape): (usize, &ValueShape)| -> Result<_> {
            // Without rows no place is in order.
            let pattern = if shape.rows == 0 && pattern != IndexPattern::Wrong {
                IndexPattern::Any
            } else {
                pattern
            };
            let case = Case::<N>::new(shape, kind, pattern, seed as u64);
            let truth = case.truth()?;
            Ok((case, truth))
        };
        let cases = shapes.iter().enumerate().map(case).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let stream = Stream::new(device)?;
            for (case, truth) in &cases {
                // Aligned, and shifted by a number: one by one, or in smaller units.
                for shift in [0, 1] {
                    let fixture = Fixture::new(&stream, case, shift)?;
                    fixture.check(
                        &format!("{:?}, shift {shift}", case.shape),
                        part,
                        truth,
                        tally,
                    )?;
                }
            }
            Ok(())
        })
    })
}
