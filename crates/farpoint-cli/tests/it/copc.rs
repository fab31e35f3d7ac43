//! COPC by `order` and `sample`: the levels keep what the file declares, for one file and for folders, and what
//! has no levels is refused before anything is read.

use crate::common::{CommandOutput, Folder};
use farpoint_io::{Cloud, ReadOptions};
use std::collections::BTreeMap;

/// Returns the number of points of each node, and the declared spacing, of a file.
fn octree(bytes: &[u8]) -> (BTreeMap<[u32; 4], u32>, f64) {
    let int = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    assert_eq!(&bytes[377..382], b"copc\0", "not COPC");
    let (mut nodes, mut left) = (BTreeMap::new(), vec![(long(469), long(477))]);
    while let Some((from, length)) = left.pop() {
        for at in (from..from + length).step_by(32) {
            match int(at + 28) {
                u32::MAX => left.push((long(at + 16), int(at + 24) as usize)),
                points => {
                    nodes.insert([int(at), int(at + 4), int(at + 8), int(at + 12)], points);
                }
            }
        }
    }
    (nodes, f64::from_le_bytes(bytes[461..469].try_into().unwrap()))
}

/// Runs the command; warnings of rounding and of unstated coordinate systems are expected.
fn done(folder: &Folder, arguments: &str) -> CommandOutput {
    let output = folder.run(arguments);
    assert_eq!(output.status, 0, "{arguments}: {}", output.err);
    output
}

fn cloud(folder: &Folder, name: &str) -> Cloud {
    farpoint_io::read(&folder.path(name), &ReadOptions::default()).unwrap()
}

/// Returns the coordinates of the points as sorted integers.
fn places(cloud: &Cloud, step: f64) -> Vec<[i64; 3]> {
    let place = |row| cloud.coordinates().get(row).map(|value: f64| (value / step).round() as i64);
    let mut all: Vec<_> = (0..cloud.len()).map(place).collect();
    all.sort_unstable();
    all
}

/// Returns the covering radius of a sample.
fn radius(cloud: &Cloud, sample: &[[f64; 3]]) -> f64 {
    let points: Vec<_> = (0..cloud.len()).map(|row| cloud.coordinates().get(row)).collect();
    farpoint_pipeline::covering_radius(&points[..], sample).unwrap()
}

#[test]
fn the_levels_of_an_ordered_room_are_its_samples() {
    let folder = Folder::new();
    folder.room("room.ply", 20_000);
    done(&folder, "order room.ply -o room.copc.laz --node-points 1500 --scale 0.0001");
    let bytes = folder.read("room.copc.laz");
    let (nodes, spacing) = octree(&bytes);
    assert_eq!(nodes.values().sum::<u32>(), 20_000);
    assert!(nodes.values().all(|&points| (187..=1500).contains(&points)), "{nodes:?}");
    let (room, copc) = (cloud(&folder, "room.ply"), cloud(&folder, "room.copc.laz"));
    assert_eq!(places(&room, 1e-4), places(&copc, 1e-4));
    // Nodes are in the file from coarse to fine, so that a level is the first rows.
    for level in 0..=nodes.keys().map(|key| key[0]).max().unwrap() {
        let held = nodes.iter().filter(|(key, _)| key[0] <= level).map(|(_, points)| points);
        let first: Vec<_> =
            (0..held.sum::<u32>() as usize).map(|row| copc.coordinates().get(row)).collect();
        let (radius, declared) = (radius(&copc, &first), spacing / 2f64.powi(level as i32));
        assert!(radius <= declared, "level {level}: {radius}, declared {declared}");
        assert!(level > 0 || radius > 0.5 * declared, "{radius}, {declared}");
    }
    // No column of distances, which levels say already.
    assert!(copc.column("spacing").is_none());
    let info = folder.ok("info room.copc.laz --json").json();
    assert_eq!(info["copc"]["spacing"], spacing);
    assert_eq!(info["copc"]["nodes"], nodes.len());
}

