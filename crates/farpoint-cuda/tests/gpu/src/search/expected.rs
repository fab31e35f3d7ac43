//! The CPU's results for a batch.

use super::batches::Spec;
use crate::clouds::Cloud;
use anyhow::Result;
use farpoint::{Neighbors, NonFinite, Points, Searcher};
use farpoint_cuda::CudaScalar;

/// Results of a batch, as laid out in device memory.
pub(super) struct Expected<T> {
    pub(super) distances: Vec<T>,
    pub(super) indices: Vec<i64>,
    pub(super) counts: Vec<i64>,
}

impl<T: CudaScalar> Expected<T> {
    pub(super) fn of(
        spec: &Spec,
        [x, y]: [&[Cloud<T>]; 2],
        job: &Searcher,
        whole: bool,
    ) -> Result<Self> {
        let (rows, k) = (spec.all_rows(0), job.k);
        let infinite = T::from_f64(f64::INFINITY);
        let mut all = Self {
            // For padding; the clouds' values follow.
            distances: vec![T::ZERO; rows * k],
            indices: vec![-1; rows * k],
            counts: vec![0; rows],
        };
        let begins = [spec.begins(0), spec.begins(1)];
        for (cloud, (x, y)) in x.iter().zip(y).enumerate() {
            all.distances[begins[0][cloud] * k..][..x.len() * k].fill(infinite);
            let Some(found) = search(job, x, y)? else { continue };
            let base = if whole { begins[1][cloud] as i64 } else { 0 };
            for row in 0..x.len() {
                let at = begins[0][cloud] + row;
                all.counts[at] = i64::from(found.counts[row]);
                for (place, &index) in found.indices(row).iter().enumerate() {
                    all.indices[at * k + place] = base + i64::from(index);
                    all.distances[at * k + place] = found.raw_distances(row)[place];
                }
            }
        }
        Ok(all)
    }
}

/// Searches on the CPU; empty for a cloud without valid rows.
fn search<T: CudaScalar>(
    job: &Searcher,
    x: &Cloud<T>,
    y: &Cloud<T>,
) -> Result<Option<Neighbors<T>>> {
    let job = job.clone().non_finite(NonFinite::Skip);
    if filled(x) && filled(y) { Ok(Some(job.search(x, y)?)) } else { Ok(None) }
}

/// Returns whether a cloud has a valid row.
pub(super) fn filled<T: CudaScalar>(cloud: &Cloud<T>) -> bool {
    let good = |row: usize| (0..cloud.dims).all(|axis| cloud.coordinate(row, axis).is_finite());
    (0..cloud.len()).any(good)
}

/// Compares numbers bit by bit.
pub(super) fn same<T: CudaScalar>(found: &[T], truth: &[T], k: usize) -> Result<(), String> {
    let bits = |x: &T| x.to_f64().to_bits();
    match found.iter().zip(truth).position(|(a, b)| bits(a) != bits(b)) {
        Some(at) => Err(format!(
            "number {} of row {} is {}, not {}",
            at % k.max(1),
            at / k.max(1),
            found[at],
            truth[at]
        )),
        None if found.len() != truth.len() => Err("other lengths".into()),
        None => Ok(()),
    }
}

/// Compares indices or counts.
pub(super) fn same_indices(found: &[i64], truth: &[i64], k: usize) -> Result<(), String> {
    match found.iter().zip(truth).position(|(a, b)| a != b) {
        Some(at) => {
            let row = at / k.max(1) * k.max(1);
            let end = (row + k.max(1)).min(row + 8).min(found.len());
            Err(format!(
                "index {} of row {} is {}, not {} ({:?}.. and {:?}..)",
                at % k.max(1),
                at / k.max(1),
                found[at],
                truth[at],
                &found[row..end],
                &truth[row..end]
            ))
        }
        None if found.len() != truth.len() => Err("other lengths".into()),
        None => Ok(()),
    }
}
