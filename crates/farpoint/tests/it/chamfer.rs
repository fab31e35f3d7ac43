//! Measures, gradients and batches of nearest points; and their errors.

use crate::cases::{count, some};
use farpoint::backend::SplitMix64;
use farpoint::backend::padded_rows;
use farpoint::measure::Measure;
use farpoint::neighbors::{backward, reference};
use farpoint::{
    Chamfer, Cpu, DeviceKind, Error, Matcher, Method, Nearest, NonFinite, Norm, padded, ragged,
};
use farpoint::{Points, Progress, Scalar};
use farpoint_generate::{Kind, generate};
use std::ops::ControlFlow;

fn cloud(n: usize, seed: u64) -> Vec<[f64; 3]> {
    let mut random = SplitMix64::new(seed);
    (0..n).map(|_| std::array::from_fn(|_| random.unit())).collect()
}

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    (0..n).map(|_| random.unit() - 0.3).collect()
}

#[test]
fn measures_by_hand() {
    let a = [[0.0f32, 0.0], [3.0, 4.0], [1.0, 0.0]];
    let b = [[0.0f32, 0.0], [0.0, 2.0]];
    let chamfer = farpoint::chamfer(&a[..], &b[..]).unwrap();
    assert_eq!(chamfer.a_to_b.raw_distances, [0.0, 13.0, 1.0]);
    assert_eq!(chamfer.a_to_b.indices, [0, 1, 0]);
    assert_eq!(chamfer.b_to_a.raw_distances, [0.0, 4.0]);
    assert_eq!(chamfer.sum(), 14.0 / 3.0 + 2.0);
    assert_eq!(chamfer.weighted_sum(3.0, 0.5), 15.0);
    let plain = f64::from(13f32.sqrt());
    assert_eq!(chamfer.sum_of_distances(), (0.0 + plain + 1.0) / 3.0 + 1.0);
    assert_eq!(chamfer.hausdorff(), 13f32.sqrt());
    assert_eq!(chamfer.b_to_a.max_distance(), 2.0);
    assert_eq!(chamfer.a_to_b.weighted_mean(&[5.0, 1.0, 3.0]).unwrap(), 16.0 / 9.0);
    let found = chamfer.f_score(1.0);
    assert_eq!((found.precision, found.recall), (2.0 / 3.0, 0.5));
    assert!((found.f_score - 4.0 / 7.0).abs() < 1e-15);
    // The threshold itself is within.
    assert_eq!(chamfer.f_score(2.0).recall, 1.0);
    let none = chamfer.f_score(-1.0);
    assert_eq!((none.precision, none.recall, none.f_score), (0.0, 0.0, 0.0));
}

#[test]
fn norm_one_by_hand() {
    // Nearest by norm 2 is the first, by norm 1 the second.
    let (a, b) = ([[0.0f32, 0.0]], [[2.0f32, 2.0], [0.0, 3.0]]);
    let one = Matcher::new().norm(Norm::One).chamfer(&a[..], &b[..]).unwrap();
    assert_eq!((one.a_to_b.raw_distances[0], one.a_to_b.indices[0]), (3.0, 1));
    assert_eq!((one.sum(), one.hausdorff()), (3.0 + 3.5, 4.0));
    assert_eq!(one.sum(), one.sum_of_distances());
    let two = farpoint::nearest(&a[..], &b[..]).unwrap();
    assert_eq!((two.raw_distances[0], two.indices[0]), (8.0, 0));
}

/// Returns the sum that `backward` differentiates: distances times their gradients.
fn loss(a: &[[f64; 3]], b: &[[f64; 3]], ga: &[f64], gb: &[f64], norm: Norm) -> f64 {
    let chamfer = Matcher::new().norm(norm).chamfer(a, b).unwrap();
    let side = |nearest: &Nearest<f64>, g: &[f64]| -> f64 {
        nearest.raw_distances.iter().zip(g).map(|(d, g)| d * g).sum()
    };
    side(&chamfer.a_to_b, ga) + side(&chamfer.b_to_a, gb)
}