#[test]
fn a_sample_has_levels_of_its_own() {
    let folder = Folder::new();
    folder.room("room.ply", 20_000);
    done(
        &folder,
        "sample room.ply -o thin.copc.laz -n 5000 --node-points 1000 --sorted --indices rows.npy",
    );
    let (nodes, _) = octree(&folder.read("thin.copc.laz"));
    assert!(nodes.len() > 1 && nodes.values().sum::<u32>() == 5000, "{nodes:?}");
    done(&folder, "sample room.ply -o thin.laz -n 5000");
    let [plain, leveled] = ["thin.laz", "thin.copc.laz"].map(|name| cloud(&folder, name));
    assert_eq!(places(&plain, 1e-5), places(&leveled, 1e-5));
    let single = done(&folder, "sample room.ply -o - --format copc -n 5000 --node-points 1000");
    assert_eq!(single.out, folder.read("thin.copc.laz"));
    done(&folder, "order thin.copc.laz -o again.copc.laz --f32 --node-points 1000");
    assert_eq!(places(&cloud(&folder, "again.copc.laz"), 1e-5), places(&leveled, 1e-5));
}

#[test]
fn through_the_disk_the_bytes_are_those_in_memory() {
    let folder = Folder::new();
    folder.room("room.ply", 30_000);
    done(&folder, "convert room.ply room.laz");
    done(&folder, "convert room.ply room.e57");
    done(&folder, "convert room.ply room.csv");
    for (input, options) in [
        ("room.ply", "--ratio 0.25"),
        ("room.laz", "-n 9000 --sorted --node-points 1000"),
        ("room.laz", "--spacing 0.2 --f32 --node-points 200 --box 0 0 4 4"),
        ("room.laz", "--ratio 1 --drop-zeros"),
        ("room.e57", "-n 3000 --node-points 400"),
        ("room.csv", "-n 3000 --start 77 --node-points 400 --scale 1mm"),
        ("room.ply", "-n 0"),
    ] {
        let sample = format!("sample {input} {options} -o");
        let once = done(&folder, &format!("{sample} memory.copc.laz --indices memory.npy"));
        let disk = "--memory 512MiB --spool spool --json";
        let disk = done(&folder, &format!("{sample} disk.copc.laz --indices disk.npy {disk}"));
        assert_eq!(disk.json()["algorithm"], "tiles", "{sample}");
        for ending in ["copc.laz", "npy"] {
            let [memory, disk] = ["memory", "disk"].map(|name| format!("{name}.{ending}"));
            assert!(folder.read(&memory) == folder.read(&disk), "{sample} {disk}");
        }
        assert_eq!(once.err.replace("memory.", "disk."), disk.err, "{sample}");
        assert!(!folder.path("spool").exists());
    }
}

#[test]
fn folders_become_copc() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("scans")).unwrap();
    folder.room("scans/a.ply", 3000);
    folder.room("scans/b.pcd", 2000);
    done(&folder, "order scans --output-dir out --to copc --node-points 500");
    done(&folder, "sample scans --output-dir thin --to copc -n 1000");
    for (name, points) in [("out/a", 3000), ("out/b", 2000), ("thin/a", 1000), ("thin/b", 1000)] {
        let (nodes, _) = octree(&folder.read(&format!("{name}.copc.laz")));
        assert_eq!(nodes.values().sum::<u32>(), points);
    }
    // The ending is one: what becomes another format is not called COPC.
    done(&folder, "convert out --output-dir plain --to laz");
    assert_eq!(cloud(&folder, "plain/a.laz").len(), 3000);
    let failed = folder.run("convert out --output-dir same");
    assert_eq!(failed.status, 3);
    assert!(failed.err.contains("farthest-first order"), "{}", failed.err);
}

#[test]
fn outputs_without_levels_are_refused() {
    let folder = Folder::new();
    folder.room("room.ply", 100);
    folder.write("crs.txt", "EPSG:2992");
    for (arguments, says) in [
        ("convert room.ply room.copc.laz", "farthest-first order"),
        ("convert room.ply -o out.laz --format copc", "farthest-first order"),
        ("sample room.ply -o a.copc.laz -n 10 --algorithm random", "an exact algorithm"),
        ("order room.ply -o a.laz --node-points 1000", "--node-points is for COPC"),
        ("order room.ply -o a.copc.laz --node-points 10", "100 to 10,000,000"),
        ("order room.ply -o a.copc.laz --crs-wkt crs.txt", "well-known text"),
        ("order room.ply -o a.copc.laz --crs-wkt none.txt", "none.txt"),
        ("order room.ply -o a.laz --crs-wkt crs.txt", "--crs-wkt is for COPC"),
        ("generate room -n 10 -o a.copc.laz", "farthest-first order"),
    ] {
        let output = folder.run(arguments);
        assert!(output.status != 0 && output.err.contains(says), "{arguments}: {}", output.err);
    }
    assert_eq!(folder.files(), ["crs.txt", "room.ply"]);
}
