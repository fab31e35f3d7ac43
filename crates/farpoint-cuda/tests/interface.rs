//! The public interface: errors as on the CPU, dropped rows, starts, batches in every form, device
//! pointers. Needs a GPU, and prints a note if there is none.

mod common;

use common::{algorithms, compare, gpu, same};
use farpoint::{
    Algorithm, Amount, NonFinite, Progress, RadiusOptions, RanOn, Sample, Sampler, Start,
};
use farpoint_cuda::{
    Buffer, DeviceBatch, Error, Gpu, Gpus, Stream, device_of, find_non_finite, roots,
};
use farpoint_generate::{Kind, generate};
use std::ops::ControlFlow;

const CLOUD: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 9.0]];

fn job(amount: Amount, start: Start) -> Sampler {
    Sampler::new(amount).start(start).non_finite(NonFinite::Skip)
}

#[test]
fn errors_without_a_device_give_the_reason() {
    let Err(error) = Gpu::new(0) else { return };
    assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
    assert!(error.to_string().starts_with("CUDA can't be used here: "), "{error}");
    assert!(farpoint_cuda::available().is_err() && Gpu::all().is_err());
}

#[test]
fn devices_are_counted() {
    let Some(device) = gpu() else { return };
    let all = Gpu::all().unwrap();
    assert_eq!(all[0], device);
    assert_eq!(all.len(), farpoint_cuda::device_count().unwrap());
    let error = Gpu::new(all.len()).unwrap_err();
    assert_eq!(error, Error::NoSuchDevice { ordinal: all.len(), count: all.len() });
    assert!(device.properties().multiprocessors > 0 && device.memory().unwrap().1 > 0);
}

#[test]
fn errors_match_the_cpu() {
    let Some(device) = gpu() else { return };
    let start = |rows: &[usize]| Start::Indices(rows.to_vec());
    for (amount, start) in [
        (Amount::Count(5), Start::Index(0)),
        (Amount::Count(1), Start::Index(4)),
        (Amount::Count(2), start(&[1, 4])),
        (Amount::Count(2), start(&[1, 1])),
        (Amount::Count(2), start(&[])),
        (Amount::Count(2), start(&[0, 1, 2])),
        (Amount::Ratio(1.5), Start::Index(0)),
        (Amount::Spacing(-1.0), Start::Index(0)),
    ] {
        let job = job(amount, start);
        let found = job.on(&device).sample(&CLOUD[..]).unwrap_err();
        assert_eq!(found, Error::Sampling(job.sample(&CLOUD[..]).unwrap_err()));
    }
    let nvox = Algorithm::Radius(RadiusOptions::default().nvox(0));
    let error = Sampler::count(1).algorithm(nvox).on(&device).sample(&CLOUD[..]).unwrap_err();
    assert_eq!(error, Error::Sampling(farpoint::Error::BadVoxels(0)));
    let tree = Sampler::count(1).algorithm(Algorithm::Tree).on(&device).sample(&CLOUD[..]);
    let text = tree.unwrap_err().to_string();
    assert!(text.contains("tree") && text.contains("persistent"), "{text}");
    let error = Sampler::count(1).on(&device).sample(&[[f32::NAN; 3]; 2][..]).unwrap_err();
    let expected = farpoint::Error::NonFinite { first: 0, count: 2, points: 2 };
    assert_eq!(error, Error::Sampling(expected));
}

#[test]
fn amounts_and_starts() {
    let Some(device) = gpu() else { return };
    let cloud = generate(Kind::Room, 1500, 1);
    let wide: Vec<[f64; 3]> = cloud.iter().map(|row| row.map(f64::from)).collect();
    for (amount, start) in [
        (Amount::Count(0), Start::Index(0)),
        (Amount::Count(1), Start::Index(7)),
        (Amount::Count(400), Start::Random(3)),
        (Amount::Ratio(0.25), Start::Indices(vec![5, 1400, 3])),
        (Amount::Spacing(0.5), Start::Index(0)),
        (Amount::Spacing(0.0), Start::Index(0)),
        (Amount::All, Start::Index(1499)),
    ] {
        let job = job(amount, start);
        compare(&device, &job, &cloud);
        compare(&device, &job, &wide);
    }
    let none: [[f32; 3]; 0] = [];
    let job = job(Amount::All, Start::Index(0));
    compare(&device, &job, &none[..]);
}

