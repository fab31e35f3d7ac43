//! The room: walls with windows and a door, and furniture.

use super::shape::Builder;
use crate::random::Random;
use crate::vector::Vector as V;
use std::f64::consts::{FRAC_PI_2, PI};

/// Length, depth and height of the room, in meters.
const SIZE: V = V(10.0, 8.0, 3.0);

/// Builds the room; the seed moves chairs, books and leaves.
pub(super) fn room(random: &mut Random) -> Builder {
    let mut b = Builder::default();
    walls(&mut b);
    conference(&mut b, random);
    shelves(&mut b, random);
    desk(&mut b, random);
    sofa(&mut b, random);
    lights(&mut b);
    plants(&mut b, random);
    b
}

fn walls(b: &mut Builder) {
    let V(x, y, z) = SIZE;
    let (ex, ey, ez) = (V(x, 0.0, 0.0), V(0.0, y, 0.0), V(0.0, 0.0, z));
    let zero = V(0.0, 0.0, 0.0);
    b.patch(zero, ex, ey, &[]);
    b.patch(ez, ex, ey, &[]);
    b.patch(zero, ex, ez, &[]);
    // Three windows in the far wall, a door in the left one.
    let windows = [[0.08, 0.3, 0.3, 0.85], [0.39, 0.61, 0.3, 0.85], [0.7, 0.92, 0.3, 0.85]];
    b.patch(ey, ex, ez, &windows);
    b.patch(zero, ey, ez, &[[0.6, 0.72, 0.0, 0.7]]);
    b.patch(ex, ey, ez, &[]);
    for [low, high, sill, top] in windows {
        let (low, high, sill, top) = (low * x, high * x, sill * z, top * z);
        let (wide, tall, deep) =
            (V(high - low, 0.0, 0.0), V(0.0, 0.0, top - sill), V(0.0, 0.25, 0.0));
        b.patch(V(low, y, sill), wide, deep, &[]);
        b.patch(V(low, y, top), wide, deep, &[]);
        b.patch(V(low, y, sill), tall, deep, &[]);
        b.patch(V(high, y, sill), tall, deep, &[]);
        b.block(V((low + high) / 2.0 - 0.03, y + 0.1, sill), V(0.06, 0.05, top - sill));
        radiator(b, V(low + 0.3, y - 0.14, 0.12), wide.0 - 0.6);
    }
    // The door stands open.
    b.stand(0.0, 0.6 * y, 0.0, 0.35);
    b.block(V(0.0, 0.0, 0.01), V(0.96, 0.04, 2.08));
    b.ball(V(0.9, -0.05, 1.05), 0.03, 0.03);
    b.stand(0.0, 0.0, 0.0, 0.0);
    for (low, size) in [
        (V(0.0, 0.0, 0.0), V(x, 0.02, 0.1)),
        (V(0.0, y - 0.02, 0.0), V(x, 0.02, 0.1)),
        (V(x - 0.02, 0.0, 0.0), V(0.02, y, 0.1)),
    ] {
        b.block(low, size);
    }
    // A column, and a board on the right wall.
    b.cylinder(V(8.6, 1.3, 0.0), 0.22, z);
    b.block(V(x - 0.05, 2.6, 0.9), V(0.04, 2.8, 1.3));
}

fn radiator(b: &mut Builder, low: V, length: f64) {
    let fins = (length / 0.09) as usize;
    for k in 0..fins {
        b.block(low + V(k as f64 * 0.09, 0.0, 0.0), V(0.05, 0.09, 0.6));
    }
}

fn legs(b: &mut Builder, half: (f64, f64), radius: f64, height: f64) {
    for (x, y) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        b.cylinder(V(x * half.0, y * half.1, 0.0), radius, height);
    }
}

