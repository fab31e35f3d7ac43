//! Points that stand for groups of points, in every format that is written: attributes keep their names, types and
//! place, numbers are averaged, categories are those of most points.

use farpoint_io::{
    Cloud, Column, Coordinates, Encoding, Format, Groups, ReadOptions, WriteOptions, read_bytes,
    write_bytes,
};

const POINTS: usize = 600;
const GROUPS: usize = 40;

/// A cloud with attributes of all kinds, values as LAS can hold them.
fn scan() -> Cloud {
    let number = |i: usize, k: u64| {
        ((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7 * k as u32) >> 40) as u32
    };
    let at = |i: usize| [0, 1, 2].map(|axis| f64::from(number(i, axis) % 10_000) / 1000.0);
    let mut cloud = Cloud::new(Coordinates::F64((0..POINTS).map(at).collect()));
    let all = |value: &dyn Fn(usize) -> u32| (0..POINTS).map(value).collect::<Vec<_>>();
    let words = |k, below: u32| {
        Column::U16(all(&|i| number(i, k) % below).into_iter().map(|v| v as u16).collect())
    };
    let bytes = |k, below: u32| {
        Column::U8(all(&|i| number(i, k) % below).into_iter().map(|v| v as u8).collect())
    };
    cloud.add_column("intensity", words(3, 60_000));
    cloud.add_column("classification", bytes(4, 7));
    cloud.add_column("return_number", bytes(5, 4));
    cloud.add_column("user_data", bytes(6, 5));
    for (k, name) in ["red", "green", "blue"].into_iter().enumerate() {
        cloud.add_column(name, bytes(k as u64, 256));
    }
    let time = |i: usize| 4e8 + f64::from(number(i, 1)) / 64.0;
    cloud.add_column("gps_time", Column::F64((0..POINTS).map(time).collect()));
    cloud.add_column("ring", bytes(2, 6));
    let range = |i: usize| number(i, 4) as f32 / 7.0;
    cloud.add_column("range", Column::F32((0..POINTS).map(range).collect()));
    cloud
}

/// Returns the group of each row; some rows are in none, and some groups hold one row.
fn group_of() -> (Vec<u32>, Vec<u32>) {
    let group = |i: usize| match i {
        ..GROUPS => i as u32,
        _ if i.is_multiple_of(11) => u32::MAX,
        // The last ten groups keep their first row alone.
        _ => (i * i % (GROUPS - 10)) as u32,
    };
    let of: Vec<u32> = (0..POINTS).map(group).collect();
    let count = |group: usize| of.iter().filter(|of| **of as usize == group).count() as u32;
    ((0..GROUPS).map(count).collect(), of)
}

fn options() -> Vec<(&'static str, WriteOptions)> {
    let to = |format| WriteOptions::default().format(Some(format));
    vec![
        ("a.ply", to(Format::Ply).encoding(Encoding::Ascii)),
        ("b.ply", to(Format::Ply).encoding(Encoding::Binary)),
        ("c.ply", to(Format::Ply).encoding(Encoding::BinaryBigEndian)),
        ("a.pcd", to(Format::Pcd).encoding(Encoding::Ascii)),
        ("b.pcd", to(Format::Pcd).encoding(Encoding::BinaryCompressed)),
        ("a.las", to(Format::Las).scale(0.001)),
        ("a.laz", to(Format::Laz).scale(0.001)),
        ("a.e57", to(Format::E57)),
        ("a.npy", to(Format::Npy)),
        ("a.csv", to(Format::Text).style(farpoint_io::TextStyle::Csv)),
    ]
}

