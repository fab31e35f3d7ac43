//! `farpoint-lab bench`: tables, records and plots; all exact algorithms agree.

use crate::common::Folder;
use farpoint_generate::Kind;

#[test]
fn bench_writes_tables_and_plots() {
    let folder = Folder::new();
    folder.cloud("given.ply", Kind::Room, 2000);
    let parts = "algorithms,growth,threads";
    let options = "--quick --points 2000 --runs 1 --no-generated --threads 2 -o out given.ply";
    let text = folder.ok(&format!("bench --only {parts} {options}"));
    for word in ["given.ply", "naive", "radius", "tree", "peak", "Growth", "Threads"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let csv = folder.read("out/algorithms.csv");
    let mut lines = csv.lines();
    let head: Vec<_> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|cell| *cell == name).unwrap();
    let [sum, measured] = [column("checksum"), column("samples_measured")];
    let sums: Vec<_> = lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|cells| cells[measured] == "500")
        .map(|cells| cells[sum].to_owned())
        .collect();
    assert!(sums.len() >= 5 && sums.iter().all(|other| *other == sums[0]), "{csv}");
    let svg = folder.read("out/growth.svg");
    assert!(svg.starts_with("<svg") && svg.contains("cores"), "{svg}");
}

#[test]
fn stages_are_measured_on_every_number_of_threads() {
    let folder = Folder::new();
    let text = folder.ok("bench --quick --points 20000 --runs 1 --only stages --threads 3 -o out");
    assert!(text.contains("Stages: room-20000") && text.contains("Stages: lidar-"), "{text}");
    let csv = folder.read("out/stages.csv");
    let lines: Vec<Vec<_>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 1 + 2 * 3, "{csv}");
    let at = |name: &str| lines[0].iter().position(|cell| *cell == name).unwrap();
    for line in &lines[1..] {
        let seconds = |name: &str| line[at(name)].parse::<f64>().unwrap();
        let stages = ["copy", "order", "build", "single", "collect", "solve", "update", "sort"];
        assert!(stages.iter().all(|stage| seconds(stage) > 0.0), "{csv}");
        assert!(stages.iter().map(|stage| seconds(stage)).sum::<f64>() <= seconds("all"), "{csv}");
    }
}

#[test]
fn small_clouds_are_sampled_alone_and_in_batches() {
    let folder = Folder::new();
    let text = folder.ok("bench --quick --runs 1 --only small --threads 2 -o out");
    assert!(text.contains("auto, batch of 32, 2 threads"), "{text}");
    assert_eq!(folder.read("out/small.csv").lines().count(), 1 + 3 * 7);
}

#[test]
fn operators_agree_on_threads_and_methods() {
    let folder = Folder::new();
    folder.cloud("given.ply", Kind::Lidar, 3000);
    let options = "--quick --runs 1 --no-generated --threads 3 -o out given.ply";
    let text = folder.ok(&format!("bench --only operators {options}"));
    for word in [
        "given.ply, 3,000 points, 750 in its quarter",
        "16 nearest",
        "ball of its quarter",
        "brute",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    // Four operators: on 1, 2 and 3 threads, all pairs, and with indexes; one checksum each.
    let csv = folder.read("out/operators.csv");
    let lines: Vec<Vec<_>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 1 + 4 * 5, "{csv}");
    let sum = lines[0].iter().position(|cell| *cell == "checksum").unwrap();
    for same in lines[1..].chunks(5) {
        assert!(same.iter().all(|line| line[sum] == same[0][sum]), "{csv}");
    }
}