fn chair(b: &mut Builder, x: f64, y: f64, angle: f64) {
    b.stand(x, y, 0.0, angle);
    legs(b, (0.19, 0.19), 0.016, 0.43);
    b.centered(V(0.0, 0.0, 0.43), V(0.44, 0.44, 0.05));
    b.centered(V(0.0, -0.21, 0.55), V(0.42, 0.03, 0.38));
    b.cylinder(V(-0.19, -0.2, 0.48), 0.014, 0.45);
    b.cylinder(V(0.19, -0.2, 0.48), 0.014, 0.45);
}

fn conference(b: &mut Builder, random: &mut Random) {
    let (x, y) = (4.9, 3.9);
    b.stand(x, y, 0.0, 0.0);
    b.centered(V(0.0, 0.0, 0.72), V(3.2, 1.3, 0.04));
    legs(b, (1.45, 0.52), 0.04, 0.72);
    b.vase(V(0.15, 0.05, 0.76), 0.11, 0.34);
    b.ball(V(-0.75, 0.2, 0.87), 0.11, 0.11);
    for k in [-1.1, 0.55, 1.2] {
        b.stand(x + k, y - 0.32, 0.76, random.between(-0.4, 0.4));
        b.centered(V(0.0, 0.0, 0.0), V(0.33, 0.23, 0.018));
        b.patch(V(-0.165, 0.115, 0.018), V(0.33, 0.0, 0.0), V(0.0, 0.07, 0.21), &[]);
        b.cylinder(V(0.27, 0.1, 0.0), 0.037, 0.1);
    }
    for k in 0..4 {
        let along = x - 1.2 + 0.8 * f64::from(k);
        chair(b, along, y - random.between(0.75, 1.0), random.between(-0.35, 0.35));
        chair(b, along, y + random.between(0.75, 1.0), PI + random.between(-0.35, 0.35));
    }
    chair(b, x - 2.05, y, -FRAC_PI_2 + random.between(-0.3, 0.3));
    chair(b, x + 2.1, y + 0.1, FRAC_PI_2 + random.between(-0.3, 0.3));
}

fn shelves(b: &mut Builder, random: &mut Random) {
    for unit in 0..3 {
        b.stand(1.9 + 1.1 * f64::from(unit), 0.02, 0.0, 0.0);
        b.block(V(0.0, 0.0, 0.0), V(0.03, 0.34, 2.1));
        b.block(V(1.07, 0.0, 0.0), V(0.03, 0.34, 2.1));
        for board in 0..6 {
            let z = 0.06 + 0.4 * f64::from(board);
            b.block(V(0.03, 0.0, z), V(1.04, 0.34, 0.03));
            let mut x = 0.05;
            while board < 5 && x < 1.0 {
                let (wide, tall) = (random.between(0.02, 0.06), random.between(0.2, 0.32));
                if x + wide < 1.05 && random.unit() < 0.85 {
                    book(b, V(x, 0.02, z + 0.03), V(wide, random.between(0.18, 0.27), tall));
                }
                x += wide + 0.004;
            }
        }
    }
}

/// Adds the back and the top of a book in its row: a scanner sees no more.
fn book(b: &mut Builder, low: V, size: V) {
    let (x, y, z) = (V(size.0, 0.0, 0.0), V(0.0, size.1, 0.0), V(0.0, 0.0, size.2));
    b.patch(low + y, x, z, &[]);
    b.patch(low + z, x, y, &[]);
}