#[test]
fn any_number_of_axes() {
    let Some(device) = gpu() else { return };
    fn axes<const D: usize>(device: &Gpu) {
        let mut random = farpoint::backend::SplitMix64::new(D as u64);
        let cloud: Vec<[f32; D]> =
            (0..700).map(|_| std::array::from_fn(|_| random.unit() as f32)).collect();
        let job = job(Amount::Count(300), Start::Index(1));
        compare(device, &job, &cloud);
    }
    axes::<1>(&device);
    axes::<2>(&device);
    axes::<4>(&device);
    axes::<17>(&device);
}

#[test]
fn non_finite_rows_are_dropped() {
    let Some(device) = gpu() else { return };
    let mut cloud = generate(Kind::Room, 600, 1);
    for (row, value) in [(0, f32::NAN), (8, f32::INFINITY), (599, f32::NEG_INFINITY)] {
        cloud[row][row % 3] = value;
    }
    for start in [Start::Index(0), Start::Index(100), Start::Random(5)] {
        let job = job(Amount::Count(597), start);
        compare(&device, &job, &cloud);
    }
}

#[test]
fn batches_match_their_clouds() {
    let Some(device) = gpu() else { return };
    let sizes = [100usize, 1, 64, 0, 99];
    let (n, d) = (100, 3);
    let clouds: Vec<_> = (1..).zip(sizes).map(|(seed, n)| generate(Kind::Room, n, seed)).collect();
    let mut padded = vec![f32::NAN; sizes.len() * n * d];
    for (cloud, place) in clouds.iter().zip(padded.chunks_exact_mut(n * d)) {
        place[..cloud.len() * d].copy_from_slice(cloud.as_flattened());
    }
    let ragged: Vec<f32> = clouds.concat().concat();
    let offsets: Vec<usize> = (0..=sizes.len()).map(|cloud| sizes[..cloud].iter().sum()).collect();
    let all = Gpus::all().unwrap();
    for amount in [Amount::Ratio(0.4), Amount::Spacing(0.6)] {
        let truth = Sampler::new(amount);
        // A cloud without points has no spacing.
        let count = if amount == Amount::Ratio(0.4) { 5 } else { 3 };
        let truth = truth.sample_batch(&clouds[..count]).unwrap();
        for algorithm in algorithms() {
            let sampler = Sampler::new(amount).algorithm(algorithm);
            let check = |batch: Result<Vec<Sample<f32>>, Error>| {
                let batch = batch.unwrap();
                assert_eq!(batch.len(), count);
                batch.iter().zip(&truth).for_each(|(a, b)| same(a, b, algorithm.name()));
            };
            check(sampler.on(&device).sample_batch(&clouds[..count]));
            check(sampler.on(&all).sample_batch(&clouds[..count]));
            let (b, end) = (count, offsets[count]);
            let lengths = Some(&sizes[..b]);
            check(sampler.on(&device).sample_padded(&padded[..b * n * d], [b, n, d], lengths));
            check(sampler.on(&device).sample_ragged(&ragged[..end * d], d, &offsets[..=b]));
        }
    }
    let error = Sampler::count(2).on(&device).sample_batch(&clouds).unwrap_err();
    let source = Box::new(farpoint::Error::TooManySamples { samples: 2, points: 1 });
    assert_eq!(error, Error::Sampling(farpoint::Error::InBatch { cloud: 1, source }));
    let none: [Vec<[f32; 3]>; 0] = [];
    assert!(Sampler::count(2).on(&device).sample_batch(&none).unwrap().is_empty());
}