#[test]
fn gradients_agree_with_finite_differences() {
    let (a, b) = (cloud(40, 1), cloud(30, 2));
    let (ga, gb) = (numbers(40, 3), numbers(30, 4));
    for norm in [Norm::Two, Norm::One] {
        let chamfer = Matcher::new().norm(norm).chamfer(&a, &b).unwrap();
        let gradients = backward(&chamfer, &a, &b, &ga, &gb).unwrap();
        let step = 1e-7;
        for at in 0..70 * 3usize {
            let moved = |by: f64| {
                let (mut a, mut b) = (a.clone(), b.clone());
                match at.checked_sub(120) {
                    None => a[at / 3][at % 3] += by,
                    Some(at) => b[at / 3][at % 3] += by,
                }
                loss(&a, &b, &ga, &gb, norm)
            };
            let slope = (moved(step) - moved(-step)) / (2.0 * step);
            let gradient = if at < 120 { gradients.a[at] } else { gradients.b[at - 120] };
            assert!((slope - gradient).abs() < 1e-6, "{norm:?} {at}: {slope} {gradient}");
        }
    }
}

/// Each gradient is the sum of the closed form's parts, in the documented order.
#[test]
fn gradients_are_the_closed_form_bit_for_bit() {
    let a = generate(Kind::Object, 9000, 1);
    let b = generate(Kind::Duplicated, 12_000, 2);
    let chamfer = farpoint::chamfer(&a, &b).unwrap();
    let g = |n: usize, seed| numbers(n, seed).iter().map(|x| *x as f32).collect::<Vec<_>>();
    let (ga, gb) = (g(9000, 3), g(12_000, 4));
    let mut expected = [vec![[0f32; 3]; a.len()], vec![[0f32; 3]; b.len()]];
    let part = |g: f32, p: [f32; 3], q: [f32; 3]| -> [f32; 3] {
        std::array::from_fn(|axis| (g + g) * (p[axis] - q[axis]))
    };
    for (i, &j) in chamfer.a_to_b.indices.iter().enumerate() {
        expected[0][i] = part(ga[i], a[i], b[j as usize]);
    }
    for (j, &i) in chamfer.b_to_a.indices.iter().enumerate() {
        expected[1][j] = part(gb[j], b[j], a[i as usize]);
    }
    for (j, &i) in chamfer.b_to_a.indices.iter().enumerate() {
        let sent = part(gb[j], b[j], a[i as usize]);
        (0..3).for_each(|axis| expected[0][i as usize][axis] -= sent[axis]);
    }
    for (i, &j) in chamfer.a_to_b.indices.iter().enumerate() {
        let sent = part(ga[i], a[i], b[j as usize]);
        (0..3).for_each(|axis| expected[1][j as usize][axis] -= sent[axis]);
    }
    for threads in [1, 2, 5] {
        let (job, cpu) = (Matcher::new(), Cpu::new().threads(threads));
        let found = job.on(&cpu).backward(&chamfer, &a, &b, &ga, &gb).unwrap();
        assert_eq!(found.a, expected[0].concat(), "{threads} threads");
        assert_eq!(found.b, expected[1].concat(), "{threads} threads");
    }
    let found = backward(&chamfer, &a, &b, &ga, &gb).unwrap();
    assert_eq!([found.a, found.b], expected.map(|side| side.concat()));
}

#[test]
fn skipped_rows_get_no_gradient() {
    let a = [[0.0f32], [f32::NAN], [4.0]];
    let b = [[1.0f32], [f32::INFINITY]];
    let chamfer = Matcher::new().non_finite(NonFinite::Skip).chamfer(&a[..], &b[..]).unwrap();
    let gradients = backward(&chamfer, &a[..], &b[..], &[1.0; 3], &[1.0; 2]).unwrap();
    assert_eq!(gradients.a, [-2.0 - 2.0, 0.0, 6.0]);
    assert_eq!(gradients.b, [2.0 + 2.0 - 6.0, 0.0]);
}

