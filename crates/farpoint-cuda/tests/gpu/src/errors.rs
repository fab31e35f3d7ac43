//! Invalid input returns the right error, the CPU's where the CPU has it too, and the next call works.

use crate::clouds::Cloud;
use crate::resident::{Expected, Resident};
use crate::runner::Group;
use crate::tally::Tally;
use crate::variants::{self, ALL, Variant};
use anyhow::Result;
use farpoint::{Algorithm, Amount, RadiusOptions, Sampler, Start};
use farpoint_cuda::{Buffer, DeviceBatch, Error, Gpu, Stream};
use farpoint_generate::Kind;

pub(crate) fn groups() -> Vec<Group> {
    vec![
        with_a_next_call("wrong input in host memory", host),
        with_a_next_call("wrong input in device memory", pointers),
        with_a_next_call("wrong scratch memory", scratch),
        with_a_next_call("out of memory", out_of_memory),
        devices(),
    ]
}

type InvalidCall = fn(&Gpu, &Variant, &Cloud<f32>, &mut Tally) -> Result<()>;

/// Checks an invalid call, then that the next one works.
fn with_a_next_call(name: &'static str, invalid_call: InvalidCall) -> Group {
    Group::new(name, ALL, move || {
        let cloud = Cloud::<f32>::of(Kind::Room, 1_000, 1);
        let truth = Sampler::count(250).sample(&cloud)?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let variant = Variant::plain(variants::algorithm(part));
            invalid_call(device, &variant, &cloud, tally)?;
            let sampler = variant.of(Sampler::count(250));
            tally.sample("the next call", sampler.on(device).sample(&cloud), &truth);
            Ok(())
        })
    })
}

/// Compares the GPU's error with the CPU's.
pub(crate) fn same_error<A, B>(
    tally: &mut Tally,
    label: &str,
    found: Result<A, Error>,
    expected: Result<B, farpoint::Error>,
) {
    let result = match (found, expected) {
        (Err(Error::Sampling(found)), Err(expected)) if found == expected => Ok(()),
        (_, Ok(_)) => Err("the CPU accepts it".into()),
        (Ok(_), Err(expected)) => Err(format!("no error; the CPU says '{expected}'")),
        (Err(found), Err(expected)) => Err(format!("'{found}', not '{expected}'")),
    };
    tally.check(label, result);
}

fn host(device: &Gpu, variant: &Variant, cloud: &Cloud<f32>, tally: &mut Tally) -> Result<()> {
    let start = |rows: &[usize]| Start::Indices(rows.to_vec());
    for (amount, start) in [
        (Amount::Count(1_001), Start::Index(0)),
        (Amount::Count(1), Start::Index(1_000)),
        (Amount::Count(2), start(&[1, 1_000])),
        (Amount::Count(2), start(&[1, 1])),
        (Amount::Count(2), start(&[])),
        (Amount::Count(2), start(&[0, 1, 2])),
        (Amount::Ratio(1.5), Start::Index(0)),
        (Amount::Ratio(f64::NAN), Start::Index(0)),
        (Amount::Spacing(-1.0), Start::Index(0)),
    ] {
        let label = format!("{amount:?}, {start:?}");
        let gpu_job = variant.of(Sampler::new(amount).start(start.clone()));
        let found = gpu_job.on(device).sample(cloud);
        let expected_result = Sampler::new(amount).start(start).sample(cloud);
        match &expected_result {
            // NaN is not equal to itself, nor is the error that holds it.
            Err(error) if format!("{error}").contains("NaN") => {
                let same = found.is_err_and(|e| e.to_string() == error.to_string());
                tally.is(label, same);
            }
            _ => same_error(tally, &label, found, expected_result),
        }
    }
    let (sampler, cpu) = (variant.of(Sampler::count(250)), Sampler::count(250));
    let data = &cloud.data;
    for (shape, lengths) in [
        ([2, 600, 3], None),
        ([0, 1_000, 3], None),
        ([2, 500, 3], Some(&[500][..])),
        ([2, 500, 3], Some(&[500, 501])),
    ] {
        let found = sampler.on(device).sample_padded(data, shape, lengths);
        same_error(tally, "padded", found, cpu.sample_padded(data, shape, lengths));
    }
    for offsets in [&[0, 400][..], &[0, 600, 500, 1_000], &[1, 1_000], &[]] {
        let found = sampler.on(device).sample_ragged(data, 3, offsets);
        same_error(tally, "ragged", found, cpu.sample_ragged(data, 3, offsets));
    }
    let clouds = [cloud.clone(), cloud.first(100)];
    let found = sampler.on(device).sample_batch(&clouds);
    same_error(tally, "a cloud that is too small", found, cpu.sample_batch(&clouds));
    let nvox = Algorithm::Radius(RadiusOptions::default().nvox(0));
    let found = sampler.clone().algorithm(nvox).on(device).sample(cloud);
    let expected = farpoint::Error::BadVoxels(0);
    let tree = sampler.algorithm(Algorithm::Tree).on(device).sample(cloud);
    let text = tree.err().map_or(String::new(), |error| error.to_string());
    tally.is("tree is not on a GPU", text.contains("tree") && text.contains("persistent"));
    tally.is("nvox 0", matches!(found, Err(Error::Sampling(error)) if error == expected));
    Ok(())
}

