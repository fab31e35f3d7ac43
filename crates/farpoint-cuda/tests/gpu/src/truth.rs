//! The CPU library's results, and comparison of a sample of the GPU with them bit for bit.

use crate::clouds::Cloud;
use farpoint::{Algorithm, Amount, Cpu, NonFinite, Points, Sample, Sampler, Scalar, Start};
use farpoint_cuda::CudaScalar;

/// Number of points below which the textbook loop is the reference; above, the CPU's fastest method,
/// which the CPU's own tests compare with that loop.
const MAX_REFERENCE_POINTS: usize = 5_000;

/// A sample of the CPU that is at least as long as those compared with it.
pub(crate) struct Truth<T> {
    pub(crate) sample: Sample<T>,
    points: usize,
}

impl<T: CudaScalar> Truth<T> {
    /// Takes `max_samples + 1` samples of the cloud, or all points.
    pub(crate) fn new(cloud: &Cloud<T>, start: &Start, max_samples: usize) -> anyhow::Result<Self> {
        let points = cloud.len();
        let job = Sampler::count((max_samples + 1).min(points)).start(start.clone());
        Ok(Self { sample: on_cpu(job, points).sample(cloud)?, points })
    }

    /// Compares with the first `m` samples.
    pub(crate) fn compare(&self, found: &Sample<T>, m: usize) -> Result<(), String> {
        let truth = &self.sample;
        let covering = match truth.squared_distances.get(m) {
            _ if m == 0 && self.points > 0 => T::INFINITY,
            Some(&next) => next,
            None => T::ZERO,
        };
        compare(found, &truth.indices[..m], &truth.squared_distances[..m], covering)
    }
}

/// A job on the CPU.
pub(crate) struct OnCpu<J> {
    pub(crate) job: J,
    pub(crate) cpu: Cpu,
}

/// Returns a job by the reference method for a cloud of this size. Small clouds take one thread, as
/// many of them are sampled concurrently.
pub(crate) fn on_cpu(job: Sampler, points: usize) -> OnCpu<Sampler> {
    let single_thread = Cpu::new().threads(1);
    match points {
        0..=MAX_REFERENCE_POINTS => {
            OnCpu { job: job.algorithm(Algorithm::Reference), cpu: single_thread }
        }
        n if n < 200_000 => OnCpu { job, cpu: single_thread },
        _ => OnCpu { job, cpu: Cpu::new() },
    }
}

impl OnCpu<Sampler> {
    pub(crate) fn sample<T: Scalar>(&self, cloud: &Cloud<T>) -> Result<Sample<T>, farpoint::Error> {
        self.job.on(&self.cpu).sample(cloud)
    }

    pub(crate) fn sample_batch<T: Scalar>(
        &self,
        clouds: &[Cloud<T>],
    ) -> Result<Vec<Sample<T>>, farpoint::Error> {
        self.job.on(&self.cpu).sample_batch(clouds)
    }
}

/// The job for the GPU and the CPU.
pub(crate) fn job(amount: Amount, start: Start, non_finite: NonFinite) -> Sampler {
    Sampler::new(amount).start(start).non_finite(non_finite)
}

/// Compares a whole sample with one of the CPU.
pub(crate) fn same<T: CudaScalar>(found: &Sample<T>, truth: &Sample<T>) -> Result<(), String> {
    if found.dropped != truth.dropped {
        return Err(format!("{} rows dropped, not {}", found.dropped, truth.dropped));
    }
    compare(found, &truth.indices, &truth.squared_distances, truth.squared_covering_radius)
}

fn compare<T: CudaScalar>(
    found: &Sample<T>,
    indices: &[usize],
    distances: &[T],
    covering: T,
) -> Result<(), String> {
    first_difference(&found.indices, indices, &found.squared_distances, distances)?;
    if bits(found.squared_covering_radius) != bits(covering) {
        let radius = found.squared_covering_radius;
        return Err(format!("squared covering radius {radius:?}, not {covering:?}"));
    }
    Ok(())
}

/// Compares indices and squared distances, from host or device memory.
pub(crate) fn first_difference<T: CudaScalar>(
    indices: &[usize],
    true_indices: &[usize],
    distances: &[T],
    true_distances: &[T],
) -> Result<(), String> {
    if indices.len() != true_indices.len() || distances.len() != true_distances.len() {
        return Err(format!("{} samples, not {}", indices.len(), true_indices.len()));
    }
    if let Some(k) = (0..indices.len()).find(|&k| indices[k] != true_indices[k]) {
        let differences = (k..indices.len()).filter(|&k| indices[k] != true_indices[k]).count();
        let at_distance =
            |distances: &[T]| distances.get(k).map_or(String::new(), |d| format!(" at {d:?}"));
        return Err(format!(
            "sample {k} is {}{}, not {}{} ({differences} differ)",
            indices[k],
            at_distance(distances),
            true_indices[k],
            at_distance(true_distances)
        ));
    }
    match (0..distances.len()).find(|&k| bits(distances[k]) != bits(true_distances[k])) {
        Some(k) => Err(format!("distance {k} is {:?}, not {:?}", distances[k], true_distances[k])),
        None => Ok(()),
    }
}

/// Returns the bits of a number, of either precision: every `f32` is an `f64`.
pub(crate) fn bits<T: Scalar>(x: T) -> u64 {
    x.to_f64().to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint_generate::Kind;

    #[test]
    fn only_prefixes_are_accepted() {
        let cloud = Cloud::<f32>::of(Kind::Duplicated, 300, 1);
        let start = Start::Indices(vec![5, 9]);
        let truth = Truth::new(&cloud, &start, 300).unwrap();
        for m in [2, 3, 75, 299, 300] {
            let job = Sampler::count(m).start(start.clone());
            let right = job.sample(&cloud).unwrap();
            assert_eq!(truth.compare(&right, m), Ok(()));
            let mut wrong = right.clone();
            wrong.indices[m - 1] ^= 1;
            let reason = truth.compare(&wrong, m).unwrap_err();
            assert!(reason.starts_with(&format!("sample {} is", m - 1)), "{reason}");
            let mut wrong = right.clone();
            wrong.squared_distances[m / 2] = -1.0;
            assert!(truth.compare(&wrong, m).unwrap_err().starts_with("distance"));
            let mut wrong = right.clone();
            wrong.squared_covering_radius += 1.0;
            assert!(truth.compare(&wrong, m).unwrap_err().contains("covering"));
            let mut wrong = right;
            wrong.indices.pop();
            assert!(truth.compare(&wrong, m).is_err());
        }
        let mut nothing = Sampler::count(0).sample(&cloud).unwrap();
        assert_eq!(truth.compare(&nothing, 0), Ok(()));
        nothing.squared_covering_radius = 0.0;
        assert!(truth.compare(&nothing, 0).is_err());
    }

    #[test]
    fn bits_are_compared_not_values() {
        assert!(first_difference(&[1], &[1], &[0.0f32], &[-0.0]).is_err());
        assert!(first_difference(&[1], &[1], &[f64::INFINITY], &[f64::INFINITY]).is_ok());
        let long = first_difference::<f32>(&[1, 2, 3], &[1, 3, 2], &[], &[]).unwrap_err();
        assert_eq!(long, "sample 1 is 2, not 3 (2 differ)");
    }
}
