//! The CPU library's results for pairs of clouds, laid out as results in device memory, and comparison
//! with them bit for bit.

use crate::clouds::Cloud;
use crate::truth::{OnCpu, bits};
use anyhow::Result;
use farpoint::backend::{SplitMix64, padded_rows};
use farpoint::neighbors::backward;
use farpoint::{
    Chamfer, Cpu, Gradients, Matcher, Method, Nearest, NonFinite, Norm, Points, Scalar,
};
use farpoint_cuda::CudaScalar;

/// Number of pairs of points up to which the textbook loop is the reference; above, the CPU's fastest
/// method, which the CPU's own tests compare with that loop.
const MAX_REFERENCE_PAIRS: usize = 1_000_000;

/// Returns the reference for two clouds of this many points. Small ones take one thread, as many of
/// them are matched concurrently.
pub(crate) fn on_cpu(norm: Norm, n: usize, m: usize) -> OnCpu<Matcher> {
    let job = Matcher::new().norm(norm).non_finite(NonFinite::Skip);
    let single_thread = Cpu::new().threads(1);
    match n.saturating_mul(m) {
        0..=MAX_REFERENCE_PAIRS => OnCpu { job: job.method(Method::Reference), cpu: single_thread },
        _ if n.max(m) < 200_000 => OnCpu { job, cpu: single_thread },
        _ => OnCpu { job, cpu: Cpu::new() },
    }
}

impl OnCpu<Matcher> {
    pub(crate) fn chamfer<T: Scalar>(
        &self,
        a: &Cloud<T>,
        b: &Cloud<T>,
    ) -> Result<Chamfer<T>, farpoint::Error> {
        self.job.on(&self.cpu).chamfer(a, b)
    }
}

/// Gradients of distances: a number in -1..1 per row.
pub(crate) fn grads<T: Scalar>(rows: usize, seed: u64) -> Vec<T> {
    let mut random = SplitMix64::new(seed);
    (0..rows).map(|_| T::from_f64(2.0 * random.unit() - 1.0)).collect()
}

/// Results for one side of a batch of pairs, one number per row; gradients one per axis.
#[derive(Clone)]
pub(crate) struct Expected<T> {
    /// Gradients of the distances: input, NaN for padding.
    pub(crate) grads: Vec<T>,
    pub(crate) distances: Vec<T>,
    pub(crate) indices: Vec<i64>,
    pub(crate) gradients: Vec<T>,
}

impl<T: CudaScalar> Expected<T> {
    /// Results for both sides of clouds padded to `padded` rows, or one after another; only the
    /// directions in `send` have gradients.
    pub(crate) fn of(
        clouds: [&[Cloud<T>]; 2],
        padded: [Option<usize>; 2],
        norm: Norm,
        send: [bool; 2],
    ) -> Result<[Self; 2]> {
        let dims = clouds[0].first().map_or(1, |cloud| cloud.dims);
        let mut sides = [Vec::new(), Vec::new()];
        for (pair, (a, b)) in (0u64..).zip(clouds[0].iter().zip(clouds[1])) {
            let chamfer = of_pair(a, b, norm)?;
            let grads = [grads(a.len(), 7 + 2 * pair), grads(b.len(), 8 + 2 * pair)];
            let Gradients { a, b } = backward(&masked(&chamfer, send), a, b, &grads[0], &grads[1])?;
            let found = [chamfer.a_to_b, chamfer.b_to_a];
            let all = sides.iter_mut().zip(found).zip(grads).zip([a, b]);
            for (((side, found), grads), gradients) in all {
                let indices = found.indices.iter().map(|&index| signed(index)).collect();
                side.push(Self { grads, distances: found.raw_distances, indices, gradients });
            }
        }
        let [a, b] = sides;
        Ok([Self::joined(&a, padded[0], dims)?, Self::joined(&b, padded[1], dims)?])
    }

    /// Joins the results for several clouds.
    fn joined(clouds: &[Self], padded: Option<usize>, dims: usize) -> Result<Self> {
        Ok(Self {
            grads: laid_out(clouds, |cloud| &cloud.grads, padded, T::from_f64(f64::NAN))?,
            distances: laid_out(clouds, |cloud| &cloud.distances, padded, T::ZERO)?,
            indices: laid_out(clouds, |cloud| &cloud.indices, padded, -1)?,
            gradients: laid_out(
                clouds,
                |cloud| &cloud.gradients,
                padded.map(|n| n * dims),
                T::ZERO,
            )?,
        })
    }
}

/// Lays out the values of all clouds, each padded to `padded` of them, or one after another.
fn laid_out<T, V: Copy>(
    clouds: &[Expected<T>],
    values_of: impl Fn(&Expected<T>) -> &Vec<V>,
    padded: Option<usize>,
    fill: V,
) -> Result<Vec<V>> {
    let slices: Vec<&[V]> = clouds.iter().map(|cloud| &values_of(cloud)[..]).collect();
    match padded {
        Some(n) => Ok(padded_rows(&slices, n, fill)?),
        None => Ok(slices.concat()),
    }
}

