//! Training clouds: of every kind that is sampled, and no two alike.

use farpoint::approximate::{ApproximateSampler, Keep, Method};
use farpoint::backend::SplitMix64;
use farpoint_generate::{Kind, generate};
use farpoint_scenes::{Sensor, suburb};
use std::collections::BTreeMap;

/// Returns a cloud whose kind, size and shape depend on the seed.
pub(crate) fn cloud(seed: u64, random: &mut SplitMix64) -> Vec<[f32; 3]> {
    match random.below(12) {
        0..=3 => changed(turn(seed, random), 6, seed, random),
        4 => changed(plain(Kind::Lidar, seed, random), 6, seed, random),
        kind => {
            use Kind::{Clusters, Cube, Object, Room, Sphere};
            let kinds = [Room, Room, Object, Object, Sphere, Cube, Clusters];
            let kind = kinds[kind as usize - 5];
            let cloud = match kind {
                Room | Object if random.below(5) < 2 => visible(kind, seed, random),
                _ => plain(kind, seed, random),
            };
            changed(cloud, 3, seed, random)
        }
    }
}

/// Returns a cloud as it is generated, small ones more often.
fn plain(kind: Kind, seed: u64, random: &mut SplitMix64) -> Vec<[f32; 3]> {
    generate(kind, 3000 + (57_000.0 * random.unit() * random.unit()) as usize, seed)
}

/// Returns a turn of some LiDAR in some suburb.
fn turn(seed: u64, random: &mut SplitMix64) -> Vec<[f32; 3]> {
    let rings = [16, 32, 32, 40, 64, 64, 64, 128][random.below(8) as usize];
    let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
    let sensor = Sensor {
        rings,
        elevation: [between(2.0, 15.0), between(-16.0, -30.0)],
        height: between(0.7, 2.2),
        reach: between(20.0, 140.0),
        noise: between(0.003, 0.03),
        lost: between(0.1, 0.7),
    };
    let columns = between(400.0, 2200.0);
    let points = (0.85 * columns * rings as f64) as usize;
    suburb(points.min(130_000), seed, &sensor)
}

/// Returns the view of a depth camera: the nearest point in each pixel, moved to the middle
/// of it. Pixels may be taller than wide, like those of a LiDAR; and the camera may see all
/// around, being six of them then.
fn visible(kind: Kind, seed: u64, random: &mut SplitMix64) -> Vec<[f32; 3]> {
    let cloud = generate(kind, 40_000 + random.below(120_000) as usize, seed);
    let mut any = || cloud[random.below(cloud.len() as u64) as usize];
    // Halfway between two points, at one of them, or beyond it.
    let (a, b, far) = (any(), any(), [0.5, 1.0, 2.0][random.below(3) as usize]);
    let eye: [f32; 3] = std::array::from_fn(|axis| a[axis] + far * (b[axis] - a[axis]));
    let pixel_width = 0.002 + 0.008 * random.unit() as f32;
    let size = [
        pixel_width,
        pixel_width,
        pixel_width * [1.0, 1.0, 2.0, 4.0, 8.0][random.below(5) as usize],
    ];
    let all_around = random.below(2) == 0;
    let mut pixels = BTreeMap::new();
    for point in &cloud {
        let off: [f32; 3] = std::array::from_fn(|axis| point[axis] - eye[axis]);
        let facing = (1..3).fold(0, |a, b| if off[b].abs() > off[a].abs() { b } else { a });
        let depth = off[facing].abs();
        if depth == 0.0 || !(all_around || facing == 0 && off[0] > 0.0) {
            continue;
        }
        let pixel = [0, 1, 2].map(|axis| (off[axis] / depth / size[axis]).floor());
        let middle = |axis| eye[axis] + (pixel[axis] + 0.5) * size[axis] * depth;
        let moved: [f32; 3] =
            std::array::from_fn(|axis| if axis == facing { point[axis] } else { middle(axis) });
        let nearest = pixels.entry((facing, pixel.map(|x| x as i32))).or_insert((depth, moved));
        if depth < nearest.0 {
            *nearest = (depth, moved);
        }
    }
    pixels.into_values().map(|(_, point)| point).collect()
}

/// Returns other shapes of the same kind: stretched, cut, thinned by a grid or at random. Each change is
/// made to one cloud in `one_in`; three times as many are stretched.
fn changed(
    mut cloud: Vec<[f32; 3]>,
    one_in: u64,
    seed: u64,
    random: &mut SplitMix64,
) -> Vec<[f32; 3]> {
    if cloud.len() < 3000 {
        return cloud;
    }
    if random.below(one_in) < 3 {
        let stretch: [f32; 3] = std::array::from_fn(|_| (0.4 + 0.6 * random.unit()) as f32);
        cloud.iter_mut().for_each(|p| (0..3).for_each(|a| p[a] *= stretch[a]));
    }
    if random.below(one_in) == 0 {
        cut(&mut cloud, random);
    }
    if random.below(one_in) == 0 {
        thin(&mut cloud, Method::Grid { keep: Keep::First }, random);
    }
    if random.below(2 * one_in) == 0 {
        thin(&mut cloud, Method::Random { seed }, random);
    }
    cloud
}

/// Keeps the points in a ball around one of them: half of all, or more.
fn cut(cloud: &mut Vec<[f32; 3]>, random: &mut SplitMix64) {
    let points = cloud.len() as u64;
    let center = cloud[random.below(points) as usize];
    let far = |p: &[f32; 3]| (0..3).map(|a| (p[a] - center[a]).powi(2)).sum::<f32>();
    let mut sorted: Vec<f32> = cloud.iter().map(far).collect();
    sorted.sort_by(f32::total_cmp);
    let reach = sorted[(points / 2 + random.below(points / 2)) as usize];
    cloud.retain(|p| far(p) <= reach);
}

/// Keeps three to nine tenths of the points.
fn thin(cloud: &mut Vec<[f32; 3]>, method: Method, random: &mut SplitMix64) {
    let sampler = ApproximateSampler::ratio(method, 0.3 + 0.6 * random.unit());
    let kept = sampler.sample(cloud).expect("generated clouds can be sampled").indices;
    *cloud = kept.into_iter().map(|row| cloud[row]).collect();
}
