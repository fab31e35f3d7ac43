//! Interface: errors and their texts, rows left out, cancelling, batches, layouts.

use crate::common::{as_f32, configs, uniform};
use farpoint::{
    Algorithm, Amount, Axes, Cpu, Device, DeviceKind, Error, Level, NonFinite, Progress,
    RadiusOptions, RanOn, Sampler, Start, Strided, reference,
};
use farpoint_generate::{Kind, generate};
use std::ops::ControlFlow;

const CLOUD: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 9.0]];

fn error(sampler: Sampler) -> Error {
    sampler.sample(&CLOUD[..]).unwrap_err()
}

#[test]
fn errors_name_the_offending_numbers() {
    let start = |rows: &[usize]| Sampler::count(2).start(Start::Indices(rows.to_vec()));
    let nvox = |nvox: u32| RadiusOptions::default().nvox(nvox);
    let radius = |n| Sampler::count(2).algorithm(Algorithm::Radius(nvox(n)));
    let cases = [
        (error(Sampler::count(5)), Error::TooManySamples { samples: 5, points: 4 }),
        (
            error(Sampler::count(1).start(Start::Index(4))),
            Error::StartOutOfRange { index: 4, points: 4 },
        ),
        (error(start(&[1, 4])), Error::StartOutOfRange { index: 4, points: 4 }),
        (error(start(&[1, 1])), Error::StartRepeated { index: 1 }),
        (error(start(&[])), Error::NoStart),
        (error(start(&[0, 1, 2])), Error::TooManyStarts { starts: 3, samples: 2 }),
        (
            error(Sampler::new(Amount::Cell(1.0))),
            Error::NotForMethod { what: "a cell size is", method: "exact samplers" },
        ),
        (error(Sampler::ratio(1.5)), Error::BadRatio(1.5)),
        (error(Sampler::spacing(-1.0)), Error::BadSpacing(-1.0)),
        (error(Sampler::spacing(f64::INFINITY)), Error::BadSpacing(f64::INFINITY)),
        (error(radius(0)), Error::BadVoxels(0)),
        (error(radius(1025)), Error::BadVoxels(1025)),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
    assert!(matches!(error(Sampler::ratio(f64::NAN)), Error::BadRatio(_)));
    assert!(matches!(error(Sampler::spacing(f64::NAN)), Error::BadSpacing(_)));
    let text = error(Sampler::count(5)).to_string();
    assert!(text.contains('5') && text.contains('4'), "{text}");
    assert!(error(radius(1025)).to_string().contains("1025"));
    assert!(error(Sampler::count(1).start(Start::Index(4))).to_string().contains("0..=3"));
}

#[test]
fn zero_samples_and_empty_clouds() {
    let none: [[f32; 3]; 0] = [];
    assert_eq!(Sampler::count(1).sample(&none[..]).unwrap_err(), Error::EmptyCloud);
    assert_eq!(Sampler::spacing(1.0).sample(&none[..]).unwrap_err(), Error::EmptyCloud);
    for config in configs(&[1, 2]) {
        assert!(config.sample(Sampler::count(0), &none[..]).unwrap().is_empty());
        assert!(config.sample(Sampler::whole(), &none[..]).unwrap().is_empty());
        assert!(config.sample(Sampler::ratio(0.5), &none[..]).unwrap().is_empty());
        assert!(config.sample(Sampler::count(0), &CLOUD[..]).unwrap().is_empty());
    }
}

#[test]
fn non_finite_rows_are_named_or_skipped() {
    let mut cloud = generate(Kind::Room, 600, 1);
    for (row, value) in [(7, f32::NAN), (8, f32::INFINITY), (599, f32::NEG_INFINITY)] {
        cloud[row][row % 3] = value;
    }
    let found = Sampler::count(9).sample(&cloud).unwrap_err();
    assert_eq!(found, Error::NonFinite { first: 7, count: 3, points: 600 });
    assert!(found.to_string().starts_with("3 of 600 rows"), "{found}");

    let skip = |m: usize| Sampler::count(m).non_finite(NonFinite::Skip);
    let rows: Vec<usize> = (0..600).filter(|row| ![7, 8, 599].contains(row)).collect();
    let good: Vec<_> = rows.iter().map(|&row| cloud[row]).collect();
    let truth = reference(&good, 597, 100).unwrap();
    let in_input: Vec<usize> = truth.indices.iter().map(|&k| rows[k]).collect();
    for config in configs(&[1, 2]) {
        let sample = config.sample(skip(597).start(Start::Index(rows[100])), &cloud).unwrap();
        assert_eq!(sample.indices, in_input, "{}", config.name);
        assert_eq!(sample.dropped, 3);
    }
    assert_eq!(
        skip(598).sample(&cloud).unwrap_err(),
        Error::TooManySamples { samples: 598, points: 597 }
    );
    let bad_start = skip(2).start(Start::Index(8)).sample(&cloud);
    assert_eq!(bad_start.unwrap_err(), Error::StartIsBad { index: 8 });
    let none = skip(1).sample(&[[f32::NAN; 3]][..]);
    assert_eq!(none.unwrap_err(), Error::EmptyCloud);
}

#[test]
fn the_observer_is_called_and_can_cancel() {
    let cloud = generate(Kind::Room, 6000, 2);
    for config in configs(&[1, 2]) {
        let mut reports = Vec::new();
        let job = config.job(Sampler::count(3000));
        let mut observer = |progress| {
            reports.push(progress);
            ControlFlow::Continue(())
        };
        let sample = job.on(&config.cpu).observe(&mut observer).sample(&cloud).unwrap();
        assert!(!reports.is_empty(), "{}", config.name);
        assert!(reports.windows(2).all(|pair| pair[0].samples <= pair[1].samples));
        assert!(reports.windows(2).all(|pair| pair[0].covering_radius >= pair[1].covering_radius));
        assert!(reports.iter().all(|p| p.total == 3000 && p.samples <= sample.len()));
        let mut samples = None;
        let mut observer = |progress: Progress| {
            samples = Some(progress.samples);
            ControlFlow::Break(())
        };
        let canceled = job.on(&config.cpu).observe(&mut observer).sample(&cloud);
        assert_eq!(canceled.err(), samples.map(Error::Cancelled), "{}", config.name);
    }
}

#[test]
fn batches_match_single_clouds() {
    let sizes = [100usize, 1, 64, 0, 99];
    let (n, d) = (100, 3);
    let clouds: Vec<_> = (1..).zip(sizes).map(|(seed, n)| generate(Kind::Room, n, seed)).collect();
    let mut padded = vec![f32::NAN; sizes.len() * n * d];
    for (cloud, place) in clouds.iter().zip(padded.chunks_exact_mut(n * d)) {
        place[..cloud.len() * d].copy_from_slice(cloud.as_flattened());
    }
    let ragged: Vec<f32> = clouds.concat().concat();
    let ends = sizes.iter().scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    });
    let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
    for config in configs(&[1, 2, 3]) {
        let job = config.job(Sampler::ratio(0.4));
        let sampler = || job.on(&config.cpu);
        let alone: Vec<_> =
            clouds.iter().map(|cloud| sampler().sample(cloud).unwrap().indices).collect();
        let of = |batch: Result<Vec<farpoint::Sample<f32>>, Error>| -> Vec<_> {
            batch.unwrap().into_iter().map(|sample| sample.indices).collect()
        };
        let shape = [sizes.len(), n, d];
        assert_eq!(of(sampler().sample_batch(&clouds)), alone, "{}", config.name);
        assert_eq!(
            of(sampler().sample_padded(&padded, shape, Some(&sizes))),
            alone,
            "{}",
            config.name
        );
        assert_eq!(of(sampler().sample_ragged(&ragged, d, &offsets)), alone, "{}", config.name);
    }
}

