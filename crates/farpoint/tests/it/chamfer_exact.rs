//! Nearest points by every method, on every instruction set, with one, two and three threads,
//! agree with the straightforward loop: distances bit for bit, indices one by one.

use crate::cases::{random, some, thorough};
use crate::common::{as_f32, crowded, integers, uniform};
use farpoint::neighbors::reference;
use farpoint::{Chamfer, Cpu, DeviceKind, Level, Matcher, Method, NonFinite, Norm, Points, Scalar};
use farpoint_generate::{Kind, generate};
use proptest::prelude::*;

/// Returns every method on every instruction set with these numbers of threads.
fn matchers(threads: &[usize]) -> Vec<(Matcher, Cpu)> {
    let mut all = Vec::new();
    for method in [Method::Auto, Method::Brute, Method::Tree] {
        for level in Level::available() {
            for &threads in threads {
                all.push((Matcher::new().method(method), Cpu::new().level(level).threads(threads)));
            }
        }
    }
    all
}

fn same<T: Scalar>(name: &str, found: &Chamfer<T>, truth: &Chamfer<T>) {
    for (variant, found, truth) in
        [("a to b", &found.a_to_b, &truth.a_to_b), ("b to a", &found.b_to_a, &truth.b_to_a)]
    {
        assert_eq!(found.len(), truth.len(), "{name}, {variant}");
        for row in 0..found.len() {
            let both = |nearest: &farpoint::Nearest<T>| {
                (nearest.raw_distances[row].to_f64().to_bits(), nearest.indices[row])
            };
            assert_eq!(both(found), both(truth), "{name}, {variant}, row {row}");
        }
    }
}

fn check<T: Scalar, A, B>(name: &str, a: &A, b: &B, threads: &[usize])
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    for norm in [Norm::Two, Norm::One] {
        let truth = Matcher::new().method(Method::Reference).norm(norm).chamfer(a, b).unwrap();
        for (matcher, cpu) in matchers(threads) {
            let matcher = matcher.norm(norm);
            let name = format!("{name}: {:?}", matcher.on(&cpu));
            same(&name, &matcher.on(&cpu).chamfer(a, b).unwrap(), &truth);
            assert_eq!(matcher.on(&cpu).nearest(a, b).unwrap(), truth.a_to_b, "{name}");
        }
    }
}

/// Returns the cloud in `f64`, with lower bits that `f32` has not.
fn as_f64(cloud: &[[f32; 3]]) -> Vec<[f64; 3]> {
    cloud.iter().map(|row| row.map(|x| f64::from(x) * (1.0 + 2f64.powi(-40)))).collect()
}

#[test]
fn generated_clouds() {
    let sizes = [(1, 1), (2, 64), (65, 1), (64, 63), (129, 1000), (1000, 900)];
    let all = Kind::ALL.into_iter().zip(1..).flat_map(|kind| sizes.map(|size| (kind, size)));
    for ((kind, seed), (n, m)) in some(0, 5, all) {
        let (a, b) = (generate(kind, n, seed), generate(kind, m, seed + 50));
        check(&format!("{kind} {n} {m}"), &a, &b, &[1]);
        check(&format!("{kind} {n} {m} f64"), &as_f64(&a), &as_f64(&b), &[1]);
    }
}

#[test]
fn threads_share_large_clouds() {
    let (a, b) = (generate(Kind::Room, 7000, 1), generate(Kind::Lattice, 1500, 2));
    check("room and lattice", &a, &b, &[1, 2, 3]);
}

/// A cloud against itself, moved a little, and far away.
#[test]
fn itself_and_moved() {
    let cloud = generate(Kind::Object, 1500, 3);
    for shift in some(1, 3, [0.0, 0.01, 0.1, 1e3]) {
        let moved: Vec<[f32; 3]> = cloud.iter().map(|&[x, y, z]| [x + shift, y, z]).collect();
        check(&format!("moved by {shift}"), &cloud, &moved, &[1]);
    }
    let same = Matcher::new().chamfer(&cloud, &cloud).unwrap();
    assert_eq!((same.sum(), same.hausdorff()), (0.0, 0.0));
}

