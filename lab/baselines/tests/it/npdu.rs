//! NPDU: the straightforward loop with a window, from any start.

use super::{clouds, farthest, from, morton, sample, squared, starts};
use farpoint::{Start, reference};
use farpoint_baselines::{Method, Order};
use farpoint_generate::{Kind, generate};

const ORDERS: [Order; 3] = [Order::Input, Order::Morton, Order::Neighbors];

fn npdu_reference(
    cloud: &[[f32; 3]],
    count: usize,
    window: Option<usize>,
    order: Order,
    starts: &[usize],
) -> Vec<usize> {
    let n = cloud.len();
    let window = window.unwrap_or((16 * n).div_ceil(count)).min(n);
    let order_of = match order {
        Order::Morton => morton::order(cloud, 21),
        _ => (0..n).collect(),
    };
    let mut distance = vec![Some(f32::INFINITY); n];
    let mut chosen = Vec::new();
    while chosen.len() < count {
        let next_start = starts.get(chosen.len()).copied();
        let next = next_start.unwrap_or_else(|| farthest(&distance));
        let position = order_of.iter().position(|&k| k == next).unwrap();
        let start = position.saturating_sub(window / 2).min(n - window);
        let mut near = match (chosen.len(), order) {
            (0, _) => (0..n).collect(),
            (_, Order::Neighbors) => {
                let mut all: Vec<usize> = (0..n).collect();
                all.sort_by(|&a, &b| {
                    let far = |k: usize| squared(&cloud[k], &cloud[next]);
                    far(a).total_cmp(&far(b)).then(a.cmp(&b))
                });
                all.truncate(window);
                all
            }
            _ => order_of[start..start + window].to_vec(),
        };
        distance[next] = None;
        chosen.push(next);
        near.retain(|&k| distance[k].is_some());
        for k in near {
            distance[k] = distance[k].map(|d| d.min(squared(&cloud[k], &cloud[next])));
        }
    }
    chosen
}

#[test]
fn npdu_matches_a_straightforward_loop_with_a_window() {
    for (name, cloud) in clouds().into_iter().filter(|(name, _)| name != "huge") {
        for order in ORDERS {
            for window in [None, Some(1), Some(2), Some(9), Some(1 << 20)] {
                for count in [1, cloud.len().div_ceil(4), cloud.len()] {
                    let method = Method::Npdu { window, order };
                    let found = sample(method, count, &cloud);
                    let expected = npdu_reference(&cloud, count, window, order, &[0]);
                    assert_eq!(found.indices, expected, "{name}, {count}, {method:?}");
                }
            }
        }
    }
}

#[test]
fn npdu_with_a_window_of_all_points_is_exact() {
    let cloud = generate(Kind::Lidar, 3000, 2);
    for order in ORDERS {
        let method = Method::Npdu { window: Some(3000), order };
        let found = sample(method, 700, &cloud);
        assert_eq!(found.indices, reference(&cloud, 700, 0).unwrap().indices);
    }
}

#[test]
fn npdu_starts_at_the_requested_points() {
    for (name, cloud) in clouds().into_iter().filter(|(name, _)| name != "huge") {
        let n = cloud.len();
        for (start, points) in starts(n) {
            for (order, window) in ORDERS.into_iter().zip([Some(9), None, None]) {
                for count in [points.len(), n.div_ceil(4).max(points.len()), n] {
                    let method = Method::Npdu { window, order };
                    let found = from(method, count, &start, &cloud).indices;
                    let expected = npdu_reference(&cloud, count, window, order, &points);
                    assert_eq!(found, expected, "{name}, {count}, {start:?}, {method:?}");
                }
            }
        }
    }
}

#[test]
fn a_sample_continues_from_its_prefix() {
    let cloud = generate(Kind::Room, 2000, 5);
    for order in ORDERS {
        let method = Method::Npdu { window: Some(30), order };
        let full_sample = sample(method, 500, &cloud).indices;
        let beginning = Start::Indices(full_sample[..200].to_vec());
        assert_eq!(from(method, 500, &beginning, &cloud).indices, full_sample);
    }
}
