//! Input of all operators from a seed, and the CPU library's results.

use super::numbers::Number;
use farpoint::backend::SplitMix64;
use farpoint::values::{self, ValueShape};
use farpoint::{Cpu, Error, Scalar};
use farpoint_cuda::IndexKind;

/// Rows named by indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexPattern {
    /// Any row; one in eight is -1.
    Any,
    /// The same, and one in eleven is far out of range.
    Wrong,
    /// One row of each cloud.
    One,
    /// The rows in order; in places beyond them, the first.
    InOrder,
}

/// Input of all operators.
pub(super) struct Case<N: Number> {
    pub(super) shape: ValueShape,
    pub(super) index_kind: IndexKind,
    /// Indices as uploaded to the device.
    pub(super) indices: Vec<i64>,
    pub(super) values: Vec<N::Raw>,
    /// `add` of `gather_max`, and the gradient of the gathered rows.
    pub(super) add: Vec<N::Raw>,
    pub(super) weights: Vec<N::Wide>,
    /// The gradient of a row per place.
    pub(super) grad: Vec<N::Raw>,
}

/// The CPU's results.
pub(super) struct Truth<N: Number> {
    pub(super) gathered: Vec<N::Raw>,
    pub(super) of_gathered: Vec<N::Raw>,
    /// Without and with `add`.
    pub(super) largest: [Largest<N>; 2],
    pub(super) sums: Vec<N::Raw>,
    pub(super) of_sums: Vec<N::Raw>,
    pub(super) of_weights: Vec<N::Wide>,
    /// Number of invalid indices, and the place of the first.
    pub(super) wrong: [i64; 2],
}

/// A maximum and its gradients.
pub(super) struct Largest<N: Number> {
    pub(super) values: Vec<N::Raw>,
    pub(super) chosen: Vec<i32>,
    pub(super) of_values: Vec<N::Raw>,
    pub(super) of_added: Vec<N::Raw>,
}

impl<N: Number> Case<N> {
    pub(super) fn new(
        shape: ValueShape,
        index_kind: IndexKind,
        pattern: IndexPattern,
        seed: u64,
    ) -> Self {
        let mut random = SplitMix64::new(seed);
        let indices = indices(&shape, index_kind, pattern, &mut random);
        let mut random_numbers = |count: Result<usize, Error>| -> Vec<N::Wide> {
            let mut number = |_| {
                let bits = random.next_u64();
                let number = ((bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * 8.0;
                // Some are equal, some NaN.
                match bits % 64 {
                    0..8 => number.round(),
                    63 if bits >> 8 & 3 == 0 => f64::NAN,
                    _ => number,
                }
            };
            (0..count.unwrap_or(0)).map(|k| N::Wide::from_f64(number(k))).collect()
        };
        let (values, add) =
            (N::raws(&random_numbers(shape.values())), N::raws(&random_numbers(shape.gathered())));
        let (weights, grad) =
            (random_numbers(shape.indices()), N::raws(&random_numbers(shape.reduced())));
        Self { shape, index_kind, indices, values, add, weights, grad }
    }

    pub(super) fn truth(&self) -> Result<Truth<N>, Error> {
        let (cpu, shape) = (Cpu::new().threads(1), &self.shape);
        let range = 0..shape.rows as i64;
        let is_wrong = |index: &i64| *index != -1 && !range.contains(index);
        let wrong = self.indices.iter().filter(|index| is_wrong(index)).count() as i64;
        let first = self.indices.iter().position(is_wrong).map_or(-1, |at| at as i64);
        let indices: Vec<i64> =
            self.indices.iter().map(|index| if is_wrong(index) { -1 } else { *index }).collect();
        let (values, add) = (N::wides(&self.values), N::wides(&self.add));
        let (grad, weights) = (N::wides(&self.grad), &self.weights);
        let largest = |add: Option<&[N::Wide]>| -> Result<Largest<N>, Error> {
            let found = values::gather_max(&cpu, shape, &values, &indices, add)?;
            let chosen = found.chosen;
            let sent = values::gather_max_backward(&cpu, shape, &indices, &chosen, &grad, true)?;
            let (of_values, of_added) =
                (N::raws(&sent.values), N::raws(&sent.add.unwrap_or_default()));
            Ok(Largest { values: N::raws(&found.values), chosen, of_values, of_added })
        };
        Ok(Truth {
            gathered: N::raws(&values::gather(&cpu, shape, &values, &indices)?),
            of_gathered: N::raws(&values::gather_backward(&cpu, shape, &indices, &add)?),
            largest: [largest(None)?, largest(Some(&add))?],
            sums: N::raws(&values::interpolate(&cpu, shape, &values, &indices, weights)?),
            of_sums: N::raws(&values::interpolate_backward(&cpu, shape, &indices, weights, &grad)?),
            of_weights: values::interpolate_weights_backward(
                &cpu, shape, &values, &indices, &grad,
            )?,
            wrong: [wrong, first],
        })
    }
}

/// Draws indices from a seed.
pub(super) fn indices(
    shape: &ValueShape,
    kind: IndexKind,
    pattern: IndexPattern,
    random: &mut SplitMix64,
) -> Vec<i64> {
    let (rows, count) = (shape.rows as u64, shape.indices().unwrap_or(0));
    let per_cloud = (shape.places * shape.k).max(1);
    let extreme = if kind == IndexKind::I64 { i64::MAX } else { i64::from(i32::MAX) };
    let any = |bits: u64| (bits >> 8).checked_rem(rows).map_or(-1, |row| row as i64);
    let mut index = |at: usize| {
        let bits = random.next_u64();
        match pattern {
            IndexPattern::Wrong if bits.is_multiple_of(11) => {
                let wrong = [rows as i64, extreme, -2, -extreme - 1, 1 << 30];
                let wrong = wrong[(bits >> 8) as usize % wrong.len()];
                if (0..rows as i64).contains(&wrong) { -2 } else { wrong }
            }
            IndexPattern::Any | IndexPattern::Wrong if bits.is_multiple_of(8) => -1,
            IndexPattern::Any | IndexPattern::Wrong => any(bits),
            IndexPattern::One => rows as i64 / 2,
            IndexPattern::InOrder if ((at % per_cloud) as u64) < rows => (at % per_cloud) as i64,
            IndexPattern::InOrder => 0,
        }
    };
    let mut indices: Vec<i64> = (0..count).map(&mut index).collect();
    if rows == 0 && pattern != IndexPattern::Wrong {
        indices.fill(-1);
    }
    indices
}
