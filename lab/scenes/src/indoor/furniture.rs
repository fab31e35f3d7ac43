//! Chairs, tables, bookcases and sofas.

use super::clutter;
use super::interior::{Finish, Interior};
use super::materials::{FABRICS, METALS, WOODS, class, finish, one_of};
use farpoint_generate::parts::{Random, Vector as V};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Finishes shared by most pieces of a room.
pub(super) struct Sets {
    chair: Chair,
    top: Finish,
    legs: Finish,
    case: Finish,
}

struct Chair {
    seat: Finish,
    frame: Finish,
    swivel: bool,
    arms: bool,
    height: f64,
    wide: f64,
}

impl Sets {
    pub(super) fn new(random: &mut Random) -> Self {
        let colors: &[_] = if random.below(3) == 0 { &WOODS } else { &FABRICS };
        let chair = Chair {
            seat: finish(class::CHAIR, colors, 8.0, random),
            frame: finish(class::CHAIR, &METALS, 6.0, random),
            swivel: random.below(2) == 0,
            arms: random.below(2) == 0,
            height: random.between(0.42, 0.5),
            wide: random.between(0.42, 0.52),
        };
        Self {
            chair,
            top: finish(class::TABLE, &WOODS, 6.0, random),
            legs: finish(class::TABLE, &METALS, 6.0, random),
            case: finish(class::BOOKCASE, &WOODS, 6.0, random),
        }
    }
}

/// Adds a chair at a place, its back at -y before it is turned.
fn chair(room: &mut Interior, sets: &Sets, x: f64, y: f64, angle: f64) {
    let Chair { seat, frame, swivel, arms, height, wide } = sets.chair;
    room.builder.stand(x, y, 0.0, angle);
    room.centered(seat, V(0.0, 0.0, height - 0.05), V(wide, wide, 0.06));
    let back = V(0.0, -wide / 2.0 + 0.02, height + 0.12);
    room.centered(seat, back, V(wide - 0.03, 0.04, 0.42));
    let side = wide / 2.0 - 0.03;
    room.add(frame, |b| {
        for x in [-side, side] {
            b.cylinder(V(x, -wide / 2.0 + 0.02, height), 0.013, 0.3);
        }
    });
    if arms {
        for x in [-side - 0.02, side + 0.02] {
            room.add(frame, |b| {
                b.centered(V(x, 0.0, height + 0.2), V(0.05, 0.28, 0.03));
                b.centered(V(x, 0.08, height), V(0.03, 0.03, 0.2));
            });
        }
    }
    if !swivel {
        return room.add(frame, |b| legs(b, (side, side), 0.014, height - 0.05));
    }
    room.add(frame, |b| b.cylinder(V(0.0, 0.0, 0.1), 0.03, height - 0.15));
    for k in 0..5 {
        room.builder.stand(x, y, 0.0, angle + TAU * f64::from(k) / 5.0);
        room.add(frame, |b| {
            b.block(V(0.0, -0.02, 0.07), V(0.3, 0.04, 0.03));
            b.ball(V(0.28, 0.0, 0.035), 0.03, 0.03);
        });
    }
}

fn legs(b: &mut farpoint_generate::parts::Builder, half: (f64, f64), radius: f64, height: f64) {
    for (x, y) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        b.cylinder(V(x * half.0, y * half.1, 0.0), radius, height);
    }
}

/// Adds a table about the frame's axis.
fn table(room: &mut Interior, sets: &Sets, wide: f64, deep: f64, height: f64, panels: bool) {
    room.centered(sets.top, V(0.0, 0.0, height - 0.03), V(wide, deep, 0.035));
    if panels {
        for x in [-wide / 2.0 + 0.06, wide / 2.0 - 0.06] {
            room.centered(sets.top, V(x, 0.0, 0.0), V(0.03, deep * 0.85, height - 0.03));
        }
    } else {
        let half = (wide / 2.0 - 0.06, deep / 2.0 - 0.06);
        room.add(sets.legs, |b| legs(b, half, 0.025, height - 0.03));
    }
}

fn stand(room: &mut Interior, at: (f64, f64), angle: f64) {
    room.builder.stand(at.0, at.1, 0.0, angle);
}

