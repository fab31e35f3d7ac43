//! `farpoint-lab bench`: all exact algorithms agree, and operators by all methods.

use crate::common::Folder;
use farpoint_generate::Kind;

#[test]
fn algorithms_agree() {
    let folder = Folder::new();
    folder.cloud("given.ply", Kind::Room, 2000);
    let parts = "algorithms,growth,threads";
    let options = "--quick --points 2000 --runs 1 --no-generated --threads 2 -o out given.ply";
    folder.ok(&format!("bench --only {parts} {options}"));
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
}

#[test]
fn operators_agree_on_threads_and_methods() {
    let folder = Folder::new();
    folder.cloud("given.ply", Kind::Lidar, 3000);
    let options = "--quick --runs 1 --no-generated --threads 3 -o out given.ply";
    folder.ok(&format!("bench --only operators {options}"));
    // Four operators: on 1, 2 and 3 threads, all pairs, and with indexes; one checksum each.
    let csv = folder.read("out/operators.csv");
    let lines: Vec<Vec<_>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 1 + 4 * 5, "{csv}");
    let sum = lines[0].iter().position(|cell| *cell == "checksum").unwrap();
    for same in lines[1..].chunks(5) {
        assert!(same.iter().all(|line| line[sum] == same[0][sum]), "{csv}");
    }
}
