//! Small things: on tables, on the floor, on walls and under the ceiling.

use super::interior::{Finish, Interior};
use super::materials::{METALS, class, finish};
use farpoint_generate::parts::{Random, Vector as V};
use std::f64::consts::TAU;

const THINGS: [[u8; 3]; 9] = [
    [40, 40, 44],
    [198, 164, 120],
    [230, 230, 228],
    [170, 40, 40],
    [40, 80, 150],
    [210, 180, 60],
    [70, 120, 80],
    [120, 120, 124],
    [150, 90, 60],
];

fn random_finish(random: &mut Random) -> Finish {
    finish(class::CLUTTER, &THINGS, 9.0, random)
}

/// Adds a screen and a keyboard on a desk about the frame's axis, the wall behind it at -y.
pub(super) fn screen(room: &mut Interior, random: &mut Random) {
    if random.below(4) == 0 {
        return;
    }
    let dark = finish(class::CLUTTER, &[[32, 32, 36], [60, 60, 64], [200, 200, 204]], 6.0, random);
    let x = random.between(-0.2, 0.2);
    room.centered(dark, V(x, -0.15, 0.86), V(random.between(0.42, 0.65), 0.04, 0.36));
    room.add(dark, |b| {
        b.cylinder(V(x, -0.15, 0.755), 0.025, 0.12);
        b.centered(V(x, -0.15, 0.75), V(0.24, 0.18, 0.015));
        b.centered(V(x, 0.12, 0.75), V(0.44, 0.14, 0.025));
        b.ball(V(x + 0.32, 0.12, 0.77), 0.035, 0.02);
    });
}

/// Adds a few things on a table top of this size and height; leaves the frame where the last one stands.
pub(super) fn on_table(
    room: &mut Interior,
    at: (f64, f64),
    size: (f64, f64),
    height: f64,
    random: &mut Random,
) {
    let (_, turn) = room.builder.frame();
    for _ in 0..random.below(5) {
        let (x, y) = (size.0 * random.between(-0.42, 0.42), size.1 * random.between(-0.4, 0.4));
        let (x, y) = (at.0 + turn.0 * x - turn.1 * y, at.1 + turn.1 * x + turn.0 * y);
        room.builder.stand(x, y, height, TAU * random.unit());
        let material = random_finish(random);
        match random.below(5) {
            0 => room.add(material, |b| b.cylinder(V(0.0, 0.0, 0.0), 0.04, 0.1)),
            1 => room.add(material, |b| b.centered(V(0.0, 0.0, 0.0), V(0.3, 0.22, 0.05))),
            2 => room.add(material, |b| b.vase(V(0.0, 0.0, 0.0), 0.06, 0.22)),
            3 => room.add(material, |b| {
                b.centered(V(0.0, 0.0, 0.0), V(0.34, 0.24, 0.02));
                b.patch(V(-0.17, 0.12, 0.02), V(0.34, 0.0, 0.0), V(0.0, 0.07, 0.21), &[]);
            }),
            _ => room.add(material, |b| b.ball(V(0.0, 0.0, 0.08), 0.08, 0.08)),
        }
    }
}

/// Adds a box, bin, plant, lamp or bag somewhere on the floor.
pub(super) fn on_floor(room: &mut Interior, random: &mut Random) {
    let Some((x, y)) = room.somewhere((0.5, 0.5), random) else { return };
    room.builder.stand(x, y, 0.0, TAU * random.unit());
    let material = random_finish(random);
    match random.below(5) {
        0 => {
            let size =
                V(random.between(0.2, 0.4), random.between(0.2, 0.36), random.between(0.15, 0.5));
            room.centered(material, V(0.0, 0.0, 0.0), size);
        }
        1 => room.add(material, |b| {
            b.cone(V(0.0, 0.0, 0.0), [0.12, 0.16], 0.35);
            b.disc(V(0.0, 0.0, 0.02), 0.12);
        }),
        2 => plant(room, material, random),
        3 => {
            room.add(material, |b| {
                b.cylinder(V(0.0, 0.0, 0.0), 0.14, 0.03);
                b.cylinder(V(0.0, 0.0, 0.03), 0.014, 1.45);
                b.cone(V(0.0, 0.0, 1.45), [0.22, 0.14], 0.28);
            });
        }
        _ => room.add(material, |b| b.ball(V(0.0, 0.0, 0.2), 0.2, 0.2)),
    }
}

