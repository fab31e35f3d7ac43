//! Clouds of all forms, drawn: nothing is cut, nothing touches the edge.

use super::canvas::Canvas;
use super::color::GROUND;
use super::open::open;
use super::scene::Scene;
use super::shape::Shape;
use super::view::View;
use farpoint_generate::{Kind, generate};
use farpoint_io::{ReadOptions, read};
use std::path::Path;

/// Least width of the free edge in pixels.
const EDGE: usize = 3;

/// Draws the whole cloud in the form of its panel, every point at the end of the scale: even hidden ones are drawn.
fn drawn(points: &[[f64; 3]], size: [usize; 2]) -> Canvas {
    let shape = Shape::of(points, None);
    let (shown, _) = open(points, &shape);
    let scene = Scene::new(View::of(points, &shape, size), points, &shown);
    scene.by_distance(&vec![1.0; points.len()], 1.0)
}

fn assert_fits(name: &str, points: &[[f64; 3]]) {
    for size in [[470, 300], [470, 470], [952, 480]] {
        let image = drawn(points, size);
        let free = |x: usize, y: usize| image.pixel(x, y) == GROUND;
        let inside = |at: usize, end: usize| (EDGE..end - EDGE).contains(&at);
        let mut some = false;
        for (x, y) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y))) {
            let edge = !(inside(x, size[0]) && inside(y, size[1]));
            assert!(!edge || free(x, y), "{name} is drawn at {x}, {y} of {size:?}");
            some |= !free(x, y);
        }
        assert!(some, "{name}: nothing is drawn in {size:?}");
    }
}

#[test]
fn generated_clouds_fit() {
    for kind in Kind::ALL {
        let points: Vec<_> =
            generate(kind, 4000, 1).into_iter().map(|point| point.map(f64::from)).collect();
        assert_fits(kind.name(), &points);
        // With a torch held high, as Lucy does, and far from the origin.
        let mut torch: Vec<_> =
            points.iter().map(|[x, y, z]| [5e5 + x, y - 3e6, 2.0 * z + 100.0]).collect();
        torch.push([5e5 + 30.0, -3e6, 400.0]);
        assert_fits(kind.name(), &torch);
    }
}

/// Real clouds, where they are: scans of objects with y and z up, LiDAR, survey, rooms.
#[test]
fn real_clouds_fit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    for name in [
        "stanford/bun_zipper.ply",
        "stanford/dragon_vrip_res3.ply",
        "stanford/dragonStandRight_72.txt",
        "gatech/horse_big_endian.ply",
        "modelnet/bathtub_0001.off",
        "kitti/odometry_seq00_000000.bin",
        "las/autzen_trim.laz",
        "las/test_tree.las",
        "indoor/indoor.laz",
        "e57/bunnyDouble.e57",
        "cgal/kitten.xyz",
        "pcl/samp11-utm.pcd",
        "s3dis/room_voxel_50016.ply",
    ] {
        let path = folder.join(name);
        if !path.exists() {
            println!("skipped: {name} is not there (shared/data is not part of the repository)");
            continue;
        }
        let cloud = read(&path, &ReadOptions::default()).unwrap();
        let points: Vec<_> = (0..cloud.len()).map(|row| cloud.coordinates().get(row)).collect();
        assert_fits(name, &points);
    }
}