/// Returns the value that an attribute of a group must have.
fn expected(name: &str, column: &Column, rows: &[usize], text: bool) -> f64 {
    let values: Vec<f64> = rows.iter().map(|&row| column.get(row)).collect();
    if ["classification", "return_number", "user_data", "ring"].contains(&name) {
        let frequency = |value: f64| values.iter().filter(|other| **other == value).count();
        let better = |a: f64, b: f64| match frequency(b).cmp(&frequency(a)) {
            std::cmp::Ordering::Equal => a.min(b),
            std::cmp::Ordering::Less => a,
            std::cmp::Ordering::Greater => b,
        };
        return values.iter().copied().reduce(better).unwrap();
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let whole = (0..column.len()).all(|row| column.get(row).fract() == 0.0);
    match column {
        Column::F32(_) => f64::from(mean as f32),
        Column::F64(_) if !(text && whole) => mean,
        _ => mean.round_ties_even(),
    }
}

#[test]
fn every_format_keeps_names_and_types_and_averages_values() {
    let cloud = scan();
    let all: Vec<usize> = (0..POINTS).collect();
    let (counts, of) = group_of();
    let groups = Groups::new(&counts, &of, |row| row);
    assert_eq!((groups.len(), groups.counts()), (GROUPS, counts));
    let rows = |group: usize| -> Vec<usize> {
        all.iter().copied().filter(|&row| of[row] as usize == group).collect()
    };
    for (name, options) in options() {
        let file = write_bytes(&cloud, &all, &options).unwrap().0;
        let read = |bytes: &[u8]| read_bytes(bytes, name, &ReadOptions::default()).unwrap();
        let before = read(&file);
        let centers: Vec<[f64; 3]> = (0..GROUPS)
            .map(|group| {
                let rows = rows(group);
                let mean = |axis: usize| {
                    let sum: f64 =
                        rows.iter().map(|&row| before.coordinates().get(row)[axis]).sum();
                    sum / rows.len() as f64
                };
                [0, 1, 2].map(mean)
            })
            .collect();
        let centers = match before.coordinates() {
            Coordinates::F32(_) => {
                Coordinates::F32(centers.iter().map(|center| center.map(|x| x as f32)).collect())
            }
            Coordinates::F64(_) => Coordinates::F64(centers),
        };
        let made = before.means(&groups, centers.clone());
        assert_eq!(made.fields(), before.fields(), "{name}");
        assert_eq!(made.coordinates(), &centers, "{name}");
        let all: Vec<usize> = (0..GROUPS).collect();
        let written = write_bytes(&made, &all, &WriteOptions::default()).unwrap();
        assert!(written.1.is_empty(), "{name}: {:?}", written.1);
        let after = read(&written.0);
        assert_eq!(after.fields(), before.fields(), "{name}");
        // Coordinates of LAS and E57 may be multiples of a scale.
        let step = before.scale().map_or(0.0, |scale| scale[0]);
        for group in 0..GROUPS {
            let (found, center) = (after.coordinates().get(group), centers.get(group));
            let near = found.iter().zip(center).all(|(a, b)| (a - b).abs() <= 0.5001 * step);
            assert!(near, "{name}: {found:?}, not {center:?}");
        }
        let text = name.ends_with(".csv");
        let mut checked = 0;
        for field in before.fields() {
            let (Some(was), Some(is)) = (before.column(&field.name), after.column(&field.name))
            else {
                continue;
            };
            if ["x", "y", "z", "rgb"].contains(&&*field.name) {
                continue;
            }
            checked += 1;
            for group in 0..GROUPS {
                let expected = expected(&field.name, &was, &rows(group), text);
                assert_eq!(is.get(group), expected, "{name}, {}, group {group}", field.name);
            }
        }
        assert!(checked >= 7, "{name}: {checked} attributes");
    }
}

#[test]
fn text_stays_text_and_lists_are_named() {
    let text = "x;y;z;name;count\n0;0;0;post;1\n1;0;0;tree;2\n4;4;4;wall;7\n";
    let cloud = read_bytes(text.as_bytes(), "a.csv", &ReadOptions::default()).unwrap();
    let groups = Groups::new(&[2, 1], &[0, 0, 1], |row| row);
    let made = cloud.means(&groups, Coordinates::F64(vec![[0.5, 0.0, 0.0], [4.0; 3]]));
    let (written, _) = write_bytes(&made, &[0, 1], &WriteOptions::default()).unwrap();
    let expected = "x;y;z;name;count\n0.5;0;0;post;2\n4;4;4;wall;7\n";
    assert_eq!(String::from_utf8(written).unwrap(), expected);

    let head = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
                property list uchar int near\nproperty uchar gray\nend_header\n";
    let lists = format!("{head}0 0 0 1 5 10\n1 0 0 2 5 6 13\n");
    let cloud = read_bytes(lists.as_bytes(), "a.ply", &ReadOptions::default()).unwrap();
    let made = cloud
        .means(&Groups::new(&[2], &[0, 0], |row| row), Coordinates::F32(vec![[0.5, 0.0, 0.0]]));
    assert!(made.warnings().iter().any(|warning| warning.contains("'near' is a list")));
    // 11.5 is rounded to the even number.
    assert_eq!(made.column("gray"), Some(Column::U8(vec![12])));
}
