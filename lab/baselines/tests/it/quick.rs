//! QuickFPS is exact: `reference`, index by index and distance by distance.

use super::{clouds, integers, job, starts};
use farpoint::{Sampler, Scalar};
use farpoint_baselines::{Job, Method};
use farpoint_generate::{Kind, generate};

const HEIGHTS: [Option<u32>; 5] = [None, Some(0), Some(1), Some(3), Some(20)];

#[test]
fn quick_is_the_reference_from_any_start() {
    for (name, cloud) in clouds() {
        for (start, points) in starts(cloud.len()) {
            for height in HEIGHTS {
                for count in [points.len(), cloud.len().div_ceil(3).max(points.len()), cloud.len()]
                {
                    let exact = Sampler::count(count).start(start.clone());
                    let expected =
                        exact.algorithm(farpoint::Algorithm::Reference).sample(&cloud).unwrap();
                    let job = Job { start: start.clone(), ..job(Method::Quick { height }, count) };
                    let found = farpoint_baselines::sample(&job, &cloud).unwrap();
                    assert_eq!(found.indices, expected.indices, "{name}, {start:?}, {height:?}");
                    let (covering, distances) = found.squared_distances.split_last().unwrap();
                    assert_eq!(distances, expected.squared_distances, "{name}");
                    assert_eq!(*covering, expected.squared_covering_radius, "{name}");
                }
            }
        }
    }
}

#[test]
fn any_number_of_axes_in_either_precision() {
    fn check<T: Scalar, const D: usize>(rows: Vec<[T; D]>) {
        let expected = farpoint::reference(&rows, 300, 0).unwrap();
        for height in HEIGHTS {
            let found =
                farpoint_baselines::sample(&job(Method::Quick { height }, 300), &rows).unwrap();
            assert_eq!(found.indices, expected.indices, "{D} axes");
        }
    }
    fn both<const D: usize>() {
        let rows = integers::<D>(700, 4, 3);
        check(rows.iter().map(|row| row.map(|x| x as f32)).collect());
        check(rows);
    }
    both::<1>();
    both::<2>();
    both::<5>();
    both::<40>();
    check(generate(Kind::Lidar, 5000, 2));
}
