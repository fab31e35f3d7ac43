//! The levels of a network from one sample: each as if it had been sampled from the level before.

use crate::cases::some;
use crate::common::{as_f32, configs, integers, uniform};
use farpoint::{Error, NonFinite, Points, Sampler, Scalar, Start};

const COUNTS: [usize; 6] = [120, 120, 31, 30, 1, 1];

/// Panics unless every algorithm samples each level from the one before as `levels` says.
fn check<T: Scalar, const D: usize>(name: &str, cloud: &[[T; D]], job: &Sampler)
where
    [[T; D]]: Points<T>,
{
    let sample = job.sample(cloud).unwrap();
    let levels = sample.levels(&COUNTS).unwrap();
    let mut before = &sample.indices[..];
    for (level, count) in levels.iter().zip(COUNTS) {
        let points: Vec<_> = before.iter().map(|&row| cloud[row]).collect();
        for config in some(0, 3, configs(&[1, 3])) {
            let again = config.sample(Sampler::count(count), &points[..]).unwrap();
            assert!(again.indices.iter().copied().eq(0..count), "{name}, {}", config.name);
        }
        assert_eq!(*level, &before[..count], "{name}");
        before = level;
    }
}

#[test]
fn levels_are_those_that_are_sampled_one_by_one() {
    let any = uniform::<3>(700, 1);
    let twice = uniform::<3>(150, 2).into_iter().flat_map(|point| [point; 2]).collect();
    let ties = integers(600, 6, 1.0, 3);
    let lattice = (0..504).map(|i| [i % 9, i / 9 % 8, i / 72].map(f64::from)).collect();
    let line = (0..300).map(|i| [f64::from(i), 0.0, 0.0]).collect();
    let one_place = vec![[0.5; 3]; 200];
    let large = any.iter().map(|point| point.map(|x| x * 1e25)).collect();
    for (name, cloud) in [
        ("any", any),
        ("twice", twice),
        ("ties", ties),
        ("lattice", lattice),
        ("line", line),
        ("one place", one_place),
        ("overflow", large),
    ] {
        check(name, &cloud, &Sampler::count(120));
        check(name, &cloud, &Sampler::ratio(0.9).start(Start::Random(5)));
        check(name, &as_f32(&cloud), &Sampler::count(120).start(Start::Index(77)));
    }
    check("one axis", &uniform::<1>(300, 4), &Sampler::count(120));
    check("five axes", &uniform::<5>(300, 4), &Sampler::count(150));
}

#[test]
fn levels_of_selected_rows_and_of_batches() {
    let mut cloud = uniform::<3>(600, 6);
    cloud[0][1] = f64::NAN;
    check("finite rows", &cloud, &Sampler::count(120).non_finite(NonFinite::Skip));
    let flat: Vec<f64> = uniform::<3>(300, 7).into_iter().flatten().collect();
    for sample in Sampler::ratio(0.5).sample_ragged(&flat, 3, &[0, 10, 300]).unwrap() {
        let counts = [sample.len(), 2, 1];
        let levels = sample.levels(&counts).unwrap();
        assert!(levels.iter().all(|level| sample.indices.starts_with(level)));
        assert_eq!(levels.iter().map(|level| level.len()).collect::<Vec<_>>(), counts);
    }
}

#[test]
fn what_no_network_has_is_refused() {
    let cloud = uniform::<3>(100, 1);
    let sample = Sampler::count(50).sample(&cloud).unwrap();
    let refused = |counts: &[usize]| sample.levels(counts).unwrap_err();
    assert_eq!(refused(&[51]), Error::BadLevel { level: 0, count: 51, limit: 50 });
    assert_eq!(refused(&[9, 9, 10]), Error::BadLevel { level: 2, count: 10, limit: 9 });
    assert_eq!(
        refused(&[9, 0]).to_string(),
        "level 1 has 0 points; request 1 to 9, as levels must not grow"
    );
    assert!(sample.levels(&[]).unwrap().is_empty());
    for (starts, count) in [(vec![7], 1), (vec![7, 3], 2)] {
        let job = Sampler::count(20).start(Start::Indices(starts));
        let sample = job.sample(&cloud).unwrap();
        assert_eq!(sample.starts, count);
        let expected = (count > 1).then_some(Error::LevelsOfStarts(count));
        assert_eq!(sample.levels(&[5]).err(), expected);
    }
    let nothing = Sampler::count(0).sample(&cloud).unwrap();
    assert_eq!((nothing.starts, nothing.levels(&[1]).is_err()), (0, true));
}
