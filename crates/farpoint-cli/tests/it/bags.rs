//! Bags on the command line.

use crate::bag_fixtures::{File, MessageLayout, OUSTER, ZSTD, cloud, drive, records};
use crate::common::{Folder, indices};
use farpoint_io::bag::{Encoding, PointCloud2};

const MESSAGE: u8 = mcap::records::op::MESSAGE;

fn clouds(count: usize, points: usize) -> Vec<Vec<u8>> {
    (0..count).map(|k| cloud(&OUSTER, points, k)).collect()
}

/// Returns the data of the lidar's messages.
fn lidar(file: &[u8]) -> Vec<Vec<u8>> {
    let messages = records(file).into_iter().filter(|(op, data)| *op == MESSAGE && data[0] == 7);
    messages.map(|(_, data)| data[22..].to_vec()).collect()
}

#[test]
fn each_message_is_the_sample_that_it_has_alone() {
    let folder = Folder::new();
    folder.write("drive.mcap", drive(&ZSTD, "cdr", &clouds(4, 400)));
    for options in [
        "-n 50 --drop-zeros",
        "--ratio 0.1 --drop-zeros",
        "--spacing 0.8",
        "-n 40 --algorithm radius --drop-zeros",
        "-n 40 --start random --seed 7 --drop-zeros",
        "-n 40 --algorithm grid --drop-zeros",
    ] {
        let output =
            folder.run(&format!("sample drive.mcap {options} -o out.mcap --json --threads 2"));
        assert_eq!(output.status, 0, "{options}: {}", output.err);
        let report = output.json();
        assert_eq!(report["messages"], 4, "{options}");
        let (before, after) = (folder.read("drive.mcap"), folder.read("out.mcap"));
        let mut samples = 0;
        for (k, (was, is)) in lidar(&before).iter().zip(lidar(&after)).enumerate() {
            let one =
                format!("sample drive.mcap --message {k} {options} --indices rows.npy --json");
            assert_eq!(folder.run(&one).status, 0, "{one}");
            let rows = indices(&folder.read("rows.npy"));
            let message = PointCloud2::parse(Encoding::Cdr, was).unwrap();
            assert!(message.with_rows(&rows, true) == is, "{options}, message {k}");
            samples += rows.len();
        }
        assert_eq!(report["samples"], samples, "{options}");
    }
    assert_eq!(folder.files(), ["drive.mcap", "out.mcap", "rows.npy"]);
}

#[test]
fn double_coordinates_in_single_precision() {
    let folder = Folder::new();
    let layout = MessageLayout { double: true, places: [0, 8, 16], ..OUSTER };
    let all: Vec<_> = (0..2).map(|k| cloud(&layout, 300, k)).collect();
    folder.write("drive.mcap", drive(&ZSTD, "cdr", &all));
    let options = "-n 60 --f32 --drop-zeros";
    assert_eq!(folder.run(&format!("sample drive.mcap {options} -o out.mcap")).status, 0);
    let one = format!("sample drive.mcap --message 1 {options} --indices rows.npy");
    assert_eq!(folder.run(&one).status, 0);
    let rows = indices(&folder.read("rows.npy"));
    let message = PointCloud2::parse(Encoding::Cdr, &all[1]).unwrap();
    assert!(message.with_rows(&rows, true) == lidar(&folder.read("out.mcap"))[1]);
}

#[test]
fn the_report_and_a_pipe() {
    let folder = Folder::new();
    folder.write("drive.mcap", drive(&ZSTD, "cdr", &clouds(5, 300)));
    let output = folder.run("sample drive.mcap -n 100000 -o out.mcap --json");
    assert_eq!(output.status, 0, "{}", output.err);
    output.names(&["5 messages", "fewer"]);
    let report = output.json();
    assert_eq!((report["short"].as_u64(), report["unread"].as_u64()), (Some(5), Some(0)));
    assert!(report["messages_per_second"].as_f64().unwrap() > 0.0);
    let topic = &report["topics"][0];
    assert_eq!((&topic["topic"], &topic["messages"]), (&"/lidar".into(), &5.into()));
    assert_eq!(topic["recorded_per_second"], 10.0);
    assert!(topic["message_ms"]["max"].as_f64() >= topic["message_ms"]["median"].as_f64());
    assert!(topic["over_period"].is_u64());
    let [points, kept, dropped] =
        ["points", "samples", "dropped"].map(|name| report[name].as_u64().unwrap());
    assert_eq!((points, kept + dropped), (1500, 1500));
    let table = folder.run("sample drive.mcap -n 10 -o out.mcap");
    assert!(table.text().contains("10.00"), "{}", table.text());
    let piped = folder.run("--quiet sample drive.mcap -n 10 -o -");
    assert_eq!(piped.status, 0, "{}", piped.err);
    assert!(lidar(&piped.out) == lidar(&folder.read("out.mcap")));
}

