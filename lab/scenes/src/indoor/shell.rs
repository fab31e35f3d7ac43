//! Floor, ceiling, walls with their holes, beams and columns.

use super::interior::Interior;
use super::materials::{class, finish};
use farpoint_generate::parts::{Random, Vector as V};

const PALE: [[u8; 3]; 5] =
    [[226, 222, 212], [206, 204, 198], [214, 206, 182], [190, 198, 204], [168, 160, 148]];
const FLOORS: [[u8; 3]; 6] =
    [[118, 112, 106], [86, 88, 96], [150, 128, 100], [164, 160, 152], [102, 74, 56], [70, 80, 84]];

/// Adds everything that stood before the furniture; called last, because the walls must know their holes.
pub(super) fn shell(room: &mut Interior, random: &mut Random) {
    let V(x, y, z) = room.size;
    let (ex, ey, ez) = (V(x, 0.0, 0.0), V(0.0, y, 0.0), V(0.0, 0.0, z));
    let floor = finish(class::FLOOR, &FLOORS, 9.0, random);
    let ceiling = finish(class::CEILING, &[[236, 234, 228], [214, 212, 206]], 5.0, random);
    room.builder.stand(0.0, 0.0, 0.0, 0.0);
    room.add(floor, |b| b.patch(V(0.0, 0.0, 0.0), ex, ey, &[]));
    room.add(ceiling, |b| b.patch(ez, ex, ey, &[]));
    let plain = finish(class::WALL, &PALE, 6.0, random);
    let accent =
        finish(class::WALL, &[[150, 96, 80], [110, 130, 150], [200, 190, 160]], 6.0, random);
    let accented = random.below(8);
    for wall in 0..4 {
        let length = room.walls[wall].length;
        let holes: Vec<_> = room.walls[wall]
            .holes
            .iter()
            .map(|h| [h[0] / length, h[1] / length, h[2] / z, h[3] / z])
            .collect();
        room.stand_at(wall);
        let painted = if wall == accented { accent } else { plain };
        room.add(painted, |b| b.patch(V(0.0, 0.0, 0.0), V(length, 0.0, 0.0), ez, &holes));
    }
    beams(room, random);
}

/// Adds beams under the ceiling, across the room.
fn beams(room: &mut Interior, random: &mut Random) {
    if random.below(4) == 0 {
        return;
    }
    let V(x, y, z) = room.size;
    let colors = [[214, 210, 200], [178, 176, 170], [122, 88, 60]];
    let beam = finish(class::BEAM, &colors, 6.0, random);
    let (wide, deep) = (random.between(0.18, 0.4), random.between(0.15, 0.45));
    let count = 1 + random.below(3);
    room.builder.stand(0.0, 0.0, 0.0, 0.0);
    for k in 0..count {
        let at = x * (k as f64 + 0.5) / count as f64 + random.between(-0.3, 0.3);
        room.solid(beam, V(at - wide / 2.0, 0.0, z - deep), V(wide, y, deep));
    }
    if random.below(3) == 0 {
        // One along a wall.
        room.solid(beam, V(0.0, 0.0, z - deep), V(x, wide, deep));
    }
}

/// Adds columns, most of them at the walls.
pub(super) fn columns(room: &mut Interior, random: &mut Random) {
    let count = random.below(4);
    let column = finish(class::COLUMN, &PALE, 6.0, random);
    let (round, wide) = (random.below(3) == 0, random.between(0.25, 0.55));
    let z = room.size.2;
    for _ in 0..count {
        if round {
            let Some((x, y)) = room.somewhere((wide, wide), random) else { continue };
            room.builder.stand(x, y, 0.0, 0.0);
            let inner = 0.7 * wide;
            room.hide(V(-inner / 2.0, -inner / 2.0, 0.0), V(inner, inner, z));
            room.add(column, |b| b.cone(V(0.0, 0.0, 0.0), [wide / 2.0, wide / 2.0], z));
        } else if room.against(random.below(4), wide, 0.6 * wide, (0.0, z), random).is_some() {
            room.solid(column, V(0.0, 0.0, 0.0), V(wide, 0.6 * wide, z));
        }
    }
}