fn desk(b: &mut Builder, random: &mut Random) {
    b.stand(0.95, 1.7, 0.0, -FRAC_PI_2);
    b.centered(V(0.0, 0.0, 0.72), V(1.7, 0.8, 0.03));
    legs(b, (0.8, 0.35), 0.025, 0.72);
    b.centered(V(-0.55, 0.0, 0.1), V(0.42, 0.6, 0.55));
    b.centered(V(0.0, -0.2, 0.75), V(0.24, 0.18, 0.015));
    b.cylinder(V(0.0, -0.2, 0.76), 0.02, 0.22);
    b.centered(V(0.0, -0.18, 0.9), V(0.62, 0.03, 0.36));
    b.centered(V(0.0, 0.18, 0.75), V(0.44, 0.14, 0.02));
    b.ball(V(0.34, 0.18, 0.77), 0.035, 0.02);
    b.cylinder(V(-0.7, -0.25, 0.75), 0.08, 0.02);
    b.cylinder(V(-0.7, -0.25, 0.77), 0.012, 0.35);
    b.cone(V(-0.7, -0.25, 1.08), [0.14, 0.06], 0.14);
    chair(b, 1.75, 1.7, FRAC_PI_2 + random.between(-0.3, 0.3));
    b.stand(0.5, 2.95, 0.0, 0.0);
    b.cone(V(0.0, 0.0, 0.0), [0.12, 0.15], 0.32);
}

fn sofa(b: &mut Builder, random: &mut Random) {
    b.stand(9.35, 6.2, 0.0, FRAC_PI_2);
    b.centered(V(0.0, 0.0, 0.1), V(2.1, 0.9, 0.3));
    b.centered(V(0.0, -0.36, 0.4), V(2.1, 0.2, 0.42));
    b.centered(V(-0.98, 0.0, 0.4), V(0.18, 0.9, 0.2));
    b.centered(V(0.98, 0.0, 0.4), V(0.18, 0.9, 0.2));
    for k in [-0.45, 0.45] {
        b.centered(V(k, 0.08, 0.4), V(0.84, 0.68, 0.12));
        b.ball(V(k + random.between(-0.2, 0.2), -0.14, 0.66), 0.2, 0.17);
    }
    // A round table, a cup and a ball on the floor before it.
    b.stand(7.95, 6.25, 0.0, 0.0);
    b.cylinder(V(0.0, 0.0, 0.4), 0.42, 0.03);
    b.cylinder(V(0.0, 0.0, 0.0), 0.04, 0.4);
    b.cylinder(V(0.0, 0.0, 0.0), 0.24, 0.02);
    b.vase(V(0.12, -0.1, 0.43), 0.06, 0.2);
    b.ball(V(-0.3, -1.5, 0.3), 0.3, 0.3);
}

fn lights(b: &mut Builder) {
    for x in [3.9, 4.9, 5.9] {
        b.stand(x, 3.9, 0.0, 0.0);
        b.cylinder(V(0.0, 0.0, 1.95), 0.008, 1.05);
        b.ball(V(0.0, 0.0, 1.8), 0.17, 0.15);
    }
    b.stand(9.5, 4.7, 0.0, 0.0);
    b.cylinder(V(0.0, 0.0, 0.0), 0.16, 0.03);
    b.cylinder(V(0.0, 0.0, 0.03), 0.014, 1.5);
    b.cone(V(0.0, 0.0, 1.5), [0.24, 0.15], 0.28);
    b.stand(0.0, 0.0, 0.0, 0.0);
    for (x, y) in [(2.0, 2.0), (2.0, 6.0), (8.0, 2.0), (8.0, 6.0)] {
        b.block(V(x - 0.6, y - 0.15, 2.92), V(1.2, 0.3, 0.08));
    }
}

fn plants(b: &mut Builder, random: &mut Random) {
    for (x, y, tall) in [(0.55, 7.4, 1.5), (6.6, 0.5, 1.1), (9.4, 0.6, 1.7)] {
        b.stand(x, y, 0.0, 0.0);
        b.cone(V(0.0, 0.0, 0.0), [0.15, 0.22], 0.38);
        b.disc(V(0.0, 0.0, 0.34), 0.2);
        b.cylinder(V(0.0, 0.0, 0.34), 0.02, tall - 0.6);
        for _ in 0..28 {
            let d = random.direction();
            let center = V(d.0 * 0.3, d.1 * 0.3, tall - 0.2 + d.2 * 0.35);
            b.ball(center, random.between(0.05, 0.12), 0.02);
        }
    }
}