#[test]
fn info_tells_topics() {
    let folder = Folder::new();
    let layout = MessageLayout { encoding: "ros1", ..OUSTER };
    let clouds: Vec<_> = (0..5).map(|k| cloud(&layout, 30, k)).collect();
    folder.write("drive.mcap", drive(&ZSTD, "ros1", &clouds));
    let table = folder.ok("info drive.mcap").text();
    for words in
        ["MCAP, profile ros1, chunks, zstd", "/imu", "sensor_msgs/PointCloud2", "/lidar: clouds"]
    {
        assert!(table.contains(words), "{table}");
    }
    let about = folder.ok("info drive.mcap --json").json();
    assert_eq!((about["messages"].as_u64(), about["indexed"].as_bool()), (Some(20), Some(true)));
    let lidar = &about["topics"][1];
    assert_eq!((lidar["topic"].as_str(), lidar["messages"].as_u64()), (Some("/lidar"), Some(5)));
    // Four periods in 0.4 s: 10 a second, not 12.5.
    let rates = |topic: &serde_json::Value| topic["per_second"].as_f64().unwrap();
    assert!((rates(lidar) - 10.0).abs() < 1e-3, "{lidar}");
    assert!(about["topics"].as_array().unwrap().iter().all(|one| rates(one) < 22.6), "{about}");
    let cloud = folder.run("info drive.mcap --message 4 --json").json();
    assert_eq!((cloud["format"].as_str(), cloud["points"].as_u64()), (Some("MCAP"), Some(30)));
}

/// Returns a bag with two lidars and a topic of the schema `refused`.
fn two(refused: &str) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut writer = mcap::Writer::new(&mut bytes).unwrap();
    let names = ["sensor_msgs/msg/PointCloud2", refused];
    let schemas = names.map(|name| writer.add_schema(name, "ros2msg", b"x").unwrap());
    let none = std::collections::BTreeMap::new();
    let topics = [("/front", 0), ("/rear", 0), ("/livox", 1)];
    for (topic, schema) in topics.into_iter().skip(if refused.contains("Custom") { 2 } else { 0 }) {
        let channel_id = writer.add_channel(schemas[schema], topic, "cdr", &none).unwrap();
        let header =
            mcap::records::MessageHeader { channel_id, sequence: 0, log_time: 1, publish_time: 1 };
        writer.write_to_known_channel(&header, &cloud(&OUSTER, 20, 1)).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes.into_inner()
}

#[test]
fn errors_have_a_remedy() {
    let folder = Folder::new();
    folder.write("two.mcap", two("foxglove.PointCloud"));
    folder.write("livox.mcap", two("livox_ros_driver2/msg/CustomMsg"));
    folder.write("one.mcap", drive(&ZSTD, "cdr", &clouds(3, 40)));
    folder.write("bag.db3", b"SQLite format 3\0 and so on");
    folder.write("old.bag", b"#ROSBAG V2.0\n");
    folder.room("room.ply", 100);
    for (arguments, words) in [
        ("sample two.mcap -n 5 -o x.mcap", ["several topics", "/front (1 messages), /rear"]),
        ("sample two.mcap --topic /livox -n 5 -o x.mcap", ["/livox holds foxglove", "record"]),
        ("sample two.mcap --topic /no -n 5 -o x.mcap", ["no topic /no", "/front (1"]),
        ("sample livox.mcap -n 5 -o x.mcap", ["Livox CustomMsg", "xfer_format"]),
        ("sample livox.mcap --message 0 -n 5 -o x.ply", ["Livox CustomMsg", "xfer_format"]),
        ("sample one.mcap -n 5", ["no output", "--message K"]),
        (
            "sample one.mcap -n 5 -o x.ply",
            ["--output x.ply: the name must end in .mcap", "--message K"],
        ),
        ("sample one.mcap -n 5 -o one.mcap", ["is the input", "another name"]),
        ("sample one.mcap -n 5 -o no/x.mcap", ["does not exist", "create it"]),
        ("sample one.mcap -n 5 -o x.mcap --indices r.npy", ["--indices", "--message K"]),
        ("sample one.mcap -n 5 -o x.mcap --stats", ["--stats", "--message K"]),
        ("sample one.mcap -n 5 -o x.mcap --device cuda", ["on the CPU", "--device cuda"]),
        ("sample one.mcap -n 5 -o x.mcap --format ply", ["--format", "--message K"]),
        ("sample one.mcap --message 3 -n 5 -o x.ply", ["no message 3", "which has 3"]),
        ("order one.mcap -o x.ply", ["3 clouds on /lidar", "--message K"]),
        (
            "sample bag.db3 -n 5 -o x.ply",
            [".db3", "rosbags-convert --src bag.db3 --dst bag_mcap --dst-storage mcap"],
        ),
        (
            "sample old.bag -n 5 -o x.ply",
            ["ROS 1", "rosbags-convert --src old.bag --dst old_mcap --dst-storage mcap"],
        ),
        ("sample old.bag -n 5 -o x.mcap", ["ROS 1", "rosbags-convert --src old.bag"]),
        ("info bag.db3", [".db3", "rosbags-convert --src bag.db3"]),
        ("sample room.ply -n 5 -o x.mcap", ["MCAP can only be read", "use one of"]),
        ("info one.mcap --points", ["--points", "--message K"]),
    ] {
        folder.fails(arguments, &words);
    }
    assert_eq!(folder.files().len(), 6, "{:?}", folder.files());
    assert_eq!(folder.run("sample two.mcap --topic /rear -n 5 -o x.mcap").status, 0);
}

