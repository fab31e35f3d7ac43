//! Every file of the shared data is read, with the numbers in its README, or refused with the right words; and
//! written back with every attribute unchanged.

use farpoint_io::{
    Cloud, Column, Coordinates, Error, Format, ReadOptions, WriteOptions, read, read_bytes,
    write_bytes,
};
use std::path::{Path, PathBuf};

/// A row of the README's table of numbers.
struct Expected {
    file: String,
    points: usize,
    nan: usize,
    low: [f64; 3],
    high: [f64; 3],
}

fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !folder.join("README.md").is_file() {
        println!("skipped: ../shared/data is not there");
        return None;
    }
    Some(folder)
}

fn table(folder: &Path) -> Vec<Expected> {
    let text = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let numbers = text.split("## Numbers").nth(1).unwrap();
    numbers.lines().filter(|l| l.starts_with("| `")).filter_map(row).collect()
}

fn row(line: &str) -> Option<Expected> {
    let cells: Vec<&str> = line.split('|').map(|c| c.trim().trim_matches('`')).collect();
    let whole = |cell: &str| cell.replace(',', "").parse::<usize>().ok();
    let triple = |cell: &str| -> Option<[f64; 3]> {
        let inner = cell.trim_start_matches('(').trim_end_matches(')');
        let values: Vec<f64> = inner.split(", ").filter_map(|v| v.parse().ok()).collect();
        values.try_into().ok()
    };
    Some(Expected {
        file: cells[1].to_owned(),
        points: whole(cells[3])?,
        nan: whole(cells[4])?,
        low: triple(cells[7])?,
        high: triple(cells[8])?,
    })
}

fn options(file: &str) -> ReadOptions {
    // Without it, the values decide, and the file is refused.
    let columns = file.starts_with("scannet/scene0000_00.bin").then_some(6);
    ReadOptions::default().columns(columns)
}

fn open(folder: &Path, file: &str) -> Result<Cloud, Error> {
    read(&folder.join(file), &options(file))
}

