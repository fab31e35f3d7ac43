//! Several files as one cloud: every coordinate stays, fields are those of all, and anything else is an error.

use farpoint_io::{
    Cloud, Column, Coordinates, Error, Merged, ReadOptions, WriteOptions, read, read_bytes, write,
    write_bytes,
};
use std::path::{Path, PathBuf};

/// Points in units of a hundredth, from a corner on.
fn cloud(rows: usize, corner: [f64; 3], single: bool) -> Cloud {
    let at = |row: usize| {
        let more = [row % 1000, row * 7919 % 1000, row % 97];
        std::array::from_fn(|axis| corner[axis] + more[axis] as f64 / 100.0)
    };
    Cloud::new(match single {
        true => Coordinates::F32((0..rows).map(|row| at(row).map(|x| x as f32)).collect()),
        false => Coordinates::F64((0..rows).map(at).collect()),
    })
}

fn with(mut cloud: Cloud, name: &str, column: impl Fn(usize) -> u16) -> Cloud {
    cloud.add_column(name, Column::U16((0..cloud.len()).map(column).collect()));
    cloud
}

fn save(folder: &Path, name: &str, cloud: &Cloud, options: &WriteOptions) -> PathBuf {
    let (path, all) = (folder.join(name), (0..cloud.len()).collect::<Vec<_>>());
    write(&path, cloud, &all, options).unwrap();
    path
}

fn open(paths: &[PathBuf]) -> Result<Merged, Error> {
    Merged::open(paths, &ReadOptions::default(), None)
}

/// All coordinates of the files, by their own readers.
fn separately(paths: &[PathBuf]) -> Vec<[f64; 3]> {
    let clouds = paths.iter().map(|path| read(path, &ReadOptions::default()).unwrap());
    let rows =
        |cloud: Cloud| (0..cloud.len()).map(|row| cloud.coordinates().get(row)).collect::<Vec<_>>();
    clouds.flat_map(rows).collect()
}

fn together(merged: &Merged) -> (Cloud, Vec<[f64; 3]>) {
    let cloud = merged.reader().load().unwrap();
    let rows = (0..cloud.len()).map(|row| cloud.coordinates().get(row)).collect();
    (cloud, rows)
}

/// Formats rows with few digits: sums of doubles differ in the last bits.
fn shown(rows: &[[f64; 3]]) -> Vec<[String; 3]> {
    rows.iter().map(|row| row.map(|x| format!("{x:.6}"))).collect()
}

#[test]
fn tiles_of_one_layout_are_their_rows_as_they_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let plain = WriteOptions::default();
    for (ending, single) in [("laz", false), ("ply", true), ("npy", false), ("pcd", true)] {
        let one = with(cloud(70_000, [0.0; 3], single), "intensity", |row| row as u16);
        let two = with(cloud(3, [5.0, 0.0, 1.0], single), "intensity", |row| 60_000 + row as u16);
        // Of LAS, the second has the first's offset by its bounds.
        let paths = [("a", &one), ("b", &two)]
            .map(|(name, cloud)| save(folder.path(), &format!("{name}.{ending}"), cloud, &plain));
        let merged = open(&paths).unwrap();
        assert_eq!(merged.warnings(), [""; 0], "{ending}");
        let (cloud, rows) = together(&merged);
        assert_eq!(shown(&rows), shown(&separately(&paths)), "{ending}");
        let values = cloud.column("intensity").unwrap();
        assert_eq!(
            [0, 69_999, 70_000, 70_002].map(|row| values.get(row)),
            [0.0, 4463.0, 60_000.0, 60_002.0]
        );
        let files: Vec<_> = merged.files().iter().map(|file| (file.first, file.rows)).collect();
        assert_eq!(files, [(0, 70_000), (70_000, 3)]);
        // The output is one of the input's format, whose rows are copied.
        let all: Vec<usize> = (0..cloud.len()).collect();
        let (bytes, warnings) = write_bytes(&cloud, &all, &plain).unwrap();
        assert_eq!(warnings, [""; 0], "{ending}");
        let back = read_bytes(&bytes, &format!("a.{ending}"), &ReadOptions::default()).unwrap();
        assert!(back.coordinates() == cloud.coordinates(), "{ending}");
        assert_eq!(back.fields(), cloud.fields(), "{ending}");
    }
}