/// Adds a long or round table in the middle, with chairs around.
pub(super) fn meeting(room: &mut Interior, sets: &Sets, random: &mut Random) {
    let (x, y) = (room.size.0, room.size.1);
    if random.below(4) == 0 {
        let radius = random.between(0.5, 0.8);
        let Some(at) = room.somewhere((2.0 * radius + 1.6, 2.0 * radius + 1.6), random) else {
            return;
        };
        round(room, sets, at, radius, random);
        for k in 0..4 + random.below(3) {
            let angle = TAU * k as f64 / 6.0 + random.between(-0.1, 0.1);
            let (c, s) = (libm::cos(angle), libm::sin(angle));
            let far = radius + random.between(0.15, 0.4);
            chair(room, sets, at.0 + far * c, at.1 + far * s, angle + FRAC_PI_2);
        }
        return;
    }
    let (wide, deep) = (random.between(1.8, (x - 2.2).clamp(1.9, 5.0)), random.between(0.9, 1.4));
    let wide = wide.min(x - 2.0);
    let Some(at) = room.somewhere((wide + 1.6, (deep + 1.6).min(y)), random) else { return };
    stand(room, at, 0.0);
    table(room, sets, wide, deep, random.between(0.7, 0.76), random.below(2) == 0);
    clutter::on_table(room, at, (wide, deep), 0.77, random);
    let seats = (wide / 0.75) as usize;
    for k in 0..seats {
        let along = at.0 + wide * ((k as f64 + 0.5) / seats as f64 - 0.5);
        for (side, turn) in [(-1.0, 0.0), (1.0, PI)] {
            if random.below(6) > 0 {
                let away = side * (deep / 2.0 + random.between(0.05, 0.35));
                chair(room, sets, along, at.1 + away, turn + random.between(-0.4, 0.4));
            }
        }
    }
}

fn round(room: &mut Interior, sets: &Sets, at: (f64, f64), radius: f64, random: &mut Random) {
    stand(room, at, 0.0);
    let height = random.between(0.68, 0.76);
    room.add(sets.top, |b| b.cylinder(V(0.0, 0.0, height - 0.03), radius, 0.03));
    let inner = 1.3 * radius;
    room.hide(V(-inner / 2.0, -inner / 2.0, height - 0.03), V(inner, inner, 0.03));
    room.add(sets.legs, |b| {
        b.cylinder(V(0.0, 0.0, 0.0), 0.04, height - 0.03);
        b.cylinder(V(0.0, 0.0, 0.0), 0.3, 0.02);
    });
    clutter::on_table(room, at, (radius, radius), height, random);
}

/// Adds rows of small tables, a chair behind each.
pub(super) fn rows(room: &mut Interior, sets: &Sets, random: &mut Random) {
    let (wide, deep) = (random.between(0.7, 1.5), random.between(0.45, 0.6));
    let (step_x, step_y) = (wide + random.between(0.2, 0.6), deep + random.between(0.9, 1.2));
    let panels = random.below(2) == 0;
    let mut y = 1.0;
    while y + step_y < room.size.1 - 1.0 {
        let mut x = 0.8;
        while x + wide < room.size.0 - 0.6 {
            let free = room.claim([x, y, x + wide, y + deep + 0.75]);
            if free && random.below(12) > 0 {
                let at = (x + wide / 2.0, y + 0.75 + deep / 2.0);
                stand(room, at, 0.0);
                table(room, sets, wide, deep, 0.73, panels);
                let back = at.1 - deep / 2.0 - random.between(-0.1, 0.35);
                let seats = if wide > 1.15 { 2 } else { 1 };
                for k in 0..seats {
                    let off = wide * ((f64::from(k) + 0.5) / f64::from(seats) - 0.5);
                    chair(room, sets, at.0 + off, back, random.between(-0.4, 0.4));
                }
                if random.below(3) == 0 {
                    clutter::on_table(room, at, (wide, deep), 0.74, random);
                }
            }
            x += step_x;
        }
        y += step_y;
    }
}

/// Adds a desk at a wall, with its chair and what lies on it.
pub(super) fn desk(room: &mut Interior, sets: &Sets, random: &mut Random) {
    let (wide, deep) = (random.between(1.1, 1.9), random.between(0.6, 0.85));
    let heights = (0.0, 0.8);
    let Some(wall) = room.against_any(wide, deep + 0.75, heights, random) else { return };
    let (origin, _) = room.builder.frame();
    let angle = room.walls[wall].angle;
    let ((ax, ay), (ix, iy)) = Interior::directions(wall);
    let place = |x: f64, y: f64| (origin.0 + ax * x + ix * y, origin.1 + ay * x + iy * y);
    let at = place(wide / 2.0, deep / 2.0 + 0.04);
    stand(room, at, angle);
    table(room, sets, wide, deep, 0.74, random.below(2) == 0);
    if random.below(2) == 0 {
        room.centered(sets.top, V(-wide / 2.0 + 0.3, 0.0, 0.1), V(0.42, deep - 0.1, 0.58));
    }
    clutter::screen(room, random);
    clutter::on_table(room, at, (wide, deep), 0.75, random);
    let (x, y) = place(wide * random.between(0.35, 0.65), deep + random.between(0.15, 0.5));
    chair(room, sets, x, y, angle + PI + random.between(-0.6, 0.6));
}

