//! Contents of scenes, and their bits, which do not change.

use farpoint_scenes::{Labeled, Paint, Sensor, Setting, UNLABELED, suburb};

/// Returns FNV-1a over bytes.
fn checksum(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn bytes(values: &[f32]) -> impl Iterator<Item = u8> {
    values.iter().flat_map(|value| value.to_bits().to_le_bytes())
}

/// Returns the checksum of everything.
fn checksum_of(scene: &Labeled) -> u64 {
    let paint: Vec<u8> = match &scene.paint {
        Paint::Colors(colors) => colors.as_flattened().to_vec(),
        Paint::Intensity(values) => bytes(values).collect(),
    };
    let points = bytes(scene.points.as_flattened());
    checksum(points.chain(paint).chain(scene.classes.iter().copied()))
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
    (0..24).map(|seed| setting.generate(n, seed)).collect()
}

#[test]
fn everything_has_as_many_rows() {
    for setting in Setting::ALL {
        for n in [0, 1, 2, 500, 4097] {
            let scene = setting.generate(n, 3);
            let paint = match &scene.paint {
                Paint::Colors(colors) => colors.len(),
                Paint::Intensity(values) => {
                    assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
                    values.len()
                }
            };
            assert_eq!([scene.points.len(), paint, scene.classes.len()], [n; 3], "{setting:?}");
            assert!(scene.points.iter().flatten().all(|value| value.is_finite()));
            let known = setting.classes().len();
            let known = |class: &u8| usize::from(*class) < known || *class == UNLABELED;
            assert!(scene.classes.iter().all(known), "{setting:?}");
        }
        assert_ne!(setting.generate(100, 1), setting.generate(100, 2), "{setting:?}");
    }
}

/// If one of these changes, records of trainings on generated scenes are stale.
#[test]
fn same_bits_everywhere() {
    let expected =
        [(Setting::Indoor, 0x9a84_a3d0_f7e0_dc2a), (Setting::Town, 0x7dad_0263_b02b_5eaf)];
    for (setting, sum) in expected {
        let found = checksum_of(&setting.generate(10_000, 1));
        assert_eq!(found, sum, "{setting:?}: {found:#018x}");
    }
}

#[test]
fn every_class_occurs_often_enough_to_be_learned() {
    for setting in Setting::ALL {
        let counts = counts(setting, &scenes(setting, 12_000));
        for (name, count) in setting.classes().into_iter().zip(&counts) {
            assert!(*count > 24 * 10, "{setting:?}: {count} points of {name}");
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
    let of_class = |(point, k): (&[f32; 3], &u8)| (usize::from(*k) == number).then_some(point[2]);
    let all = scene.points.iter().zip(&scene.classes).filter_map(of_class);
    all.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], z| [low.min(z), high.max(z)])
}

#[test]
fn rooms_lie_between_floor_and_ceiling() {
    for scene in scenes(Setting::Indoor, 6_000) {
        let of = |class| heights(&scene, &Setting::Indoor.classes(), class);
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
        let of = |class| heights(&scene, &Setting::Town.classes(), class);
        // Noise is along the ray.
        for (class, kerb) in [("road", 0.0), ("sidewalk", 0.12), ("terrain", 0.12)] {
            let [low, high] = of(class);
            assert!(low > -1.73 - 0.05, "{class}: {low}");
            assert!(high < -1.73 + kerb + 0.16 + 0.05, "{class}: {high}");
        }
        assert!(of("traffic-sign")[0] > -1.73 + 0.9 && of("building")[1] > -1.0);
    }
}

/// The weights of FastPoint's estimator come from turns like this one.
#[test]
fn turns_in_a_suburb_have_the_same_bits_everywhere() {
    let sensor = Sensor { rings: 32, ..Sensor::default() };
    let found = checksum(bytes(suburb(10_000, 1, &sensor).as_flattened()));
    assert_eq!(found, 0x038d_d6d5_ed28_0570, "{found:#018x}");
    assert_eq!(suburb(500, 3, &Sensor { rings: 1, ..sensor.clone() }).len(), 500);
    assert!(suburb(500, 3, &Sensor { reach: 0.1, ..sensor }).is_empty());
}

#[test]
fn c_gets_the_same_scenes() {
    use farpoint_scenes::{farpoint_scenes_classes, farpoint_scenes_generate};
    let mut points = [[0f32; 3]; 50];
    let (mut paint, mut classes) = ([0u8; 200], [0u8; 50]);
    for (kind, setting) in Setting::ALL.into_iter().enumerate() {
        // SAFETY: the arrays have room for 50 points.
        let done = unsafe {
            let points = points.as_flattened_mut().as_mut_ptr();
            farpoint_scenes_generate(kind, 50, 3, points, paint.as_mut_ptr(), classes.as_mut_ptr())
        };
        let scene = setting.generate(50, 3);
        let light = match &scene.paint {
            Paint::Colors(colors) => colors.as_flattened().to_vec(),
            Paint::Intensity(values) => values.iter().flat_map(|v| v.to_ne_bytes()).collect(),
        };
        assert_eq!((done, &points[..], &classes[..]), (0, &scene.points[..], &scene.classes[..]));
        assert_eq!(paint[..light.len()], light);
        // SAFETY: the text ends with a zero.
        let names = unsafe { std::ffi::CStr::from_ptr(farpoint_scenes_classes(kind)) };
        assert_eq!(names.to_str().unwrap(), setting.classes().join(","));
    }
    assert!(farpoint_scenes_classes(2).is_null());
    let none: *mut u8 = std::ptr::null_mut();
    // SAFETY: without a scene nothing is written.
    assert_eq!(unsafe { farpoint_scenes_generate(2, 50, 3, none.cast(), none, none) }, 1);
}
