//! Files of every kind: generated ones, and real ones where they are there.

use crate::common::{Folder, indices, shared};
use std::path::Path;

/// Files of several formats.
const FILES: [&str; 12] = [
    "stanford/bun_zipper_res3.ply",
    "stanford/bunny.obj",
    "cgal/b9_training.ply",
    "cgal/kitten.xyz",
    "pcl/milk.pcd",
    "pcl/samp11-utm.pcd",
    "lidar/velodyne_vlp16.pcd",
    "las/autzen-thin.las",
    "las/autzen_trim.laz",
    "e57/tiny_spherical.e57",
    "modelnet/bathtub_0001.off",
    "scannet/scene0000_00_xyz_f32.npy",
];

fn sampled_alike_by_all(folder: &Folder, path: &Path) {
    let path = path.display();
    let output = folder.run(&format!("info {path} --json"));
    assert_eq!(output.status, 0, "{path}: {}", output.err);
    assert!(output.json()["points"].as_u64().unwrap() > 0, "{path}");
    let rows = |options: &str| {
        let output = folder.run(&format!("sample {path} --ratio 0.01 --indices - {options}"));
        assert_eq!(output.status, 0, "{path}: {}", output.err);
        indices(&output.out)
    };
    assert_eq!(rows(""), rows("--algorithm reference"), "{path}");
}

#[test]
fn generated_files_are_sampled_alike_by_all() {
    let folder = Folder::new();
    for kind in ["ply", "pcd", "las", "laz", "e57", "npy", "npz", "xyz", "csv", "pts", "bin"] {
        let name = format!("lidar.{kind}");
        let output = folder.run(&format!("generate lidar -n 3000 -o {name}"));
        assert_eq!(output.status, 0, "{name}: {}", output.err);
        sampled_alike_by_all(&folder, &folder.path(&name));
    }
}

#[test]
fn real_files_are_sampled_alike_by_all() {
    let folder = Folder::new();
    FILES.into_iter().filter_map(shared).for_each(|path| sampled_alike_by_all(&folder, &path));
}

#[test]
fn raw_scans_need_no_columns() {
    let folder = Folder::new();
    folder.ok("-q generate lidar -n 3000 -o lidar.bin");
    folder.ok("-q generate lidar -n 3000 -o lidar.pcd.bin");
    for (path, columns) in [
        (Some(folder.path("lidar.bin")), 4),
        (Some(folder.path("lidar.pcd.bin")), 5),
        (shared("kitti/object_000008_camera_fov.bin"), 4),
        (shared("nuscenes/n015_1532402927647951.pcd.bin"), 5),
    ] {
        let Some(path) = path else { continue };
        let path = path.display();
        let count = |options: &str| {
            folder.run(&format!("info {path} --json {options}")).json()["points"].as_u64()
        };
        assert_eq!(count(""), count(&format!("--columns {columns}")), "{path}");
    }
}
