//! MCAP files: all layouts of the points, all ways to write a file; everything but clouds of the topic stays as it
//! was, byte for byte.

use crate::bags::{
    self, MessageLayout, OUSTER, ZSTD, cloud, drive, files, layouts, message, points, record,
    records,
};
use farpoint_io::bag::{Bag, Cut, Encoding, Kept, Kind, PointCloud2, Rewrite};
use farpoint_io::{Coordinates, Error, Format, Groups, ReadOptions, read_bytes};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const MESSAGE: u8 = mcap::records::op::MESSAGE;
static GO: AtomicBool = AtomicBool::new(false);

/// Every third usable row, backwards.
fn some(message: &PointCloud2<'_>) -> Result<Kept, String> {
    let (rows, [non_finite, zeros]) = message.usable(true);
    let rows = rows.iter().rev().step_by(3).map(|&row| row as usize).collect();
    Ok(Kept::new(rows, non_finite + zeros))
}

fn rewritten(file: &[u8], threads: usize) -> Result<(Vec<u8>, Vec<Cut>), Error> {
    let bag = Bag::from_bytes(file.to_vec(), "drive.mcap")?;
    let topic = bag.contents().cloud_topic(None).expect("one topic with clouds").clone();
    let mut cuts = Vec::new();
    let topics = [&topic];
    let rewrite = Rewrite::new(&topics, threads, 1 << 20, &GO);
    let bytes = rewrite.bytes(&bag, &some, &mut |cut| cuts.push(cut))?;
    Ok((bytes.expect("not stopped"), cuts))
}

#[test]
fn all_layouts_are_read_and_cut() {
    for layout in layouts() {
        let (count, mut seed) = (64, 5);
        let all: Vec<_> =
            points(count, 1).into_iter().map(|p| record(&layout, p, &mut seed)).collect();
        let bytes = message(&layout, &all);
        let encoding = Encoding::of(layout.encoding).unwrap();
        let parsed =
            PointCloud2::parse(encoding, &bytes).unwrap_or_else(|e| panic!("{e}: {layout:?}"));
        assert_eq!(parsed.shape(), [layout.height, count / layout.height]);
        assert_eq!((parsed.frame().as_str(), parsed.fields().len()), (layout.frame, 4));
        let places = parsed.coordinates();
        assert_eq!(matches!(places, Coordinates::F64(_)), layout.double);
        for (row, point) in points(count, 1).into_iter().enumerate() {
            assert_eq!(parsed.row(row), all[row], "{layout:?}");
            assert_eq!(places.get(row).map(f64::to_bits), point.map(f64::to_bits), "{layout:?}");
        }
        let (usable, [non_finite, zeros]) = parsed.usable(true);
        let good = |p: &[f64; 3]| p.iter().all(|v| v.is_finite()) && *p != [0.0; 3];
        let rows: Vec<u32> = (0..64).filter(|&k| good(&points(count, 1)[k as usize])).collect();
        assert_eq!((usable, non_finite + zeros + rows.len()), (rows, count));
        // The same as if the driver had written only these.
        let rows = [63, 0, 17, 18, 2];
        let kept: Vec<_> = rows.iter().map(|&row| all[row].clone()).collect();
        let plain = bags::MessageLayout {
            height: 1,
            padding: 0,
            cut: false,
            row_step: None,
            dense: true,
            ..layout
        };
        assert!(parsed.with_rows(&rows, true) == message(&plain, &kept), "{layout:?}");
        let as_it_was = bags::MessageLayout { dense: layout.dense, ..plain };
        assert!(parsed.with_rows(&rows, false) == message(&as_it_was, &kept), "{layout:?}");
        assert!(parsed.with_rows(&[], false) == message(&as_it_was, &[]), "{layout:?}");
    }
}

