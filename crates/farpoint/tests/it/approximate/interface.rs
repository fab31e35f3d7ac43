//! Interface: errors and their texts, progress, names and documented sources.

use super::{assert_distinct, methods};
use crate::common::{as_f32, uniform};
use farpoint::approximate::{ApproximateSampler, Keep, Method};
use farpoint::{Algorithm, Amount, Cpu, DeviceKind, Error, NonFinite, Observer};
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
    let random = ApproximateSampler::count(Method::Random { seed: 0 }, 3);
    assert!(random.centroids(&cloud).unwrap_err().to_string().contains("random"));
}

#[test]
fn the_observer_is_called_and_can_cancel() {
    let cloud = generate(Kind::Room, 300_000, 2);
    for method in Method::ALL {
        let sampler = ApproximateSampler::ratio(method, 0.1);
        check_observer(method.name(), 30_000, |observer| {
            sampler.on(&Cpu::new()).observe(observer).sample(&cloud).map(|sample| sample.indices)
        });
    }
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
fn names_parse() {
    for method in Method::ALL {
        assert_eq!(method.name().parse::<Method>(), Ok(method));
    }
    assert!("fps".parse::<Method>().unwrap_err().to_string().contains("random, grid"));
    for name in ["quick", "fastpoint", "npdu", "morton"] {
        let errors = [
            name.parse::<Method>().unwrap_err().to_string(),
            format!("{name}:x=1").parse::<Algorithm>().unwrap_err().to_string(),
        ];
        assert!(errors.iter().all(|text| text.contains("lab/baselines")), "{errors:?}");
    }
}

/// The table in the documents agrees with the code.
#[test]
fn documented_sources_are_those_of_the_code() {
    let page = include_str!("../../../../../docs/samplers.md");
    let exact = Algorithm::ALL.map(|algorithm| (algorithm.name(), "yes", algorithm.source()));
    let others = Method::ALL.map(|method| (method.name(), "no", method.source()));
    for (name, exact, source) in exact.into_iter().chain(others) {
        let row = page.lines().find(|line| {
            line.starts_with("| `")
                && line.split('|').nth(1).unwrap().contains(&format!("`{name}`"))
        });
        let cells: Vec<_> = row.expect(name).split('|').map(str::trim).collect();
        assert!(cells[2].starts_with(exact), "{name}: exact");
        assert_eq!(cells[3], source, "{name}: source");
    }
}

#[test]
fn a_gpu_has_none() {
    for method in Method::ALL {
        let refused = ApproximateSampler::count(method, 5).check(DeviceKind::Gpu).unwrap_err();
        assert!(refused.to_string().contains(method.name()), "{refused}");
    }
}
