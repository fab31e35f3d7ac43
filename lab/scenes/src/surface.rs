//! Surfaces and their classes.

use farpoint_generate::parts::Random;

/// Numbers of the classes, in the order of `Setting::Town`.
pub(super) mod class {
    pub(in super::super) const CAR: u8 = 0;
    pub(in super::super) const BICYCLE: u8 = 1;
    pub(in super::super) const MOTORCYCLE: u8 = 2;
    pub(in super::super) const TRUCK: u8 = 3;
    pub(in super::super) const OTHER_VEHICLE: u8 = 4;
    pub(in super::super) const PERSON: u8 = 5;
    pub(in super::super) const BICYCLIST: u8 = 6;
    pub(in super::super) const MOTORCYCLIST: u8 = 7;
    pub(in super::super) const ROAD: u8 = 8;
    pub(in super::super) const PARKING: u8 = 9;
    pub(in super::super) const SIDEWALK: u8 = 10;
    pub(in super::super) const OTHER_GROUND: u8 = 11;
    pub(in super::super) const BUILDING: u8 = 12;
    pub(in super::super) const FENCE: u8 = 13;
    pub(in super::super) const VEGETATION: u8 = 14;
    pub(in super::super) const TRUNK: u8 = 15;
    pub(in super::super) const TERRAIN: u8 = 16;
    pub(in super::super) const POLE: u8 = 17;
    pub(in super::super) const SIGN: u8 = 18;
    pub(in super::super) use crate::UNLABELED;
}

/// A surface: its class, and the share of the light that it returns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Surface {
    pub(super) class: u8,
    pub(super) reflectance: f64,
}

/// Returns a surface of this class; objects of a class differ.
pub(super) fn surface(class: u8, reflectance: f64, random: &mut Random) -> Surface {
    Surface { class, reflectance: reflectance * random.between(0.7, 1.3) }
}
