//! Raw rows: the values decide the number of columns if the size fits several.

use farpoint_io::{Cloud, Error, Format, ReadOptions, WriteOptions, read_bytes, write_bytes};

fn open(bytes: &[u8], options: &ReadOptions) -> Result<Cloud, Error> {
    read_bytes(bytes, "a.bin", options)
}

fn guessed(bytes: &[u8], name: &str) -> Result<Cloud, Error> {
    read_bytes(bytes, name, &ReadOptions::default())
}

/// Numbers from 0 to 1 in no order.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// Rows in random order, with a range for every column; whole numbers if the flag is set.
fn rows(count: usize, columns: &[(f32, f32, bool)]) -> Vec<u8> {
    let mut random = Random(7);
    let mut bytes = Vec::new();
    for _ in 0..count {
        for &(low, high, whole) in columns {
            let value = low + (high - low) * random.next();
            bytes.extend((if whole { value.floor() } else { value }).to_le_bytes());
        }
    }
    bytes
}

const XYZ: [(f32, f32, bool); 3] = [(-60.0, 60.0, false), (-50.0, 50.0, false), (-2.0, 1.0, false)];

fn with(more: &[(f32, f32, bool)]) -> Vec<(f32, f32, bool)> {
    XYZ.iter().chain(more).copied().collect()
}

#[test]
fn rows_of_kitti_and_nuscenes_are_read_without_a_word() {
    // 2400 rows fit every number of columns from 3 to 8.
    let kitti = guessed(&rows(2400, &with(&[(0.0, 1.0, false)])), "a.bin").unwrap();
    assert_eq!((kitti.len(), kitti.warnings().len()), (2400, 0));
    let nuscenes = rows(2400, &with(&[(0.0, 255.0, true), (0.0, 32.0, true)]));
    let nuscenes = guessed(&nuscenes, "a.pcd.bin").unwrap();
    assert_eq!((nuscenes.len(), nuscenes.warnings().len()), (2400, 0));
    // A sensor without an intensity.
    let dark = guessed(&rows(2400, &with(&[(0.0, 0.0, false)])), "a.bin").unwrap();
    assert_eq!(dark.warnings().len(), 0);
    // Nothing else fits, so the values are not examined.
    let single_row = guessed(&rows(1, &with(&[(0.0, 1.0, false)])), "a.bin").unwrap();
    assert_eq!((single_row.len(), single_row.warnings().len()), (1, 0));
}

#[test]
fn rows_of_other_lengths_are_refused_with_their_length() {
    let color = (0.0, 255.0, true);
    for (columns, expected) in [
        (with(&[]), 3),
        (with(&[color, color, color]), 6),
        (with(&[(0.0, 1.0, false), (0.0, 1.0, false), (0.0, 1.0, false)]), 6),
        (with(&[(0.0, 1.0, false), (0.0, 64.0, true)]), 5),
        (with(&[(0.0, 1.0, false), color, color, color]), 7),
    ] {
        let bytes = rows(2400, &columns);
        let error = guessed(&bytes, "a.bin").unwrap_err().to_string();
        assert!(error.contains(&format!("set `columns={expected}`")), "{error}");
        assert!(!error.contains('\n'), "{error}");
        let cloud = open(&bytes, &ReadOptions::default().columns(expected)).unwrap();
        assert_eq!((cloud.len(), cloud.warnings().len()), (2400, 0));
        // An explicit number is accepted.
        assert!(open(&bytes, &ReadOptions::default().columns(4)).unwrap().warnings().is_empty());
    }
}

#[test]
fn ambiguous_columns_are_warned_of() {
    // All columns alike: nothing shows the length of a row.
    let cube = guessed(&rows(2400, &[(-1.0, 1.0, false); 4]), "a.bin").unwrap();
    assert_eq!(cube.len(), 2400);
    let [warning] = cube.warnings() else { panic!("{:?}", cube.warnings()) };
    assert!(warning.contains("read as 4") && warning.contains("3, 5, 6, 8 would fit"), "{warning}");
    assert!(warning.contains("`columns`"), "{warning}");
}

#[test]
fn other_types_than_float32_are_refused() {
    let mut random = Random(3);
    let doubles: Vec<u8> = (0..4800)
        .flat_map(|_| f64::from(random.next()).mul_add(100.0 / 3.0, 0.1).to_le_bytes())
        .collect();
    let error = guessed(&doubles, "a.bin").unwrap_err().to_string();
    assert!(error.contains("not coordinates") && error.contains("`input_format`"), "{error}");
    assert!(open(&doubles, &ReadOptions::default().columns(4)).is_ok());
    // Text is known by its content.
    assert_eq!(guessed(b"1 2 3\n4 5 6\n", "a.bin").unwrap().format(), Some(Format::Text));
    // A size that does not fit: the values show more than the size.
    let six = rows(2401, &with(&[(0.0, 255.0, true); 3]));
    let error = guessed(&six, "a.pcd.bin").unwrap_err().to_string();
    assert!(error.contains("`columns=6`") && error.contains("3, 6, 7, 14"), "{error}");
}

#[test]
fn the_columns_of_x_y_and_z_can_be_set() {
    let bytes: Vec<u8> = (0..12).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let xyz = |a: &str, b: &str, c: &str| {
        ReadOptions::default().columns(6).xyz([a.to_owned(), b.to_owned(), c.to_owned()])
    };
    let cloud = open(&bytes, &xyz("6", " 2", "4")).unwrap();
    assert_eq!(cloud.coordinates().get(1), [11.0, 7.0, 9.0]);
    let names: Vec<String> = cloud.fields().into_iter().map(|f| f.name).collect();
    assert_eq!(names, ["column_1", "y", "column_3", "z", "column_5", "x"]);
    let csv = WriteOptions::default().format(Format::Text);
    let (text, _) = write_bytes(&cloud, &[0], &csv).unwrap();
    assert_eq!(text, b"# x y z column_1 column_3 column_5\n5 1 3 0 2 4\n");
    for (wrong, words) in [
        (xyz("1", "2", "7"), "no column '7' of 6"),
        (xyz("1", "2", "0"), "no column '0' of 6"),
        (xyz("1", "2", "intensity"), "no column 'intensity' of 6"),
        (xyz("1", "2", "1"), "twice"),
    ] {
        let error = open(&bytes, &wrong).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("; use"), "{error}");
    }
}
