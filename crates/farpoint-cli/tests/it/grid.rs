//! `farpoint sample --algorithm grid --cell`: voxels from 0 with their attributes, of files and of bags.

use crate::bag_fixtures::{MessageLayout, OUSTER, ZSTD, cloud, drive, records, two_lidars};
use crate::common::{Folder, indices};
use farpoint::{Reduce, VoxelGrid};
use farpoint_io::bag::{Encoding, PointCloud2};
use farpoint_io::{Cloud, Column, Coordinates, ReadOptions};

const CENTROIDS: &str = "--algorithm grid --keep-point centroid";

fn open(folder: &Folder, name: &str) -> Cloud {
    farpoint_io::read(&folder.path(name), &ReadOptions::default()).unwrap()
}

fn singles(cloud: &Cloud) -> &[[f32; 3]] {
    let Coordinates::F32(points) = cloud.coordinates() else { panic!("single precision") };
    points
}

#[test]
fn cells_are_voxels_with_a_size_for_each_axis() {
    let folder = Folder::new();
    let room = folder.room("room.ply", 3000);
    let grid = || VoxelGrid::per_axis([0.5, 0.5, 0.25]).min_points(3);
    for (keep, reduce) in [
        ("", Reduce::Center),
        ("--keep-point first", Reduce::First),
        ("--keep-point random --seed 5", Reduce::Random(5)),
    ] {
        let options = format!("--algorithm grid --cell 0.5,50cm,0.25 --min-points 3 {keep}");
        let output = folder.run(&format!("sample room.ply --indices - {options}"));
        let mut rows = grid().reduce(reduce).downsample(&room).unwrap().rows;
        rows.sort_unstable();
        let expected: Vec<usize> = rows.into_iter().map(|row| row as usize).collect();
        assert!(!expected.is_empty() && indices(&output.out) == expected, "{options}");
    }
    let options = format!("{CENTROIDS} --cell 0.5,0.5,0.25 --min-points 3");
    let report = folder.ok(&format!("sample room.ply -o means.ply {options} --json")).json();
    let expected = grid().downsample(&room).unwrap();
    let made = open(&folder, "means.ply");
    assert_eq!(singles(&made), expected.coordinates.as_chunks().0);
    assert_eq!(made.column("points"), Some(Column::U32(expected.counts)));
    assert_eq!(report["cell"], serde_json::json!([0.5, 0.5, 0.25]));
    for (options, words) in [
        ("--cell 1,2", "2 lengths"),
        ("--cell 1,0,1", "--cell 0"),
        ("-n 9 --min-points 2", "--cell in place"),
        ("--cell 1 --min-points 0", "--min-points"),
    ] {
        folder.fails(&format!("sample room.ply --algorithm grid {options}"), &[words]);
    }
    folder.fails("sample room.ply -n 9 --min-points 2", &["--min-points", "--cell in place"]);
}

#[test]
fn a_point_alone_in_its_voxel_changes_no_other() {
    let folder = Folder::new();
    // Row 1 has the lowest corner, alone.
    let rows =
        ["2,2,2,10,1", "-7.3,-8.1,-9.9,50,2", "2.2,2.1,2.2,13,3", "5,5,5,8,3", "5.5,5,5,9,2"];
    let csv = |rows: &[&str]| format!("x,y,z,intensity,label\n{}\n", rows.join("\n"));
    folder.write("all.csv", csv(&rows));
    folder.write("rest.csv", csv(&[&rows[..1], &rows[2..]].concat()));
    for keep in ["center", "first", "random", "centroid"] {
        let lines = |name: &str| -> Vec<String> {
            let run =
                format!("sample {name} -o out.csv --algorithm grid --cell 1 --keep-point {keep}");
            folder.ok(&run);
            let text = String::from_utf8(folder.read("out.csv")).unwrap();
            text.lines().map(str::to_owned).collect()
        };
        let mut all = lines("all.csv");
        assert_eq!(all.len(), 4, "{keep}: {all:?}");
        let alone = all.iter().position(|line| line.starts_with("-7.3,-8.1,-9.9,50,2"));
        all.remove(alone.expect(keep));
        assert_eq!(all, lines("rest.csv"), "{keep}");
    }
    // 11.5 is rounded to the even number, and the lowest of two labels counts.
    let output = String::from_utf8(folder.read("out.csv")).unwrap();
    assert_eq!(output, "x,y,z,intensity,label,points\n2.1,2.05,2.1,12,1,2\n5.25,5,5,8,2,2\n");
}