/// Rows with NaN, and the box of the others.
fn numbers(cloud: &Cloud) -> (usize, [f64; 3], [f64; 3]) {
    let (mut nan, mut low, mut high) = (0, [f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for row in 0..cloud.len() {
        let point = cloud.coordinates().get(row);
        if point.iter().any(|v| v.is_nan()) {
            nan += 1;
            continue;
        }
        for axis in 0..3 {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
    }
    (nan, low, high)
}

/// The README prints seven digits.
fn close(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 6e-7 * a.abs().max(b.abs()) + 1e-12)
}

#[test]
fn every_cloud_is_read() {
    let Some(folder) = data() else { return };
    let mut checked = 0;
    for e in table(&folder).into_iter().filter(|e| !e.file.ends_with(".mcap")) {
        let cloud = open(&folder, &e.file).unwrap_or_else(|error| panic!("{error}"));
        let (nan, low, high) = numbers(&cloud);
        assert_eq!(cloud.len(), e.points, "{}", e.file);
        // The README counts stored points; half of these points are marked as mere directions.
        let marked = if e.file == "e57/tiny_spherical.e57" { 180 } else { 0 };
        assert_eq!(nan, e.nan + marked, "{}", e.file);
        assert!(close(low, e.low), "{}: {low:?} is not {:?}", e.file, e.low);
        assert!(close(high, e.high), "{}: {high:?} is not {:?}", e.file, e.high);
        checked += 1;
    }
    assert!(checked >= 40, "only {checked} files were checked");
}

/// Both messages of the MCAP file, and the file written again.
#[cfg(feature = "mcap")]
#[test]
fn the_bag_is_read() {
    use farpoint_io::bag::{Bag, Kept, Rewrite};
    let Some(folder) = data() else { return };
    let path = folder.join("lidar/ouster_os1_64.mcap");
    let expected = table(&folder).into_iter().find(|e| e.file.ends_with(".mcap")).unwrap();
    for message in 0..2 {
        let cloud = read(&path, &ReadOptions::default().message(message)).unwrap();
        assert_eq!(cloud.len(), expected.points);
        let names: Vec<String> = cloud.fields().into_iter().map(|field| field.name).collect();
        let all = ["x", "y", "z", "intensity", "t", "reflectivity", "ring", "noise", "range"];
        assert_eq!(names, all);
        let (nan, low, high) = numbers(&cloud);
        assert_eq!(nan, expected.nan);
        if message == 0 {
            assert!(close(low, expected.low) && close(high, expected.high), "{low:?} {high:?}");
        }
    }
    let bag = Bag::open(&path).unwrap();
    let topic = bag.contents().cloud_topic(None).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let topics = [topic];
    let rewrite = Rewrite::new(&topics, 2, 1 << 26, &stop);
    let mut zeros = Vec::new();
    let choose = |message: &farpoint_io::bag::PointCloud2<'_>| {
        let (rows, [non_finite, zeros]) = message.usable(true);
        Ok(Kept::new(rows.into_iter().map(|row| row as usize).collect(), non_finite + zeros))
    };
    let bytes = rewrite.bytes(&bag, &choose, &mut |cut| zeros.push(cut.points[2])).unwrap();
    let again = Bag::from_bytes(bytes.unwrap(), "again").unwrap();
    assert_eq!(again.contents().topics, bag.contents().topics);
    assert_eq!((zeros.len(), zeros[0]), (2, 85_356));
}

#[test]
fn strangers_are_refused_with_the_right_words() {
    let Some(folder) = data() else { return };
    for (file, words) in [
        ("lidar/ouster_os1_64.mcap", "MCAP"),
        ("reference/features_for_fps_distance.npy", "(2, 64, 64)"),
        ("reference/fps_idx.npy", "(2, 16)"),
        ("scannet/scene0000_00.bin", "3, 4, 6"),
    ] {
        let options = match file.ends_with(".bin") {
            true => ReadOptions::default().columns(5),
            false => ReadOptions::default(),
        };
        let error = read(&folder.join(file), &options).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("; "), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

/// Rows of known layouts are read without a warning, others with the right advice; degrees are noticed.
#[test]
fn ambiguous_files_are_warned_of() {
    let Some(folder) = data() else { return };
    let plain = |file: &str| read(&folder.join(file), &ReadOptions::default());
    for file in [
        "kitti/object_000008_camera_fov.bin",
        "kitti/odometry_seq00_000000.bin",
        "kitti/odometry_seq00_000001.bin",
        "nuscenes/n015_1532402927647951.pcd.bin",
        "labelled/rellis_000104.bin",
        "las/autzen_trim.laz",
        "text/points_agisoft.xyz",
        "cgal/kitten.xyz",
        "stanford/dragonStandRight_72.txt",
    ] {
        assert_eq!(plain(file).unwrap().warnings(), Vec::<String>::new(), "{file}");
    }
    let error = plain("scannet/scene0000_00.bin").unwrap_err().to_string();
    assert!(error.contains("`columns=6`"), "{error}");
    let degrees = plain("las/epsg_4326.las").unwrap();
    assert!(degrees.warnings()[0].contains("degrees"), "{:?}", degrees.warnings());
}

#[test]
fn precision_is_the_files() {
    let Some(folder) = data() else { return };
    use Coordinates::{F32, F64};
    for (file, single) in [
        ("kitti/object_000008_camera_fov.bin", true),
        ("cgal/b9_training.ply", false),
        ("gatech/horse_big_endian.ply", true),
        ("pcl/milk.pcd", true),
        ("las/epsg_4326.las", false),
        ("e57/tinyCartesianFloatRgb.e57", false),
        ("text/points_agisoft.xyz", false),
        ("npy/las_records_structured.npy", false),
    ] {
        let cloud = open(&folder, file).unwrap();
        assert!(
            matches!((cloud.coordinates(), single), (F32(_), true) | (F64(_), false)),
            "{file}"
        );
    }
}

/// Writes all rows in the input's format and in a shuffled order, and reads both back.
#[test]
fn written_back_every_attribute_is_the_same() {
    let Some(folder) = data() else { return };
    let mut checked = 0;
    for e in table(&folder) {
        let Ok(cloud) = open(&folder, &e.file) else { continue };
        if !cloud.format().is_some_and(Format::can_write) {
            continue;
        }
        let all: Vec<usize> = (0..cloud.len()).collect();
        let (once, _) = write_bytes(&cloud, &all, &WriteOptions::default()).unwrap();
        let again = read_bytes(&once, &e.file, &options(&e.file)).unwrap();
        // E57 is written with the states of points.
        let stateless = cloud.column("invalid_state").is_none();
        let fields = again.fields().into_iter();
        let fields: Vec<_> = fields.filter(|f| !(stateless && f.name == "invalid_state")).collect();
        assert_eq!(fields, cloud.fields(), "{}", e.file);
        // Written a second time nothing changes any more, attributes and header alike.
        let (twice, _) = write_bytes(&again, &all, &WriteOptions::default()).unwrap();
        assert!(once == twice, "{}", e.file);
        same_rows(&cloud, &again, &all, &e.file);
        let some: Vec<usize> = (0..cloud.len()).rev().step_by(7).collect();
        let (bytes, _) = write_bytes(&cloud, &some, &WriteOptions::default()).unwrap();
        let fewer = read_bytes(&bytes, &e.file, &options(&e.file)).unwrap();
        assert_eq!(fewer.len(), some.len());
        same_rows(&cloud, &fewer, &some, &e.file);
        checked += 1;
    }
    assert!(checked >= 26, "only {checked} files were checked");
}

/// Row i of `written` is row `rows[i]` of `cloud`: in its coordinates, and in all of its attributes
/// as a structured array of their exact types shows them.
fn same_rows(cloud: &Cloud, written: &Cloud, rows: &[usize], file: &str) {
    for (i, &row) in rows.iter().enumerate() {
        let (a, b) = (cloud.coordinates().get(row), written.coordinates().get(i));
        assert_eq!(a.map(f64::to_bits), b.map(f64::to_bits), "{file} row {row}");
    }
    let all: Vec<usize> = (0..written.len()).collect();
    let npy = |cloud, rows: &[usize]| {
        let options = WriteOptions::default().format(Format::Npy);
        write_bytes(cloud, rows, &options).unwrap().0
    };
    assert!(npy(cloud, rows) == npy(written, &all), "{file}");
}

/// Every cloud can be written in every writable format, and read again with the same number of points.
#[test]
fn every_format_becomes_every_other() {
    let Some(folder) = data() else { return };
    for e in table(&folder) {
        let Ok(cloud) = open(&folder, &e.file) else { continue };
        let finite = |&row: &usize| cloud.coordinates().get(row).iter().all(|v| v.is_finite());
        let rows: Vec<usize> = (0..cloud.len()).filter(finite).step_by(97).collect();
        becomes_every_format(&cloud, &rows, &e.file);
    }
}

#[test]
fn made_clouds_become_every_format() {
    let near = (0..50).map(|k| [k as f32 * 0.3, -(k as f32), 1e-7 * k as f32]).collect();
    let far = |k: u32| [637_012.34 + 0.01 * f64::from(k), 849_000.5, 406.26 - f64::from(k)];
    let rows: Vec<usize> = (0..50).rev().collect();
    for (name, coordinates) in
        [("near", Coordinates::F32(near)), ("far", Coordinates::F64((0..50).map(far).collect()))]
    {
        let mut cloud = Cloud::new(coordinates);
        cloud.add_column("label", Column::I32((0..50).collect()));
        becomes_every_format(&cloud, &rows, name);
    }
}

fn becomes_every_format(cloud: &Cloud, rows: &[usize], file: &str) {
    for format in Format::ALL.into_iter().filter(|f| f.can_write()) {
        let options = WriteOptions::default().format(format);
        let (bytes, warnings) =
            write_bytes(cloud, rows, &options).unwrap_or_else(|e| panic!("{e}"));
        let name = format!("out.{}", format.extensions()[0]);
        // Rows of raw float32 keep the width of the input, which the new name does not show.
        let columns = (format == Format::Raw).then(|| bytes.len() / (4 * rows.len()));
        let back = read_bytes(&bytes, &name, &ReadOptions::default().columns(columns))
            .unwrap_or_else(|error| panic!("{file} as {format}: {error}"));
        assert_eq!(back.len(), rows.len(), "{file} as {format}");
        let (offset, step) = (offset(&bytes, &warnings), back.scale().unwrap_or_default());
        for (i, &row) in rows.iter().enumerate() {
            let (a, b) = (cloud.coordinates().get(row), back.coordinates().get(i));
            let near = (0..3).all(|axis| {
                let (a, b) = (a[axis] - offset[axis], b[axis]);
                (a - b).abs() <= 1e-6 * a.abs().max(1.0).max(step[axis] / 1.999e-6)
            });
            assert!(near, "{file} as {format}: {a:?} {b:?}");
        }
    }
}

/// Returns the offset that was subtracted from the coordinates, from a PCD file or, if the file has no place for it,
/// from a warning.
fn offset(bytes: &[u8], warnings: &[String]) -> [f64; 3] {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(500)]).into_owned();
    let warned = |w: &String| Some(w.strip_prefix("the offset ")?.split(" is ").next()?.to_owned());
    let from_header = head.lines().find_map(|l| l.strip_prefix("# offset ")).map(str::to_owned);
    let Some(line) = from_header.or_else(|| warnings.iter().find_map(warned)) else {
        return [0.0; 3];
    };
    let values: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
    values.try_into().unwrap()
}
