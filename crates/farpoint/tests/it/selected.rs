//! Some rows of a cloud: the result equals gathering them, sampling or searching, and mapping back.

use crate::cases::random;
use crate::common::{algorithms, as_f32, integers, uniform};
use farpoint::approximate::{ApproximateSampler, Method};
use farpoint::backend::SplitMix64;
use farpoint::neighbors::{backward, search_backward};
use farpoint::{
    Algorithm, Amount, Cpu, Error, Index, Matcher, NonFinite, Points, Sample, Sampler, Scalar,
    Searcher, Selected, Start, chamfer, measure,
};
use proptest::prelude::*;

/// Returns different rows in any order, or ascending like those of a mask.
fn some_rows(n: usize, share: f64, ascending: bool, seed: u64) -> Vec<usize> {
    let mut random = SplitMix64::new(seed);
    let mut rows: Vec<usize> = (0..n).filter(|_| random.unit() < share).collect();
    if !ascending {
        for last in (1..rows.len()).rev() {
            rows.swap(last, random.below(last as u64 + 1) as usize);
        }
    }
    rows
}

fn gathered<const D: usize, T: Copy>(cloud: &[[T; D]], rows: &[usize]) -> Vec<[T; D]> {
    rows.iter().map(|&row| cloud[row]).collect()
}

/// Returns a start in the gathered cloud as one of the whole cloud.
fn start_in_copy(start: &Start, rows: &[usize]) -> Start {
    match start {
        Start::Index(place) => Start::Index(rows[*place]),
        Start::Indices(places) => Start::Indices(places.iter().map(|&k| rows[k]).collect()),
        same => same.clone(),
    }
}

/// Returns the samples of the gathered rows as rows of the whole cloud.
fn mapped<T: Scalar>(sample: &Sample<T>, rows: &[usize]) -> Sample<T> {
    let mut sample = sample.clone();
    sample.indices.iter_mut().for_each(|index| *index = rows[*index]);
    sample
}

/// Compares all algorithms, on one thread and on several, from a start of the gathered cloud.
fn check<T: Scalar, const D: usize>(
    cloud: &[[T; D]],
    rows: &[usize],
    amount: Amount,
    start: &Start,
    non_finite: NonFinite,
) where
    [[T; D]]: Points<T>,
    Vec<[T; D]>: Points<T>,
{
    let copied = gathered(cloud, rows);
    let some = Selected::rows(cloud, rows).unwrap();
    for algorithm in algorithms().chain([Algorithm::Reference, Algorithm::Auto]) {
        for threads in [1, 3] {
            let cpu = Cpu::new().threads(threads);
            let job = Sampler::new(amount).algorithm(algorithm).non_finite(non_finite);
            let truth = job.clone().start(start.clone()).on(&cpu).sample(&copied).unwrap();
            let job = job.start(start_in_copy(start, rows));
            let found = job.on(&cpu).sample(&some).unwrap();
            assert_eq!(found, mapped(&truth, rows), "{algorithm} of {rows:?} from {start:?}");
            let batch = job.on(&cpu).sample_batch(&[some.clone(), some.clone()]).unwrap();
            assert_eq!(batch[1].indices, found.indices, "{algorithm} in a batch");
        }
    }
}

fn starts(n: usize) -> Vec<Start> {
    let mut starts = vec![Start::First, Start::Random(7)];
    if n > 0 {
        starts.extend([Start::Index(n / 2), Start::Index(n - 1), Start::Indices(vec![n - 1])]);
    }
    if n > 2 {
        starts.push(Start::Indices(vec![n - 1, 0, n / 2]));
    }
    starts
}

proptest! {
    #![proptest_config(random(24))]

    #[test]
    fn any_rows_of_any_cloud(
        n in 1..200usize, share in 0.05..1.0f64, ascending: bool, seed: u64, ties: bool,
        ratio in 0.0..1.0f64,
    ) {
        let cloud: Vec<[f64; 3]> =
            if ties { integers(n, 4, 0.1, seed) } else { uniform(n, seed) };
        let rows = some_rows(n, share, ascending, seed);
        prop_assume!(rows.len() > 3);
        for start in starts(rows.len()) {
            let amount = Amount::Count(3 + ((rows.len() - 3) as f64 * ratio) as usize);
            check(&cloud, &rows, amount, &start, NonFinite::Error);
            check(&as_f32(&cloud), &rows, amount, &start, NonFinite::Error);
        }
        check(&cloud, &rows, Amount::Spacing(0.3), &Start::First, NonFinite::Error);
    }
}

