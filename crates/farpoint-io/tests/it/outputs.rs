//! Later outputs and inputs: E57, NPZ, raw float32; compressed inputs.

use farpoint_io::{
    Cloud, Column, Coordinates, Error, Format, ReadOptions, Reader, WriteOptions, read, read_bytes,
    write, write_bytes,
};
use std::io::Write;

fn cloud(single: bool) -> Cloud {
    let at = |row: usize| [row as f64 * 0.25, (row * 7919 % 1000) as f64 / 8.0, (row % 97) as f64];
    let mut cloud = Cloud::new(match single {
        true => Coordinates::F32((0..3000).map(|row| at(row).map(|x| x as f32)).collect()),
        false => Coordinates::F64((0..3000).map(at).collect()),
    });
    cloud.add_column("intensity", Column::F32((0..3000).map(|row| row as f32 / 3000.0).collect()));
    cloud
}

fn all(cloud: &Cloud) -> Vec<usize> {
    (0..cloud.len()).collect()
}

#[test]
fn arrays_in_an_archive_come_back() {
    let mut cloud = cloud(false);
    cloud.add_column("label", Column::I32((0..3000).map(|row| row - 7).collect()));
    let options = WriteOptions::default().format(Format::Npz);
    let (bytes, warnings) = write_bytes(&cloud, &[5, 2999, 0], &options).unwrap();
    assert_eq!(warnings, [""; 0]);
    let back = read_bytes(&bytes, "a.npz", &ReadOptions::default()).unwrap();
    assert_eq!((back.len(), back.coordinates().get(1)), (3, cloud.coordinates().get(2999)));
    assert_eq!(back.column("label"), Some(Column::I32(vec![-2, 2992, -7])));
    assert_eq!(write_bytes(&cloud, &[5, 2999, 0], &options).unwrap().0, bytes);
}

#[test]
fn raw_rows_are_those_of_the_input_or_x_y_z_intensity() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let cloud = cloud(true);
    let warnings = write(&path("a.bin"), &cloud, &all(&cloud), &WriteOptions::default()).unwrap();
    assert_eq!(warnings, [""; 0]);
    let options = ReadOptions::default().columns(4);
    let back = read(&path("a.bin"), &options).unwrap();
    assert_eq!(back.coordinates(), cloud.coordinates());
    assert_eq!(back.column("intensity"), cloud.column("intensity"));
    let warnings = write(&path("b.pcd.bin"), &cloud, &[0], &WriteOptions::default()).unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("'ring'"), "{warnings:?}");
    assert_eq!(std::fs::read(path("b.pcd.bin")).unwrap().len(), 20);
    // Rows of any width are copied.
    let wide: Vec<u8> = (0..60).flat_map(|n| (n as f32).to_le_bytes()).collect();
    std::fs::write(path("c.bin"), &wide).unwrap();
    let wide_cloud = read(&path("c.bin"), &ReadOptions::default().columns(6)).unwrap();
    write(&path("d.bin"), &wide_cloud, &all(&wide_cloud), &WriteOptions::default()).unwrap();
    assert_eq!(std::fs::read(path("d.bin")).unwrap(), wide);
}

