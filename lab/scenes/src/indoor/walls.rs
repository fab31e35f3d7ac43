//! Fixtures of walls: doors, windows, boards.

use super::interior::{Finish, Interior};
use super::materials::{METALS, WOODS, class, finish};
use farpoint_generate::parts::{Random, Vector as V};

/// Style shared by the doors of a room.
pub(super) struct DoorStyle {
    leaf: Finish,
    frame: Finish,
    metal: Finish,
    size: (f64, f64),
}

impl DoorStyle {
    pub(super) fn new(random: &mut Random) -> Self {
        let leaf = finish(class::DOOR, &WOODS, 7.0, random);
        let frame =
            finish(class::DOOR, &[[90, 92, 96], [200, 196, 186], [110, 80, 56]], 5.0, random);
        let metal = finish(class::DOOR, &METALS, 5.0, random);
        Self { leaf, frame, metal, size: (random.between(0.8, 1.05), random.between(2.0, 2.2)) }
    }
}

/// Adds a door that is shut, ajar or open.
pub(super) fn door(room: &mut Interior, wall: usize, style: &DoorStyle, random: &mut Random) {
    let (wide, tall) = style.size;
    let heights = (0.0, tall + 0.06);
    let Some(from) = room.against(wall, wide + 0.12, 0.9, heights, random) else { return };
    room.cut(wall, [from + 0.06, from + 0.06 + wide, 0.0, tall]);
    // A frame of three boards that stands out a little.
    for (x, z, size) in [
        (0.0, 0.0, V(0.06, 0.1, tall)),
        (wide + 0.06, 0.0, V(0.06, 0.1, tall)),
        (0.0, tall, V(wide + 0.12, 0.1, 0.06)),
    ] {
        room.solid(style.frame, V(x, -0.08, z), size);
    }
    let (origin, _) = room.builder.frame();
    let angle = match random.below(3) {
        0 => random.between(0.3, 1.5),
        _ => 0.0,
    };
    // Turned about its hinge, on the left.
    let ((ax, ay), (ix, iy)) = Interior::directions(wall);
    let (x, y) = (origin.0 + 0.06 * ax - 0.05 * ix, origin.1 + 0.06 * ay - 0.05 * iy);
    room.builder.stand(x, y, 0.0, room.walls[wall].angle + angle);
    room.solid(style.leaf, V(0.0, -0.02, 0.01), V(wide, 0.045, tall - 0.02));
    room.add(style.metal, |b| {
        b.block(V(wide - 0.12, 0.025, 1.02), V(0.1, 0.045, 0.02));
        b.block(V(wide - 0.1, -0.06, 1.02), V(0.1, 0.04, 0.02));
    });
}

/// Style shared by the windows of a room.
pub(super) struct WindowStyle {
    frame: Finish,
    glass: Finish,
    size: V,
    sill: f64,
    blinds: bool,
}

impl WindowStyle {
    pub(super) fn new(room: &Interior, random: &mut Random) -> Self {
        let frame =
            finish(class::WINDOW, &[[224, 224, 222], [96, 98, 102], [128, 92, 60]], 5.0, random);
        let glass = finish(
            class::WINDOW,
            &[[170, 196, 214], [88, 104, 118], [206, 218, 226]],
            18.0,
            random,
        );
        let sill = random.between(0.5, 1.1);
        let tall = (room.size.2 - sill - 0.25).min(random.between(1.0, 1.9));
        let size = V(random.between(0.9, 2.2), 0.12, tall);
        Self { frame, glass, size, sill, blinds: random.below(3) == 0 }
    }
}

/// Adds a window in a reveal, with a frame, a bar and perhaps blinds.
pub(super) fn window(room: &mut Interior, wall: usize, style: &WindowStyle, random: &mut Random) {
    let (V(wide, deep, tall), sill) = (style.size, style.sill);
    let heights = (sill, sill + tall);
    let Some(from) = room.against(wall, wide, 0.0, heights, random) else { return };
    room.cut(wall, [from, from + wide, sill, sill + tall]);
    let low = V(0.0, -deep, sill);
    room.add(style.glass, |b| b.patch(low, V(wide, 0.0, 0.0), V(0.0, 0.0, tall), &[]));
    let bar = 0.05;
    let mut bars = vec![
        (low, V(wide, deep, bar)),
        (low + V(0.0, 0.0, tall - bar), V(wide, deep, bar)),
        (low, V(bar, deep, tall)),
        (low + V(wide - bar, 0.0, 0.0), V(bar, deep, tall)),
        (low + V(0.0, 0.0, tall * 0.68), V(wide, 0.05, bar)),
    ];
    if wide > 1.3 {
        bars.push((low + V((wide - bar) / 2.0, 0.0, 0.0), V(bar, 0.05, tall)));
    }
    room.add(style.frame, |b| bars.into_iter().for_each(|(low, size)| b.block(low, size)));
    if style.blinds {
        let drawn = tall * random.between(0.2, 0.8);
        let slats = (drawn / 0.05) as usize;
        room.add(style.frame, |b| {
            for k in 0..slats {
                let z = sill + tall - 0.05 * (k as f64 + 1.0);
                b.patch(V(0.03, -0.05, z), V(wide - 0.06, 0.0, 0.0), V(0.0, 0.02, 0.03), &[]);
            }
        });
    }
}

/// Adds a white, green or cork board with a rim and a tray.
pub(super) fn board(room: &mut Interior, wall: usize, random: &mut Random) {
    let (wide, tall) = (random.between(1.0, 3.2), random.between(0.8, 1.25));
    let low = random.between(0.75, 1.05);
    if room.against(wall, wide, 0.0, (low, low + tall), random).is_none() {
        return;
    }
    let colors = [[240, 242, 244], [232, 234, 236], [52, 88, 70], [44, 46, 48], [176, 138, 92]];
    let face = finish(class::BOARD, &colors, 5.0, random);
    let rim = finish(class::BOARD, &METALS, 5.0, random);
    let thick = random.between(0.015, 0.05);
    room.solid(face, V(0.02, 0.0, low + 0.02), V(wide - 0.04, thick, tall - 0.04));
    for (x, z, size) in [
        (0.0, low, V(wide, thick + 0.01, 0.025)),
        (0.0, low + tall - 0.025, V(wide, thick + 0.01, 0.025)),
        (0.0, low, V(0.025, thick + 0.01, tall)),
        (wide - 0.025, low, V(0.025, thick + 0.01, tall)),
    ] {
        room.add(rim, |b| b.block(V(x, 0.0, z), size));
    }
    room.add(rim, |b| b.block(V(0.2 * wide, thick, low - 0.02), V(0.6 * wide, 0.07, 0.02)));
}
