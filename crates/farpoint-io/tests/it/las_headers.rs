//! Headers of LAS and LAZ of every version and length say the same to every reader: whole, in parts, merged, and of the
//! header alone.

use crate::las_formats::{POINTS, las_file, versions};
use farpoint_io::{
    Cloud, Copc, Error, Field, Format, Merged, ReadOptions, Reader, WriteOptions, read_bytes,
    summary, write_bytes,
};

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Appends bytes to the header, and moves everything after it.
fn longer(mut bytes: Vec<u8>, more: &[u8]) -> Vec<u8> {
    let (size, start) = (u16_at(&bytes, 94), u32_at(&bytes, 96));
    put(&mut bytes, 94, &((size + more.len()) as u16).to_le_bytes());
    put(&mut bytes, 96, &((start + more.len()) as u32).to_le_bytes());
    // The records after the points, and the table of chunks.
    let places = [(235, size >= 375), (start, bytes[104] & 0x80 != 0)];
    for (at, _) in places.into_iter().filter(|(_, is_there)| *is_there) {
        let place = u64_at(&bytes, at);
        // A stream has no table.
        if (1..bytes.len() as u64).contains(&place) {
            put(&mut bytes, at, &(place + more.len() as u64).to_le_bytes());
        }
    }
    bytes.splice(size..size, more.iter().copied());
    bytes
}

/// Makes LAS 1.4 LAS 1.5, which has no old count.
fn newer(bytes: Vec<u8>, more: &[u8]) -> Vec<u8> {
    let mut bytes = longer(bytes, &[&[0; 18], more].concat());
    bytes[25] = 5;
    put(&mut bytes, 107, &[0; 24]);
    bytes
}

fn all(cloud: &Cloud) -> Vec<[f64; 3]> {
    (0..cloud.len()).map(|row| cloud.coordinates().get(row)).collect()
}

fn whole(bytes: &[u8]) -> Result<Cloud, Error> {
    read_bytes(bytes, "a.las", &ReadOptions::default())
}

fn written(cloud: &Cloud, options: WriteOptions) -> (Vec<u8>, Vec<String>) {
    write_bytes(cloud, &(0..cloud.len()).collect::<Vec<_>>(), &options).unwrap()
}

fn as_format(bytes: &[u8], format: Format) -> Vec<u8> {
    written(&whole(bytes).unwrap(), WriteOptions::default().format(format)).0
}

/// Findings of a reader: description and fields, of which a merged cloud has fewer; number of points; points.
type Seen = (Option<(String, Vec<Field>)>, u64, Option<Vec<[f64; 3]>>);

/// Returns what each reader finds, or its message without the name of the file.
fn seen(bytes: &[u8]) -> Vec<Result<Seen, String>> {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    let paths = ["a.las", "b.las"].map(|name| folder.path().join(name));
    paths.iter().for_each(|path| std::fs::write(path, bytes).unwrap());
    let of_cloud = |cloud: Cloud| {
        (Some((cloud.description(), cloud.fields())), cloud.len() as u64, Some(all(&cloud)))
    };
    let header = summary(&paths[0], &options);
    let header = header.map(|summary| {
        let summary = summary.unwrap();
        (Some((summary.description, summary.fields)), summary.points, None)
    });
    let in_parts = Reader::open(&paths[0], &options, None).and_then(|reader| reader.load());
    let merged = Merged::open(&paths, &options, None).and_then(|merged| {
        let points = all(&merged.reader().load()?);
        let (first, second) = points.split_at(points.len() / 2);
        assert_eq!(first, second);
        Ok((None, first.len() as u64, Some(first.to_vec())))
    });
    let readers = [whole(bytes).map(of_cloud), in_parts.map(of_cloud), merged, header];
    let message = |error: Error| {
        let text = error.to_string();
        text.split_once("a.las: ").map_or(text.clone(), |(_, rest)| rest.to_owned())
    };
    readers.into_iter().map(|found| found.map_err(message)).collect()
}