#[test]
fn statistics_are_returned_on_request() {
    let Some(device) = gpu() else { return };
    let cloud = generate(Kind::Room, 1000, 1);
    let sampler = Sampler::count(100).algorithm(Algorithm::Naive);
    assert_eq!(sampler.on(&device).sample(&cloud).unwrap().statistics, None);
    let sample = sampler.statistics(true).on(&device).sample(&cloud).unwrap();
    let statistics = sample.statistics.unwrap();
    assert!(statistics.seconds.kernels > 0.0);
    assert!(statistics.bytes.input >= 12_000 && statistics.bytes.scratch == 4000);
    assert_eq!(sample.ran_on, RanOn::Gpu { ordinal: 0 });
}

/// Jobs of a batch may differ in all options.
#[test]
fn every_cloud_may_have_its_own_job() {
    let Some(device) = gpu() else { return };
    let clouds: Vec<_> = (1..5).map(|seed| generate(Kind::Room, 300, seed)).collect();
    let jobs = [
        Sampler::count(20),
        Sampler::count(30).start(Start::Index(7)),
        Sampler::spacing(0.5),
        Sampler::spacing(0.7).algorithm(Algorithm::Naive),
    ];
    let found = farpoint::Device::<f32>::sample_batch(&device, &jobs, &clouds, None).unwrap();
    for ((job, cloud), found) in jobs.iter().zip(&clouds).zip(&found) {
        let cpu = job.clone().algorithm(Algorithm::Auto);
        same(found, &cpu.sample(cloud).unwrap(), "own jobs");
    }
}