#[test]
fn the_finest_step_and_one_offset_hold_all_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    let corners =
        [[637_000.0, 849_000.0, 400.0], [638_000.5, 849_000.25, 410.0], [-5_000.0, 2e6, 0.0]];
    let scales = [0.01, 0.001, 0.005];
    let paths: Vec<_> = (0..3)
        .map(|k| {
            let options = WriteOptions::default().scale(scales[k]);
            save(folder.path(), &format!("{k}.las"), &cloud(2_000, corners[k], false), &options)
        })
        .collect();
    let merged = open(&paths).unwrap();
    let (cloud, rows) = together(&merged);
    assert_eq!(cloud.scale(), Some([0.001; 3]));
    assert_eq!(shown(&rows), shown(&separately(&paths)));
    assert_eq!(merged.reader().transforms().unwrap()[0].0, 0.001);
    // Too far for 32 bits.
    let far = self::cloud(10, [9_000_000.0, 0.0, 0.0], false);
    let far = save(folder.path(), "far.las", &far, &WriteOptions::default().scale(0.001));
    let error = open(&[paths[0].clone(), far]).unwrap_err().to_string();
    assert!(
        error.contains("too far") && error.contains("0.001") && error.contains("`scale`"),
        "{error}"
    );
}

#[test]
fn the_point_format_has_the_fields_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let plain = WriteOptions::default();
    let colored = with(cloud(50, [0.0; 3], false), "red", |row| row as u16 * 256);
    let colored = with(with(colored, "green", |_| 512), "blue", |_| 65_280);
    let timed = {
        let mut cloud = with(cloud(60, [1.0; 3], false), "depth", |row| row as u16 + 1);
        cloud.add_column("gps_time", Column::F64((0..60).map(f64::from).collect()));
        cloud
    };
    let paths = [
        save(folder.path(), "a.las", &colored, &plain),
        save(folder.path(), "b.laz", &timed, &plain),
    ];
    let merged = open(&paths).unwrap();
    let warned = merged.warnings().join("\n");
    let lines: Vec<&str> = warned.lines().collect();
    let of = |field: &str, file: &str| {
        lines.iter().any(|line| line.contains(field) && line.contains(file))
    };
    assert!(of("'red'", "b.laz") && of("'depth'", "a.las"), "{warned}");
    assert!(!warned.contains("overlap"), "{warned}");
    let (cloud, rows) = together(&merged);
    assert_eq!(shown(&rows), shown(&separately(&paths)));
    let value = |name: &str, row: usize| cloud.column(name).unwrap().get(row);
    assert_eq!([value("red", 2), value("red", 50), value("blue", 49)], [512.0, 0.0, 65_280.0]);
    assert_eq!([value("depth", 0), value("depth", 50), value("depth", 109)], [0.0, 1.0, 60.0]);
    assert_eq!([value("gps_time", 0), value("gps_time", 51)], [0.0, 1.0]);
    assert_eq!([value("return_number", 0), value("number_of_returns", 109)], [1.0, 1.0]);
    let all: Vec<usize> = (0..cloud.len()).collect();
    let (bytes, warnings) = write_bytes(&cloud, &all, &plain).unwrap();
    assert_eq!(warnings, [""; 0]);
    let back = read_bytes(&bytes, "all.laz", &ReadOptions::default()).unwrap();
    assert_eq!(back.description(), "LAZ 1.4, point format 7");
    assert_eq!(back.column("depth"), cloud.column("depth"));
    assert!(back.coordinates() == cloud.coordinates());
}