#[test]
fn e57_keeps_places_and_attributes() {
    let options = WriteOptions::default().format(Format::E57);
    for single in [true, false] {
        let mut cloud = cloud(single);
        cloud.add_column("classification", Column::U8(vec![7; 3000]));
        cloud.add_column("strange name!", Column::I16((0..3000).map(|row| row - 1500).collect()));
        let (bytes, warnings) = write_bytes(&cloud, &all(&cloud), &options).unwrap();
        assert_eq!(warnings, [""; 0]);
        let back = read_bytes(&bytes, "a.e57", &ReadOptions::default()).unwrap();
        assert_eq!(back.len(), 3000);
        assert!((0..3000).all(|row| back.coordinates().get(row) == cloud.coordinates().get(row)));
        assert_eq!(back.column("intensity"), cloud.column("intensity"));
        assert_eq!(back.column("classification"), cloud.column("classification"));
        let values = back.column("strange_name_").unwrap();
        assert!((0..3000).all(|row| values.get(row) == row as f64 - 1500.0));
        assert_eq!(write_bytes(&cloud, &all(&cloud), &options).unwrap().0, bytes);
    }
    // No point at all, and one without a position.
    let (bytes, _) = write_bytes(&cloud(true), &[], &options).unwrap();
    assert_eq!(read_bytes(&bytes, "a.e57", &ReadOptions::default()).unwrap().len(), 0);
    let some = Cloud::new(Coordinates::F64(vec![
        [f64::NAN, 1.0, 2.0],
        [3.0, 4.0, 5.0],
        [1.0; 3],
        [2.0; 3],
    ]));
    // Few states are less than a byte of the file.
    for rows in 1..=13 {
        let rows: Vec<usize> = (0..rows).map(|row| row % 4).collect();
        let (bytes, _) = write_bytes(&some, &rows, &options).unwrap();
        let back = read_bytes(&bytes, "a.e57", &ReadOptions::default()).unwrap();
        assert_eq!(back.len(), rows.len());
        for (i, &row) in rows.iter().enumerate() {
            let (is, was) = (back.coordinates().get(i), some.coordinates().get(row));
            assert!(if row == 0 { is[0].is_nan() } else { is == was }, "{rows:?}: {is:?}");
        }
    }
}

#[test]
fn integers_of_las_stay_integers_in_e57() {
    let las = WriteOptions::default().format(Format::Las).scale(0.001);
    let (bytes, _) = write_bytes(&cloud(false), &all(&cloud(false)), &las).unwrap();
    let las = read_bytes(&bytes, "a.las", &ReadOptions::default()).unwrap();
    let options = WriteOptions::default().format(Format::E57);
    let (bytes, warnings) = write_bytes(&las, &all(&las), &options).unwrap();
    assert_eq!(warnings, [""; 0]);
    let back = read_bytes(&bytes, "a.e57", &ReadOptions::default()).unwrap();
    assert_eq!(back.scale(), Some([0.001; 3]));
    assert_eq!(back.coordinates(), las.coordinates());
}

/// The fewest points that a packet can hold.
#[test]
fn e57_of_one_point() {
    let las = WriteOptions::default().format(Format::Las).scale(0.001);
    let (bytes, _) = write_bytes(&cloud(false), &[5], &las).unwrap();
    let las = read_bytes(&bytes, "a.las", &ReadOptions::default()).unwrap();
    let options = WriteOptions::default().format(Format::E57);
    let (bytes, _) = write_bytes(&las, &[0], &options).unwrap();
    let back = read_bytes(&bytes, "a.e57", &ReadOptions::default()).unwrap();
    assert_eq!(back.coordinates(), las.coordinates());
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn packed_files_are_what_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let cloud = cloud(true);
    for (name, format) in [("a.ply", Format::Ply), ("b.laz", Format::Laz), ("c.bin", Format::Raw)] {
        let options = WriteOptions::default().format(format);
        let (bytes, _) = write_bytes(&cloud, &all(&cloud), &options).unwrap();
        let options = ReadOptions::default().columns((format == Format::Raw).then_some(4));
        let path = folder.path().join(format!("{name}.gz"));
        std::fs::write(&path, packed(&bytes)).unwrap();
        let back = read(&path, &options).unwrap();
        let plain = read_bytes(&bytes, name, &options).unwrap();
        assert!(back.coordinates() == plain.coordinates(), "{name}");
        assert_eq!(back.fields(), plain.fields(), "{name}");
        let reader = Reader::open(&path, &options, None).unwrap();
        assert_eq!(reader.len(), 3000, "{name}");
        let error = Reader::open(&path, &options, Some(1000)).unwrap_err();
        assert!(matches!(error, Error::NotInParts { .. }), "{name}: {error}");
        // Cut short.
        std::fs::write(&path, &packed(&bytes)[..500]).unwrap();
        let error = read(&path, &options).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
    let twice = packed(&packed(b"1 2 3\n"));
    assert!(read_bytes(&twice, "a.xyz.gz", &ReadOptions::default()).is_err());
    let two = [packed(b"1 2 3\n"), packed(b"4 5 6\n")].concat();
    assert_eq!(read_bytes(&two, "a.xyz.gz", &ReadOptions::default()).unwrap().len(), 2);
}
