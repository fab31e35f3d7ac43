//! COPC files as a reader finds them: header, first record, table of chunks and hierarchy agree, all attributes are
//! there, and clouds that can't be written are refused.

use farpoint_io::{
    Cloud, Column, Coordinates, Copc, Error, Format, ReadOptions, WriteOptions, read_bytes, write,
    write_bytes,
};
use laz::LazVlr;
use laz::laszip::ChunkTable;
use std::collections::HashMap;
use std::io::Cursor;
use std::path::Path;

/// Any order with falling distances: other tests check the places of points.
fn falling(points: usize) -> Vec<f64> {
    (0..points).map(|i| if i == 0 { f64::INFINITY } else { 400.0 / (i as f64).sqrt() }).collect()
}

fn encoded(cloud: &Cloud, rows: &[usize], copc: Copc) -> (Vec<u8>, Vec<String>) {
    let options = WriteOptions::default().format(Format::Laz).copc(copc);
    write_bytes(cloud, rows, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn open(bytes: &[u8]) -> Cloud {
    read_bytes(bytes, "a.copc.laz", &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// A sheet of points with attributes, as a file of another format would give it.
fn sheet(points: usize) -> Cloud {
    let place = |i: usize| {
        let turn = i as f64 * 2.399_963;
        let out = (i as f64).sqrt();
        [637_000.0 + out * turn.cos(), 849_000.0 + out * turn.sin(), 400.0 + (i % 7) as f64]
    };
    let rounded = |value: f64| (value * 100.0).round() / 100.0;
    let places = (0..points).map(|i| place(i).map(rounded)).collect();
    let mut cloud = Cloud::new(Coordinates::F64(places));
    cloud.add_column("intensity", Column::U16((0..points).map(|i| (i % 60_000) as u16).collect()));
    cloud.add_column("gps_time", Column::F64((0..points).map(|i| 1e8 + i as f64 / 8.0).collect()));
    cloud.add_column("height", Column::F32((0..points).map(|i| i as f32 / 4.0).collect()));
    cloud
}

struct File<'a> {
    bytes: &'a [u8],
}

impl File<'_> {
    fn number<const N: usize>(&self, at: usize) -> [u8; N] {
        self.bytes[at..at + N].try_into().unwrap()
    }
    fn short(&self, at: usize) -> usize {
        u16::from_le_bytes(self.number(at)).into()
    }
    fn int(&self, at: usize) -> usize {
        u32::from_le_bytes(self.number(at)) as usize
    }
    fn long(&self, at: usize) -> usize {
        u64::from_le_bytes(self.number(at)) as usize
    }
    fn double(&self, at: usize) -> f64 {
        f64::from_le_bytes(self.number(at))
    }

    /// Offset, bytes and points of each node.
    fn nodes(&self) -> HashMap<[usize; 4], [usize; 3]> {
        let (mut found, mut remaining) = (HashMap::new(), vec![(self.long(469), self.long(477))]);
        while let Some((from, length)) = remaining.pop() {
            for at in (from..from + length).step_by(32) {
                let key = [0, 4, 8, 12].map(|plus| self.int(at + plus));
                let (offset, size, points) =
                    (self.long(at + 16), self.int(at + 24), self.int(at + 28));
                match points as u32 {
                    u32::MAX => remaining.push((offset, size)),
                    _ => assert_eq!(found.insert(key, [offset, size, points]), None),
                }
            }
        }
        found
    }

    /// Checks that the parts of the file agree; returns the nodes.
    fn check(&self) -> HashMap<[usize; 4], [usize; 3]> {
        assert_eq!(&self.bytes[..4], b"LASF");
        assert_eq!((self.bytes[24], self.bytes[25], self.short(94)), (1, 4, 375));
        assert!(matches!(self.bytes[104] & 0x3f, 6..=8));
        assert_eq!(self.short(6) & 16, 16, "the system is text");
        // The record of COPC is the first.
        assert_eq!(&self.bytes[377..382], b"copc\0");
        assert_eq!((self.short(375 + 18), self.short(375 + 20)), (1, 160));
        assert!(self.bytes[501..589].iter().all(|&byte| byte == 0));
        let nodes = self.nodes();
        let points = self.long(247);
        assert_eq!(nodes.values().map(|node| node[2]).sum::<usize>(), points);
        assert_eq!(self.int(107), 0, "the count of old versions is not used");
        // Chunks are the nodes.
        let (vlr, start) = (self.laszip(), self.int(96));
        assert!(vlr.uses_variable_size_chunks());
        let mut cursor = Cursor::new(self.bytes);
        cursor.set_position(start as u64);
        let table = ChunkTable::read_from(&mut cursor, &vlr).unwrap();
        let mut at = start + 8;
        let mut chunks = HashMap::new();
        for entry in table.as_ref() {
            chunks.insert(at, [entry.byte_count as usize, entry.point_count as usize]);
            at += entry.byte_count as usize;
        }
        let filled: Vec<_> = nodes.values().filter(|node| node[2] > 0).collect();
        assert_eq!(filled.len(), chunks.len());
        for [offset, size, points] in filled {
            assert_eq!(chunks[offset], [*size, *points]);
        }
        nodes
    }

    fn laszip(&self) -> LazVlr {
        let mut at = 375;
        loop {
            let length = self.short(at + 20);
            if &self.bytes[at + 2..at + 16] == b"laszip encoded" {
                return LazVlr::from_buffer(&self.bytes[at + 54..at + 54 + length]).unwrap();
            }
            at += 54 + length;
        }
    }
}

#[test]
fn parts_of_a_file_agree_and_all_attributes_come_back() {
    let points = 30_000;
    let cloud = sheet(points);
    // Not the order of the input, which nodes have all the same.
    let rows: Vec<usize> = (0..points).map(|i| i * 7919 % points).collect();
    let (bytes, warnings) = encoded(&cloud, &rows, Copc::new(falling(points)).node_points(2000));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("`crs_wkt=FILE`"), "{warnings:?}");
    let file = File { bytes: &bytes };
    let nodes = file.check();
    assert!(nodes.len() > 15, "{}", nodes.len());
    assert!(nodes.values().all(|node| (250..=2000).contains(&node[2])), "{nodes:?}");
    assert_eq!((file.double(485), file.double(493)), (1e8, 1e8 + (points - 1) as f64 / 8.0));
    let back = open(&bytes);
    assert_eq!(back.len(), points);
    let sorted = |cloud: &Cloud| {
        let columns = ["intensity", "gps_time", "height"].map(|name| cloud.column(name).unwrap());
        let mut rows: Vec<_> = (0..points)
            .map(|i| {
                let place = cloud.coordinates().get(i).map(|v| (v * 100.0).round() as i64);
                (place, columns.each_ref().map(|column| column.get(i).to_bits()))
            })
            .collect();
        rows.sort_unstable();
        rows
    };
    assert!(sorted(&cloud) == sorted(&back));
    // A second run gives the same bytes, and so does one thread.
    let copc = || Copc::new(falling(points)).node_points(2000);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert!(one.install(|| encoded(&cloud, &rows, copc()).0) == bytes);
}

/// Values of the points in the order of a file without an order of its own: neighbors are far apart in the input.
fn written(points: usize, columns: &[(&str, Column)]) -> Cloud {
    let mut cloud = Cloud::new(sheet(points).coordinates().clone());
    columns.iter().for_each(|(name, column)| cloud.add_column(name, column.clone()));
    let rows: Vec<usize> = (0..points).collect();
    open(&encoded(&cloud, &rows, Copc::new(falling(points))).0)
}

#[test]
fn a_node_has_the_order_that_compresses_best() {
    let points = 4000;
    let along_the_curve = written(points, &[]);
    let place = |i| along_the_curve.coordinates().get(i);
    let step = |i| (0..3).map(|axis| (place(i)[axis] - place(i - 1)[axis]).abs()).sum::<f64>();
    let mean = (1..points).map(step).sum::<f64>() / points as f64;
    // Points are about two apart, those that follow one another in the input sixty.
    assert!(mean < 8.0, "{mean}");
    let shuffled = || (0..points).map(|i| i * 1237 % points);
    let times = Column::F64(shuffled().map(|i| 1e8 + i as f64 / 8.0).collect());
    let intensities = Column::U16(shuffled().map(|i| i as u16).collect());
    let timed = written(points, &[("gps_time", times), ("intensity", intensities)]);
    let time = timed.column("gps_time").unwrap();
    let falls = (1..points).filter(|&i| time.get(i) < time.get(i - 1)).count();
    assert!(falls < 20, "{falls}");
}

#[test]
fn no_point_one_point_and_some() {
    for points in [0, 1, 5] {
        let cloud = sheet(points);
        let rows: Vec<usize> = (0..points).collect();
        let (bytes, _) = encoded(&cloud, &rows, Copc::new(falling(points)));
        let file = File { bytes: &bytes };
        let nodes = file.check();
        assert_eq!(nodes.keys().collect::<Vec<_>>(), [&[0; 4]]);
        assert_eq!(nodes[&[0; 4]][2], points);
        assert!(file.double(453) > 0.0 && file.double(461) > 0.0);
        assert_eq!(open(&bytes).len(), points);
    }
}

#[test]
fn the_coordinate_system_is_text() {
    let cloud = sheet(10);
    let rows: Vec<usize> = (0..10).collect();
    let text = r#"PROJCS["mine",GEOGCS["base"],UNIT["metre",1]]"#;
    let (bytes, warnings) = encoded(&cloud, &rows, Copc::new(falling(10)).wkt(text.to_owned()));
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(open(&bytes).crs().unwrap().wkt.as_deref(), Some(text));
    for wrong in ["", "EPSG:2992", "PROJCS[", &format!("PROJCS[\"{}\"]", "x".repeat(70_000))] {
        let copc = Copc::new(falling(10)).wkt(wrong.to_owned());
        assert!(refused(&cloud, &rows, copc).contains("well-known text"));
    }
}

fn refused(cloud: &Cloud, rows: &[usize], copc: Copc) -> String {
    let options = WriteOptions::default().format(Format::Laz).copc(copc);
    write_bytes(cloud, rows, &options).unwrap_err().to_string()
}

#[test]
fn invalid_distances_are_refused() {
    let cloud = sheet(4);
    let rows = [0, 1, 2, 3];
    let far = f64::INFINITY;
    for (distances, expected) in [
        (vec![far, 1.0], "4 points have 2 distances"),
        (vec![far, 1.0, 2.0, 0.5], "distance 2 is 2"),
        (vec![far, 1.0, f64::NAN, 0.5], "distance 2 is NaN"),
        (vec![f64::NAN, 1.0, 0.5, 0.5], "distance 0 is NaN"),
        (vec![far, 1.0, 0.5, -0.5], "distance 3 is -0.5"),
    ] {
        let error = refused(&cloud, &rows, Copc::new(distances));
        assert!(error.contains(expected), "{error}");
    }
    let twice = refused(&cloud, &[0, 1, 1, 3], Copc::new(falling(4)));
    assert!(twice.contains("occurs twice"), "{twice}");
    for nodes in [0, 99, 10_000_001] {
        let error = refused(&cloud, &rows, Copc::new(falling(4)).node_points(nodes));
        assert!(error.contains("100 to 10,000,000"), "{error}");
    }
    for wrong in [-1.0, f64::NAN, far] {
        assert!(refused(&cloud, &rows, Copc::new(falling(4)).error(wrong)).contains("error"));
    }
    let bad = Cloud::new(Coordinates::F64(vec![[0.0, f64::NAN, 1.0]]));
    assert!(refused(&bad, &[0], Copc::new([far])).contains("not finite"));
}

#[test]
fn names_tell_copc_and_need_levels() {
    for (name, is) in
        [("a.copc.laz", true), ("A.COPC.LAZ", true), ("a.laz", false), ("copc.laz", false)]
    {
        assert_eq!(Copc::is_named(Path::new(name)), is, "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.copc.laz");
    let (cloud, rows) = (sheet(3), [0, 1, 2]);
    let without = write(&path, &cloud, &rows, &WriteOptions::default()).unwrap_err();
    assert!(matches!(without, Error::Output { .. }), "{without}");
    assert!(without.to_string().contains("farthest-first order"), "{without}");
    let other = WriteOptions::default().format(Format::Ply).copc(Copc::new(falling(3)));
    assert!(write(&path, &cloud, &rows, &other).unwrap_err().to_string().contains("not PLY"));
    assert!(!path.exists());
    write(&path, &cloud, &rows, &WriteOptions::default().copc(Copc::new(falling(3)))).unwrap();
    File { bytes: &std::fs::read(&path).unwrap() }.check();
}