#[test]
fn points_are_read_in_place() {
    for layout in layouts() {
        let bytes = cloud(&layout, 64, 2);
        let encoding = Encoding::of(layout.encoding).unwrap();
        let parsed = PointCloud2::parse(encoding, &bytes).unwrap();
        let Some((data, places, kind)) = parsed.even() else {
            assert!(layout.padding > 0, "{layout:?}");
            continue;
        };
        assert_eq!((places, kind.size()), (layout.places, if layout.double { 8 } else { 4 }));
        assert_eq!(data.len(), 64 * layout.point_step);
        assert_eq!(data[5 * layout.point_step..6 * layout.point_step], *parsed.row(5));
    }
}

#[test]
fn damaged_messages_say_what_is_wrong() {
    for encoding in [Encoding::Cdr, Encoding::Ros1] {
        let layout = bags::MessageLayout {
            encoding: if encoding == Encoding::Cdr { "cdr" } else { "ros1" },
            ..OUSTER
        };
        let good = cloud(&layout, 8, 0);
        for length in 0..good.len() {
            let error = PointCloud2::parse(encoding, &good[..length]).unwrap_err();
            assert!(
                error.contains("truncated") || error.contains("not a CDR"),
                "{length}: {error}"
            );
        }
        assert!(PointCloud2::parse(encoding, &good).is_ok());
        // Any byte may be anything.
        for at in 0..good.len().min(400) {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut damaged = good.clone();
                damaged[at] = value;
                if let Ok(parsed) = PointCloud2::parse(encoding, &damaged) {
                    let rows: Vec<_> = (0..parsed.len().min(3)).collect();
                    let shorter = parsed.with_rows(&rows, true);
                    assert_eq!(PointCloud2::parse(encoding, &shorter).unwrap().len(), rows.len());
                    let _ = (parsed.coordinates(), parsed.usable(false));
                }
            }
        }
    }
    let records: Vec<_> = points(8, 0).into_iter().map(|p| record(&OUSTER, p, &mut 1)).collect();
    for (unusual, text) in [
        (bags::MessageLayout { places: [0, 4, 46], ..OUSTER }, "50"),
        (bags::MessageLayout { places: [0, 4, 40], double: true, ..OUSTER }, ""),
        (bags::MessageLayout { places: [0, 4, 41], double: true, ..OUSTER }, "49"),
        // Rows that overlap, or of which the last one ends beyond the data.
        (bags::MessageLayout { height: 4, row_step: Some(95), ..OUSTER }, "row_step of 95 bytes"),
        (bags::MessageLayout { height: 4, row_step: Some(97), ..OUSTER }, "384 bytes of data"),
        (bags::MessageLayout { height: 4, row_step: Some(u32::MAX), ..OUSTER }, "4 x 2 points"),
    ] {
        let bytes = message(&unusual, &records);
        let error = PointCloud2::parse(Encoding::Cdr, &bytes).err().unwrap_or_default();
        assert!(error.contains(text) && error.is_empty() == text.is_empty(), "{error}");
    }
}

#[test]
fn everything_else_is_as_it_was() {
    for encoding in ["cdr", "ros1"] {
        let layout = bags::MessageLayout { encoding, ..OUSTER };
        let clouds: Vec<_> = (0..5).map(|k| cloud(&layout, 300 + k, k)).collect();
        for file in files() {
            let before = drive(&file, encoding, &clouds);
            for threads in [1, 3] {
                let (after, cuts) = rewritten(&before, threads).unwrap();
                let (was, is) = (records(&before), records(&after));
                assert_eq!(cuts.len(), clouds.len());
                assert_eq!(was.len(), is.len(), "{file:?}");
                let mut seen = 0;
                for ((op, was), (op_after, is)) in was.iter().zip(&is).skip(1) {
                    assert_eq!(op, op_after);
                    if *op != MESSAGE || was[..2] != [7, 0] {
                        assert!(was == is, "record {op:#x} changed, {file:?}");
                        continue;
                    }
                    // Channel, sequence and times.
                    assert_eq!(was[..22], is[..22]);
                    let encoding = Encoding::of(encoding).unwrap();
                    let message = PointCloud2::parse(encoding, &was[22..]).unwrap();
                    let kept = some(&message).unwrap();
                    assert!(message.with_rows(&kept.rows, true) == is[22..]);
                    assert_eq!(cuts[seen].points, [message.len(), kept.rows.len(), kept.dropped]);
                    seen += 1;
                }
                assert_eq!(seen, clouds.len());
                let (bag, again) = (contents(&before), contents(&after));
                assert_eq!(bag.compression, again.compression, "{file:?}");
                assert_eq!((bag.profile, bag.times), (again.profile, again.times));
                assert_eq!(bag.topics, again.topics);
                assert!(again.library.ends_with("from recorder 1.2"));
                assert!(again.indexed);
            }
        }
    }
}

