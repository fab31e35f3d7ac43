//! One cloud on several GPUs: all of this machine, and one GPU listed twice, each half of its blocks a part.

use crate::clouds::Cloud;
use crate::runner::Group;
use crate::tally::Tally;
use crate::truth::{job, on_cpu};
use anyhow::Result;
use farpoint::{Algorithm, Amount, NonFinite, PeakOptions, Points, Sampler, Start};
use farpoint_cuda::{CudaScalar, Error, Gpu, Gpus};
use farpoint_generate::Kind;
use std::time::{Duration, Instant};

/// Names of the ways to share a cloud here.
const WAYS: &[&str] = &["one GPU twice", "one GPU three times", "all GPUs"];

/// Patience of kernels with a block that never arrives, and deadline of the error.
const PATIENCE: Duration = Duration::from_millis(300);
const DEADLINE: Duration = Duration::from_secs(10);

pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups: Vec<_> = [1, 2, 33, 1_000, 1_025, 20_000]
        .into_iter()
        .flat_map(|n| [kinds::<f32>(n), kinds::<f64>(n)])
        .collect();
    groups.extend([starts::<f32>(), starts::<f64>(), axes(), gives_up()]);
    if !quick {
        groups.extend([kinds::<f32>(400_000), large()]);
    }
    groups
}

/// Returns the GPUs of a way: `None` if the machine has but one GPU and all are meant.
fn gpus(device: &Gpu, way: &str) -> Result<Option<Gpus>, Error> {
    let gpus = match way {
        "one GPU twice" => vec![device.clone(); 2],
        "one GPU three times" => vec![device.clone(); 3],
        _ => Gpu::all()?,
    };
    Ok((gpus.len() > 1).then_some(Gpus::new(gpus)?.sharing_from(0)))
}

/// Shares a cloud in a way, by some options.
fn compare<T: CudaScalar>(
    device: &Gpu,
    way: &str,
    (name, cloud, sampler): (&str, &Cloud<T>, &Sampler),
    tally: &mut Tally,
) -> Result<()> {
    let Some(gpus) = gpus(device, way)? else { return Ok(()) };
    let truth = on_cpu(sampler.clone(), cloud.len()).sample(cloud)?;
    let peak = PeakOptions::default;
    for (options, suffix) in [(peak(), ""), (peak().gamma(0.5).single(1), ", wide bands")] {
        let sampler = sampler.clone().algorithm(Algorithm::Peak(options));
        tally.sample(format!("{name}{suffix}"), sampler.on(&gpus).sample(cloud), &truth);
    }
    Ok(())
}

/// Every kind of cloud, a quarter and all of it.
fn kinds<T: CudaScalar>(n: usize) -> Group {
    Group::new(format!("shared, {}, {n} points", T::SUFFIX), WAYS, move || {
        let clouds = Kind::ALL.map(|kind| (kind.name(), Cloud::<T>::of(kind, n, 11)));
        Ok(move |device: &Gpu, way: &str, tally: &mut Tally| {
            for (name, cloud) in &clouds {
                let whole = if n <= 20_000 { Amount::All } else { Amount::Ratio(0.6) };
                for (amount, label) in [(Amount::Ratio(0.25), "a quarter"), (whole, "most")] {
                    let sampler = job(amount, Start::Index(0), NonFinite::Error);
                    compare(device, way, (&format!("{name}, {label}"), cloud, &sampler), tally)?;
                }
            }
            Ok(())
        })
    })
}

