//! Interface: errors and their texts, starts, progress, names and documented traits.

use super::{assert_distinct, methods};
use crate::common::{as_f32, uniform};
use farpoint::approximate::{ApproximateSampler, Estimator, Keep, Method, Order};
use farpoint::{Algorithm, Amount, Cpu, DeviceKind, Error, NonFinite, Observer, Sampler, Start};
use farpoint_generate::{Kind, generate};
use std::ops::ControlFlow;

#[test]
fn impossible_jobs_are_rejected_as_by_the_exact_sampler() {
    let cloud = as_f32(&uniform::<3>(20, 1));
    let mut damaged = cloud.clone();
    (damaged[3][1], damaged[8][0]) = (f32::NAN, f32::INFINITY);
    let none: [[f32; 3]; 0] = [];
    for method in methods() {
        let count = |count| ApproximateSampler::count(method, count);
        let error = |sampler: ApproximateSampler| sampler.sample(&cloud).unwrap_err();
        assert_eq!(error(count(21)), Error::TooManySamples { samples: 21, points: 20 });
        assert_eq!(error(ApproximateSampler::ratio(method, 1.5)), Error::BadRatio(1.5));
        assert_eq!(count(0).sample(&cloud).unwrap().indices, []);
        assert_eq!(count(0).sample(&none[..]).unwrap().indices, []);
        assert_eq!(count(1).sample(&none[..]).unwrap_err(), Error::EmptyCloud);
        let named = Error::NonFinite { first: 3, count: 2, points: 20 };
        assert_eq!(count(5).sample(&damaged).unwrap_err(), named);
        let skipped = count(18).non_finite(NonFinite::Skip).sample(&damaged).unwrap();
        assert_distinct("non-finite rows", &skipped, 18, 20);
        assert!(!skipped.indices.contains(&3) && !skipped.indices.contains(&8));
        assert_eq!(skipped.dropped, 2);
        let cell = ApproximateSampler::cell(method, 0.5).sample(&cloud);
        match method {
            Method::Grid { .. } => assert!(!cell.unwrap().is_empty()),
            _ => assert!(cell.unwrap_err().to_string().contains(method.name())),
        }
    }
    let grid = Method::Grid { keep: Keep::First };
    for size in [0.0, -1.0, f64::INFINITY] {
        let sampler = ApproximateSampler::new(grid, Amount::Cell(size));
        assert_eq!(sampler.sample(&cloud).unwrap_err(), Error::BadCell(size));
    }
    let with = |method| ApproximateSampler::count(method, 3).sample(&cloud).unwrap_err();
    assert_eq!(with(Method::Morton { bits: 0 }), Error::BadBits(0));
    assert_eq!(with(Method::Morton { bits: 22 }), Error::BadBits(22));
    let none = Method::Npdu { window: Some(0), order: Order::Input };
    assert_eq!(with(none), Error::BadWindow);
    let random = ApproximateSampler::count(Method::Random { seed: 0 }, 3);
    assert!(random.centroids(&cloud).unwrap_err().to_string().contains("random"));
}

#[test]
fn invalid_and_meaningless_starts_are_rejected() {
    let mut damaged = as_f32(&uniform::<3>(20, 1));
    damaged[3][1] = f32::NAN;
    let starts = [
        Start::Index(20),
        Start::Index(3),
        Start::Indices(vec![]),
        Start::Indices(vec![5, 20]),
        Start::Indices(vec![5, 7, 5]),
        Start::Indices((4..12).collect()),
    ];
    for method in methods() {
        for start in &starts {
            let sampler = ApproximateSampler::count(method, 7).non_finite(NonFinite::Skip);
            let error = sampler.start(start.clone()).sample(&damaged).unwrap_err();
            let exact = Sampler::count(7).non_finite(NonFinite::Skip).start(start.clone());
            let expected = match method.has_start() {
                true => exact.sample(&damaged).unwrap_err(),
                false => Error::StartNotForMethod(method.name()),
            };
            assert_eq!(error, expected, "{start:?}, {method:?}");
        }
    }
    let grid = ApproximateSampler::count(Method::ALL[1], 3).start(Start::Index(0));
    assert_eq!(grid.centroids(&damaged).unwrap_err(), Error::StartNotForMethod("grid"));
    assert!(grid.sample(&damaged).unwrap_err().to_string().contains("not for grid"));
}

#[test]
fn starts_are_rows_of_the_input() {
    let mut cloud = as_f32(&uniform::<3>(400, 1));
    (cloud[0][1], cloud[8][0]) = (f32::NAN, f32::INFINITY);
    for method in methods().into_iter().filter(Method::has_start) {
        let sampler = ApproximateSampler::count(method, 350).non_finite(NonFinite::Skip);
        let first = |start| sampler.clone().start(start).sample(&cloud).unwrap().indices;
        assert_eq!(first(Start::Index(9))[..1], [9]);
        assert_eq!(first(Start::Indices(vec![30, 7]))[..2], [30, 7]);
        assert_eq!(first(Start::First)[..1], [1]);
        for index in [0, 8] {
            let refused = sampler.clone().start(Start::Index(index)).sample(&cloud).unwrap_err();
            assert_eq!(refused, Error::StartIsBad { index });
        }
    }
}