fn contents(file: &[u8]) -> farpoint_io::bag::Contents {
    Bag::from_bytes(file.to_vec(), "drive.mcap").unwrap().contents().clone()
}

#[test]
fn contents_with_and_without_an_index() {
    let clouds: Vec<_> = (0..3).map(|k| cloud(&OUSTER, 50, k)).collect();
    for file in files() {
        let found = contents(&drive(&file, "cdr", &clouds));
        let topics: Vec<_> = found
            .topics
            .iter()
            .map(|t| (t.name.as_str(), t.messages, t.channels.clone()))
            .collect();
        let expected = [("/imu", 6, vec![3, 12]), ("/lidar", 3, vec![7]), ("/raw", 3, vec![0])];
        assert_eq!(topics, expected, "{file:?}");
        assert_eq!(found.topics[1].kind, Kind::Cloud(Encoding::Cdr));
        assert_eq!((found.messages, found.indexed), (12, file.index));
        assert_eq!(found.times, Some([1_000_000_000, 1_200_000_005]));
        assert_eq!(found.warnings.is_empty(), found.indexed);
    }
}

#[test]
fn a_file_cut_anywhere_keeps_what_is_whole() {
    let clouds: Vec<_> = (0..6).map(|k| cloud(&OUSTER, 200, k)).collect();
    for file in files() {
        let whole = drive(&file, "cdr", &clouds);
        let messages = |file: &[u8]| -> Vec<_> {
            records(file).into_iter().filter(|(op, data)| *op == MESSAGE && data[0] != 7).collect()
        };
        let all = messages(&whole);
        // Without its last byte, a file has lost nothing but its end.
        let cuts = (8..whole.len()).step_by(whole.len() / 60 + 1).chain([whole.len() - 1]);
        let mut largest = 0;
        for length in cuts {
            let Ok(bag) = Bag::from_bytes(whole[..length].to_vec(), "cut.mcap") else {
                panic!("{length} bytes of {file:?} are refused")
            };
            assert!(!bag.contents().indexed && bag.contents().warnings.len() == 1);
            let Ok(topic) = bag.contents().cloud_topic(None) else { continue };
            let topics = [topic];
            let rewrite = Rewrite::new(&topics, 2, 1 << 20, &GO);
            let bytes = rewrite.bytes(&bag, &some, &mut |_| {}).unwrap().unwrap();
            let kept = messages(&bytes);
            assert!(all.starts_with(&kept), "{length} bytes of {file:?}");
            assert!(kept.len() >= largest, "{length} bytes of {file:?}");
            assert_eq!(kept.len() as u64, bag.contents().messages - topic.messages);
            assert!(contents(&bytes).indexed, "what is written is whole");
            largest = kept.len();
        }
        assert_eq!(largest, all.len(), "{file:?}");
    }
}

