//! Helpers shared by the tests on a GPU.

use farpoint::{Algorithm, DeviceKind, Points, Sample, Sampler};
use farpoint_cuda::{CudaScalar, Gpu};

/// Returns the first GPU; prints a note and returns `None` if there is none.
pub(crate) fn gpu() -> Option<Gpu> {
    match Gpu::new(0) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            println!("skipped: tests on a GPU ({error})");
            None
        }
    }
}

/// Algorithms to test: all, or those named in `FARPOINT_ALGORITHMS`.
pub(crate) fn algorithms() -> Vec<Algorithm> {
    match std::env::var("FARPOINT_ALGORITHMS") {
        Ok(names) => names.split(',').map(|name| name.parse().expect("an algorithm")).collect(),
        Err(_) => Algorithm::of(DeviceKind::Gpu).collect(),
    }
}

/// Runs a job on the GPU by every algorithm and on the CPU, and compares the results.
pub(crate) fn compare<T: CudaScalar, P: Points<T> + ?Sized>(gpu: &Gpu, job: &Sampler, cloud: &P) {
    let truth = job.clone().algorithm(Algorithm::Naive).sample(cloud).unwrap();
    for algorithm in algorithms() {
        let sample = job.clone().algorithm(algorithm).on(gpu).sample(cloud).unwrap();
        same(&sample, &truth, algorithm.name());
    }
}

/// Compares indices, and distances bit for bit.
pub(crate) fn same<T: CudaScalar>(found: &Sample<T>, truth: &Sample<T>, name: &str) {
    assert_eq!(found.indices, truth.indices, "{name}");
    assert_eq!(found.squared_distances, truth.squared_distances, "{name}");
    assert_eq!(found.squared_covering_radius, truth.squared_covering_radius, "{name}");
    assert_eq!(found.dropped, truth.dropped, "{name}");
}
