//! Numbers at the limits of floating point, on every algorithm and for the radius
//! algorithm with every combination of its prunings, whose sphere test needs a slack.

use crate::cases::some;
use crate::common::{Config, as_f32, check, configs, integers, radius_configs, uniform};
use farpoint::backend::SplitMix64;
use farpoint::{Algorithm, Cpu, Points, RadiusOptions, Sampler, Scalar, Statistics};
use farpoint_generate::room;

/// Returns every algorithm, and the radius algorithm with all options.
fn every() -> Vec<Config> {
    let mut all = configs(&[1, 2]);
    all.extend(radius_configs(&[Some(1), Some(2), Some(3), Some(7), Some(16), Some(1024)]));
    all
}

fn check_all<T: Scalar, P: Points<T> + ?Sized>(name: &str, cloud: &P) {
    let n = cloud.len();
    check(name, cloud, &[n.div_ceil(4), n], 0, &every());
}

/// The cloud times `scale` plus `offset`, in `f32` and `f64`.
fn moved(name: &str, cloud: &[[f64; 3]], scale: f64, offset: [f64; 3]) {
    let moved: Vec<[f64; 3]> =
        cloud.iter().map(|p| std::array::from_fn(|a| p[a] * scale + offset[a])).collect();
    let name = format!("{name} times {scale:e} plus {offset:?}");
    check_all(&format!("{name}, f64"), &moved);
    if moved.iter().flatten().all(|x| x.abs() < f64::from(f32::MAX)) {
        check_all(&format!("{name}, f32"), &as_f32(&moved));
    }
}

#[test]
fn tiny_and_huge_scales() {
    let clouds = [("any", uniform(150, 1)), ("tied", integers(150, 5, 1.0, 2))];
    for (name, cloud) in clouds {
        for scale in some(0, 3, [1e-45, 3e-42, 1e-38, 1e-30, 1e-23, 1e-19, 1e15, 1e19, 3e37, 6e37])
        {
            moved(name, &cloud, scale, [0.0; 3]);
        }
        for scale in some(0, 3, [5e-324, 1e-310, 1e-162, 1e-154, 1e150, 1e154, 1e300, 4e307]) {
            let cloud: Vec<_> = cloud.iter().map(|p| p.map(|x| x * scale)).collect();
            check_all(&format!("{name} f64 times {scale:e}"), &cloud);
        }
    }
}

/// In `f32` such coordinates are multiples of 0.5 or 0.03: ties, repeats, points far outside
/// the voxel that exact arithmetic would give them.
#[test]
fn huge_offsets() {
    let cloud = uniform(200, 3);
    for scale in some(1, 3, [0.1, 3.0, 500.0]) {
        moved("UTM", &cloud, scale, [4.5e5, 5.0e6, 300.0]);
        moved("one axis", &cloud, scale, [0.0, 1e9, 0.0]);
        moved("below", &cloud, scale, [-1e7; 3]);
    }
}

/// Points on the borders of voxels and one step beside them, for several resolutions at once.
#[test]
fn borders_of_voxels() {
    let mut cloud = Vec::new();
    for k in 0..=48 {
        let at = k as f32 / 48.0;
        for x in [at.next_down(), at, at.next_up()] {
            cloud.push([x, at, 1.0 - at]);
            cloud.push([x, x, x]);
        }
    }
    let configs = radius_configs(&[Some(1), Some(2), Some(3), Some(6), Some(12), Some(48)]);
    check("borders", &cloud, &[60, cloud.len()], 0, &configs);
}

/// Lattices and their multiples: spheres through points and distances that attain the bound
/// in real numbers, so that only the slack decides.
#[test]
fn bounds_attained_exactly() {
    for (side, scale) in [(8u32, 1.0), (8, 0.1), (6, 1.0 / 3.0), (7, 1e-20)] {
        let at = |k: u32| f64::from(k) * scale;
        let all = (0..side.pow(3)).map(|i| [i % side, i / side % side, i / side / side]);
        let cloud: Vec<[f64; 3]> = all.map(|p| p.map(at)).collect();
        let nvox: Vec<_> = some(1, 5, [1, 2, 3, 4, 6, 7, 8, 14]).map(Some).collect();
        check("lattice", &cloud, &[64, cloud.len()], 0, &radius_configs(&nvox));
        check("lattice f32", &as_f32(&cloud), &[64, cloud.len()], 5, &radius_configs(&nvox));
    }
    // On one line through voxel centers the bound is |s - c| - r itself.
    let diagonal: Vec<[f64; 3]> = (0..257).map(|k| [f64::from(k) / 256.0; 3]).collect();
    check_all("diagonal", &diagonal);
    check_all("diagonal f32", &as_f32(&diagonal));
}