/// Both directions; if the other cloud is empty, the required result of a kernel.
fn of_pair<T: CudaScalar>(a: &Cloud<T>, b: &Cloud<T>, norm: Norm) -> Result<Chamfer<T>> {
    let (n, m) = (a.len(), b.len());
    if n > 0 && m > 0 {
        return Ok(on_cpu(norm, n, m).chamfer(a, b)?);
    }
    let none = |rows: usize| Nearest {
        raw_distances: vec![T::INFINITY; rows],
        indices: vec![Nearest::<T>::NONE; rows],
        norm,
        dropped: 0,
    };
    Ok(Chamfer { a_to_b: none(n), b_to_a: none(m) })
}

/// Removes the results of directions without gradients.
fn masked<T: CudaScalar>(chamfer: &Chamfer<T>, send: [bool; 2]) -> Chamfer<T> {
    let mut masked = chamfer.clone();
    for (found, send) in [&mut masked.a_to_b, &mut masked.b_to_a].into_iter().zip(send) {
        if !send {
            found.indices.fill(Nearest::<T>::NONE);
        }
    }
    masked
}

fn signed(index: u32) -> i64 {
    if index == u32::MAX { -1 } else { i64::from(index) }
}

/// Finds the first number whose bits differ from the reference.
pub(crate) fn same_numbers<T: Scalar>(label: &str, found: &[T], truth: &[T]) -> Result<(), String> {
    let same = |a: &T, b: &T| bits(*a) == bits(*b);
    first_difference(label, found, truth, same)
}

/// Finds the first index that differs from the reference.
pub(crate) fn same_indices<V: Copy + PartialEq + std::fmt::Debug>(
    label: &str,
    found: &[V],
    truth: &[V],
) -> Result<(), String> {
    first_difference(label, found, truth, V::eq)
}

fn first_difference<V: Copy + std::fmt::Debug>(
    label: &str,
    found: &[V],
    truth: &[V],
    same: impl Fn(&V, &V) -> bool,
) -> Result<(), String> {
    if found.len() != truth.len() {
        return Err(format!("{} {label}, not {}", found.len(), truth.len()));
    }
    let differ = || (0..found.len()).filter(|&row| !same(&found[row], &truth[row]));
    match differ().next() {
        None => Ok(()),
        Some(row) => Err(format!(
            "{label}: number {row} is {:?}, not {:?} ({} of {} differ)",
            found[row],
            truth[row],
            differ().count(),
            found.len()
        )),
    }
}

/// Compares one direction.
pub(crate) fn same_nearest<T: Scalar>(
    label: &str,
    found: &Nearest<T>,
    truth: &Nearest<T>,
) -> Result<(), String> {
    if found.dropped != truth.dropped || found.norm != truth.norm {
        return Err(format!("{label}: {} rows dropped, not {}", found.dropped, truth.dropped));
    }
    same_numbers(&format!("distances {label}"), &found.raw_distances, &truth.raw_distances)?;
    same_indices(&format!("indices {label}"), &found.indices, &truth.indices)
}

/// Compares both directions.
pub(crate) fn same<T: Scalar>(found: &Chamfer<T>, truth: &Chamfer<T>) -> Result<(), String> {
    same_nearest("a to b", &found.a_to_b, &truth.a_to_b)?;
    same_nearest("b to a", &found.b_to_a, &truth.b_to_a)
}

/// Compares gradients.
pub(crate) fn same_gradients<T: Scalar>(
    found: &Gradients<T>,
    truth: &Gradients<T>,
) -> Result<(), String> {
    same_numbers("gradients of a", &found.a, &truth.a)?;
    same_numbers("gradients of b", &found.b, &truth.b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        assert_eq!(same_numbers("d", &[1.0f32, 2.0], &[1.0, 2.0]), Ok(()));
        let text = same_numbers("d", &[1.0f32, -0.0, 3.0], &[1.0, 0.0, 2.0]).unwrap_err();
        assert_eq!(text, "d: number 1 is -0.0, not 0.0 (2 of 3 differ)");
        assert_eq!(same_indices("i", &[1], &[1, 2]), Err("1 i, not 2".into()));
        assert!(same_numbers("d", &[f64::NAN], &[f64::NAN]).is_ok());
    }

    #[test]
    fn padding_and_empty_clouds_have_what_kernels_must_write() {
        let cloud = |data: &[f32]| Cloud { data: data.to_vec(), dims: 1 };
        let (a, b) = ([cloud(&[0.0, 4.0]), cloud(&[1.0])], [cloud(&[3.0]), cloud(&[])]);
        let sides = Expected::of([&a, &b], [Some(2), None], Norm::Two, [true, false]).unwrap();
        assert_eq!(sides[0].distances, [9.0, 1.0, f32::INFINITY, 0.0]);
        assert_eq!(sides[0].indices, [0, 0, -1, -1]);
        assert_eq!((&sides[1].distances[..], &sides[1].indices[..]), (&[1.0][..], &[1][..]));
        let g = &sides[0].grads;
        assert!(g[3].is_nan());
        assert_eq!(sides[0].gradients, [2.0 * g[0] * -3.0, 2.0 * g[1], 0.0, 0.0]);
        assert_eq!(sides[1].gradients, [-(2.0 * g[0] * -3.0) - 2.0 * g[1]]);
    }
}