#[test]
fn batches_match_single_clouds() {
    let lengths = [[50, 7, 64], [64, 33, 1]];
    let data = [cloud(3 * 64, 1).concat(), cloud(3 * 64, 2).concat()];
    let clouds = |k: usize| padded(&data[k], [3, 64, 3], Some(&lengths[k])).unwrap();
    let (a, b) = (clouds(0), clouds(1));
    for threads in [1, 3] {
        let (job, cpu) = (Matcher::new(), Cpu::new().threads(threads));
        let matcher = || job.on(&cpu);
        let found = matcher().chamfer_batch(&a, &b).unwrap();
        let one_sided = matcher().nearest_batch(&a, &b).unwrap();
        for k in 0..3 {
            assert_eq!(found[k], reference(&a[k], &b[k]).unwrap());
            assert_eq!(found[k].a_to_b, one_sided[k]);
        }
    }
    // Ragged: the same clouds without the padding.
    let joined = |k: usize| -> (Vec<f64>, Vec<usize>) {
        let rows = |c: usize| &data[k][c * 192..][..lengths[k][c] * 3];
        let ends = (0..=3).map(|c| lengths[k][..c].iter().sum()).collect();
        ((0..3).flat_map(|c| rows(c).to_vec()).collect(), ends)
    };
    let (flat_a, flat_b) = (joined(0), joined(1));
    let ragged_a = ragged(&flat_a.0, 3, &flat_a.1).unwrap();
    let ragged_b = ragged(&flat_b.0, 3, &flat_b.1).unwrap();
    let found = Matcher::new().chamfer_batch(&ragged_a, &ragged_b).unwrap();
    assert_eq!(found, Matcher::new().chamfer_batch(&a, &b).unwrap());
}

#[test]
fn padding_gets_no_gradient() {
    let lengths = [3, 5];
    let data = cloud(10, 1).concat();
    let other = cloud(10, 2).concat();
    let a = padded(&data, [2, 5, 3], Some(&lengths)).unwrap();
    let b = padded(&other, [2, 5, 3], None).unwrap();
    let found = Matcher::new().chamfer_batch(&a, &b).unwrap();
    let gradients: Vec<_> = (0..2)
        .map(|k| backward(&found[k], &a[k], &b[k], &vec![1.0; lengths[k]], &[1.0; 5]).unwrap().a)
        .collect();
    let dense = padded_rows(&gradients, 5 * 3, 0.0).unwrap();
    assert_eq!(dense.len(), 30);
    assert!(dense[9..15].iter().all(|x| *x == 0.0) && dense[..9].iter().all(|x| *x != 0.0));
    assert!(matches!(padded_rows(&gradients, 10, 0.0), Err(Error::Shape(_))));
}

#[test]
fn errors_name_the_problem() {
    let (a, b) = ([[0.0f32; 3]; 4], [[1.0f32; 3]; 2]);
    let none: [[f32; 3]; 0] = [];
    let text = |result: Result<Chamfer<f32>, Error>| result.unwrap_err().to_string();
    assert!(text(farpoint::chamfer(&none[..], &b[..])).contains("first"));
    assert!(text(farpoint::chamfer(&a[..], &none[..])).contains("second"));
    let flat = text(farpoint::chamfer(&a[..], &[[1.0f32; 2]][..]));
    assert!(flat.contains('3') && flat.contains('2'), "{flat}");
    let message = text(farpoint::chamfer(&a[..], &[[1.0, 1.0, 1.0], [f32::NAN, 0.0, 0.0]][..]));
    assert!(
        message.contains("second") && message.contains("1 of 2") && message.contains("row 1"),
        "{message}"
    );
    let all_bad = Matcher::new().non_finite(NonFinite::Skip).chamfer(&[[f32::NAN; 3]][..], &b[..]);
    assert!(text(all_bad).contains("first"));
    assert!(text(Matcher::new().on(&Cpu::new().threads(0)).chamfer(&a, &b)).contains("0 threads"));

    let many = Matcher::new().chamfer_batch(&[a.to_vec()], &[b.to_vec(), b.to_vec()]);
    assert!(many.unwrap_err().to_string().contains("1 clouds"));
    let second = Matcher::new()
        .chamfer_batch(&[&a[..], &none[..]].map(<[_]>::to_vec), &[b.to_vec(), b.to_vec()]);
    assert!(second.unwrap_err().to_string().starts_with("cloud 1 of the batch: the first cloud"));
    assert!(padded(&[0.0f32; 12], [2, 2, 3], Some(&[3, 1])).is_err());
    assert!(padded(&[0.0f32; 12], [2, 2, 3], Some(&[1])).is_err());
    assert!(ragged(&[0.0f32; 12], 3, &[0, 5]).is_err());
}