/// Asserts that all readers find the same, and that it is this number of these points.
fn agree(bytes: &[u8], points: &[[f64; 3]], name: &str) {
    let found = seen(bytes);
    let (first, ..) = found[0].as_ref().unwrap_or_else(|error| panic!("{name}: {error}"));
    for (reader, found) in found.iter().enumerate() {
        let (text, count, coordinates) = found.as_ref().unwrap();
        assert_eq!(*count, points.len() as u64, "{name}, reader {reader}");
        assert!(text.is_none() || text == first, "{name}, reader {reader}: {text:?}");
        assert!(coordinates.as_ref().is_none_or(|found| found == points), "{name}: {reader}");
    }
}

/// Asserts that all readers refuse a file with one message.
fn refused(bytes: &[u8], words: &str) {
    for (reader, found) in seen(bytes).into_iter().enumerate() {
        let error = found.expect_err(words);
        assert!(error.contains(words) && error.contains("; "), "reader {reader}: {error}");
    }
}

#[test]
fn headers_of_every_version_and_length() {
    for format in 0..=10u8 {
        for version in versions(format) {
            let (las, _) = las_file(format, version);
            let points = all(&whole(&las).unwrap());
            for kind in [Format::Las, Format::Laz] {
                let bytes = as_format(&las, kind);
                for more in [0, 1, 18, 200, 5000] {
                    let name = format!("{kind} {version:?}, format {format}, {more} more bytes");
                    let long = longer(bytes.clone(), &vec![7; more]);
                    agree(&long, &points, &name);
                    assert_eq!(u16_at(&as_format(&long, kind), 94), u16_at(&long, 94), "{name}");
                    if version == (1, 4) {
                        let new = newer(bytes.clone(), &vec![7; more]);
                        agree(&new, &points, &format!("1.5 of {name}"));
                        assert_eq!(u16_at(&as_format(&new, kind), 94), u16_at(&new, 94), "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn las_1_5_is_written_with_its_times_and_without_old_counts() {
    for format in 0..=10u8 {
        let mut bytes = newer(las_file(format, (1, 4)).0, b"kept");
        bytes[6] |= 65;
        put(&mut bytes, 391, &1400u16.to_le_bytes());
        let cloud = whole(&bytes).unwrap();
        assert!(cloud.description().contains("LAS 1.5"), "{}", cloud.description());
        let back = as_format(&bytes, Format::Las);
        assert_eq!(
            (&back[24..26], u16_at(&back, 94), &back[391..397]),
            (&[1, 5][..], 397, &[&1400u16.to_le_bytes()[..], b"kept"].concat()[..])
        );
        assert_eq!((u32_at(&back, 107), u64_at(&back, 247)), (0, POINTS as u64));
        let timed = ![0, 2].contains(&format);
        let times = [375, 383].map(|at| f64::from_bits(u64_at(&back, at)));
        let last = 1e8 + (POINTS - 1) as f64 * 0.125;
        assert_eq!(times, if timed { [last, 1e8] } else { [f64::MIN, f64::MAX] });
        assert_eq!(cloud.gps_time(), timed.then_some("offset standard"));
        // COPC is LAS 1.4, and cannot state the offset.
        let levels = Copc::new((0..POINTS).map(|i| 1e9 / i as f64).collect::<Vec<_>>());
        let (copc, warnings) =
            written(&cloud, WriteOptions::default().format(Format::Laz).copc(levels));
        assert_eq!((copc[25], copc[6] & 64, u16_at(&copc, 94)), (4, 0, 375));
        assert!(warnings.iter().any(|w| w.contains("1400 million seconds")), "{warnings:?}");
        agree(&copc, &all(&whole(&copc).unwrap()), "COPC");
    }
}

#[test]
fn headers_that_cannot_be_right_are_refused_alike() {
    let changed = |bytes: &[u8], at: usize, value: &[u8]| {
        let mut bytes = bytes.to_vec();
        put(&mut bytes, at, value);
        bytes
    };
    for kind in [Format::Las, Format::Laz] {
        let old = as_format(&las_file(3, (1, 2)).0, kind);
        let new = as_format(&las_file(7, (1, 4)).0, kind);
        for (major, minor) in [(0, 4), (0, 0), (2, 0), (1, 6), (42, 211), (255, 255)] {
            let words = format!("version {major}.{minor} of LAS is unknown");
            refused(&changed(&new, 24, &[major, minor]), &words);
        }
        for minor in 0..4 {
            refused(&changed(&new, 25, &[minor]), "point format 7 needs LAS 1.4");
        }
        for size in [0u16, 1, 226] {
            refused(&changed(&old, 94, &size.to_le_bytes()), "takes 227 bytes");
        }
        for size in [227u16, 235, 374] {
            refused(&changed(&new, 94, &size.to_le_bytes()), "takes 375 bytes");
        }
        refused(&changed(&new, 25, &[5]), "takes 393 bytes");
        refused(&changed(&old, 94, &u16::MAX.to_le_bytes()), "the header is truncated");
        refused(&changed(&old, 96, &100u32.to_le_bytes()), "in the header");
        refused(&changed(&old, 96, &u32::MAX.to_le_bytes()), "the points start at byte");
        refused(&changed(&old, 104, &[old[104] | 0x3f]), "point format 63 is unknown");
        refused(&changed(&old, 105, &20u16.to_le_bytes()), "too short");
        for count in [POINTS as u32 + 1, u32::MAX] {
            let words = format!("the header declares {count} points");
            // One more than a chunk has is only found when it is decompressed.
            if kind == Format::Las || count == u32::MAX {
                refused(&changed(&old, 107, &count.to_le_bytes()), &words);
            }
        }
        let words = format!("the header declares {} points", u64::MAX >> 1);
        refused(&changed(&new, 247, &(u64::MAX >> 1).to_le_bytes()), &words);
    }
}

/// Makes a compressed file of one chunk one stream, as LASzip wrote before it had chunks.
fn point_wise(mut bytes: Vec<u8>) -> Vec<u8> {
    let start = u32_at(&bytes, 96);
    let table = u64_at(&bytes, start) as usize;
    let name = bytes.windows(14).position(|window| window == b"laszip encoded").unwrap();
    put(&mut bytes, name - 2 + 54, &1u16.to_le_bytes());
    bytes.truncate(table);
    bytes.drain(start..start + 8);
    bytes
}

#[test]
fn a_stream_of_points_has_no_table_of_chunks() {
    for format in 0..=5u8 {
        let (las, _) = las_file(format, if format < 4 { (1, 2) } else { (1, 3) });
        let points = all(&whole(&las).unwrap());
        let stream = point_wise(as_format(&las, Format::Laz));
        agree(&stream, &points, &format!("format {format}"));
        agree(&longer(stream.clone(), &[9; 400]), &points, &format!("format {format}, longer"));
        let mut large = stream;
        put(&mut large, 107, &u32::MAX.to_le_bytes());
        refused(&large, "the header declares 4294967295 points, more than the file can hold");
    }
}

/// Asserts that all readers warn.
fn warned(bytes: &[u8], words: &str) {
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    std::fs::write(&path, bytes).unwrap();
    let options = ReadOptions::default();
    let reader = Reader::open(&path, &options, None).unwrap();
    let header = summary(&path, &options).unwrap().unwrap();
    for warnings in [whole(bytes).unwrap().warnings(), reader.warnings(), &header.warnings] {
        assert!(warnings.iter().any(|warning| warning.contains(words)), "{words}: {warnings:?}");
    }
}

#[test]
fn what_a_header_leaves_out_is_named() {
    for kind in [Format::Las, Format::Laz] {
        let mut none = as_format(&las_file(3, (1, 2)).0, kind);
        put(&mut none, 107, &0u32.to_le_bytes());
        let more = if kind == Format::Las { "bytes for 50 more" } else { "1 more chunks" };
        warned(&none, &format!("declares 0 points, and the file has {more}"));
        let mut two = as_format(&las_file(3, (1, 4)).0, kind);
        put(&mut two, 107, &7u32.to_le_bytes());
        warned(&two, "counts 7 points in 32 bits and 50 in 64");
        let mut records = as_format(&las_file(3, (1, 2)).0, kind);
        let all = u32_at(&records, 100) + 2;
        put(&mut records, 100, &(all as u32).to_le_bytes());
        warned(&records, &format!("record {} of {all} reaches into the points", all - 1));
        let mut later = as_format(&las_file(3, (1, 4)).0, kind);
        put(&mut later, 243, &9u32.to_le_bytes());
        warned(&later, "the records after the points are truncated");
    }
    // LAS 1.3 without the place of waveforms has the header of 1.2.
    let mut short = as_format(&las_file(3, (1, 2)).0, Format::Las);
    short[25] = 3;
    agree(&short, &all(&whole(&short).unwrap()), "1.3");
}
