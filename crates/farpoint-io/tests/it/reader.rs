//! Files read in parts equal those read whole; rows written in blocks are the bytes that are written at once.

use farpoint_io::{
    Cloud, Column, Coordinates, Encoding, Error, Format, ReadOptions, Reader, WriteOptions, read,
    write, write_bytes,
};
use std::path::{Path, PathBuf};

/// Some rows of a cloud with attributes, in doubles and floats.
fn cloud(rows: usize, single: bool) -> Cloud {
    let at = |row: usize| [row as f64 * 0.25, (row * 7919 % 1000) as f64 * 0.01, (row % 97) as f64];
    let mut cloud = Cloud::new(match single {
        true => Coordinates::F32((0..rows).map(|row| at(row).map(|x| x as f32)).collect()),
        false => Coordinates::F64((0..rows).map(at).collect()),
    });
    cloud
        .add_column("intensity", Column::U16((0..rows).map(|row| (row % 60_000) as u16).collect()));
    for color in ["red", "green", "blue"] {
        cloud.add_column(color, Column::U8((0..rows).map(|row| (row % 251) as u8).collect()));
    }
    cloud
}

fn save(folder: &Path, name: &str, cloud: &Cloud, options: &WriteOptions) -> PathBuf {
    let (path, all) = (folder.join(name), (0..cloud.len()).collect::<Vec<_>>());
    write(&path, cloud, &all, options).unwrap();
    path
}

/// Every format that can be read in parts, with more rows than one part holds.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (single, double) = (cloud(150_001, true), cloud(150_001, false));
    let plain = WriteOptions::default();
    let big = plain.clone().encoding(Encoding::BinaryBigEndian);
    let mut files = vec![
        save(folder, "a.las", &double, &plain),
        save(folder, "a.laz", &double, &plain),
        save(folder, "a.ply", &single, &plain),
        save(folder, "b.ply", &double, &plain),
        save(folder, "c.ply", &single, &big),
        save(folder, "a.npy", &single, &plain),
        save(folder, "b.npy", &double, &plain),
        save(folder, "c.npy", &double.without_added(), &plain),
        save(folder, "a.pcd", &single, &plain),
    ];
    let Coordinates::F32(points) = single.coordinates() else { unreachable!() };
    let rows = points.iter().flat_map(|[x, y, z]| [*x, *y, *z, 0.5]).flat_map(f32::to_le_bytes);
    files.push(folder.join("a.bin"));
    std::fs::write(&files[9], rows.collect::<Vec<u8>>()).unwrap();
    files
}

fn joined(reader: &Reader) -> Coordinates {
    let mut all: Option<Coordinates> = None;
    for part in 0..reader.parts() {
        let rows = reader.read(part).unwrap();
        assert_eq!(rows.first()..rows.first() + rows.len() as u64, reader.rows(part));
        match (&mut all, rows.coordinates().unwrap()) {
            (Some(Coordinates::F32(all)), Coordinates::F32(more)) => all.extend(more),
            (Some(Coordinates::F64(all)), Coordinates::F64(more)) => all.extend(more),
            (None, first) => all = Some(first),
            _ => panic!("parts differ in precision"),
        }
    }
    all.unwrap()
}

#[test]
fn parts_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(folder.path()) {
        let options = ReadOptions::default();
        let (reader, whole) =
            (Reader::open(&path, &options, Some(0)).unwrap(), read(&path, &options).unwrap());
        let name = path.display();
        assert_eq!(reader.len(), whole.len() as u64, "{name}");
        assert!(reader.parts() > 1, "{name}");
        assert_eq!(reader.description(), whole.description(), "{name}");
        assert_eq!(reader.warnings(), whole.warnings(), "{name}");
        assert_eq!(reader.head().fields(), whole.fields(), "{name}");
        assert!(joined(&reader) == *whole.coordinates(), "{name}");
        assert_eq!(
            reader.is_single(),
            matches!(whole.coordinates(), Coordinates::F32(_)),
            "{name}"
        );
    }
}

#[test]
fn integers_are_those_of_las() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(folder.path(), "a.laz", &cloud(70_000, false), &WriteOptions::default());
    let reader = Reader::open(&path, &ReadOptions::default(), None).unwrap();
    let transforms = reader.transforms().unwrap();
    let rows = reader.read(1).unwrap();
    let Coordinates::F64(points) = rows.coordinates().unwrap() else { panic!("no doubles") };
    for (integers, point) in rows.integers().unwrap().into_iter().zip(points) {
        for axis in 0..3 {
            let (scale, offset) = transforms[axis];
            assert_eq!(
                (f64::from(integers[axis]) * scale + offset).to_bits(),
                point[axis].to_bits()
            );
        }
    }
    let [low, high] = reader.bounds().unwrap();
    assert_eq!((low[0], high[0]), (0.0, 69_999.0 * 0.25));
}

/// Rows in an order that is not that of the file.
fn chosen(rows: usize) -> Vec<usize> {
    (0..rows / 3).map(|k| (k * 7919 + 13) % rows).collect()
}

