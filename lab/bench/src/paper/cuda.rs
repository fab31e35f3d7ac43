//! Jobs on a GPU with input in host memory: kernel times by CUDA events, and device memory.

use crate::timing::{Case, Contender, Once, Turn};
use anyhow::{Result, anyhow};
use farpoint::{Algorithm, Sampler};
use farpoint_cli::each_precision;
use farpoint_cuda::Gpu;

/// Samples of a first run, which loads the kernels.
const WARM: usize = 64;

/// An algorithm on the GPU; `None` if it can't take this cloud.
pub(super) fn contender<'a>(
    gpu: &'a Gpu,
    case: &'a Case,
    algorithm: Algorithm,
    samples: usize,
) -> Result<Option<Contender<'a>>> {
    let run = move |samples: usize| once(gpu, case, algorithm, samples);
    match run(samples.min(WARM)) {
        Ok(_) => {
            let linear = matches!(algorithm, Algorithm::Naive | Algorithm::Persistent);
            let run = move |turn: Turn| run(turn.samples);
            Ok(Some(Contender::new(algorithm.name(), samples, run).linear(linear)))
        }
        Err(error) => match error.downcast_ref() {
            Some(farpoint_cuda::Error::Unsupported(_)) => Ok(None),
            _ => Err(error),
        },
    }
}

fn once(gpu: &Gpu, case: &Case, algorithm: Algorithm, samples: usize) -> Result<Once> {
    let sampler = Sampler::count(samples).algorithm(algorithm).statistics(true);
    each_precision!(&case.points, points => {
        let points: &[[_; 3]] = points;
        let sample = sampler.on(gpu).sample(points)?;
        let took = sample.statistics.ok_or_else(|| anyhow!("the GPU gave no times"))?;
        Ok(Once {
            indices: sample.indices,
            seconds: took.seconds.kernels,
            algorithm: sample.algorithm.name(),
            bytes: Some(took.bytes.input + took.bytes.answer + took.bytes.scratch),
        })
    })
}