#[test]
fn runs_report_progress_and_can_be_canceled() {
    let Some(device) = gpu() else { return };
    let cloud = generate(Kind::Room, 20_000, 1);
    for algorithm in algorithms() {
        let job = Sampler::count(5_000).algorithm(algorithm);
        let mut seen = Vec::new();
        let mut observer = |progress: Progress| {
            seen.push(progress.samples);
            assert_eq!(progress.total, 5_000);
            ControlFlow::Continue(())
        };
        let observed = job.on(&device).observe(&mut observer).sample(&cloud).unwrap();
        same(&observed, &job.on(&device).sample(&cloud).unwrap(), algorithm.name());
        assert_eq!((seen[0], seen[seen.len() - 1]), (0, 5_000), "{algorithm}");
        assert!(seen.is_sorted() && (algorithm.name() != "radius" || seen.len() > 10), "{seen:?}");
        for calls in [1, 2] {
            let mut remaining = calls;
            let mut observer = |_: Progress| {
                remaining -= 1;
                if remaining > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let error = job.on(&device).observe(&mut observer).sample(&cloud).unwrap_err();
            let canceled = matches!(error, Error::Sampling(farpoint::Error::Cancelled(_)));
            assert!(canceled, "{algorithm}: {error}");
        }
        // The next call works.
        same(&job.on(&device).sample(&cloud).unwrap(), &observed, algorithm.name());
    }
}

/// A padded batch in device memory, with rows, starts and results there.
#[test]
fn device_pointers() {
    let Some(device) = gpu() else { return };
    let stream = Stream::new(&device).unwrap();
    let [b, n, m] = [3, 500, 120];
    let clouds: Vec<_> = (0..b as u64).map(|seed| generate(Kind::Room, n, seed)).collect();
    let data = clouds.concat().concat();
    let points = Buffer::upload(&stream, &data, "points").unwrap();
    let indices = Buffer::<i64>::new(&stream, b * m, "indices").unwrap();
    let values = Buffer::<f32>::new(&stream, b * m, "values").unwrap();
    let covering = Buffer::<f32>::new(&stream, b, "covering").unwrap();
    let chosen = Buffer::<i64>::new(&stream, b, "chosen").unwrap();
    let starts = Buffer::upload(&stream, &[4i64, 9, 0, 3, 499, 1], "starts").unwrap();
    let batch = DeviceBatch {
        values: Some(values.pointer()),
        covering: Some(covering.pointer()),
        chosen: Some(chosen.pointer()),
        starts: Some((starts.pointer(), 2)),
        ..DeviceBatch::<f32>::padded(points.pointer(), [b, n, 3], indices.pointer())
    };
    for algorithm in algorithms() {
        let sampler = Sampler::count(m).algorithm(algorithm);
        // SAFETY: the buffers outlive the stream's work, and have the sizes given.
        unsafe { device.enqueue_sample(&sampler, &stream, &batch).unwrap() };
        let (rows, distances) = (indices.download(b * m).unwrap(), values.download(b * m).unwrap());
        let (radii, counts) = (covering.download(b).unwrap(), chosen.download(b).unwrap());
        let start_rows = [vec![4, 9], vec![0, 3], vec![499, 1]];
        for (k, start_rows) in start_rows.into_iter().enumerate() {
            let truth = Sampler::count(m).start(Start::Indices(start_rows)).sample(&clouds[k]);
            let truth = truth.unwrap();
            let slots = k * m..(k + 1) * m;
            let found: Vec<_> = rows[slots.clone()].iter().map(|&row| row as usize).collect();
            assert_eq!(found, truth.indices, "{algorithm}");
            assert_eq!(distances[slots], truth.squared_distances, "{algorithm}");
            assert_eq!((radii[k], counts[k]), (truth.squared_covering_radius, m as i64));
        }
    }
}

#[test]
fn short_clouds_leave_empty_slots() {
    let Some(device) = gpu() else { return };
    let stream = Stream::new(&device).unwrap();
    let cloud = generate(Kind::Room, 40, 1);
    let points = Buffer::upload(&stream, cloud.as_flattened(), "points").unwrap();
    let offsets = Buffer::upload(&stream, &[0i64, 10, 10, 40], "offsets").unwrap();
    let indices = Buffer::<i64>::new(&stream, 60, "indices").unwrap();
    let batch = DeviceBatch::<f32>::ragged(
        points.pointer(),
        3,
        (offsets.pointer(), 3),
        30,
        indices.pointer(),
    );
    for algorithm in algorithms() {
        let sampler = Sampler::count(20).algorithm(algorithm);
        // SAFETY: the buffers outlive the stream's work, and have the sizes given.
        unsafe { device.enqueue_sample(&sampler, &stream, &batch).unwrap() };
        let rows = indices.download(60).unwrap();
        let truth = |from: usize, to: usize, m| {
            let indices = Sampler::count(m).sample(&cloud[from..to]).unwrap().indices;
            indices.into_iter().map(|row| row as i64).collect::<Vec<_>>()
        };
        assert_eq!(rows[..10], truth(0, 10, 10), "{algorithm}");
        assert_eq!(rows[10..40], [-1; 30], "{algorithm}");
        assert_eq!(rows[40..], truth(10, 40, 20), "{algorithm}");
    }
}

#[test]
fn non_finite_rows_are_found_on_the_device() {
    let Some(device) = gpu() else { return };
    let stream = Stream::new(&device).unwrap();
    let mut data = vec![0.5f32; 3 * 4000];
    data[4000 + 17] = f32::NAN;
    data[4000 + 2999] = f32::INFINITY;
    data[8000] = f32::NEG_INFINITY;
    let points = Buffer::upload(&stream, &data, "points").unwrap();
    let [counts, firsts] = [(); 2].map(|()| Buffer::<i64>::new(&stream, 3, "counts").unwrap());
    let batch = DeviceBatch::<f32>::padded(points.pointer(), [3, 2000, 2], 0);
    // SAFETY: the buffers outlive the stream's work, and have the sizes given.
    unsafe { find_non_finite(&stream, &batch, counts.pointer(), firsts.pointer()).unwrap() };
    assert_eq!(counts.download(3).unwrap(), [0, 2, 1]);
    assert_eq!(firsts.download(3).unwrap(), [-1, 8, 0]);
}

#[test]
fn roots_match_the_cpu() {
    let Some(device) = gpu() else { return };
    let stream = Stream::new(&device).unwrap();
    let squares: Vec<f32> = (0..5000).map(|i| i as f32 * 0.37).chain([f32::INFINITY]).collect();
    let values = Buffer::upload(&stream, &squares, "squares").unwrap();
    let covering = Buffer::upload(&stream, &squares, "squares").unwrap();
    let radii = Buffer::<f64>::new(&stream, squares.len(), "radii").unwrap();
    let [slots, clouds] = [(&values, squares.len()), (&covering, squares.len())]
        .map(|(buffer, len)| (buffer.pointer(), len));
    // SAFETY: the buffers outlive the stream's work, and have the sizes given.
    unsafe { roots::<f32>(&stream, slots, clouds, radii.pointer()).unwrap() };
    let truth: Vec<f32> = squares.iter().map(|square| square.sqrt()).collect();
    assert_eq!(values.download(squares.len()).unwrap(), truth);
    let truth: Vec<f64> = truth.into_iter().map(f64::from).collect();
    assert_eq!(radii.download(squares.len()).unwrap(), truth);
}

#[test]
fn the_device_of_an_address_is_found() {
    let Some(device) = gpu() else { return };
    let buffer = Buffer::<u8>::new(&Stream::new(&device).unwrap(), 8, "bytes").unwrap();
    assert_eq!(device_of(buffer.pointer()).unwrap(), device.ordinal());
    assert!(matches!(device_of(8), Err(Error::Driver { call: "cuPointerGetAttribute", .. })));
}

#[test]
fn out_of_memory_errors_give_the_bytes() {
    let Some(device) = gpu() else { return };
    let stream = Stream::new(&device).unwrap();
    let bytes = 1 << 50;
    let error = Buffer::<u8>::new(&stream, bytes, "a test").err().unwrap();
    assert!(matches!(error, Error::OutOfMemory { requested: w, .. } if w == bytes), "{error:?}");
    // The next call works.
    let job = job(Amount::Count(2), Start::Index(0));
    compare(&device, &job, &CLOUD[..]);
}

/// A captured run samples the content of its memory at launch.
#[test]
fn graphs_capture_a_run() {
    let Some(device) = gpu() else { return };
    let stream = Stream::new(&device).unwrap();
    let [b, n, m] = [2, 300, 70];
    let mut points = Buffer::<f32>::new(&stream, b * n * 3, "points").unwrap();
    let indices = Buffer::<i64>::new(&stream, b * m, "indices").unwrap();
    let batch = DeviceBatch::<f32>::padded(points.pointer(), [b, n, 3], indices.pointer());
    for algorithm in algorithms() {
        let sampler = Sampler::count(m).algorithm(algorithm);
        // SAFETY: the buffers outlive the graph's launches, and have the sizes given.
        let graph = stream.capture(|| unsafe { device.enqueue_sample(&sampler, &stream, &batch) });
        let graph = graph.unwrap();
        for seed in 0..3 {
            let clouds = [generate(Kind::Room, n, seed), generate(Kind::Object, n, seed)];
            points.write(0, &clouds.concat().concat()).unwrap();
            // SAFETY: points and indices are there, and are not used until `download` has synchronized.
            unsafe { graph.launch(&stream).unwrap() };
            let found = indices.download(b * m).unwrap();
            for (found, cloud) in found.chunks(m).zip(&clouds) {
                let truth = Sampler::count(m).sample(cloud).unwrap().indices;
                assert!(found.iter().map(|&row| row as usize).eq(truth), "{algorithm}, {seed}");
            }
        }
    }
}

/// Two threads with a stream each, on the same device.
#[test]
fn streams_do_not_disturb_each_other() {
    let Some(device) = gpu() else { return };
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let device = &device;
            scope.spawn(move || {
                let cloud = generate(Kind::Room, 2000, seed);
                for _ in 0..5 {
                    let job = job(Amount::Count(500), Start::Random(seed));
                    compare(device, &job, &cloud);
                }
            });
        }
    });
}