fn plant(room: &mut Interior, pot: Finish, random: &mut Random) {
    let tall = random.between(0.7, 1.5);
    let green = finish(class::CLUTTER, &[[60, 104, 52], [88, 124, 60], [44, 84, 50]], 16.0, random);
    room.add(pot, |b| {
        b.cone(V(0.0, 0.0, 0.0), [0.14, 0.2], 0.34);
        b.disc(V(0.0, 0.0, 0.3), 0.19);
    });
    let leaves: Vec<_> = (0..22)
        .map(|_| (random.direction(), random.between(0.05, 0.12)))
        .map(|(d, size)| (V(d.0 * 0.24, d.1 * 0.24, tall - 0.25 + d.2 * 0.3), size))
        .collect();
    room.add(green, |b| {
        b.cylinder(V(0.0, 0.0, 0.3), 0.018, tall - 0.55);
        leaves.into_iter().for_each(|(at, size)| b.ball(at, size, 0.02));
    });
}

/// Adds radiators, posters, boxes and pipes on walls.
pub(super) fn on_walls(room: &mut Interior, random: &mut Random) {
    for _ in 0..2 + random.below(4) {
        let wall = random.below(4);
        match random.below(3) {
            0 => radiator(room, wall, random),
            1 => {
                let (wide, tall) = (random.between(0.25, 0.7), random.between(0.3, 0.9));
                let low = random.between(1.2, 1.5);
                if room.against(wall, wide, 0.0, (low, low + tall), random).is_some() {
                    room.solid(random_finish(random), V(0.0, 0.0, low), V(wide, 0.02, tall));
                }
            }
            _ => {
                // A switch box, or an extinguisher.
                if room.against(wall, 0.3, 0.0, (0.6, 1.4), random).is_some() {
                    let material = random_finish(random);
                    room.add(material, |b| b.cylinder(V(0.15, 0.1, 0.7), 0.08, 0.5));
                }
            }
        }
    }
}

fn radiator(room: &mut Interior, wall: usize, random: &mut Random) {
    let wide = random.between(0.7, 1.6);
    if room.against(wall, wide, 0.14, (0.1, 0.48), random).is_none() {
        return;
    }
    let white = finish(class::CLUTTER, &[[226, 224, 218], [200, 198, 192]], 5.0, random);
    room.hide(V(0.0, 0.04, 0.12), V(wide, 0.05, 0.36));
    room.add(white, |b| {
        for k in 0..(wide / 0.09) as usize {
            b.block(V(k as f64 * 0.09, 0.03, 0.12), V(0.05, 0.08, 0.36));
        }
    });
}

/// Adds lamps under the ceiling: panels, or globes that hang.
pub(super) fn lights(room: &mut Interior, random: &mut Random) {
    let V(x, y, z) = room.size;
    let (across, along) = ((x / 2.4) as usize + 1, (y / 2.6) as usize + 1);
    let light = finish(class::CLUTTER, &[[250, 250, 244], [236, 230, 206]], 4.0, random);
    let metal = finish(class::CLUTTER, &METALS, 5.0, random);
    let hanging = random.below(4) == 0;
    for k in 0..across * along {
        let at = |part: usize, parts: usize| (part as f64 + 0.5) / parts as f64;
        let (x, y) = (x * at(k % across, across), y * at(k / across, along));
        room.builder.stand(x, y, z, 0.0);
        if hanging {
            room.add(metal, |b| b.cylinder(V(0.0, 0.0, -0.6), 0.008, 0.6));
            room.add(light, |b| b.ball(V(0.0, 0.0, -0.72), 0.15, 0.13));
        } else {
            room.solid(light, V(-0.6, -0.15, -0.07), V(1.2, 0.3, 0.07));
        }
    }
}
