//! Choice of the fastest algorithm for an input and a card, and of GPU or CPU.
//!
//! Measured on an H100 (lab/records/cuda/bench.md): `persistent` wins at 1,024 points, `peak`
//! from 16,384 on; the numbers between are interpolated. The rules look at numbers of points,
//! samples, clouds and axes and at the card only, so that the choice is the same for all
//! batches of a shape.

use super::batch::Shape;
use super::persistent;
use crate::Properties;
use farpoint::Algorithm;

/// An algorithm and the conditions for choosing it.
struct Rule {
    algorithm: Algorithm,
    /// Minimum and maximum number of rows of the largest cloud.
    rows: [usize; 2],
    /// Minimum and maximum number of samples of a cloud.
    samples: [usize; 2],
    /// Largest number of axes.
    dims: usize,
    /// Features that the card must have.
    requires: Requirement,
}

enum Requirement {
    Nothing,
    /// All blocks of a launch can synchronize with each other.
    Cooperation,
    /// The card can hold a cloud's points in registers.
    Registers,
}

const ANY: usize = usize::MAX;

/// The first rule that fits is followed; the last one always fits.
const RULES: [Rule; 5] = [
    // Too few points for anything that has to be built or exchanged.
    Rule {
        algorithm: Algorithm::Naive,
        rows: [0, 64],
        samples: [0, ANY],
        dims: ANY,
        requires: Requirement::Nothing,
    },
    // Bands pay once they are large. Boxes are over the first three axes: with more than 8 axes
    // they say too little.
    Rule {
        algorithm: Algorithm::peak(),
        rows: [4_096, ANY],
        samples: [257, ANY],
        dims: 8,
        requires: Requirement::Cooperation,
    },
    // Brute force at the speed of registers.
    Rule {
        algorithm: Algorithm::Persistent,
        rows: [0, ANY],
        samples: [0, ANY],
        dims: ANY,
        requires: Requirement::Registers,
    },
    // A cloud too large for that: voxels save most of the work. They are of three axes.
    Rule {
        algorithm: Algorithm::radius(),
        rows: [0, ANY],
        samples: [65, ANY],
        dims: 3,
        requires: Requirement::Nothing,
    },
    Rule {
        algorithm: Algorithm::Naive,
        rows: [0, ANY],
        samples: [0, ANY],
        dims: ANY,
        requires: Requirement::Nothing,
    },
];

/// Returns the algorithm to run on clouds of this shape with numbers of `bytes` bytes.
pub(crate) fn choose(card: &Properties, shape: Shape, bytes: usize) -> Algorithm {
    let in_range = |value: usize, [min, max]: [usize; 2]| (min..=max).contains(&value);
    let fits = |rule: &&Rule| {
        in_range(shape.rows, rule.rows)
            && in_range(shape.samples, rule.samples)
            && shape.dims <= rule.dims
            && match rule.requires {
                Requirement::Nothing => true,
                Requirement::Cooperation => card.cooperative,
                Requirement::Registers => persistent::fits(card, shape, bytes),
            }
    };
    RULES.iter().find(fits).expect("the last rule fits always").algorithm
}

/// Points times samples above which a single run is faster on a GPU that has to be opened first (about
/// half a second, mostly in the driver) than on the CPU.
const MIN_WORK: u128 = 1_000_000_000_000;

/// Returns whether a single run is faster on a GPU, including the time to open it. A program that has a
/// [`Gpu`](crate::Gpu) open and samples many clouds of some thousand points is always faster on it.
pub fn is_worthwhile(points: usize, samples: usize) -> bool {
    points as u128 * samples as u128 >= MIN_WORK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::tests::card;

    fn choice(capability: u32, [clouds, rows, dims, samples]: [usize; 4]) -> Algorithm {
        choose(&card(capability), Shape { clouds, rows, dims, samples }, 4)
    }

    #[test]
    fn each_shape_gets_a_suitable_algorithm() {
        assert_eq!(choice(90, [1, 1_000_000, 3, 250_000]), Algorithm::peak());
        assert_eq!(choice(90, [32, 24_000, 3, 6_000]), Algorithm::peak());
        assert_eq!(choice(90, [32, 1_024, 3, 512]), Algorithm::Persistent);
        assert_eq!(choice(75, [32, 1_024, 3, 512]), Algorithm::Persistent);
        assert_eq!(choice(90, [1, 100_000, 3, 100]), Algorithm::Persistent);
        assert_eq!(choice(90, [1, 10_000_000, 3, 100]), Algorithm::radius());
        assert_eq!(choice(90, [1, 10_000_000, 64, 1_000]), Algorithm::Naive);
        assert_eq!(choice(90, [1000, 20, 3, 5]), Algorithm::Naive);
        assert_eq!(choice(90, [1, 0, 3, 0]), Algorithm::Naive);
    }

    #[test]
    fn unsupported_features_are_not_used() {
        let old = Properties { cooperative: false, ..card(75) };
        let shape = Shape { clouds: 1, rows: 100_000, dims: 3, samples: 25_000 };
        assert_eq!(choose(&old, shape, 4), Algorithm::radius());
    }

    #[test]
    fn the_last_rule_fits_always() {
        let last = RULES.last().unwrap();
        assert!(matches!(last.requires, Requirement::Nothing) && last.dims == ANY);
        assert_eq!((last.rows, last.samples), ([0, ANY], [0, ANY]));
    }

    #[test]
    fn a_gpu_is_not_opened_for_small_inputs() {
        assert!(!is_worthwhile(40_000, 10_000));
        assert!(is_worthwhile(10_000_000, 2_500_000));
    }
}
