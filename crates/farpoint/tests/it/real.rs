//! Scans: all algorithms agree with each other on a quarter of the points, and with `reference` on
//! the first. The files of real ones lie beside the repository; without them the tests say that they
//! were skipped.

use crate::common::{assert_prefix, check, configs};
use farpoint::{Algorithm, Cpu, Sampler, measure};
use farpoint_generate::{Kind, generate};

/// Reads the first three of the `columns` little-endian `f32` of each row.
fn read(name: &str, columns: usize) -> Option<Vec<[f32; 3]>> {
    let path = format!("{}/../../../shared/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let Ok(bytes) = std::fs::read(&path) else {
        println!("skipped: {path} is not there");
        return None;
    };
    let number = |b: &[u8]| f32::from_le_bytes(b.try_into().expect("four bytes"));
    let rows = bytes.chunks_exact(4 * columns);
    Some(rows.map(|row| std::array::from_fn(|a| number(&row[4 * a..4 * a + 4]))).collect())
}

fn real(name: &str, columns: usize) {
    if let Some(cloud) = read(name, columns) {
        agree(name, &cloud);
    }
}

fn agree(name: &str, cloud: &Vec<[f32; 3]>) {
    check(name, cloud, &[200], 0, &configs(&[2]));
    let quarter = cloud.len().div_ceil(4);
    // One more than requested, whose distance is the covering radius of the others.
    let yardstick = Sampler::count(quarter + 1).algorithm(Algorithm::Naive);
    let truth = yardstick.on(&Cpu::new().threads(1)).sample(cloud).unwrap();
    for algorithm in [Algorithm::Auto, Algorithm::radius(), Algorithm::Tree, Algorithm::peak()] {
        for threads in [1, 2] {
            let (job, cpu) =
                (Sampler::count(quarter).algorithm(algorithm), Cpu::new().threads(threads));
            let sampler = job.on(&cpu);
            let sample = sampler.sample(cloud).unwrap();
            assert_prefix(&format!("{name}, {algorithm}, {threads}"), &sample, &truth, 1);
            let radius = measure::covering_radius(cloud, &sample.indices).unwrap();
            assert_eq!(radius, sample.covering_radius());
            let closest = sample.squared_distances.last().unwrap().sqrt();
            let spacing = measure::spacing(cloud, &sample.indices).unwrap();
            assert_eq!(spacing.min, f64::from(closest), "the last is the closest to another");
        }
    }
}

#[test]
fn generated() {
    for (kind, points) in [(Kind::Lidar, 20_000), (Kind::Room, 20_000)] {
        agree(kind.name(), &generate(kind, points, 1));
    }
}

#[test]
fn kitti() {
    real("kitti/odometry_seq00_000000.bin", 4);
}

#[test]
fn kitti_camera_view() {
    real("kitti/object_000008_camera_fov.bin", 4);
}

#[test]
fn scannet() {
    real("scannet/scene0000_00.bin", 6);
}

#[test]
fn nuscenes() {
    real("nuscenes/n015_1532402927647951.pcd.bin", 5);
}