#[test]
fn any_number_of_axes() {
    fn axes<const D: usize>() {
        let (a, b) = (uniform::<D>(300, 1), uniform::<D>(400, 2));
        check(&format!("{D} axes"), &a, &b, &[1]);
        check(&format!("{D} axes, f32"), &as_f32(&a), &as_f32(&b), &[1]);
        let (a, b) = (integers::<D>(200, 4, 0.3, 3), integers::<D>(300, 4, 0.3, 4));
        check(&format!("{D} axes with ties"), &as_f32(&a), &as_f32(&b), &[1]);
    }
    axes::<2>();
    axes::<7>();
    if thorough() {
        axes::<1>();
        axes::<4>();
        axes::<33>();
    }
}

/// Places where many points lie, in more leaves than one: of equals the lowest counts, wherever it is found.
#[test]
fn crowded_places() {
    fn axes<const D: usize>() {
        for places in [1, 2, 40] {
            let (a, b) = (crowded::<D>(500, places, 1), crowded::<D>(1300, places, 2));
            check(&format!("{places} places, {D} axes"), &a, &b, &[1]);
            let [a, b] = [a, b].map(|cloud| as_f32(&cloud));
            check(&format!("{places} places, {D} axes, f32"), &a, &b, &[1]);
        }
    }
    axes::<1>();
    axes::<2>();
    axes::<3>();
    axes::<4>();
    axes::<5>();
    let cloud = as_f32(&crowded::<3>(9000, 2, 3));
    check("in itself", &cloud[..], &cloud[..1000], &[1, 9]);
}

#[test]
fn numbers_at_the_edges() {
    let clouds = [uniform::<3>(300, 1), integers::<3>(300, 5, 1.0, 2)];
    for cloud in &clouds {
        for scale in some(0, 3, [1e-45, 3e-42, 1e-30, 1e-23, 1e-19, 1e15, 1e19, 6e37]) {
            let scaled: Vec<_> = cloud.iter().map(|row| row.map(|x| x * scale)).collect();
            let (a, b) = scaled.split_at(140);
            check(&format!("times {scale}"), &as_f32(a), &as_f32(b), &[1]);
            check(&format!("times {scale}, f64"), a, b, &[1]);
        }
        for offset in [[4.5e5, 5e6, 300.0], [0.0, 1e9, 0.0], [-1e7; 3]] {
            let moved = |row: &[f64; 3]| std::array::from_fn(|k| row[k] + offset[k]);
            let moved: Vec<[f64; 3]> = cloud.iter().map(moved).collect();
            let (a, b) = moved.split_at(140);
            check(&format!("plus {offset:?}"), &as_f32(a), &as_f32(b), &[1]);
        }
    }
    let ends = [f32::MAX, -f32::MAX, 0.0, -0.0, f32::MIN_POSITIVE, 1e-45, 1.8e19, -1.8e19];
    let all: Vec<[f32; 3]> =
        (0..512).map(|i| [ends[i % 8], ends[i / 8 % 8], ends[i / 64]]).collect();
    check("ends of the range", &all[..200], &all, &[1]);
    check("equal", &[[1e30f32, -1e-30, 0.0]; 70][..], &[[1e30f32, -1e-30, 0.0]; 130][..], &[1]);
}

