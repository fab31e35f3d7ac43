//! Numbers, errors, starts, threads.

use super::{assert_distinct, clouds, integers, job, methods, sample};
use farpoint::{Amount, NonFinite, Sampler, Start};
use farpoint_baselines::{Job, Method};
use farpoint_generate::{Kind, generate};

#[test]
fn every_method_returns_the_requested_number_of_distinct_points() {
    for (name, cloud) in clouds() {
        let n = cloud.len();
        for method in methods() {
            for count in [1, n.div_ceil(4), n] {
                let name = format!("{name}, {count}, {method:?}");
                let one = farpoint_baselines::sample(
                    &Job { threads: Some(1), ..job(method, count) },
                    &cloud,
                );
                let one = one.unwrap();
                assert_distinct(&name, &one.indices, count, n);
                let three = Job { threads: Some(3), ..job(method, count) };
                let three = farpoint_baselines::sample(&three, &cloud).unwrap();
                assert_eq!(
                    (three.indices, three.fastpoint),
                    (one.indices, one.fastpoint),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn any_number_of_axes() {
    fn all<const D: usize>() {
        for method in methods() {
            for rows in [integers::<D>(700, 3, 2), integers::<D>(700, 100, 1)] {
                let found = farpoint_baselines::sample(&job(method, 350), &rows).unwrap();
                assert_distinct(&format!("{D} axes, {method:?}"), &found.indices, 350, 700);
            }
        }
    }
    all::<1>();
    all::<2>();
    all::<5>();
    all::<70>();
}

/// Clouds so large that several threads work: smaller ones are left to one.
#[test]
fn threads_change_nothing() {
    let room = generate(Kind::Room, 17_000, 1);
    let all = |method: &Method| matches!(method, Method::Npdu { window: Some(100_000), .. });
    for method in methods().into_iter().filter(|method| !all(method)) {
        let with = |threads| {
            farpoint_baselines::sample(&Job { threads: Some(threads), ..job(method, 2000) }, &room)
                .unwrap()
        };
        let (one, three) = (with(1), with(3));
        assert_eq!((three.indices, three.fastpoint), (one.indices, one.fastpoint), "{method:?}");
    }
}

#[test]
fn impossible_jobs_are_rejected_as_by_the_exact_sampler() {
    let mut damaged = generate(Kind::Room, 20, 1);
    (damaged[3][1], damaged[8][0]) = (f32::NAN, f32::INFINITY);
    let starts = [
        Start::Index(20),
        Start::Index(3),
        Start::Indices(vec![]),
        Start::Indices(vec![5, 7, 5]),
        Start::Indices((4..12).collect()),
    ];
    for method in methods() {
        let fails = |job: &Job| farpoint_baselines::sample(job, &damaged).unwrap_err().to_string();
        let exact = |sampler: Sampler| sampler.sample(&damaged).unwrap_err().to_string();
        assert_eq!(fails(&job(method, 5)), exact(Sampler::count(5)));
        let skip = |count| Job { non_finite: NonFinite::Skip, ..job(method, count) };
        assert_eq!(fails(&skip(19)), exact(Sampler::count(19).non_finite(NonFinite::Skip)));
        let found = farpoint_baselines::sample(&skip(18), &damaged).unwrap();
        assert_distinct("non-finite rows", &found.indices, 18, 20);
        assert!(found.dropped == 2 && !found.indices.contains(&3));
        for start in &starts {
            let job = Job { start: start.clone(), ..skip(7) };
            let sampler = Sampler::count(7).non_finite(NonFinite::Skip).start(start.clone());
            match method {
                Method::Morton { .. } => assert!(fails(&job).contains("no start")),
                _ => assert_eq!(fails(&job), exact(sampler), "{start:?}, {method:?}"),
            }
        }
        assert!(fails(&Job { amount: Amount::Spacing(1.0), ..skip(1) }).contains("spacing"));
        assert_eq!(sample(method, 0, &damaged[..0]).indices, []);
    }
}