#[test]
fn damage_in_the_middle_is_an_error_and_nothing_is_written() {
    let clouds: Vec<_> = (0..4).map(|k| cloud(&OUSTER, 300, k)).collect();
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.mcap");
    for file in [ZSTD, bags::File { compression: None, ..ZSTD }] {
        let mut damaged = drive(&file, "cdr", &clouds);
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0x55;
        let bag = Bag::from_bytes(damaged, "drive.mcap").unwrap();
        let topic = bag.contents().cloud_topic(None).unwrap();
        let topics = [topic];
        let rewrite = Rewrite::new(&topics, 2, 1 << 20, &GO);
        let error = rewrite.write(&bag, &output, &some, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("drive.mcap: MCAP, byte "), "{error}");
        assert!(error.contains("mcap recover"), "{error}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}

/// The file has its end, so that a record which reaches beyond it is no sign that the file was cut.
#[test]
fn a_record_of_wrong_length_is_reported_with_its_offset() {
    let clouds: Vec<_> = (0..4).map(|k| cloud(&OUSTER, 300, k)).collect();
    let whole = drive(&bags::File { index: false, ..ZSTD }, "cdr", &clouds);
    assert_eq!(contents(&whole).messages, 16);
    // The first chunk follows the header and the records outside of chunks.
    let mut at = 8;
    while whole[at] != mcap::records::op::CHUNK {
        at += 9 + u64::from_le_bytes(whole[at + 1..at + 9].try_into().unwrap()) as usize;
    }
    for length in [u64::MAX, whole.len() as u64, 1 << 40] {
        let mut damaged = whole.clone();
        damaged[at + 1..at + 9].copy_from_slice(&length.to_le_bytes());
        let error = Bag::from_bytes(damaged.clone(), "drive.mcap").err().unwrap().to_string();
        assert!(error.contains(&format!("byte {}", at + 9)), "{error}");
        assert!(error.contains("length"), "{error}");
        // Without its end it is a file that was cut.
        damaged.truncate(whole.len() - 20);
        assert!(Bag::from_bytes(damaged, "drive.mcap").is_ok());
    }
}

#[test]
fn a_stop_leaves_nothing() {
    let clouds: Vec<_> = (0..4).map(|k| cloud(&OUSTER, 300, k)).collect();
    let bag = Bag::from_bytes(drive(&ZSTD, "cdr", &clouds), "drive.mcap").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.mcap");
    let stop = AtomicBool::new(false);
    let topic = bag.contents().cloud_topic(None).unwrap();
    let choose = |_: &PointCloud2<'_>| {
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        Ok(Kept::default())
    };
    let topics = [topic];
    let rewrite = Rewrite::new(&topics, 2, 1 << 20, &stop);
    assert!(rewrite.write(&bag, &output, &choose, &mut |_| {}).unwrap().is_none());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn work_that_panics_is_an_error() {
    let clouds = vec![cloud(&OUSTER, 30, 0)];
    let bag = Bag::from_bytes(drive(&ZSTD, "cdr", &clouds), "drive.mcap").unwrap();
    let topic = bag.contents().cloud_topic(None).unwrap();
    let topics = [topic];
    let rewrite = Rewrite::new(&topics, 2, 1 << 20, &GO);
    let error = rewrite.bytes(&bag, &|_| panic!("a bug"), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("chunk"), "{error}");
}

#[test]
fn messages_that_cannot_be_read_are_passed_on() {
    let mut clouds: Vec<_> = (0..4).map(|k| cloud(&OUSTER, 100, k)).collect();
    clouds[1].truncate(900);
    clouds[2][1] = 7;
    let before = drive(&ZSTD, "cdr", &clouds);
    let (after, cuts) = rewritten(&before, 2).unwrap();
    let errors: Vec<_> = cuts.iter().map(|cut| cut.error.clone().unwrap_or_default()).collect();
    assert!(errors[0].is_empty() && errors[3].is_empty());
    assert!(errors[1].contains("truncated: data") && errors[2].contains("XCDR2"), "{errors:?}");
    let lidar = |file: &[u8]| -> Vec<_> {
        records(file).into_iter().filter(|(op, data)| *op == MESSAGE && data[0] == 7).collect()
    };
    let (was, is) = (lidar(&before), lidar(&after));
    assert!(was[1] == is[1] && was[2] == is[2]);
    assert!(was[0].1.len() > is[0].1.len() && was[3].1.len() > is[3].1.len());
}

#[test]
fn one_message_is_a_cloud_for_every_format() {
    for layout in [
        OUSTER,
        bags::MessageLayout {
            encoding: "ros1",
            big: [false, true],
            double: true,
            places: [1, 9, 17],
            ..OUSTER
        },
        bags::MessageLayout { height: 4, padding: 3, ..OUSTER },
    ] {
        let clouds: Vec<_> = (0..3).map(|k| cloud(&layout, 40, k)).collect();
        let bytes = drive(&ZSTD, layout.encoding, &clouds);
        let options = ReadOptions::default().message(2).topic("/lidar".to_owned());
        let read = read_bytes(&bytes, "drive.mcap", &options).unwrap();
        assert_eq!((read.len(), read.format()), (40, Some(Format::Mcap)));
        assert!(read.description().starts_with("MCAP, message 2 of 3 on /lidar"));
        let names: Vec<_> =
            read.fields().iter().map(|f| format!("{} {}", f.name, f.kind)).collect();
        let kind = if layout.double { "f64" } else { "f32" };
        assert_eq!(names[..3], ["x", "y", "z"].map(|axis| format!("{axis} {kind}")));
        assert_eq!(names[3], "ring u8");
        for (row, point) in points(40, 2).into_iter().enumerate() {
            assert_eq!(read.coordinates().get(row).map(f64::to_bits), point.map(f64::to_bits));
        }
        let rings = read.column("ring").unwrap();
        let (mut seed, mut expected) = (3, Vec::new());
        for point in points(40, 2) {
            expected.push(record(&layout, point, &mut seed)[layout.point_step - 1]);
        }
        assert_eq!(rings, farpoint_io::Column::U8(expected));
        for format in Format::ALL.into_iter().filter(|format| format.can_write()) {
            let options = farpoint_io::WriteOptions::default().format(format);
            let written = farpoint_io::write_bytes(&read, &[0, 1, 7], &options);
            let again =
                read_bytes(&written.unwrap().0, "again", &ReadOptions::default().format(format));
            assert_eq!(again.unwrap().len(), 3, "{format}");
        }
    }
}

#[test]
fn errors_list_the_available_topics_and_messages() {
    let clouds: Vec<_> = (0..3).map(|k| cloud(&OUSTER, 40, k)).collect();
    let bytes = drive(&ZSTD, "cdr", &clouds);
    let fails = |options: ReadOptions, text: &str| {
        let error = read_bytes(&bytes, "drive.mcap", &options).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    fails(ReadOptions::default(), "3 clouds on /lidar");
    fails(ReadOptions::default().message(3), "message 3 on /lidar");
    fails(ReadOptions::default().message(0).topic("/imu".to_owned()), "sensor_msgs/msg/Imu");
    fails(ReadOptions::default().message(0).topic("/x".to_owned()), "/lidar (3");
    let found = contents(&bytes);
    assert_eq!(found.cloud_topic(None).unwrap().name, "/lidar");
}

#[test]
fn chunks_larger_than_the_block_size() {
    // One chunk of 45 MB, which packs to little.
    let clouds: Vec<_> = (0..9)
        .map(|k| {
            let layout = bags::MessageLayout { point_step: 1000, places: [0, 4, 8], ..OUSTER };
            let all = vec![vec![k as u8; 1000]; 5000];
            message(&layout, &all)
        })
        .collect();
    for compression in [Some(mcap::Compression::Zstd), None] {
        let file = bags::File { chunk_size: None, compression, ..ZSTD };
        let before = drive(&file, "cdr", &clouds);
        let (after, cuts) = rewritten(&before, 2).unwrap();
        assert!(cuts.len() == 9 && cuts.iter().all(|cut| cut.error.is_none()));
        assert_eq!(records(&before).len(), records(&after).len());
    }
}

#[test]
fn declared_sizes_beyond_the_file_are_refused() {
    // A chunk that declares to unpack to more than there is memory.
    let mut bytes = mcap::MAGIC.to_vec();
    let mut chunk = vec![0; 28];
    chunk[16..24].copy_from_slice(&(1u64 << 50).to_le_bytes());
    chunk.extend(4u32.to_le_bytes());
    chunk.extend(b"zstd");
    chunk.extend(4u64.to_le_bytes());
    chunk.extend([0x28, 0xB5, 0x2F, 0xFD]);
    bytes.push(6);
    bytes.extend((chunk.len() as u64).to_le_bytes());
    bytes.extend(&chunk);
    let error = Bag::from_bytes(bytes, "bomb.mcap").err().unwrap().to_string();
    assert!(error.contains("1125899906842624"), "{error}");
    // A record that declares to be longer than the file.
    let mut bytes = mcap::MAGIC.to_vec();
    bytes.extend([5, 255, 255, 255, 255, 255, 255, 255, 127]);
    let found = contents(&bytes);
    assert!(found.messages == 0 && !found.warnings.is_empty(), "{found:?}");
    assert!(Bag::open(Path::new("/nowhere/x.mcap")).is_err());
    assert!(Bag::from_bytes(b"PK".to_vec(), "x").err().unwrap().to_string().contains("MCAP"));
}

/// No record has the code 0: zeros at the end of a file are no records, and a chunk of zeros is damaged.
#[test]
fn zeros_are_no_records() {
    let file = drive(&bags::File { index: false, ..ZSTD }, "cdr", &[cloud(&OUSTER, 64, 1)]);
    // Instead of the end of the data, the footer and the magic.
    let cut = file.len() - 13 - 29 - 8;
    let zeros = [&file[..cut], &vec![0; 100_000]].concat();
    let found = contents(&zeros);
    assert_eq!(found.messages, contents(&file).messages);
    assert!(found.warnings.iter().any(|text| text.contains("ends at byte")), "{found:?}");
    let mut chunk = vec![0; 28];
    let content = vec![0u8; 9_000_000];
    chunk[16..24].copy_from_slice(&(content.len() as u64).to_le_bytes());
    chunk.extend(0u32.to_le_bytes());
    chunk.extend((content.len() as u64).to_le_bytes());
    chunk.extend(content);
    let mut bytes = mcap::MAGIC.to_vec();
    bytes.push(6);
    bytes.extend((chunk.len() as u64).to_le_bytes());
    bytes.extend(&chunk);
    let error = Bag::from_bytes(bytes, "zeros.mcap").err().unwrap().to_string();
    assert!(error.contains("the code 0"), "{error}");
}

/// Fields of a point of 48 bytes: intensity (float32), t (uint32), rgb (float32, packed), bytes between.
const FIELDS: MessageLayout =
    MessageLayout { more: &[("intensity", 16, 7), ("t", 20, 6), ("rgb", 26, 7)], ..OUSTER };

#[test]
fn fields_of_groups_are_averaged_in_either_byte_order() {
    for big in [false, true] {
        let layout = MessageLayout { big: [big; 2], ..FIELDS };
        let (f32s, u32s) = match big {
            true => {
                (f32::to_be_bytes as fn(f32) -> [u8; 4], u32::to_be_bytes as fn(u32) -> [u8; 4])
            }
            false => {
                (f32::to_le_bytes as fn(f32) -> [u8; 4], u32::to_le_bytes as fn(u32) -> [u8; 4])
            }
        };
        let mut seed = 3;
        let mut row = |x: f64, intensity: f32, t: u32, rgb: u32, ring: u8| {
            let mut bytes = bags::record(&layout, [x, 1.0, -1.0], &mut seed);
            bytes[16..20].copy_from_slice(&f32s(intensity));
            bytes[20..24].copy_from_slice(&u32s(t));
            bytes[26..30].copy_from_slice(&u32s(rgb));
            bytes[47] = ring;
            bytes
        };
        let rows = [
            row(0.0, 1.0, u32::MAX, 0xff_00_10, 7),
            row(9.0, 5.0, 3, 0x01_02_03, 1),
            row(0.5, 2.0, u32::MAX - 1, 0x00_01_11, 9),
            row(1.0, 4.5, u32::MAX - 2, 0x00_02_12, 9),
        ];
        let bytes = message(&layout, &rows);
        let parsed = PointCloud2::parse(Encoding::Cdr, &bytes).unwrap();
        let groups = Groups::new(&[3, 1], &[0, 1, 0, 0], |row| row);
        let centers = Coordinates::F32(vec![[0.5, 1.0, -1.0], [9.0, 1.0, -1.0]]);
        let made = parsed.with_means(&groups, centers, false);
        // Bytes that no field names are those of the first point.
        let mut first = rows[0].clone();
        first[0..4].copy_from_slice(&f32s(0.5));
        first[16..20].copy_from_slice(&f32s(2.5));
        first[20..24].copy_from_slice(&u32s(u32::MAX - 1));
        first[26..30].copy_from_slice(&u32s(0x55_01_11));
        first[47] = 9;
        assert!(made == message(&layout, &[first, rows[1].clone()]), "big-endian: {big}");
    }
    // Fields that overlap coordinates leave them alone.
    let layout = MessageLayout { point_step: 12, ..OUSTER };
    let bytes = cloud(&layout, 40, 2);
    let parsed = PointCloud2::parse(Encoding::Cdr, &bytes).unwrap();
    let (rows, _) = parsed.usable(true);
    let groups = Groups::new(&[rows.len() as u32], &vec![0; rows.len()], |k| rows[k] as usize);
    let made = parsed.with_means(&groups, Coordinates::F32(vec![[1.0, 2.0, 3.0]]), true);
    let made = PointCloud2::parse(Encoding::Cdr, &made).unwrap();
    assert_eq!(made.coordinates(), Coordinates::F32(vec![[1.0, 2.0, 3.0]]));
}

#[test]
fn several_topics_are_cut_in_one_run() {
    let clouds: Vec<_> = (0..4).map(|k| cloud(&OUSTER, 300, k)).collect();
    let bag = Bag::from_bytes(bags::two_lidars(&clouds, &clouds[..2]), "two.mcap").unwrap();
    let names = ["/rear", "/front"];
    let topics = names.map(|name| bag.contents().cloud_topic(Some(name)).unwrap());
    let mut cuts = Vec::new();
    let both = Rewrite::new(&topics, 2, 1 << 20, &GO);
    let both = both.bytes(&bag, &some, &mut |cut| cuts.push(cut.topic)).unwrap().unwrap();
    assert_eq!([0, 1].map(|topic| cuts.iter().filter(|cut| **cut == topic).count()), [2, 4]);
    // One after the other gives the same messages.
    let mut bytes = bag;
    for name in names {
        let topic = bytes.contents().cloud_topic(Some(name)).unwrap().clone();
        let topics = [&topic];
        let rewrite = Rewrite::new(&topics, 2, 1 << 20, &GO);
        let one = rewrite.bytes(&bytes, &some, &mut |_| {}).unwrap().unwrap();
        bytes = Bag::from_bytes(one, "one.mcap").unwrap();
    }
    // In the order of the file, which is that of each topic.
    let messages = |file: &[u8]| -> Vec<_> {
        records(file).into_iter().filter(|(op, _)| *op == MESSAGE).map(|(_, data)| data).collect()
    };
    let rewrite = Rewrite::new(&[], 1, 1 << 20, &GO);
    let unchanged = rewrite.bytes(&bytes, &some, &mut |_| {}).unwrap().unwrap();
    assert!(messages(&both) == messages(&unchanged));
}
