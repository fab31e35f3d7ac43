//! The straightforward loop, which defines the result of every algorithm.

use super::selection::Selection;
use crate::cloud::WorkingCopy;
use crate::memory;
use crate::{Error, Scalar};
use std::mem;

pub(crate) fn run<T: Scalar>(
    cloud: &WorkingCopy<T>,
    selection: &mut Selection<'_, T>,
) -> Result<(), Error> {
    // Distance of each point to the chosen ones; none for those chosen themselves.
    let mut distance = memory::filled(cloud.len, Some(T::INFINITY));
    for &start in &mem::take(&mut selection.starts) {
        selection.begin(start);
        update(cloud, selection, &mut distance, start);
    }
    while let Some((point, value)) = farthest(&distance) {
        if !selection.offer(point, value) {
            break;
        }
        update(cloud, selection, &mut distance, point);
        selection.report(value)?;
    }
    Ok(())
}

/// Returns the largest distance, and the lowest index that has it.
fn farthest<T: Scalar>(distance: &[Option<T>]) -> Option<(u32, T)> {
    let mut best = None;
    for (point, distance) in distance.iter().enumerate() {
        if let Some(value) = *distance
            && best.is_none_or(|(_, largest)| value > largest)
        {
            best = Some((point as u32, value));
        }
    }
    best
}

fn update<T: Scalar>(
    cloud: &WorkingCopy<T>,
    selection: &mut Selection<'_, T>,
    distance: &mut [Option<T>],
    sample: u32,
) {
    distance[sample as usize] = None;
    let mut effective = 0;
    for (point, distance) in distance.iter_mut().enumerate() {
        if let Some(old) = distance {
            let new = cloud.squared_distance(point as u32, sample);
            if new < *old {
                *old = new;
                effective += 1;
            }
        }
    }
    selection.statistics.distance_evaluations += cloud.len as u64;
    selection.statistics.effective_updates += u64::from(effective);
    if selection.count {
        memory::push(&mut selection.statistics.effective_by_step, effective);
    }
}