#[test]
fn rows_in_blocks_are_the_bytes_written_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(folder.path()) {
        let reader = Reader::open(&path, &ReadOptions::default(), Some(0)).unwrap();
        let whole = read(&path, &ReadOptions::default()).unwrap();
        let chosen = chosen(whole.len());
        for ending in ["las", "laz", "ply", "npy", "pcd"] {
            let (blocks, once) = (folder.path().join("blocks"), folder.path().join("once"));
            let (blocks, once) = (blocks.with_extension(ending), once.with_extension(ending));
            let options = WriteOptions::default();
            let same = reader.format().extensions().contains(&ending)
                || ending.starts_with("la") && matches!(reader.format(), Format::Las | Format::Laz);
            assert_eq!(reader.copies_rows(&blocks, &options).unwrap(), same, "{path:?} {ending}");
            if !same {
                continue;
            }
            let parts: Vec<_> =
                (0..reader.parts()).map(|part| reader.read(part).unwrap()).collect();
            let starts: Vec<u64> = parts.iter().map(|rows| rows.first()).collect();
            let row = |row: usize| {
                let part = starts.partition_point(|&start| start <= row as u64) - 1;
                parts[part].stored(row - starts[part] as usize).to_vec()
            };
            let mut remaining = chosen.chunks(33_333);
            let next = || {
                Ok::<_, Error>(
                    remaining.next().map(|rows| rows.iter().copied().flat_map(row).collect()),
                )
            };
            let warnings =
                reader.write_stored(&blocks, &options, chosen.len() as u64, next).unwrap();
            assert_eq!(warnings, write(&once, &whole, &chosen, &options).unwrap());
            let (blocks, once) = (std::fs::read(blocks).unwrap(), std::fs::read(once).unwrap());
            assert!(blocks == once, "{path:?} to {ending}: {} and {}", blocks.len(), once.len());
        }
    }
}

#[test]
fn an_error_of_the_rows_leaves_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let plain = WriteOptions::default();
    for name in ["a.laz", "a.ply"] {
        let path = save(folder.path(), name, &cloud(100, false), &plain);
        let reader = Reader::open(&path, &ReadOptions::default(), None).unwrap();
        let out = folder.path().join("out").with_extension(path.extension().unwrap());
        let mut blocks = 0;
        let error = reader.write_stored(&out, &plain, 100, || {
            blocks += 1;
            match blocks {
                1 => Ok(Some(reader.read(0).unwrap().stored(3).to_vec())),
                _ => Err(Error::RowOutOfRange { row: 7, len: 5 }),
            }
        });
        assert!(matches!(error, Err(Error::RowOutOfRange { row: 7, .. })), "{error:?}");
        assert!(!out.exists());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn text_is_held_in_memory_if_it_fits() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(folder.path(), "a.xyz", &cloud(100_000, false), &WriteOptions::default());
    // Else it is read in pieces of whole lines.
    let pieces = Reader::open(&path, &ReadOptions::default(), Some(1000)).unwrap();
    assert!(pieces.parts() > 1 && pieces.cloud().is_none());
    assert!(joined(&pieces) == *read(&path, &ReadOptions::default()).unwrap().coordinates());
    let reader = Reader::open(&path, &ReadOptions::default(), Some(1 << 30)).unwrap();
    let whole = read(&path, &ReadOptions::default()).unwrap();
    assert!(joined(&reader) == *whole.coordinates());
    assert!(reader.parts() > 1 && reader.cloud().is_some());
    let line = reader.read(1).unwrap().stored(5).to_vec();
    let row = reader.rows(1).start as usize + 5;
    let (bytes, _) = write_bytes(&whole, &[row], &WriteOptions::default()).unwrap();
    assert!(
        bytes.windows(line.len()).any(|part| part == line),
        "{}",
        String::from_utf8_lossy(&line)
    );
}

#[test]
fn files_cut_short_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(folder.path()) {
        let bytes = std::fs::read(&path).unwrap();
        let cut = folder.path().join("cut").with_extension(path.extension().unwrap());
        std::fs::write(&cut, &bytes[..bytes.len() * 3 / 4 + 1]).unwrap();
        let options = ReadOptions::default();
        let found = Reader::open(&cut, &options, None)
            .and_then(|reader| reader.for_each(2, |_, rows| rows.coordinates().map(|_| ())));
        assert!(found.is_err(), "{path:?}");
        assert!(read(&cut, &options).is_err(), "{path:?}");
    }
}

#[test]
fn some_rows_are_converted_as_those_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(folder.path()) {
        let reader = Reader::open(&path, &ReadOptions::default(), Some(0)).unwrap();
        let whole = read(&path, &ReadOptions::default()).unwrap();
        // Few rows, so that facts about the others would be missing.
        let chosen: Vec<usize> = (3..60).map(|k| (k * 37) % 5000).collect();
        let parts: Vec<_> = (0..reader.parts()).map(|part| reader.read(part).unwrap()).collect();
        let stored = |row: &usize| {
            let part = reader.part_of(*row as u64);
            parts[part].stored(row - parts[part].first() as usize).to_vec()
        };
        let some = reader.some(chosen.iter().flat_map(stored).collect(), 2).unwrap();
        let rows: Vec<usize> = (0..chosen.len()).collect();
        for ending in ["las", "laz", "ply", "npy", "pcd", "xyz", "csv", "pts"] {
            for single in [None, Some(farpoint_io::Precision::Single)] {
                let mut options = WriteOptions::default();
                options.precision = single;
                let out = |name: &str| folder.path().join(name).with_extension(ending);
                let of_some = write(&out("some"), &some, &rows, &options);
                let of_whole = write(&out("whole"), &whole, &chosen, &options);
                assert_eq!(of_some.unwrap(), of_whole.unwrap(), "{path:?} to {ending}");
                let [a, b] = ["some", "whole"].map(|name| std::fs::read(out(name)).unwrap());
                assert!(a == b, "{path:?} to {ending}, {single:?}");
            }
        }
    }
}