#[test]
fn centroids_keep_the_attributes_and_the_header_of_the_file() {
    let folder = Folder::new();
    let line = |k: usize| {
        let at = |step: usize| (k * step % 97) as f64 * 0.05 + 0.1;
        let class = [2, 6, 6, 9][k % 4];
        format!("{},{},{},{},{class},{}\n", at(7), at(13), at(29), 100 * k, 4e8 + k as f64 / 8.0)
    };
    let lines: String = (0..500).map(line).collect();
    folder.write("scan.csv", format!("x,y,z,intensity,classification,gps_time\n{lines}"));
    folder.ok("convert scan.csv scan.laz --scale 0.001");
    folder.ok(&format!("sample scan.laz -o means.laz {CENTROIDS} --cell 1"));
    let (before, after) = (open(&folder, "scan.laz"), open(&folder, "means.laz"));
    let Coordinates::F64(points) = before.coordinates() else { panic!("LAS is double") };
    let voxels = VoxelGrid::new(1.0).downsample(points).unwrap();
    assert_eq!((after.len(), after.scale()), (voxels.len(), Some([0.001; 3])));
    let names = |cloud: &Cloud| -> Vec<_> {
        cloud.fields().into_iter().map(|field| (field.name, field.kind)).collect()
    };
    let (fields, made) = (names(&before), names(&after));
    assert_eq!((&made[..fields.len()], &*made[fields.len()].0), (&fields[..], "points"));
    let [times, means] = [&before, &after].map(|cloud| cloud.column("gps_time").unwrap());
    let classes = before.column("classification").unwrap();
    for voxel in 0..voxels.len() {
        let rows = || (0..500).filter(|&row| voxels.inverse[row] as usize == voxel);
        let count = f64::from(voxels.counts[voxel]);
        assert_eq!(means.get(voxel), rows().map(|row| times.get(row)).sum::<f64>() / count);
        let class = after.column("classification").unwrap().get(voxel);
        let frequency = |class: f64| rows().filter(|&row| classes.get(row) == class).count();
        assert!([2.0, 6.0, 9.0].iter().all(|other| frequency(*other) <= frequency(class)));
    }
    // For a number of points, too.
    let report = folder.ok(&format!("sample scan.laz -o few.laz {CENTROIDS} -n 50 --json")).json();
    let few = open(&folder, "few.laz");
    assert_eq!((report["samples"].as_u64(), names(&few)), (Some(few.len() as u64), made));
    // Raw numbers keep their columns.
    folder.write(
        "scan.bin",
        (0..400u32).flat_map(|k| ((k % 40) as f32).to_le_bytes()).collect::<Vec<_>>(),
    );
    let run = format!("sample scan.bin --columns 4 -o means.bin {CENTROIDS} --cell 30 --json");
    let samples = folder.ok(&run).json()["samples"].as_u64().unwrap();
    assert_eq!(folder.read("means.bin").len() as u64, 16 * samples);
}

/// Returns the data of the messages on a channel.
fn messages(file: &[u8], channel: u8) -> Vec<Vec<u8>> {
    let message = mcap::records::op::MESSAGE;
    let of = records(file).into_iter().filter(|(op, data)| *op == message && data[0] == channel);
    of.map(|(_, data)| data[22..].to_vec()).collect()
}