#[test]
fn gradients_of_wrong_length_are_rejected() {
    let (a, b) = ([[0.0f32; 3]; 4], [[1.0f32; 3]; 2]);
    let chamfer = farpoint::chamfer(&a[..], &b[..]).unwrap();
    let text = |ga: &[f32], gb: &[f32], chamfer: &Chamfer<f32>| {
        backward(chamfer, &a[..], &b[..], ga, gb).unwrap_err().to_string()
    };
    assert!(text(&[0.0; 3], &[0.0; 2], &chamfer).contains("3 gradients"));
    assert!(text(&[0.0; 4], &[0.0; 4], &chamfer).starts_with("the second cloud"));
    let mut wrong = chamfer.clone();
    wrong.b_to_a.indices[1] = 4;
    let message = text(&[0.0; 4], &[0.0; 2], &wrong);
    assert!(
        message.contains("nearest index 4 of row 1") && message.contains("4 points"),
        "{message}"
    );
    assert!(chamfer.a_to_b.weighted_mean(&[1.0]).unwrap_err().to_string().contains("1 weights"));
}

#[test]
fn methods_have_names() {
    for method in Method::of(DeviceKind::Cpu) {
        assert_eq!(method.name().parse::<Method>(), Ok(method));
    }
    assert!("fast".parse::<Method>().unwrap_err().to_string().contains("brute"));
}

#[test]
fn zero_threads_are_rejected_everywhere() {
    let (a, b) = ([[0.0f32], [5.0]], [[1.0f32]]);
    let (job, cpu) = (Matcher::new(), Cpu::new().threads(0));
    let none = || job.on(&cpu);
    let found = farpoint::chamfer(&a[..], &b[..]).unwrap();
    let refused = |error: Error| assert!(matches!(error, Error::BadThreads(0, _)), "{error}");
    refused(none().nearest(&a[..], &b[..]).unwrap_err());
    refused(none().chamfer(&a[..], &b[..]).unwrap_err());
    refused(none().nearest_batch(&[&a[..]], &[&b[..]]).unwrap_err());
    refused(none().chamfer_batch(&[&a[..]], &[&b[..]]).unwrap_err());
    refused(none().backward(&found, &a[..], &b[..], &[1.0; 2], &[1.0]).unwrap_err());
}