#[test]
fn mismatched_batches_are_rejected() {
    let sampler = Sampler::count(1);
    let data = [0.0f32; 24];
    let refused =
        |result: Result<Vec<farpoint::Sample<f32>>, Error>| matches!(result, Err(Error::Shape(_)));
    assert!(refused(sampler.sample_padded(&data, [2, 4, 2], None)));
    assert!(refused(sampler.sample_padded(&data, [usize::MAX, usize::MAX, 3], None)));
    assert!(refused(sampler.sample_padded(&data, [2, 4, 3], Some(&[1]))));
    assert!(refused(sampler.sample_padded(&data, [2, 4, 3], Some(&[1, 5]))));
    assert!(refused(sampler.sample_padded::<f32>(&[], [2, 4, 0], None)));
    for offsets in [&[][..], &[0], &[1, 8], &[0, 9], &[0, 5, 4, 8]] {
        assert!(refused(sampler.sample_ragged(&data, 3, offsets)), "{offsets:?}");
    }
    let third = sampler.sample_padded(&data, [2, 4, 3], Some(&[4, 0])).unwrap_err();
    assert_eq!(third, Error::InBatch { cloud: 1, source: Box::new(Error::EmptyCloud) });
    assert!(third.to_string().contains("cloud 1"), "{third}");
}

/// One cloud as rows, as axes, sliced, transposed and reversed.
#[test]
fn layouts_of_one_cloud_agree() {
    let rows = as_f32(&uniform::<3>(700, 4));
    let truth = reference(&rows, 300, 5).unwrap();
    let flat: Vec<f32> = rows.as_flattened().to_vec();
    let axes: Vec<Vec<f32>> = (0..3).map(|a| rows.iter().map(|p| p[a]).collect()).collect();
    let slices: Vec<&[f32]> = axes.iter().map(Vec::as_slice).collect();
    let transposed = axes.concat();
    let wide: Vec<f32> = rows.iter().flat_map(|p| [9.0, p[0], p[1], p[2], f32::NAN]).collect();
    let backwards: Vec<f32> = flat.iter().rev().copied().collect();
    let end = flat.len() as isize - 1;
    let sampler = Sampler::count(300).start(Start::Index(5));
    let views = [
        Strided::rows(&flat, 3),
        Strided::new(&transposed, [700, 3], 0, [1, 700]),
        Strided::new(&wide, [700, 3], 1, [5, 1]),
        Strided::new(&backwards, [700, 3], end, [-3, -1]),
    ];
    for view in views {
        assert_eq!(sampler.sample(&view.unwrap()).unwrap().indices, truth.indices);
    }
    assert_eq!(sampler.sample(&Axes::new(&slices).unwrap()).unwrap().indices, truth.indices);
    assert_eq!(sampler.sample(&&rows[..]).unwrap().indices, truth.indices);
}