/// Adds a low table somewhere.
pub(super) fn low_table(room: &mut Interior, sets: &Sets, random: &mut Random) {
    let (wide, deep) = (random.between(0.7, 1.2), random.between(0.5, 0.8));
    let Some(at) = room.somewhere((wide + 0.2, deep + 0.2), random) else { return };
    stand(room, at, 0.0);
    table(room, sets, wide, deep, random.between(0.38, 0.5), random.below(2) == 0);
    clutter::on_table(room, at, (wide, deep), 0.5, random);
}

/// Adds a chair that stands alone.
pub(super) fn loose_chair(room: &mut Interior, sets: &Sets, random: &mut Random) {
    if let Some((x, y)) = room.somewhere((0.6, 0.6), random) {
        chair(room, sets, x, y, TAU * random.unit());
    }
}

/// Adds shelves at a wall, more or less full.
pub(super) fn bookcase(room: &mut Interior, sets: &Sets, random: &mut Random) {
    let (units, unit) = (1 + random.below(3), random.between(0.7, 1.0));
    let (deep, tall) = (random.between(0.26, 0.4), random.between(1.1, 2.2));
    let wide = units as f64 * unit;
    if room.against_any(wide, deep + 0.1, (0.0, tall), random).is_none() {
        return;
    }
    let case = sets.case;
    room.solid(case, V(0.0, 0.0, 0.0), V(wide, 0.02, tall));
    for k in 0..=units {
        let x = (k as f64 * unit).min(wide - 0.025);
        room.solid(case, V(x, 0.0, 0.0), V(0.025, deep, tall));
    }
    let shelves = (tall / 0.36) as usize;
    for shelf in 0..=shelves {
        let z = (tall - 0.03) * shelf as f64 / shelves as f64;
        room.solid(case, V(0.0, 0.0, z), V(wide, deep, 0.025));
        if shelf < shelves {
            for k in 0..units {
                books(room, V(k as f64 * unit + 0.04, 0.03, z + 0.025), unit - 0.06, deep, random);
            }
        }
    }
}

const BOOKS: [[u8; 3]; 8] = [
    [150, 40, 36],
    [40, 70, 130],
    [50, 100, 60],
    [210, 190, 140],
    [230, 226, 216],
    [60, 50, 48],
    [190, 120, 50],
    [110, 110, 116],
];

/// Adds a row of books: their backs and tops, which is what a scanner sees.
fn books(room: &mut Interior, low: V, wide: f64, deep: f64, random: &mut Random) {
    let full = random.unit();
    let mut x = 0.0;
    while x < wide * full {
        let (thick, tall) = (random.between(0.025, 0.09), random.between(0.18, 0.29));
        let book = Finish::new(class::BOOKCASE, one_of(&BOOKS, random), 10.0);
        let thick = thick.min(wide - x);
        let far = random.between(0.55, 0.85) * deep;
        let (ex, ey, ez) = (V(thick, 0.0, 0.0), V(0.0, far, 0.0), V(0.0, 0.0, tall));
        let at = low + V(x, 0.0, 0.0);
        room.add(book, |b| {
            b.patch(at + ey, ex, ez, &[]);
            b.patch(at + ez, ex, ey, &[]);
        });
        x += thick + 0.004;
    }
}

/// Adds a sofa or an armchair at a wall.
pub(super) fn sofa(room: &mut Interior, random: &mut Random) {
    let (seats, seat) = (1 + random.below(3), random.between(0.6, 0.75));
    let (arm, deep) = (random.between(0.12, 0.22), random.between(0.8, 1.0));
    let (high, back) = (random.between(0.36, 0.45), random.between(0.7, 0.95));
    let wide = seats as f64 * seat + 2.0 * arm;
    if room.against_any(wide, deep + 0.15, (0.0, back), random).is_none() {
        return;
    }
    let cloth = finish(class::SOFA, &FABRICS, 9.0, random);
    let cushion = finish(class::SOFA, &FABRICS, 9.0, random);
    let y = 0.08;
    room.solid(cloth, V(0.0, y, 0.06), V(wide, deep, high - 0.16));
    room.solid(cloth, V(0.0, y, high - 0.1), V(wide, 0.22, back - high + 0.1));
    for x in [0.0, wide - arm] {
        room.solid(cloth, V(x, y, high - 0.1), V(arm, deep, 0.3));
    }
    for k in 0..seats {
        let x = arm + k as f64 * seat;
        room.solid(cloth, V(x + 0.01, y + 0.2, high - 0.1), V(seat - 0.02, deep - 0.2, 0.13));
        if random.below(2) == 0 {
            let at = V(x + seat * random.between(0.3, 0.7), y + 0.34, high + 0.18);
            room.add(cushion, |b| b.ball(at, 0.2, 0.16));
        }
    }
}
