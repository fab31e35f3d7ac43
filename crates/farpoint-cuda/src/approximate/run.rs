//! Approximate sampling of clouds in host memory: check, upload, launch, download, translate.

use super::fastpoint;
use super::plan::{LEVELS, Levels, MIN_SAMPLES, Plan, Work};
use super::pointers::{exact, work};
use crate::fps::run::{self, Input, Output};
use crate::memory::Buffer;
use crate::progress::Watch;
use crate::search::DeviceClouds;
use crate::{CudaScalar, Error, Gpu, Stream, input};
use farpoint::approximate::{ApproximateDevice, Details, FastPointDetails};
use farpoint::backend::PreparedCloud as Prepared;
use farpoint::{
    Algorithm, ApproximateSample, ApproximateSampler, DeviceKind, Observer, Points, Sample,
    compiled_once,
};

/// GPUs support [`farpoint::approximate::Method::FastPoint`]. An observer is called before the first launch and when
/// all kernels are done.
impl<T: CudaScalar> ApproximateDevice<T> for Gpu {
    type Error = Error;

    fn sample_approximate<P: Points<T> + ?Sized>(
        &self,
        job: &ApproximateSampler,
        points: &P,
        observer: Option<Observer<'_>>,
    ) -> Result<ApproximateSample, Error> {
        sample(self, job, &points, observer)
    }
}

compiled_once! {
    fn sample<'a, 'b, T: CudaScalar>(
        gpu: &'a Gpu,
        job: &'a ApproximateSampler,
        points: &'a dyn Points<T>,
        observer: Option<Observer<'b>>,
    ) -> Result<ApproximateSample, Error> {
        job.check(DeviceKind::Gpu)?;
        let cloud = Prepared::new(&exact(job), points)?;
        let watch = Watch::new(observer, cloud.max_samples(), farpoint::Error::Cancelled);
        let mut part = watch.part(cloud.max_samples());
        part.reach(0)?;
        let mut sample = match cloud.max_samples() {
            0 => ApproximateSample::new(Vec::new(), job.method, Details::None),
            _ => launch(gpu, job, &cloud)?,
        };
        part.end()?;
        sample.dropped = cloud.dropped();
        Ok(sample)
    }
}

fn launch<T: CudaScalar>(
    gpu: &Gpu,
    job: &ApproximateSampler,
    cloud: &Prepared<T>,
) -> Result<ApproximateSample, Error> {
    let clouds = [cloud];
    let shape = run::shape(&clouds);
    input::check_rows(shape.rows)?;
    let Some(work) = work(job, shape, cloud.starts().len(), false)? else {
        return Err(Error::Unsupported(format!("there is no kernel for {}", job.method)));
    };
    let stream = Stream::new(gpu)?;
    let input = Input::upload(&stream, &clouds, shape)?;
    let output = Output::new(&stream, &clouds)?;
    let batch = run::batch(&clouds, shape, &input, &output);
    let index = DeviceClouds {
        strides: [batch.row_stride, batch.axis_stride],
        ..DeviceClouds::padded(batch.points, shape.rows, shape.dims)
    };
    let plan = Plan::new::<T>(gpu, &work)?;
    let scratch = Buffer::<u8>::new(&stream, plan.bytes, "scratch memory")?;
    let scratch_memory = Some((scratch.pointer(), plan.bytes));
    // SAFETY: the buffers have the sizes that batch and plan say, and are freed in stream order.
    unsafe { fastpoint::enqueue(&stream, &batch, &work, scratch_memory, &index)? };
    stream.wait("fastpoint")?;
    let mut samples = output.download(gpu, &clouds, Algorithm::Peak(Default::default()))?;
    let sample = samples.pop().expect("one cloud, one sample");
    let details = details(&work, &plan, &scratch, &sample)?;
    Ok(ApproximateSample::new(sample.indices, job.method, Details::FastPoint(details)))
}

/// Reads the levels' details from scratch memory.
fn details<T: CudaScalar>(
    work: &Work,
    plan: &Plan,
    scratch: &Buffer<u8>,
    sample: &Sample<T>,
) -> Result<FastPointDetails, Error> {
    let covering = sample.squared_covering_radius;
    let mut levels = Levels { radii: [T::ZERO; LEVELS], levels: 0 };
    let mut found = [0; 4];
    if work.prefix() >= MIN_SAMPLES {
        levels.read(scratch, plan.results)?;
        scratch.read(plan.found, &mut found)?;
    }
    if levels.levels == 0 {
        let last = sample.squared_distances.last().copied().unwrap_or(T::ZERO);
        return Ok(FastPointDetails::new::<T>(sample.len(), sample.len(), &[], [last, covering]));
    }
    let found = u32::from_le_bytes(found) as usize;
    let last = levels.radii[LEVELS - 1];
    Ok(FastPointDetails::new(work.prefix(), found, &levels.radii, [last * last, covering]))
}