/// Each has a hundred thousand columns, half of them in the other: searching all for each would take minutes.
#[test]
fn thousands_of_columns_become_those_of_both() {
    const COLUMNS: usize = 100_000;
    let folder = tempfile::tempdir().unwrap();
    let paths = [0, COLUMNS / 2].map(|first| {
        let columns = first..first + COLUMNS;
        let names: String = columns.clone().map(|k| format!(",c{k}")).collect();
        let values: String = columns.map(|k| format!(",{k}")).collect();
        let path = folder.path().join(format!("{first}.csv"));
        std::fs::write(&path, format!("x,y,z{names}\n1,2,3{values}\n")).unwrap();
        path
    });
    let merged = open(&paths).unwrap();
    assert_eq!(merged.warnings().len(), COLUMNS);
    let (cloud, _) = together(&merged);
    let columns: Vec<_> = cloud.columns(&[0, 1]).skip(3).collect();
    assert_eq!(columns.len(), COLUMNS / 2 * 3);
    for (k, (name, column)) in columns.iter().enumerate() {
        assert_eq!(*name, format!("c{k}"));
        let value = |has| if has { k as f64 } else { 0.0 };
        let expected = [value(k < COLUMNS), value(k >= COLUMNS / 2)];
        assert_eq!([column.get(0), column.get(1)], expected, "{name}");
    }
}

#[test]
fn other_formats_become_columns_that_hold_all() {
    let folder = tempfile::tempdir().unwrap();
    let plain = WriteOptions::default();
    let one = with(cloud(20, [0.0; 3], true), "Intensity", |row| row as u16);
    let mut two = cloud(30, [3.0, 2.0, 1.0], false);
    two.add_column("intensity", Column::F64((0..30).map(|row| f64::from(row) / 4.0).collect()));
    two.add_column("label", Column::I32(vec![-7; 30]));
    let paths = [
        save(folder.path(), "a.ply", &one, &plain),
        save(folder.path(), "b.npy", &two, &plain),
        save(folder.path(), "c.xyz", &cloud(5, [0.5; 3], false), &plain),
    ];
    let merged = open(&paths).unwrap();
    let warned = merged.warnings().join("\n");
    let has_warning =
        |words: &[&str]| warned.lines().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(has_warning(&["'intensity'", "u16", "becomes f64"]), "{warned}");
    assert!(has_warning(&["'label'", "a.ply", "1 more", " 0 "]), "{warned}");
    assert!(has_warning(&["'intensity'", "NaN"]), "{warned}");
    let (cloud, rows) = together(&merged);
    assert_eq!(rows, separately(&paths));
    let value = |name: &str, row: usize| cloud.column(name).unwrap().get(row);
    assert_eq!([value("intensity", 19), value("intensity", 21)], [19.0, 0.25]);
    assert!(value("intensity", 54).is_nan());
    assert_eq!([value("label", 0), value("label", 20)], [0.0, -7.0]);
    let (bytes, _) = write_bytes(
        &cloud,
        &[0, 20, 50],
        &WriteOptions::default().format(farpoint_io::Format::Ply),
    )
    .unwrap();
    assert_eq!(read_bytes(&bytes, "x.ply", &ReadOptions::default()).unwrap().len(), 3);
    // Colors of 8 and of 16 bits are not one range.
    let bytes = (0..3).fold(self::cloud(4, [0.0; 3], true), |mut cloud, k| {
        cloud.add_column(["red", "green", "blue"][k], Column::U8(vec![9; 4]));
        cloud
    });
    let words = ["red", "green", "blue"]
        .iter()
        .fold(self::cloud(4, [0.0; 3], false), |cloud, name| with(cloud, name, |_| 9));
    let paths = [
        save(folder.path(), "8.ply", &bytes, &plain),
        save(folder.path(), "16.npy", &words, &plain),
    ];
    let error = open(&paths).unwrap_err().to_string();
    for word in ["16.npy", "'red'", "u16", "u8", "8.ply"] {
        assert!(error.contains(word), "{error}");
    }
}

