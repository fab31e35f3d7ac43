//! Weights from distances, and their gradients.

use super::numbers::{Double, Number, Single};
use crate::guarded::Guarded;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::backend::SplitMix64;
use farpoint::values::{
    InverseDistance, inverse_distance_weights, inverse_distance_weights_backward,
};
use farpoint::{Cpu, Scalar};
use farpoint_cuda::{Buffer, CudaScalar, Gpu, Stream};

/// Places and k.
const SHAPES: [(usize, usize); 7] =
    [(1, 1), (1_000, 3), (257, 16), (33, 64), (70_000, 3), (0, 3), (5, 0)];

pub(super) fn groups() -> Vec<Group> {
    vec![group::<Single, f32>(), group::<Double, f64>()]
}

/// Distances of all sizes; some infinite or 0, the first places without any neighbor.
fn distances<T: CudaScalar>((places, k): (usize, usize)) -> Vec<T> {
    let mut random = SplitMix64::new((places + k) as u64);
    let distance = |at: usize| -> T {
        let bits = random.next_u64();
        let number: f64 = (bits >> 11) as f64 / (1u64 << 53) as f64;
        T::from_f64(match bits % 16 {
            _ if at < 2 * k => f64::INFINITY,
            0 => f64::INFINITY,
            1 => 0.0,
            2 => number * 1e-30,
            3 => number * 1e30,
            _ => number * 10.0,
        })
    };
    (0..places * k).map(distance).collect()
}

fn group<N: Number<Wide = T, Raw = T>, T: CudaScalar + PartialEq>() -> Group {
    Group::new(format!("values {}, weights", N::NAME), &[""], || {
        let cpu = Cpu::new().threads(1);
        let mut cases = Vec::new();
        for shape in SHAPES {
            let distances = distances::<T>(shape);
            let grad: Vec<T> =
                distances.iter().rev().map(|&d| T::from_f64(d.to_f64() % 7.0)).collect();
            let grad: Vec<T> =
                grad.into_iter().map(|g| if Scalar::is_finite(g) { g } else { T::ZERO }).collect();
            for (power, eps) in [(1, 1e-8), (2, 1e-8), (2, 0.25)] {
                let options = InverseDistance { power, eps };
                let weights = inverse_distance_weights(&cpu, shape.1, &distances, options)?;
                let gradients =
                    inverse_distance_weights_backward(&cpu, shape.1, &distances, options, &grad)?;
                cases.push((shape, options, distances.clone(), grad.clone(), weights, gradients));
            }
        }
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            for (shape, options, distances, grad, weights, gradients) in &cases {
                let label = format!("{shape:?}, {options:?}");
                let found = run::<T>(device, *shape, *options, distances, grad)?;
                tally.check(&label, N::same("weights", &found[0], weights));
                tally.check(&label, N::same("gradients", &found[1], gradients));
            }
            Ok(())
        })
    })
}

/// Weights and gradients.
fn run<T: CudaScalar + PartialEq>(
    device: &Gpu,
    shape: (usize, usize),
    options: InverseDistance,
    distances: &[T],
    grad: &[T],
) -> Result<[Vec<T>; 2]> {
    let stream = Stream::new(device)?;
    let distances_buffer = Buffer::upload(&stream, distances, "distances")?;
    let grad = Buffer::upload(&stream, grad, "gradients")?;
    let weights = Guarded::<T>::new(&stream, distances.len())?;
    let gradients = Guarded::<T>::new(&stream, distances.len())?;
    // SAFETY: all arrays have the shape's size and outlive the work, which is waited for.
    unsafe {
        let (from, to) = (distances_buffer.pointer(), weights.pointer());
        device.enqueue_inverse_distance_weights::<T>(&stream, shape, options, from, to)?;
        let (from, to) = ((from, grad.pointer()), gradients.pointer());
        device.enqueue_inverse_distance_weights_backward::<T>(&stream, shape, options, from, to)?;
    }
    stream.synchronize()?;
    Ok([weights.read("weights")?, gradients.read("gradients")?])
}