fn pointers(device: &Gpu, variant: &Variant, cloud: &Cloud<f32>, tally: &mut Tally) -> Result<()> {
    let sampler = variant.of(Sampler::count(250));
    let stream = Stream::new(device)?;
    let points = Buffer::upload(&stream, &cloud.data, "points")?;
    let indices = Buffer::<i64>::new(&stream, 1_000, "indices")?;
    let (p, i) = (points.pointer(), indices.pointer());
    let valid = DeviceBatch::<f32>::padded(p, [1, 1_000, 3], i);
    let invalid = [
        ("more samples than rows", DeviceBatch::padded(p, [1, 249, 3], i)),
        ("no rows", DeviceBatch::padded(p, [1, 0, 3], i)),
        ("no axes", DeviceBatch::padded(p, [1, 1_000, 0], i)),
        ("null points", DeviceBatch::padded(0, [1, 1_000, 3], i)),
        ("points not aligned", DeviceBatch::padded(p + 2, [1, 1_000, 3], i)),
        ("null indices", DeviceBatch::padded(p, [1, 1_000, 3], 0)),
        ("too many rows", DeviceBatch::padded(p, [1, u32::MAX as usize, 3], i)),
        ("more rows than can be stepped over", DeviceBatch::padded(p, [1, 4_293_918_721, 3], i)),
        ("too many clouds", DeviceBatch::padded(p, [1 << 25, 1_000, 3], i)),
        ("no starts", DeviceBatch { starts: Some((i, 0)), ..valid }),
        ("too many starts", DeviceBatch { starts: Some((i, 251)), ..valid }),
    ];
    for (label, batch) in invalid {
        // SAFETY: what is refused uses no memory.
        let result = unsafe { device.enqueue_sample(&sampler, &stream, &batch) };
        tally.is(label, matches!(result, Err(Error::Sampling(_))));
    }
    let random = sampler.clone().start(Start::Random(1));
    // SAFETY: a random start is refused before any memory is used.
    let result = unsafe { device.enqueue_sample(&random, &stream, &valid) };
    tally.is("a random start", matches!(result, Err(Error::Unsupported(_))));
    Ok(stream.synchronize()?)
}