#[test]
fn large_clouds_with_non_finite_rows() {
    let mut cloud = farpoint_generate::lidar(60_000, 1);
    (0..cloud.len()).step_by(97).for_each(|row| cloud[row][row % 3] = f32::NAN);
    for ascending in [true, false] {
        let rows = some_rows(cloud.len(), 0.5, ascending, 5);
        let usable = rows.iter().position(|row| row % 97 != 0).unwrap();
        let starts = [Start::First, Start::Index(usable), Start::Random(1)];
        for start in starts {
            let copied = gathered(&cloud, &rows);
            let job = Sampler::ratio(0.1).non_finite(NonFinite::Skip);
            let truth = job.clone().start(start.clone()).sample(&copied).unwrap();
            let some = Selected::rows(&cloud, &rows).unwrap();
            let found = job.start(start_in_copy(&start, &rows)).sample(&some).unwrap();
            assert_eq!(found, mapped(&truth, &rows));
        }
        let some = Selected::rows(&cloud, &rows).unwrap();
        let first = *rows.iter().find(|&row| row % 97 == 0).unwrap();
        let count = rows.iter().filter(|&row| row % 97 == 0).count();
        let bad = Error::NonFinite { first, count, points: rows.len() };
        assert_eq!(Sampler::count(5).sample(&some).unwrap_err(), bad);
        let job = Sampler::count(5).non_finite(NonFinite::Skip).start(Start::Index(first));
        assert_eq!(job.sample(&some).unwrap_err(), Error::StartIsBad { index: first });
    }
}

#[test]
fn ties_go_to_the_row_listed_first() {
    // Four corners, all as far from the middle; each twice.
    let corners = [[0.0f32, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]];
    let cloud: Vec<[f32; 2]> = [[1.0, 1.0]].into_iter().chain(corners).chain(corners).collect();
    let first = |rows: &[usize]| {
        let some = Selected::rows(&cloud, rows).unwrap();
        Sampler::whole().sample(&some).unwrap().indices
    };
    assert_eq!(first(&[0, 1, 2, 3, 4]), [0, 1, 2, 3, 4]);
    assert_eq!(first(&[0, 4, 2, 1, 3]), [0, 4, 2, 1, 3]);
    // Duplicates of chosen points follow in the order of the list.
    assert_eq!(first(&[8, 4, 0]), [8, 0, 4]);
    assert_eq!(first(&[5, 1, 6, 2]), [5, 6, 1, 2]);
    assert_eq!(first(&[2, 1, 6, 5]), [2, 1, 6, 5]);
}

#[test]
fn a_mask_is_the_ascending_list() {
    let cloud = uniform::<3>(500, 3);
    let rows = some_rows(500, 0.3, true, 2);
    let listed = Selected::rows(&cloud, &rows).unwrap();
    let bools: Vec<bool> = (0..500).map(|row| rows.contains(&row)).collect();
    let bytes: Vec<u8> =
        bools.iter().map(|&selected_row| if selected_row { 200 } else { 0 }).collect();
    for mask in [Selected::mask(&cloud, &bools).unwrap(), Selected::mask(&cloud, &bytes).unwrap()] {
        assert_eq!(mask.subset(), listed.subset());
        let job = Sampler::ratio(0.5);
        assert_eq!(job.sample(&mask).unwrap(), job.sample(&listed).unwrap());
    }
    let signed: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    assert_eq!(Selected::rows(&cloud, &signed).unwrap().subset(), listed.subset());
}

#[test]
fn nested_selections_name_rows_of_the_whole_cloud() {
    let cloud = uniform::<3>(300, 4);
    let (outer, inner) = (some_rows(300, 0.6, false, 1), some_rows(100, 0.5, false, 2));
    let rows: Vec<usize> = inner.iter().map(|&place| outer[place]).collect();
    let twice = Selected::rows(Selected::rows(&cloud, &outer).unwrap(), &inner).unwrap();
    let once = Selected::rows(&cloud, &rows).unwrap();
    assert_eq!(twice.subset(), once.subset());
    let job = Sampler::ratio(0.4).start(Start::Index(rows[5]));
    assert_eq!(job.sample(&twice).unwrap(), job.sample(&once).unwrap());
}