#[test]
fn no_extent() {
    check_all("one point", &[[7.0f32, -1.0, 3.0]][..]);
    check_all("equal", &vec![[1e30f32, -1e-30, 0.0]; 70]);
    check_all("two places", &(0..70).map(|i| [f64::from(i % 2), 5.0]).collect::<Vec<_>>());
    check_all(
        "nearly equal",
        &(0..70).map(|i| [1.0 + f32::EPSILON * (i % 3) as f32]).collect::<Vec<_>>(),
    );
    check_all("plane", &integers::<2>(200, 12, 0.3, 4));
}

#[test]
fn subnormal_and_overflowing() {
    let mut random = SplitMix64::new(5);
    let bits: Vec<[f32; 3]> = (0..200)
        .map(|_| std::array::from_fn(|_| f32::from_bits(random.below(40) as u32)))
        .collect();
    check_all("subnormal", &bits);
    let sign = |k: u64| if k == 0 { -1.0f32 } else { 1.0 };
    let mut random = SplitMix64::new(6);
    let mut any = |low: i32, high: i32| {
        let exponent = low + random.below((high - low) as u64) as i32;
        sign(random.below(2)) * (1.0 + random.unit() as f32) * 2f32.powi(exponent)
    };
    let huge: Vec<[f32; 3]> =
        (0..150).map(|_| [any(63, 127), any(63, 127), any(63, 127)]).collect();
    check_all("1e19 to 3e38", &huge);
    let edge: Vec<[f32; 3]> = (0..150).map(|_| [any(60, 66), any(60, 66), 0.0]).collect();
    check_all("around the overflow", &edge);
    let mixed: Vec<[f32; 3]> =
        (0..150).map(|_| [any(-149, 127), any(-149, 127), any(-149, 127)]).collect();
    check_all("all exponents", &mixed);
    let ends = [f32::MAX, -f32::MAX, 0.0, -0.0, f32::MIN_POSITIVE, 1e-45, 1.8e19, -1.8e19];
    let corners: Vec<[f32; 3]> =
        (0..512).map(|i| [ends[i % 8], ends[i / 8 % 8], ends[i / 64]]).collect();
    check_all("ends of the range", &corners);
    let ends: Vec<[f64; 1]> =
        [f64::MAX, -f64::MAX, 0.0, 5e-324, 1.4e154, -1.4e154].map(|x| [x]).into();
    check_all("ends of the range, f64", &ends);
}

#[test]
fn series_circle_and_signed_zero() {
    let series: Vec<[f32; 3]> = (0..150).map(|k| [2f32.powi(-k), 0.0, 0.0]).collect();
    check_all("2^-k", &series);
    let wide: Vec<[f64; 2]> = (0..1000).map(|k| [2f64.powi(-k), 2f64.powi(-k / 2)]).collect();
    check("2^-k f64", &wide, &[1000], 0, &configs(&[1]));
    let circle: Vec<[f64; 2]> =
        (0..360).map(|k| (f64::from(k) / 180.0 * std::f64::consts::PI).sin_cos().into()).collect();
    check_all("circle", &circle);
    check_all("circle f32", &as_f32(&circle));
    let zeros: Vec<[f32; 3]> = (0..64)
        .map(|i| std::array::from_fn(|a| if i >> a & 1 == 0 { 0.0 } else { -0.0 }))
        .collect();
    check_all("signed zeros", &zeros);
}

/// Work that the prunings save is counted, and switching one off does not prune.
#[test]
fn prunings_prune() {
    let cloud = farpoint_generate::room(20_000, 1);
    let run = |radius_pruning, point_skip| {
        let radius = RadiusOptions::default().radius_pruning(radius_pruning).point_skip(point_skip);
        let sampler = Sampler::count(2000).algorithm(Algorithm::Radius(radius));
        sampler.statistics(true).sample(&cloud).unwrap().statistics.unwrap()
    };
    let (both, none) = (run(true, true), run(false, false));
    assert_eq!(none.distance_evaluations, 20_000 * 2000);
    assert_eq!((none.regions_pruned, none.points_skipped), (0, 0));
    assert!(both.distance_evaluations * 20 < none.distance_evaluations);
    let (radius, skip) = (run(true, false), run(false, true));
    assert!(radius.regions_pruned * 10 > radius.regions_tested * 8);
    assert_eq!((radius.points_skipped, skip.regions_pruned), (0, 0));
    assert_eq!(skip.points_skipped + skip.distance_evaluations, 20_000 * 2000);
    for counted in [both, radius, skip] {
        assert_eq!(counted.effective_updates, none.effective_updates);
    }
}

