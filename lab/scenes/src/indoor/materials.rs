//! Classes and colors of the things in a room.

use super::interior::Finish;
use farpoint_generate::parts::Random;

/// Numbers of the classes, in the order of `Setting::Indoor`.
pub(super) mod class {
    pub(in super::super) const CEILING: u8 = 0;
    pub(in super::super) const FLOOR: u8 = 1;
    pub(in super::super) const WALL: u8 = 2;
    pub(in super::super) const BEAM: u8 = 3;
    pub(in super::super) const COLUMN: u8 = 4;
    pub(in super::super) const WINDOW: u8 = 5;
    pub(in super::super) const DOOR: u8 = 6;
    pub(in super::super) const CHAIR: u8 = 7;
    pub(in super::super) const TABLE: u8 = 8;
    pub(in super::super) const BOOKCASE: u8 = 9;
    pub(in super::super) const SOFA: u8 = 10;
    pub(in super::super) const BOARD: u8 = 11;
    pub(in super::super) const CLUTTER: u8 = 12;
}

/// Returns a color of the list, a little lighter or darker.
pub(super) fn one_of(colors: &[[u8; 3]], random: &mut Random) -> [f64; 3] {
    let color = colors[random.below(colors.len())];
    let light = random.between(0.85, 1.12);
    color.map(|c| (f64::from(c) * light).min(255.0))
}

pub(super) const WOODS: [[u8; 3]; 6] = [
    [164, 120, 78],
    [120, 82, 52],
    [196, 162, 118],
    [92, 66, 48],
    [222, 214, 200],
    [150, 148, 144],
];
pub(super) const FABRICS: [[u8; 3]; 8] = [
    [38, 38, 42],
    [58, 72, 112],
    [120, 42, 40],
    [76, 92, 70],
    [138, 130, 120],
    [96, 74, 58],
    [52, 60, 66],
    [178, 150, 96],
];
pub(super) const METALS: [[u8; 3]; 3] = [[58, 58, 60], [150, 152, 156], [196, 198, 200]];

/// Returns a finish of this class in one of these colors.
pub(super) fn finish(class: u8, colors: &[[u8; 3]], grain: f64, random: &mut Random) -> Finish {
    Finish::new(class, one_of(colors, random), grain)
}
