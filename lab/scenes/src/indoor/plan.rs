//! Kind and furnishing of a room.

use super::interior::Interior;
use super::{clutter, furniture, shell, walls};
use farpoint_generate::parts::{Random, Vector as V};

#[derive(Clone, Copy, PartialEq)]
enum Use {
    Corridor,
    Office,
    Meeting,
    Lecture,
    Lounge,
}

/// Returns a furnished room.
pub(super) fn furnished(random: &mut Random) -> Interior {
    let uses = [Use::Corridor, Use::Office, Use::Office, Use::Meeting, Use::Lecture, Use::Lounge];
    let used_as = uses[random.below(uses.len())];
    let (x, y) = match used_as {
        Use::Corridor => (random.between(7.0, 12.0), random.between(2.0, 3.2)),
        Use::Office => (random.between(3.0, 7.0), random.between(3.0, 6.0)),
        Use::Meeting | Use::Lounge => (random.between(4.5, 9.0), random.between(4.0, 8.0)),
        Use::Lecture => (random.between(7.0, 12.0), random.between(6.0, 10.0)),
    };
    let mut room = Interior::new(V(x, y, random.between(2.5, 3.6)));
    openings(&mut room, used_as, random);
    let sets = furniture::Sets::new(random);
    for _ in 0..1 + random.below(2) {
        walls::board(&mut room, random.below(4), random);
    }
    match used_as {
        Use::Meeting => furniture::meeting(&mut room, &sets, random),
        Use::Lecture => furniture::rows(&mut room, &sets, random),
        _ => {}
    }
    stations(&mut room, random);
    shell::columns(&mut room, random);
    fill(&mut room, &sets, used_as, random);
    shell::shell(&mut room, random);
    room
}

fn openings(room: &mut Interior, used_as: Use, random: &mut Random) {
    let (doors, windows) = match used_as {
        Use::Corridor => (3 + random.below(3), 1 + random.below(2)),
        Use::Lecture => (2, 3 + random.below(3)),
        _ => (1 + random.below(2), 1 + random.below(3)),
    };
    let style = walls::DoorStyle::new(random);
    for _ in 0..doors {
        walls::door(room, random.below(4), &style, random);
    }
    let side = random.below(4);
    let style = walls::WindowStyle::new(room, random);
    for k in 0..windows {
        walls::window(room, (side + k / 3) % 4, &style, random);
    }
}

/// Keeps a little floor free for each position of the scanner.
fn stations(room: &mut Interior, random: &mut Random) {
    let count = 2 + random.below(3);
    for _ in 0..count {
        let at = room.somewhere((0.4, 0.4), random);
        room.stations.extend(at.map(|(x, y)| V(x, y, 1.5)));
    }
    if room.stations.is_empty() {
        room.keep_middle();
        room.stations.push(V(room.size.0 / 2.0, room.size.1 / 2.0, 1.5));
    }
}

fn fill(room: &mut Interior, sets: &furniture::Sets, used_as: Use, random: &mut Random) {
    let (sofas, cases, desks, chairs, loose) = match used_as {
        Use::Corridor => (random.below(2), 1 + random.below(2), 1, 2, 3),
        Use::Office => (random.below(2), 1 + random.below(3), 1 + random.below(3), 2, 6),
        Use::Meeting => (1 + random.below(2), 1 + random.below(2), random.below(2), 2, 4),
        Use::Lecture => (random.below(3), 1 + random.below(3), 1, 3, 6),
        Use::Lounge => (2 + random.below(3), 1 + random.below(2), 1, 4, 6),
    };
    for _ in 0..sofas {
        furniture::sofa(room, random);
    }
    for _ in 0..cases {
        furniture::bookcase(room, sets, random);
    }
    for _ in 0..desks {
        furniture::desk(room, sets, random);
    }
    if used_as == Use::Lounge {
        furniture::low_table(room, sets, random);
    }
    for _ in 0..chairs {
        furniture::loose_chair(room, sets, random);
    }
    for _ in 0..loose {
        clutter::on_floor(room, random);
    }
    clutter::on_walls(room, random);
    clutter::lights(room, random);
}
