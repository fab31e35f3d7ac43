//! The kinds of scenes with classes.

use crate::{INDOOR_CLASSES, Labeled, TOWN_CLASSES, indoor, town};
use std::fmt;

/// The kinds of scenes with classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// A room or a corridor with colors, see [`indoor()`].
    Indoor,
    /// A turn of a LiDAR in a town with intensities, see [`town()`].
    Town,
}

impl Setting {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Indoor, Self::Town];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Indoor => "indoor",
            Self::Town => "town",
        }
    }

    /// Returns the names of the classes, by number.
    pub fn classes(self) -> &'static [&'static str] {
        match self {
            Self::Indoor => &INDOOR_CLASSES,
            Self::Town => &TOWN_CLASSES,
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Generates exactly `n` points of a scene of this kind, with their classes.
pub fn labeled(setting: Setting, n: usize, seed: u64) -> Labeled {
    match setting {
        Setting::Indoor => indoor(n, seed),
        Setting::Town => town(n, seed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Paint, Place, Turn, UNLABELED, lidar_turn};

    /// Returns FNV-1a over the bits of everything.
    fn checksum(scene: &Labeled) -> u64 {
        let points = scene.points.iter().flatten().flat_map(|value| value.to_bits().to_le_bytes());
        let paint: Vec<u8> = match &scene.paint {
            Paint::Colors(colors) => colors.iter().flatten().copied().collect(),
            Paint::Intensity(values) => {
                values.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect()
            }
        };
        let bytes = points.chain(paint).chain(scene.classes.iter().copied());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    /// Counts the points of each class; the last number is that of unlabeled points.
    fn counts(setting: Setting, scenes: &[Labeled]) -> Vec<usize> {
        let names = setting.classes().len();
        let mut counts = vec![0; names + 1];
        for class in scenes.iter().flat_map(|scene| &scene.classes) {
            counts[usize::from(*class).min(names)] += 1;
        }
        counts
    }

    fn scenes(setting: Setting, n: usize) -> Vec<Labeled> {
        (0..24).map(|seed| labeled(setting, n, seed)).collect()
    }

    #[test]
    fn everything_has_as_many_rows() {
        for setting in Setting::ALL {
            for n in [0, 1, 2, 500, 4097] {
                let scene = labeled(setting, n, 3);
                let paint = match &scene.paint {
                    Paint::Colors(colors) => colors.len(),
                    Paint::Intensity(values) => {
                        assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
                        values.len()
                    }
                };
                assert_eq!([scene.points.len(), paint, scene.classes.len()], [n; 3], "{setting}");
                assert!(scene.points.iter().flatten().all(|value| value.is_finite()));
                let known = setting.classes().len();
                let known = |class: &u8| usize::from(*class) < known || *class == UNLABELED;
                assert!(scene.classes.iter().all(known), "{setting}");
            }
            assert_ne!(labeled(setting, 100, 1), labeled(setting, 100, 2), "{setting}");
        }
    }

    /// If one of these changes, records of trainings on generated scenes are stale.
    #[test]
    fn same_bits_everywhere() {
        let expected =
            [(Setting::Indoor, 0x9a84_a3d0_f7e0_dc2a), (Setting::Town, 0x7dad_0263_b02b_5eaf)];
        for (setting, sum) in expected {
            let found = checksum(&labeled(setting, 10_000, 1));
            assert_eq!(found, sum, "{setting}: {found:#018x}");
        }
    }

    #[test]
    fn every_class_occurs_often_enough_to_be_learned() {
        for setting in Setting::ALL {
            let counts = counts(setting, &scenes(setting, 12_000));
            for (name, count) in setting.classes().iter().zip(&counts) {
                assert!(*count > 24 * 10, "{setting}: {count} points of {name}");
            }
        }
    }

    #[test]
    fn one_to_five_percent_of_a_turn_are_unlabeled() {
        for (seed, scene) in scenes(Setting::Town, 6_000).iter().enumerate() {
            let share = counts(Setting::Town, std::slice::from_ref(scene))[19] as f64 / 6_000.0;
            assert!((0.01..0.05).contains(&share), "seed {seed}: {share}");
        }
        assert_eq!(counts(Setting::Indoor, &scenes(Setting::Indoor, 2_000))[13], 0);
    }

    /// Returns the lowest and the highest z of the points of a class.
    fn heights(scene: &Labeled, names: &[&str], class: &str) -> [f32; 2] {
        let number = names.iter().position(|name| *name == class).unwrap();
        let of_class =
            |(point, k): (&[f32; 3], &u8)| (usize::from(*k) == number).then_some(point[2]);
        let all = scene.points.iter().zip(&scene.classes).filter_map(of_class);
        all.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], z| [low.min(z), high.max(z)])
    }

    #[test]
    fn rooms_lie_between_floor_and_ceiling() {
        for scene in scenes(Setting::Indoor, 6_000) {
            let of = |class| heights(&scene, &INDOOR_CLASSES, class);
            let (floor, ceiling) = (of("floor"), of("ceiling"));
            assert!(floor[0] > -0.02 && floor[1] < 0.02, "{floor:?}");
            assert!(ceiling[0] > 2.4 && ceiling[1] - ceiling[0] < 0.03, "{ceiling:?}");
            assert!(of("beam")[0] > 2.0 && of("chair")[1] < 1.1 && of("table")[1] < 0.8);
            let size = |axis: usize| scene.points.iter().map(|p| p[axis]).fold(0.0, f32::max);
            assert!((2.0..12.2).contains(&size(0)) && (2.0..12.2).contains(&size(1)));
            let lowest = scene.points.iter().flatten().fold(0.0, |low: f32, v| low.min(*v));
            assert!(lowest > -0.3, "{lowest}");
        }
    }

    #[test]
    fn the_ground_of_a_town_lies_below_the_sensor() {
        for scene in scenes(Setting::Town, 6_000) {
            let of = |class| heights(&scene, &TOWN_CLASSES, class);
            // Noise is along the ray.
            for (class, kerb) in [("road", 0.0), ("sidewalk", 0.12), ("terrain", 0.12)] {
                let [low, high] = of(class);
                assert!(low > -1.73 - 0.05, "{class}: {low}");
                assert!(high < -1.73 + kerb + 0.16 + 0.05, "{class}: {high}");
            }
            assert!(of("traffic-sign")[0] > -1.73 + 0.9 && of("building")[1] > -1.0);
        }
    }

    #[test]
    fn turns_in_a_town_are_the_same_with_and_without_classes() {
        let turn = Turn { place: Place::Town, ..Turn::default() };
        assert_eq!(lidar_turn(3000, 5, &turn), town(3000, 5).points);
    }
}