#[test]
fn messages_of_a_bag_become_centroids() {
    let folder = Folder::new();
    for double in [false, true] {
        let places = if double { [0, 8, 16] } else { [0, 4, 8] };
        let layout = MessageLayout { double, places, more: &[("gain", 30, 4)], ..OUSTER };
        let clouds: Vec<_> = (0..3).map(|k| cloud(&layout, 400, k)).collect();
        folder.write("drive.mcap", drive(&ZSTD, "cdr", &clouds));
        let options = format!("{CENTROIDS} --cell 1.5 --drop-zeros");
        let run = format!("-q sample drive.mcap -o out.mcap {options} --threads 2 --json");
        let report = folder.ok(&run).json();
        let after = messages(&folder.read("out.mcap"), 7);
        let mut samples = 0;
        for (k, is) in after.iter().enumerate() {
            let is = PointCloud2::parse(Encoding::Cdr, is).unwrap();
            let was = PointCloud2::parse(Encoding::Cdr, &clouds[k]).unwrap();
            assert_eq!((is.fields(), is.point_step()), (was.fields(), was.point_step()));
            // As the message alone.
            folder.ok(&format!("-q sample drive.mcap --message {k} {options} -o one.npy"));
            let one = open(&folder, "one.npy");
            assert_eq!(&is.coordinates(), one.coordinates(), "message {k}");
            for (name, at) in [("gain", 30), ("ring", 47)] {
                let column = one.column(name).unwrap();
                let value = |row: usize| match name {
                    "gain" => f64::from(u16::from_le_bytes([is.row(row)[at], is.row(row)[at + 1]])),
                    _ => f64::from(is.row(row)[at]),
                };
                assert!((0..is.len()).all(|row| value(row) == column.get(row)), "{name} of {k}");
            }
            samples += is.len();
        }
        assert_eq!(report["samples"], samples);
    }
    folder.fails(
        &format!("sample drive.mcap -o out.mcap {CENTROIDS} --cell 1 --f32"),
        &["--f32", "centroid"],
    );
}

#[test]
fn several_topics_in_one_run() {
    let folder = Folder::new();
    let clouds: Vec<_> = (0..4).map(|k| cloud(&OUSTER, 300, k)).collect();
    folder.write("two.mcap", two_lidars(&clouds, &clouds[..2]));
    let options = "--algorithm grid --cell 1 --drop-zeros";
    let both = format!("-q sample two.mcap --topic /front --topic /rear -o both.mcap {options}");
    let report = folder.ok(&format!("{both} --json")).json();
    assert_eq!(report["messages"], 6);
    let topics = report["topics"].as_array().unwrap();
    for (topic, (name, count)) in topics.iter().zip([("/front", 4), ("/rear", 2)]) {
        assert_eq!(
            (topic["topic"].as_str(), topic["messages"].as_u64()),
            (Some(name), Some(count))
        );
        // Each topic has its own rate.
        assert!((topic["recorded_per_second"].as_f64().unwrap() - 10.0).abs() < 1e-9);
    }
    let table = folder.ok(&both).text();
    assert!(table.contains("/front (cdr)") && table.contains("/rear (cdr)"), "{table}");
    folder.ok(&format!("-q sample two.mcap --topic /front -o front.mcap {options}"));
    folder.ok(&format!("-q sample front.mcap --topic /rear -o each.mcap {options}"));
    let [both, each] = ["both.mcap", "each.mcap"].map(|name| folder.read(name));
    for channel in 0..3 {
        assert!(messages(&both, channel) == messages(&each, channel), "channel {channel}");
    }
    // Where one cloud is read, one topic is.
    let two = "--topic /front --topic /rear";
    for command in ["sample two.mcap --message 0 -n 5", "info two.mcap --message 0"] {
        folder.fails(&format!("{command} {two}"), &["2 topics", "one --topic"]);
    }
}

#[test]
fn rows_of_zeros_are_reported_in_bags_as_in_messages() {
    let folder = Folder::new();
    folder.write("drive.mcap", drive(&ZSTD, "cdr", &[cloud(&OUSTER, 700, 0)]));
    for input in ["drive.mcap -o out.mcap", "drive.mcap --message 0"] {
        let run = folder.run(&format!("sample {input} -n 20"));
        run.names(&["drive.mcap: 101 of 700 rows are exactly (0, 0, 0)", "--drop-zeros"]);
        let run = folder.run(&format!("sample {input} -n 20 --drop-zeros"));
        assert!(!run.err.contains("some sensors write"), "{}", run.err);
    }
}