/// A LAS file with a coordinate system in its well-known text.
fn in_system(folder: &Path, name: &str, code: u32) -> PathBuf {
    let path = save(folder, name, &cloud(10, [0.0; 3], false), &WriteOptions::default());
    let mut bytes = std::fs::read(&path).unwrap();
    let text = format!("PROJCS[\"A\",UNIT[\"metre\",1],AUTHORITY[\"EPSG\",\"{code}\"]]\0");
    let mut record = vec![0u8; 54];
    record[2..17].copy_from_slice(b"LASF_Projection");
    record[18..20].copy_from_slice(&2112u16.to_le_bytes());
    record[20..22].copy_from_slice(&(text.len() as u16).to_le_bytes());
    record.extend(text.bytes());
    let start = u32::from_le_bytes(bytes[96..100].try_into().unwrap());
    bytes[96..100].copy_from_slice(&(start + record.len() as u32).to_le_bytes());
    let count = u32::from_le_bytes(bytes[100..104].try_into().unwrap());
    bytes[100..104].copy_from_slice(&(count + 1).to_le_bytes());
    bytes.splice(375..375, record);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn coordinate_systems_agree() {
    let folder = tempfile::tempdir().unwrap();
    let a = in_system(folder.path(), "a.las", 2992);
    let b = in_system(folder.path(), "b.las", 2992);
    let c = in_system(folder.path(), "c.las", 32632);
    let none = save(folder.path(), "0.las", &cloud(10, [0.0; 3], false), &WriteOptions::default());
    let merged = open(&[a.clone(), b]).unwrap();
    assert_eq!(merged.reader().crs().unwrap().epsg, Some(2992));
    assert_eq!(merged.warnings(), [""; 0]);
    let error = open(&[a.clone(), c]).unwrap_err().to_string();
    for word in ["c.las", "EPSG:32632", "a.las", "EPSG:2992"] {
        assert!(error.contains(word), "{error}");
    }
    let merged = open(&[none, a]).unwrap();
    assert!(merged.warnings()[0].contains("0.las"), "{:?}", merged.warnings());
    // It is written, too, though the first file has none.
    let cloud = merged.reader().load().unwrap();
    let (bytes, _) = write_bytes(&cloud, &[0, 19], &WriteOptions::default()).unwrap();
    let back = read_bytes(&bytes, "x.las", &ReadOptions::default()).unwrap();
    assert_eq!(back.crs().unwrap().epsg, Some(2992));
}

#[test]
fn equal_rows_of_tiles_that_overlap_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let all = with(cloud(30_000, [0.0; 3], false), "intensity", |row| (row / 2) as u16);
    let options = WriteOptions::default().scale(0.01);
    let tile = |name: &str, rows: std::ops::Range<usize>| {
        let path = folder.path().join(name);
        write(&path, &all, &rows.collect::<Vec<_>>(), &options).unwrap();
        path
    };
    let paths = [tile("a.laz", 0..20_000), tile("b.laz", 15_000..30_000), tile("c.laz", 0..10)];
    let merged = open(&paths).unwrap();
    let equal = merged.equal_rows(1 << 30, 2).unwrap();
    assert_eq!((equal.rows, equal.about), (5_010, false));
    let cloud = merged.reader().load().unwrap();
    assert_eq!(merged.equal_rows_of(&cloud, 1 << 30), equal);
    let estimate = merged.equal_rows(1, 2).unwrap();
    assert!(estimate.about && estimate.rows > 0, "{estimate:?}");
    assert_eq!(open(&paths[..1]).unwrap().equal_rows(1 << 30, 2).unwrap().rows, 0);
}

#[test]
fn hundreds_of_files_are_not_all_open() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..300)
        .map(|k| {
            let points = cloud(10, [f64::from(k), 0.0, 0.0], true);
            save(folder.path(), &format!("{k:03}.ply"), &points, &WriteOptions::default())
        })
        .collect();
    let merged = open(&paths).unwrap();
    let (_, rows) = together(&merged);
    assert_eq!(rows, separately(&paths));
    std::fs::write(&paths[299], "short").unwrap();
    let error = merged.reader().load().unwrap_err().to_string();
    assert!(error.contains("299.ply") && error.contains("changed"), "{error}");
}