#[test]
fn none_and_all() {
    let cloud = uniform::<2>(50, 4);
    let none = Selected::rows(&cloud, &[0usize; 0]).unwrap();
    assert!(Sampler::count(0).sample(&none).unwrap().is_empty());
    assert_eq!(Sampler::count(1).sample(&none).unwrap_err(), Error::EmptyCloud);
    assert!(Selected::mask(&cloud, &[false; 50]).unwrap().is_empty());
    let all = Selected::mask(&cloud, &[true; 50]).unwrap();
    assert_eq!(Sampler::whole().sample(&all).unwrap(), Sampler::whole().sample(&cloud).unwrap());
}

#[test]
fn errors_name_row_and_place() {
    let cloud = uniform::<3>(10, 4);
    let refused = |rows: &[i64]| Selected::rows(&cloud, rows).unwrap_err().to_string();
    for (rows, numbers) in [
        (&[3, 10][..], &["row 10", "place 1", "10 points"][..]),
        (&[3, 4, -1], &["row -1", "place 2"]),
        (&[9, 5, 1, 3, 5, 9], &["row 5", "places 1 and 4"]),
        (&[2, 2], &["row 2", "places 0 and 1"]),
    ] {
        let text = refused(rows);
        assert!(numbers.iter().all(|number| text.contains(number)), "{text}");
    }
    let mask = Selected::mask(&cloud, &[true; 9]).unwrap_err().to_string();
    assert!(mask.contains("9 values") && mask.contains("10 points"), "{mask}");
    let some = Selected::rows(&cloud, &[7, 5, 0]).unwrap();
    let from = |start| Sampler::count(2).start(start).sample(&some).unwrap_err();
    assert_eq!(from(Start::Index(6)), Error::NotSelected { what: "start", index: 6 });
    assert_eq!(from(Start::Index(10)), Error::StartOutOfRange { index: 10, points: 10 });
    assert_eq!(from(Start::Indices(vec![7, 7])), Error::StartRepeated { index: 7 });
    // Row 0 is the third of the list, not the first.
    let found = Sampler::count(1).start(Start::Index(0)).sample(&some).unwrap();
    assert_eq!(found.indices, [0]);
    assert_eq!(Sampler::count(1).sample(&some).unwrap().indices, [7]);
    let without = Selected::rows(&cloud, &[7, 5]).unwrap();
    let refused = Sampler::count(1).start(Start::Index(0)).sample(&without).unwrap_err();
    assert_eq!(refused, Error::NotSelected { what: "start", index: 0 });
    let more = Error::TooManySamples { samples: 4, points: 3 };
    assert_eq!(Sampler::count(4).sample(&some).unwrap_err(), more);
}

#[test]
fn approximate_samplers_name_rows_of_the_whole_cloud() {
    let cloud = farpoint_generate::lidar(5_000, 1);
    for ascending in [true, false] {
        let rows = some_rows(cloud.len(), 0.4, ascending, 9);
        let (some, copied) = (Selected::rows(&cloud, &rows).unwrap(), gathered(&cloud, &rows));
        for method in Method::ALL {
            let job = ApproximateSampler::count(method, 300);
            let mut truth = job.sample(&copied).unwrap();
            truth.indices.iter_mut().for_each(|index| *index = rows[*index]);
            assert_eq!(job.sample(&some).unwrap().indices, truth.indices, "{method}");
        }
    }
}