/// Rows left out are no point's nearest and have none; indices still refer to the input.
#[test]
fn skipped_rows() {
    let mut a = generate(Kind::Room, 1500, 1);
    let mut b = generate(Kind::Room, 1400, 2);
    let good = |rows: &[[f32; 3]]| -> Vec<usize> {
        (0..rows.len()).filter(|&row| rows[row].iter().all(|x| x.is_finite())).collect()
    };
    a.iter_mut().step_by(7).for_each(|row| row[1] = f32::NAN);
    b.iter_mut().step_by(3).for_each(|row| row[2] = f32::INFINITY);
    let pick = |rows: &[[f32; 3]]| good(rows).iter().map(|&row| rows[row]).collect::<Vec<_>>();
    let truth = reference(&pick(&a), &pick(&b)).unwrap();
    for method in Method::of(DeviceKind::Cpu) {
        let found =
            Matcher::new().method(method).non_finite(NonFinite::Skip).chamfer(&a, &b).unwrap();
        assert_eq!((found.a_to_b.dropped, found.b_to_a.dropped), (215, 467));
        for (k, row) in good(&a).into_iter().enumerate() {
            let nearest = good(&b)[truth.a_to_b.indices[k] as usize];
            assert_eq!(found.a_to_b.indices[row] as usize, nearest);
            assert_eq!(found.a_to_b.raw_distances[row], truth.a_to_b.raw_distances[k]);
        }
        assert!(found.a_to_b.raw_distances[0].is_nan());
        assert_eq!(found.a_to_b.indices[0], farpoint::Nearest::<f32>::NONE);
        assert_eq!(found.sum(), truth.sum());
        assert_eq!(found.hausdorff(), truth.hausdorff());
        assert_eq!(found.f_score(0.1), truth.f_score(0.1));
    }
}

proptest! {
    #![proptest_config(random(40))]

    #[test]
    fn any_clouds(n in 1usize..500, m in 1usize..500, cells in 2u64..2000, seed in 0u64..1000) {
        let a = integers::<3>(n, cells, 0.1, seed);
        let b = integers::<3>(m, cells / 2 + 1, 0.2, seed + 1);
        check("any", &as_f32(&a), &as_f32(&b), &[1]);
        check("any f64", &a, &b, &[1]);
    }

    #[test]
    fn clusters_of_any_size(n in 1usize..600, m in 1usize..600, spread in -6i32..6, seed in 0u64..1000) {
        let at = |cloud: Vec<[f64; 3]>| -> Vec<[f32; 3]> {
            let place = |(k, row): (usize, [f64; 3])| {
                row.map(|x| (x * 10f64.powi(spread) + (k % 5) as f64) as f32)
            };
            cloud.into_iter().enumerate().map(place).collect()
        };
        check("clusters", &at(uniform(n, seed)), &at(uniform(m, seed + 1)), &[1]);
    }
}

/// The tree agrees with itself on all rows, with the straightforward loop on some.
fn turns_agree(a: &Vec<[f32; 3]>, b: &Vec<[f32; 3]>) {
    let found = farpoint::chamfer(a, b).unwrap();
    for level in Level::available() {
        for threads in [1, 2] {
            let tree = Matcher::new().method(Method::Tree);
            let cpu = Cpu::new().level(level).threads(threads);
            let tree = tree.on(&cpu);
            same(&format!("{level}, {threads}"), &tree.chamfer(a, b).unwrap(), &found);
        }
    }
    for (queries, targets, found) in [(a, b, &found.a_to_b), (b, a, &found.b_to_a)] {
        let some: Vec<[f32; 3]> = queries.iter().step_by(1000).copied().collect();
        let truth = Matcher::new().method(Method::Reference).nearest(&some, targets).unwrap();
        for (k, row) in (0..queries.len()).step_by(1000).enumerate() {
            assert_eq!(found.raw_distances[row], truth.raw_distances[k], "row {row}");
            assert_eq!(found.indices[row], truth.indices[k], "row {row}");
        }
    }
}

#[test]
fn generated_turns() {
    turns_agree(&generate(Kind::Lidar, 60_000, 1), &generate(Kind::Lidar, 60_000, 2));
}

#[test]
fn real_turns() {
    let read = |name: &str| {
        let path = format!("{}/../../../shared/data/kitti/{name}", env!("CARGO_MANIFEST_DIR"));
        let Ok(bytes) = std::fs::read(&path) else {
            println!("skipped: {path} is not there");
            return None;
        };
        let number = |b: &[u8]| f32::from_le_bytes(b.try_into().expect("four bytes"));
        let row = |row: &[u8]| std::array::from_fn(|axis| number(&row[4 * axis..4 * axis + 4]));
        Some(bytes.chunks_exact(16).map(row).collect::<Vec<[f32; 3]>>())
    };
    let name = "odometry_seq00_00000";
    let (Some(a), Some(b)) = (read(&format!("{name}0.bin")), read(&format!("{name}1.bin"))) else {
        return;
    };
    turns_agree(&a, &b);
}
