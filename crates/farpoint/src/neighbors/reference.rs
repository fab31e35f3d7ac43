//! The obvious loop. What it returns is what every other way must return.

use super::metric::Metric;
use super::run::{self, Output};
use crate::cloud::Cloud;
use crate::watch::Watch;
use crate::{Chamfer, Cpu, Error, Matcher, Method, Points, Scalar};

/// Both directions by the obvious loop: O(points of `a` * points of `b`) time.
///
/// ```
/// let (a, b) = ([[0.0f32], [5.0]], [[1.0f32], [2.0], [4.0]]);
/// let chamfer = farpoint::neighbors::reference(&a, &b)?;
/// assert_eq!(chamfer.a_to_b.indices, [0, 2]);
/// assert_eq!(chamfer.b_to_a.raw_distances, [1.0, 4.0, 1.0]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// # Errors
/// As [`Matcher::chamfer`].
pub fn reference<T: Scalar, A, B>(a: &A, b: &B) -> Result<Chamfer<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    let job = Matcher::new().method(Method::Reference);
    run::chamfer(&Cpu::new(), &job, a, b, &Watch::off())
}

pub(super) fn search<T: Scalar, M: Metric>(
    queries: &Cloud<T>,
    targets: &Cloud<T>,
    output: &Output<'_, T>,
    watch: &Watch<'_>,
) {
    for query in 0..queries.len as u32 {
        let (mut nearest, mut best) = (0, distance::<T, M>(queries, query, targets, 0));
        for target in 1..targets.len as u32 {
            let distance = distance::<T, M>(queries, query, targets, target);
            if distance < best {
                (nearest, best) = (target, distance);
            }
        }
        if !watch.step(1) {
            return;
        }
        // SAFETY: this loop is the only one that writes, and has each query once.
        unsafe { output.set(query, nearest, best) };
    }
}

/// The distance of a query and a target, axis by axis from the left.
fn distance<T: Scalar, M: Metric>(
    queries: &Cloud<T>,
    query: u32,
    targets: &Cloud<T>,
    target: u32,
) -> T {
    let part = |axis: usize| {
        M::part(queries.axes[axis][query as usize], targets.axes[axis][target as usize])
    };
    (1..queries.dims()).fold(part(0), |sum, axis| sum + part(axis))
}