#[test]
fn damaged_bags() {
    let folder = Folder::new();
    let whole = drive(&File { index: false, ..ZSTD }, "cdr", &clouds(6, 300));
    folder.write("no-index.mcap", &whole);
    let output = folder.run("sample no-index.mcap -n 9 --drop-zeros -o out.mcap");
    assert_eq!(output.status, 0, "{}", output.err);
    output.names(&["no-index.mcap", "index"]);
    folder.write("cut.mcap", &whole[..whole.len() * 2 / 3]);
    let output = folder.run("sample cut.mcap -n 9 --drop-zeros -o cut-out.mcap");
    assert_eq!((output.status, output.err.matches("truncated").count()), (0, 1), "{}", output.err);
    let all = lidar(&folder.read("out.mcap"));
    let some = lidar(&folder.read("cut-out.mcap"));
    assert!(!some.is_empty() && some.len() < all.len() && all.starts_with(&some));
    let mut bad = drive(&ZSTD, "cdr", &clouds(6, 300));
    let middle = bad.len() / 2;
    bad[middle] ^= 0xFF;
    folder.write("bad.mcap", &bad);
    folder.fails("sample bad.mcap -n 9 -o bad-out.mcap", &["MCAP, byte", "mcap recover"]);
    let mut messages = clouds(3, 50);
    messages[1].truncate(99);
    folder.write("unread.mcap", drive(&ZSTD, "cdr", &messages));
    let output = folder.run("sample unread.mcap -n 9 -o unread-out.mcap");
    assert_eq!(output.status, 3, "{}", output.err);
    output.names(&["1 of 3 messages"]);
    assert!(lidar(&folder.read("unread-out.mcap"))[1] == messages[1]);
    assert!(!folder.files().iter().any(|name| name.contains("tmp") || name == "bad-out.mcap"));
}

#[test]
fn a_folder_is_its_list_of_files() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("drive")).unwrap();
    for k in 0..2 {
        folder.write(&format!("drive/drive_{k}.mcap"), drive(&ZSTD, "cdr", &clouds(2 + k, 60)));
    }
    let list = "rosbag2_bagfile_information:\n  relative_file_paths:\n    - drive_0.mcap\n    - drive_1.mcap\n";
    folder.write("drive/metadata.yaml", list);
    let output = folder.run("sample drive -n 9 --drop-zeros -o few --json");
    assert_eq!(output.status, 0, "{}", output.err);
    assert_eq!(output.json()["messages"], 5);
    assert_eq!(folder.read("few/metadata.yaml"), list.as_bytes());
    assert_eq!(folder.ok("info few --json").json()["messages"], 20);
    // Counted through all files.
    let fourth = folder.run("sample drive --message 4 -n 9 --drop-zeros -o x.ply --json");
    assert_eq!((fourth.status, fourth.json()["points"].as_u64()), (0, Some(60)), "{}", fourth.err);
    folder.fails("sample drive --message 5 -n 9 -o x.ply", &["5 clouds in 2 files"]);
    folder.fails("sample drive -n 9 -o few", &["already exists"]);
    assert_eq!(folder.files(), ["drive", "few", "x.ply"]);
}