/// Indices of neighbors are rows of the whole cloud; distances are in the order of the list.
#[test]
fn neighbors_are_rows_of_the_whole_cloud() {
    for seed in 0..6 {
        let (a, b) = (integers::<3>(400, 6, 0.5, seed), integers::<3>(300, 6, 0.5, seed + 100));
        let (ascending, k) = (seed % 2 == 0, 4);
        let (of_a, of_b) =
            (some_rows(400, 0.4, ascending, seed), some_rows(300, 0.5, !ascending, seed));
        let some = [Selected::rows(&a, &of_a).unwrap(), Selected::rows(&b, &of_b).unwrap()];
        let copied = [gathered(&a, &of_a), gathered(&b, &of_b)];
        let named = |indices: &[u32], rows: &[usize]| -> Vec<u32> {
            let name = |&k: &u32| if k == u32::MAX { k } else { rows[k as usize] as u32 };
            indices.iter().map(name).collect()
        };
        let (truth, found) =
            (chamfer(&copied[0], &copied[1]).unwrap(), chamfer(&some[0], &some[1]).unwrap());
        assert_eq!(found.a_to_b.indices, named(&truth.a_to_b.indices, &of_b));
        assert_eq!(found.b_to_a.indices, named(&truth.b_to_a.indices, &of_a));
        assert_eq!(found.a_to_b.raw_distances, truth.a_to_b.raw_distances);
        // Gradients, through indices of the whole clouds.
        let ones = |n: usize| vec![1.0; n];
        let grads = [ones(of_a.len()), ones(of_b.len())];
        assert_eq!(
            backward(&found, &some[0], &some[1], &grads[0], &grads[1]).unwrap(),
            backward(&truth, &copied[0], &copied[1], &grads[0], &grads[1]).unwrap()
        );
        // Several neighbors, with an index and without.
        let search = Searcher::nearest(k);
        let truth = search.search(&copied[0], &copied[1]).unwrap();
        let index = Index::new(&some[1]).unwrap();
        for found in
            [search.search(&some[0], &some[1]).unwrap(), search.search(&some[0], &index).unwrap()]
        {
            assert_eq!(found.all_indices, named(&truth.all_indices, &of_b));
            assert_eq!(found.all_distances, truth.all_distances);
            let grads = ones(found.all_indices.len());
            assert_eq!(
                search_backward(&found, &some[0], &some[1], &grads).unwrap(),
                search_backward(&truth, &copied[0], &copied[1], &grads).unwrap()
            );
        }
        let within = Searcher::ball(0.8, usize::MAX);
        let truth = within.within(&copied[0], &copied[1]).unwrap();
        let found = within.within(&some[0], &some[1]).unwrap();
        assert_eq!(found.indices, named(&truth.indices, &of_b));
        assert_eq!((found.raw_distances, found.offsets), (truth.raw_distances, truth.offsets));
        // A row is not its own neighbor, wherever it is listed.
        let others = Searcher::nearest(1).exclude_self(true).search(&some[0], &a).unwrap();
        for (place, &row) in of_a.iter().enumerate() {
            assert_ne!(others.indices(place), [row as u32]);
        }
    }
}

#[test]
fn non_finite_rows_of_a_selection_have_no_neighbors() {
    let cloud = [[f32::NAN], [5.0], [1.0], [f32::INFINITY], [2.0]];
    let some = Selected::rows(&cloud[..], &[4, 0, 1]).unwrap();
    let found = Matcher::new().non_finite(NonFinite::Skip).nearest(&some, &cloud[..]).unwrap();
    assert_eq!((&found.indices[..], found.dropped), (&[4, u32::MAX, 1][..], 1));
    let found = Matcher::new().non_finite(NonFinite::Skip).nearest(&cloud[1..3], &some).unwrap();
    assert_eq!((&found.indices[..], &found.raw_distances[..]), (&[1, 4][..], &[0.0, 1.0][..]));
}

#[test]
fn measures_take_rows_of_the_whole_cloud() {
    let cloud = uniform::<3>(400, 4);
    let rows = some_rows(400, 0.5, false, 3);
    let (some, copied) = (Selected::rows(&cloud, &rows).unwrap(), gathered(&cloud, &rows));
    let places: Vec<usize> = (0..rows.len()).step_by(9).collect();
    let sample: Vec<usize> = places.iter().map(|&place| rows[place]).collect();
    assert_eq!(
        measure::quality(&some, &sample).unwrap(),
        measure::quality(&copied, &places).unwrap()
    );
    let outside = (0..400).find(|row| !rows.contains(row)).unwrap();
    let refused = measure::coverage(&some, &[outside]).unwrap_err();
    assert_eq!(refused, Error::NotSelected { what: "sample", index: outside });
    assert!(matches!(measure::coverage(&some, &[400]), Err(Error::SampleOutOfRange { .. })));
}