#[test]
fn views_outside_their_data_are_rejected() {
    let data = [0.0f32; 12];
    let refused = |shape, offset, strides| Strided::new(&data, shape, offset, strides).is_err();
    assert!(refused([5, 3], 0, [3, 1]));
    assert!(refused([4, 3], 1, [3, 1]));
    assert!(refused([4, 3], 0, [-3, 1]));
    assert!(refused([4, 0], 0, [3, 1]));
    assert!(refused([usize::MAX, 3], 0, [isize::MAX, isize::MAX]));
    assert!(!refused([4, 3], 11, [-3, -1]));
    assert!(!refused([0, 3], 99, [3, 1]));
    assert!(Strided::rows(&data, 5).is_err() && Strided::rows(&data, 0).is_err());
    assert!(Axes::new(&[&data[..], &data[1..]]).is_err() && Axes::<f32>::new(&[]).is_err());
}

#[test]
fn results_say_how_they_were_made() {
    let sample = Sampler::count(2).on(&Cpu::new().threads(2)).sample(&CLOUD).unwrap();
    let threads = if cfg!(feature = "rayon") { 2 } else { 1 };
    assert_eq!(sample.ran_on, RanOn::Cpu { level: Level::detect(), threads });
    assert_ne!(sample.algorithm, Algorithm::Auto);
    assert_eq!((sample.indices.as_slice(), sample.distance(1)), (&[0, 3][..], 9.0));
    assert_eq!((sample.covering_radius(), sample.covering_radius_of(1)), (3.0, 9.0));
    assert!(sample.statistics.is_none());
}

#[test]
fn names_parse() {
    for algorithm in Algorithm::ALL {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
    }
    for level in Level::available() {
        assert_eq!(level.name().parse(), Ok(level));
    }
    assert!("fast".parse::<Algorithm>().unwrap_err().to_string().contains("peak"));
    assert!("sse9".parse::<Level>().unwrap_err().to_string().contains("avx2"));
}

#[test]
fn a_batch_reports_the_progress_of_all_clouds_and_can_be_canceled() {
    let clouds: Vec<_> = (0..6).map(|seed| generate(Kind::Room, 5000, seed)).collect();
    let job = Sampler::ratio(0.5);
    let plain = job.sample_batch(&clouds).unwrap();
    for threads in [1, 3] {
        let cpu = Cpu::new().threads(threads);
        let mut reports = Vec::new();
        let mut observer = |progress: Progress| {
            reports.push(progress);
            ControlFlow::Continue(())
        };
        let watched = job.on(&cpu).observe(&mut observer).sample_batch(&clouds).unwrap();
        assert!(watched.iter().zip(&plain).all(|(a, b)| a.indices == b.indices));
        assert!(reports.iter().all(|p| p.total == 15_000 && p.samples <= 15_000));
        assert!(reports.iter().any(|p| p.samples > 5000), "{reports:?}");
        let stop = &mut |p: Progress| match p.samples {
            0..7000 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        let error = job.on(&cpu).observe(stop).sample_batch(&clouds).unwrap_err();
        assert!(matches!(error, Error::Cancelled(samples) if samples >= 7000), "{error}");
    }
}

/// A batch may have a job for each cloud.
#[test]
fn jobs_of_a_batch_may_differ() {
    let clouds = [&CLOUD[..], &CLOUD[..2], &CLOUD[..3]];
    let jobs = [Sampler::count(2), Sampler::whole(), Sampler::count(1).start(Start::Index(2))];
    let found = Device::sample_batch(&Cpu::new(), &jobs, &clouds, None).unwrap();
    for ((job, cloud), found) in jobs.iter().zip(clouds).zip(&found) {
        assert_eq!(found.indices, job.sample(cloud).unwrap().indices);
    }
    let error = Device::sample_batch(&Cpu::new(), &jobs[..2], &clouds, None).unwrap_err();
    assert!(error.to_string().contains("2 jobs for a batch of 3 clouds"), "{error}");
}

#[test]
fn gpu_algorithms_are_rejected_by_name() {
    let error = error(Sampler::count(1).algorithm(Algorithm::Persistent));
    assert!(matches!(error, Error::NotOnDevice { device: DeviceKind::Cpu, .. }), "{error}");
    assert!(error.to_string().contains("persistent") && error.to_string().contains("auto"));
}