/// A row of finite numbers of any exponent, as in a damaged file.
fn garbage(random: &mut SplitMix64) -> [f32; 3] {
    let row = std::array::from_fn(|_| f32::from_bits(random.next_u64() as u32));
    if row.iter().all(|x| x.is_finite()) { row } else { garbage(random) }
}

/// Returns the cloud with one row in `every` replaced.
fn damaged(cloud: &[[f32; 3]], every: usize, mut row: impl FnMut() -> [f32; 3]) -> Vec<[f32; 3]> {
    let mut cloud = cloud.to_vec();
    cloud.iter_mut().skip(every / 2).step_by(every).for_each(|damaged_row| *damaged_row = row());
    cloud
}

/// Large enough that threads share the work.
#[test]
fn wide_clouds_on_up_to_nine_threads() {
    let mut configs = configs(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    configs.retain(|config| matches!(config.algorithm, Algorithm::Tree | Algorithm::Peak(_)));
    let (good, mut random) = (room(20_000, 1), SplitMix64::new(8));
    let clouds = [
        ("garbage", damaged(&good, 1, || garbage(&mut random))),
        ("some garbage", damaged(&good, 100, || garbage(&mut random))),
        ("an outlier", damaged(&good, good.len(), || [1e30, -1e9, 0.0])),
        ("overflow", good.iter().map(|row| row.map(|x| x * 1e30)).collect()),
        ("around the overflow", good.iter().map(|row| row.map(|x| x * 5e18)).collect()),
        ("two places", damaged(&good, 2, || [1e7, 1e7, random.unit() as f32])),
    ];
    for (name, cloud) in some(0, 2, clouds) {
        check(name, &cloud, &[900], 20, &configs);
    }
    let far = good.iter().zip(0..);
    let far: Vec<[f64; 3]> =
        far.map(|(row, k)| row.map(|x| f64::from(x) + f64::from(k % 2) * 1e12)).collect();
    check("two places f64", &far, &[2500], 20, &configs);
}

fn work<T: Scalar>(cloud: &[[T; 3]], share: f64) -> Statistics
where
    [[T; 3]]: Points<T>,
{
    let sampler = Sampler::ratio(share).statistics(true);
    let sample = sampler.on(&Cpu::new().threads(1)).sample(cloud).unwrap();
    assert_eq!(sample.algorithm, Algorithm::peak());
    sample.statistics.unwrap()
}

/// Damaged rows among good ones make no more work than they must: the others are cut into leaves as if they were not
/// there.
#[test]
fn outliers_leave_the_others_alone() {
    let (good, mut random) = (room(60_000, 1), SplitMix64::new(8));
    let usual = work(&good, 0.25);
    let clouds = [
        ("an outlier", damaged(&good, good.len(), || [1e30; 3])),
        ("one in a thousand", damaged(&good, 1000, || garbage(&mut random))),
        ("one in ten", damaged(&good, 10, || garbage(&mut random))),
    ];
    for (name, cloud) in clouds {
        let found = work(&cloud, 0.25);
        let [baseline, distances] = [&usual, &found].map(|counted| counted.distance_evaluations);
        assert!(distances < 2 * baseline, "{name}: {distances}, {baseline} without");
        let [baseline, tested] = [&usual, &found].map(|counted| counted.regions_tested);
        assert!(tested < 4 * baseline, "{name}: {tested}, {baseline} without");
    }
}

/// Infinite distances are all ties: no band is made of them, in which each candidate would look at all others.
#[test]
fn no_bands_of_infinite_distances() {
    let good = room(20_000, 1);
    let huge: Vec<[f32; 3]> = good.iter().map(|row| row.map(|x| x * 1e30)).collect();
    assert_eq!(work(&huge, 1.0).bands, 0);
    let huge: Vec<[f64; 3]> = good.iter().map(|row| row.map(|x| f64::from(x) * 1e200)).collect();
    assert_eq!(work(&huge, 1.0).bands, 0);
    // Points of one place are a meter apart, places so far that no grid has small cells in both.
    let places = good.iter().zip(0..);
    let places: Vec<[f64; 3]> =
        places.map(|(row, k)| row.map(|x| f64::from(x) + f64::from(k % 2) * 1e12)).collect();
    assert!(work(&places, 1.0).bands < 20);
}