#[test]
fn the_observer_is_called_and_can_cancel() {
    let cloud = generate(Kind::Room, 300_000, 2);
    let npdu = Method::Npdu { window: Some(3), order: Order::Morton };
    for method in Method::ALL.into_iter().chain([npdu]) {
        let sampler = ApproximateSampler::ratio(method, 0.1);
        check_observer(method.name(), 30_000, |observer| {
            sampler.on(&Cpu::new()).observe(observer).sample(&cloud).map(|sample| sample.indices)
        });
    }
    let wide = Method::Npdu { window: Some(300_000), order: Order::Input };
    check_observer("a wide window", 20, |observer| {
        ApproximateSampler::count(wide, 20)
            .on(&Cpu::new())
            .observe(observer)
            .sample(&cloud)
            .map(|found| found.indices)
    });
    let grid = Method::Grid { keep: Keep::First };
    check_observer("a cell size", 300_000, |observer| {
        let sampler = ApproximateSampler::cell(grid, 0.1);
        sampler.on(&Cpu::new()).observe(observer).sample(&cloud).map(|sample| sample.indices)
    });
    check_observer("centroids", 30_000, |observer| {
        let sampler = ApproximateSampler::ratio(grid, 0.1);
        sampler
            .on(&Cpu::new())
            .observe(observer)
            .centroids(&cloud)
            .map(|made| vec![0; made.counts.len()])
    });
}

/// Checks that progress is consistent, and that the run can be cancelled wherever it is reported.
fn check_observer(
    name: &str,
    total: usize,
    run: impl Fn(Observer<'_>) -> Result<Vec<usize>, Error>,
) {
    let mut reports = Vec::new();
    let sample = run(&mut |progress| {
        reports.push(progress);
        ControlFlow::Continue(())
    });
    let samples = sample.unwrap().len();
    assert!(!reports.is_empty(), "{name}");
    assert!(
        reports.iter().all(|p| p.total == total && p.samples <= samples),
        "{name}: {reports:?}"
    );
    assert!(reports.iter().all(|p| p.samples > 0 || p.covering_radius == f64::INFINITY), "{name}");
    for stop in [0, reports.len() / 2, reports.len() - 1] {
        let (mut turn, mut samples) = (0, 0);
        let canceled = run(&mut |progress| {
            (turn, samples) = (turn + 1, progress.samples);
            if turn > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if stop > 0 && turn <= stop {
            // Some reports depend on time, and a faster run has fewer.
            assert!(canceled.is_ok(), "{name}, {stop}");
            continue;
        }
        assert_eq!(
            canceled.map(|sample| sample.len()),
            Err(Error::Cancelled(samples)),
            "{name}, {stop}"
        );
        assert_eq!(turn, stop + 1, "{name}: no progress after cancellation");
    }
}

#[test]
fn names_parse_and_traits_are_known() {
    for method in Method::ALL {
        assert_eq!(method.name().parse::<Method>(), Ok(method));
        assert!(!method.traits().exact && method.traits().deterministic);
    }
    assert!("fps".parse::<Method>().unwrap_err().to_string().contains("fastpoint"));
    for algorithm in Algorithm::ALL {
        assert!(algorithm.traits().exact && !algorithm.traits().needs_order);
    }
}

/// The table in the documents agrees with the traits.
#[test]
fn documented_traits_are_those_of_the_code() {
    let page = include_str!("../../../../../docs/samplers.md");
    let exact = Algorithm::ALL.map(|algorithm| (algorithm.name(), algorithm.traits()));
    let others = Method::ALL.map(|method| (method.name(), method.traits()));
    for (name, traits) in exact.into_iter().chain(others) {
        let row = page.lines().find(|line| {
            line.starts_with("| `")
                && line.split('|').nth(1).unwrap().contains(&format!("`{name}`"))
        });
        let cells: Vec<_> = row.expect(name).split('|').map(str::trim).collect();
        let says_yes = |cell: usize| cells[cell].starts_with("yes") || cells[cell].contains(" yes");
        assert_eq!(says_yes(2), traits.exact, "{name}: exact");
        assert_eq!(says_yes(3), traits.needs_order, "{name}: needs an order");
        assert_eq!(says_yes(4), traits.exact_count, "{name}: exactly M");
        assert_eq!(says_yes(5), traits.deterministic, "{name}: deterministic");
        assert_eq!(cells[6], traits.source, "{name}: source");
    }
}

#[test]
fn jobs_name_what_a_device_does_not_support() {
    let fastpoint = |first: &str| {
        let (first, estimator) = (first.parse().unwrap(), Estimator::Network);
        ApproximateSampler::count(Method::FastPoint { first, estimator }, 5)
    };
    assert_eq!(fastpoint("persistent").check(DeviceKind::Gpu), Ok(()));
    assert_eq!(fastpoint("tree").check(DeviceKind::Cpu), Ok(()));
    for (job, device, text) in [
        (fastpoint("tree"), DeviceKind::Gpu, "does not have the algorithm tree"),
        (fastpoint("persistent"), DeviceKind::Cpu, "does not have the algorithm persistent"),
        (ApproximateSampler::count(Method::Random { seed: 1 }, 5), DeviceKind::Gpu, "random"),
        (
            ApproximateSampler::cell(fastpoint("peak").method, 1.0),
            DeviceKind::Gpu,
            "a cell size is",
        ),
    ] {
        let refused = job.check(device).unwrap_err().to_string();
        assert!(refused.contains(text), "{refused}");
    }
    let refused = ApproximateSampler::count(Method::Morton { bits: 10 }, 5).check(DeviceKind::Gpu);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("morton") && refused.contains("fastpoint"), "{refused}");
}
