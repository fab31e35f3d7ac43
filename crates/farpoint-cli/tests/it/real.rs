//! Real clouds, where they are there; skipped plainly where not.

use crate::common::{Folder, indices, shared};

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

#[test]
fn real_files_are_sampled_alike_by_all() {
    let folder = Folder::new();
    for name in FILES {
        let Some(path) = shared(name) else { continue };
        let path = path.display();
        let said = folder.run(&format!("info {path} --json"));
        assert_eq!(said.status, 0, "{name}: {}", said.err);
        assert!(said.json()["points"].as_u64().unwrap() > 0, "{name}");
        let rows = |options: &str| {
            let said = folder.run(&format!("sample {path} --ratio 0.01 --indices - {options}"));
            assert_eq!(said.status, 0, "{name}: {}", said.err);
            indices(&said.out)
        };
        assert_eq!(rows(""), rows("--algorithm reference"), "{name}");
    }
}

#[test]
fn raw_scans_need_no_columns() {
    let folder = Folder::new();
    for (name, columns) in
        [("kitti/object_000008_camera_fov.bin", 4), ("nuscenes/n015_1532402927647951.pcd.bin", 5)]
    {
        let Some(path) = shared(name) else { continue };
        let path = path.display();
        let count = |options: &str| {
            folder.run(&format!("info {path} --json {options}")).json()["points"].as_u64()
        };
        assert_eq!(count(""), count(&format!("--columns {columns}")), "{name}");
    }
}
