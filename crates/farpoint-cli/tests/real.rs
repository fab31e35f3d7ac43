//! Real clouds, where they are there; skipped plainly where not.

mod common;

use common::{Folder, indices, shared};

/// Files of several formats and their number of points.
const FILES: [(&str, u64); 12] = [
    ("stanford/bun_zipper_res3.ply", 1889),
    ("stanford/bunny.obj", 0),
    ("cgal/b9_training.ply", 0),
    ("cgal/kitten.xyz", 0),
    ("pcl/milk.pcd", 0),
    ("pcl/samp11-utm.pcd", 0),
    ("lidar/velodyne_vlp16.pcd", 0),
    ("las/autzen-thin.las", 0),
    ("las/autzen_trim.laz", 0),
    ("e57/tiny_spherical.e57", 0),
    ("modelnet/bathtub_0001.off", 0),
    ("scannet/scene0000_00_xyz_f32.npy", 0),
];

#[test]
fn real_files_are_sampled_alike_by_all() {
    let folder = Folder::new();
    for (name, points) in FILES {
        let Some(path) = shared(name) else { continue };
        let path = path.display();
        let said = folder.run(&format!("info {path} --json"));
        assert_eq!(said.status, 0, "{name}: {}", said.err);
        let found = said.json()["points"].as_u64().unwrap();
        assert!(found > 0 && (points == 0 || points == found), "{name}: {found}");
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