fn scratch(device: &Gpu, variant: &Variant, cloud: &Cloud<f32>, tally: &mut Tally) -> Result<()> {
    let sampler = variant.of(Sampler::count(250));
    let stream = Stream::new(device)?;
    // Large enough for algorithms that need none for small clouds.
    let n = 100_000;
    let points = Buffer::upload(&stream, &cloud.data.repeat(100), "points")?;
    let indices = Buffer::<i64>::new(&stream, 250, "indices")?;
    let required = device.sample_scratch_bytes::<f32>(&sampler, 1, n, 3, 250);
    if required == 0 {
        tally.note("no scratch memory is needed");
        return Ok(());
    }
    let scratch = Buffer::<u8>::new(&stream, required + 512, "scratch")?;
    let address = scratch.pointer();
    for (label, provided) in [
        ("too small", (address, required - 1)),
        ("none at all", (address, 0)),
        ("not aligned", (address + 128, required)),
    ] {
        let batch = DeviceBatch {
            scratch: Some(provided),
            ..DeviceBatch::<f32>::padded(points.pointer(), [1, n, 3], indices.pointer())
        };
        // SAFETY: what is refused uses no memory.
        let result = unsafe { device.enqueue_sample(&sampler, &stream, &batch) };
        let text = result.as_ref().map_or_else(ToString::to_string, |()| String::new());
        let named = text.contains(&required.to_string());
        tally.is(label, named && matches!(result, Err(Error::Unsupported(_))));
    }
    Ok(stream.synchronize()?)
}

/// Requests far more memory than the card has. Even if a run were started, its clouds have no rows.
fn out_of_memory(
    device: &Gpu,
    variant: &Variant,
    cloud: &Cloud<f32>,
    tally: &mut Tally,
) -> Result<()> {
    let stream = Stream::new(device)?;
    let (clouds, rows) = (64, 4_000_000_000);
    let (_, total) = device.memory()?;
    let sampler = variant.of(Sampler::count(250));
    let required = device.sample_scratch_bytes::<f32>(&sampler, clouds, rows, 3, 250);
    if required <= total {
        tally.note(format!("64 clouds of 4e9 rows take {required} bytes of scratch memory only"));
    } else {
        let points = Buffer::upload(&stream, &cloud.data, "points")?;
        let lengths = Buffer::upload(&stream, &vec![0i64; clouds], "lengths")?;
        let indices = Buffer::<i64>::new(&stream, clouds * 250, "indices")?;
        let batch = DeviceBatch {
            lengths: Some(lengths.pointer()),
            ..DeviceBatch::<f32>::padded(points.pointer(), [clouds, rows, 3], indices.pointer())
        };
        // SAFETY: clouds of length 0 have no points to read, and 250 slots each.
        let result = unsafe { device.enqueue_sample(&sampler, &stream, &batch) };
        let is_reported = match &result {
            Err(Error::OutOfMemory {
                requested: bytes,
                free,
                total: reported_total,
                fit: Some(fit),
                ..
            }) => {
                let scratch = |rows| {
                    device.sample_scratch_bytes::<f32>(&sampler, clouds, rows, 3, 250.min(rows))
                };
                let fit_is_largest = scratch(*fit) <= *free && scratch(*fit + 1) > *free;
                *bytes == required
                    && free <= reported_total
                    && *reported_total == total
                    && fit_is_largest
            }
            _ => false,
        };
        let text = result.map_or_else(|error| error.to_string(), |()| "no error".into());
        tally.check(format!("{required} bytes"), if is_reported { Ok(()) } else { Err(text) });
    }
    let buffer = Buffer::<u8>::new(&stream, 1 << 50, "a test").err();
    let is_reported =
        matches!(buffer, Some(Error::OutOfMemory { requested: 0x4_0000_0000_0000, .. }));
    tally.is("a petabyte", is_reported);
    // The same stream remains usable.
    let expected = Expected::new(std::slice::from_ref(cloud), 250)?;
    let mut batch = Resident::new(&stream, [1, 1_000, 3], 250, None)?;
    batch.write(&expected.data)?;
    batch.enqueue(device, &stream, &sampler)?;
    tally.check("the same stream", batch.compare(&expected)?);
    Ok(())
}

fn devices() -> Group {
    Group::new("devices by number", &[""], || {
        Ok(|device: &Gpu, _: &str, tally: &mut Tally| {
            let count = farpoint_cuda::device_count()?;
            let expected = Error::NoSuchDevice { ordinal: 99, count };
            tally.is("Gpu::new(99)", Gpu::new(99).err() == Some(expected));
            tally.is("Gpu::new(0) again", Gpu::new(0)? == *device);
            tally.is("Gpu::all()", Gpu::all()?.len() == count);
            tally.is("available()", farpoint_cuda::available().is_ok());
            tally.note(device.properties());
            Ok(())
        })
    })
}