/// Several starts, a spacing, dropped rows, and no samples requested.
fn starts<T: CudaScalar>() -> Group {
    Group::new(format!("shared, {}, starts", T::SUFFIX), WAYS, || {
        let cloud = Cloud::<T>::of(Kind::ALL[0], 50_000, 5);
        let mut with_infinity = Cloud::<T>::of(Kind::ALL[0], 50_000, 6);
        with_infinity.data[3 * 700] = T::INFINITY;
        Ok(move |device: &Gpu, way: &str, tally: &mut Tally| {
            let far = Start::Indices(vec![49_999, 5, 25_000, 1, 2, 3]);
            for (name, amount, start) in [
                ("far apart", Amount::Count(9_000), far),
                ("random", Amount::Ratio(0.1), Start::Random(3)),
                ("a spacing", Amount::Spacing(0.05), Start::Index(7)),
                ("one", Amount::Count(1), Start::Index(0)),
                ("none", Amount::Count(0), Start::Index(0)),
            ] {
                let sampler = job(amount, start, NonFinite::Error);
                compare(device, way, (name, &cloud, &sampler), tally)?;
            }
            let sampler = job(Amount::Ratio(0.2), Start::Index(0), NonFinite::Skip);
            compare(device, way, ("a dropped row", &with_infinity, &sampler), tally)
        })
    })
}

/// More and fewer axes than three.
fn axes() -> Group {
    Group::new("shared, axes", WAYS, || {
        Ok(|device: &Gpu, way: &str, tally: &mut Tally| {
            for dims in [1, 2, 5] {
                for tied in [None, Some(4)] {
                    let cloud = Cloud::<f32>::random(5_000, dims, tied, 9);
                    let sampler = job(Amount::Ratio(0.3), Start::Index(0), NonFinite::Error);
                    let name = format!("{dims} axes, {tied:?}");
                    compare(device, way, (&name, &cloud, &sampler), tally)?;
                }
            }
            Ok(())
        })
    })
}

/// A cloud large enough to be shared by default, against one GPU.
fn large() -> Group {
    Group::new("shared, 20,000,000 points", WAYS, || {
        let cloud = Cloud::<f32>::of(Kind::ALL[0], 20_000_000, 1);
        Ok(move |device: &Gpu, way: &str, tally: &mut Tally| {
            let Some(gpus) = gpus(device, way)? else { return Ok(()) };
            let sampler = Sampler::ratio(0.25).algorithm(Algorithm::peak());
            let truth = sampler.on(device).sample(&cloud)?;
            tally.sample("a quarter", sampler.on(&gpus).sample(&cloud), &truth);
            Ok(())
        })
    })
    .heavy()
}

/// A block of the first GPU never arrives: all GPUs give up in time, and the next call is right.
fn gives_up() -> Group {
    Group::new("shared, gives up", WAYS, || {
        let cloud = Cloud::<f32>::of(Kind::ALL[0], 60_000, 2);
        let sampler = Sampler::ratio(0.25).algorithm(Algorithm::peak());
        let truth = on_cpu(Sampler::ratio(0.25), cloud.len()).sample(&cloud)?;
        Ok(move |device: &Gpu, way: &str, tally: &mut Tally| {
            let Some(gpus) = gpus(device, way)? else { return Ok(()) };
            let before: Vec<_> = gpus.as_slice().iter().map(Gpu::patience).collect();
            for stage in 0..3 {
                gpus.as_slice().iter().for_each(|gpu| gpu.set_patience(PATIENCE));
                gpus.as_slice()[0].set_absent(Some(stage));
                let begin = Instant::now();
                let result = sampler.on(&gpus).sample(&cloud);
                let seconds = begin.elapsed();
                gpus.as_slice()[0].set_absent(None);
                let each = gpus.as_slice().iter().zip(&before);
                each.for_each(|(gpu, &patience)| gpu.set_patience(patience));
                let gave_up = matches!(result, Err(Error::GaveUp { .. }));
                tally.is(format!("stage {stage}: gives up"), gave_up);
                tally.is(format!("stage {stage}: {seconds:.1?}"), seconds < DEADLINE);
                let next = sampler.on(&gpus).sample(&cloud);
                tally.sample(format!("stage {stage}: the call after it"), next, &truth);
            }
            Ok(())
        })
    })
}