/// Returns the progress of a search that is canceled after a number of points.
fn watched<R>(
    stop: usize,
    search: impl FnOnce(farpoint::Observer<'_>) -> Result<R, Error>,
) -> (Result<R, Error>, Vec<Progress>) {
    let mut reports = Vec::new();
    let found = search(&mut |progress: Progress| {
        reports.push(progress);
        if progress.samples < stop { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    (found, reports)
}

#[test]
fn searches_report_progress_and_can_be_canceled() {
    let (a, b) = (generate(Kind::Room, 9000, 1), generate(Kind::Object, 7000, 2));
    let truth = farpoint::chamfer(&a, &b).unwrap();
    for method in some(1, 3, [Method::Reference, Method::Tree, Method::Brute]) {
        for threads in [1, 3] {
            let (job, cpu) = (Matcher::new().method(method), Cpu::new().threads(threads));
            let matcher = || job.on(&cpu);
            let (found, reports) = watched(usize::MAX, |to| matcher().observe(to).chamfer(&a, &b));
            assert_eq!(found.unwrap(), truth, "{method} {threads}");
            let max_samples = reports.iter().map(|progress| progress.samples).max();
            assert!(reports.len() > 20, "{method} {threads}: called {} times", reports.len());
            assert!(
                max_samples > Some(14_000) && max_samples <= Some(16_000),
                "{method} {threads}: {max_samples:?}"
            );
            assert!(reports.iter().all(|progress| progress.total == 16_000));
            let (found, reports) = watched(usize::MAX, |to| matcher().observe(to).nearest(&a, &b));
            assert_eq!(found.unwrap(), truth.a_to_b);
            assert!(reports.iter().all(|progress| progress.total == 9000));
            // At once, in the first direction, in the second one; the straightforward loop takes seconds each time.
            for stop in
                [0, 3000, 12_000].into_iter().take(if method == Method::Reference { 1 } else { 3 })
            {
                let (found, _) = watched(stop, |to| matcher().observe(to).chamfer(&a, &b));
                match found {
                    Err(Error::SearchCancelled(points)) => assert!(points >= stop),
                    other => panic!("{method} {threads} {stop}: {:?}", other.map(|_| ())),
                }
            }
        }
    }
}

#[test]
fn batches_report_progress_and_can_be_canceled() {
    let clouds: Vec<_> = (0..12).map(|seed| generate(Kind::Room, 3000, seed)).collect();
    let (a, b) = (&clouds[..6], &clouds[6..]);
    for threads in [1, 3] {
        let (job, cpu) = (Matcher::new(), Cpu::new().threads(threads));
        let matcher = || job.on(&cpu);
        let (found, reports) = watched(usize::MAX, |to| matcher().observe(to).chamfer_batch(a, b));
        assert_eq!(found.unwrap(), matcher().chamfer_batch(a, b).unwrap());
        assert!(reports.iter().all(|progress| progress.total == 36_000));
        let (found, reports) = watched(usize::MAX, |to| matcher().observe(to).nearest_batch(a, b));
        assert_eq!(found.unwrap(), matcher().nearest_batch(a, b).unwrap());
        assert!(reports.iter().all(|progress| progress.total == 18_000));
        let (found, _) = watched(10_000, |to| matcher().observe(to).chamfer_batch(a, b));
        // No pair is at fault.
        let error = found.unwrap_err();
        assert!(matches!(error, Error::SearchCancelled(points) if points >= 10_000), "{error}");
        let (found, _) = watched(0, |to| matcher().observe(to).nearest_batch(a, b));
        assert!(matches!(found, Err(Error::SearchCancelled(_))));
    }
}

/// A cloud that is worth all threads for itself, small ones beside it, a fault among them.
#[test]
fn large_pairs_of_a_batch_are_found_too() {
    let clouds: Vec<_> =
        [150_000, 10, 120_000, 500].map(|n| generate(Kind::Object, n, n as u64)).to_vec();
    let others: Vec<_> = (0..4).map(|seed| generate(Kind::Room, 90_000, seed)).collect();
    let alone: Vec<_> =
        clouds.iter().zip(&others).map(|(a, b)| farpoint::nearest(a, b).unwrap()).collect();
    for threads in [1, 2, 3] {
        let cpu = Cpu::new().threads(threads);
        assert!(Matcher::new().on(&cpu).nearest_batch(&clouds, &others).unwrap() == alone);
    }
    let mut damaged = clouds.clone();
    damaged[1][3][0] = f32::NAN;
    damaged[2].clear();
    let error = Matcher::new().nearest_batch(&damaged, &others).unwrap_err();
    assert!(
        error.to_string().contains("cloud 1") && error.to_string().contains("first"),
        "{error}"
    );
}

/// Coordinates that change while they are read: whatever the result, nothing panics.
struct Changing<'a>(&'a [[f32; 3]], std::sync::atomic::AtomicUsize);

impl Points<f32> for Changing<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn dim(&self) -> usize {
        3
    }
    fn coordinate(&self, index: usize, axis: usize) -> f32 {
        // Every read may be the last good one.
        let reads = self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if SplitMix64::new(reads as u64).below(5000) == 0 { f32::NAN } else { self.0[index][axis] }
    }
}

#[test]
fn clouds_that_change_while_they_are_read_do_not_panic() {
    let cloud = generate(Kind::Room, 20_000, 1);
    let sound = |nearest: &Nearest<f32>| {
        let none = |k: usize| nearest.indices[k] == Nearest::<f32>::NONE;
        (0..nearest.len()).all(|k| none(k) == nearest.raw_distances[k].to_f64().is_nan())
    };
    for start in 0..count(20) as usize {
        let changing = || Changing(&cloud, (start * 1_000_003).into());
        for threads in [1, 2] {
            let (job, cpu) = (Matcher::new(), Cpu::new().threads(threads));
            match job.on(&cpu).nearest(&changing(), &cloud) {
                Ok(found) => assert!(sound(&found)),
                Err(error) => assert!(error.to_string().contains("NaN"), "{error}"),
            }
            let skipping = Matcher::new().non_finite(NonFinite::Skip);
            assert!(sound(&skipping.on(&cpu).nearest(&changing(), &changing()).unwrap()));
            let rows: Vec<usize> = (0..20_000).step_by(7).collect();
            drop(Measure.on(&cpu).quality(&changing(), &rows));
            drop(Measure.on(&cpu).quality_of(&changing(), &changing()));
        }
    }
}
