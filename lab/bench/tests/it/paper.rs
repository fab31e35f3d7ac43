//! `farpoint-lab paper --quick`: every figure is made, and is not made twice; records can be read again.

use crate::common::Folder;
use farpoint_generate::Kind;
use std::path::Path;

const FIGURES: [&str; 6] = ["figure2", "figure3", "table4", "figure14", "figure15", "table5"];

/// Returns head and rows of a CSV whose cells hold no quotes.
fn csv(folder: &Folder, name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = folder.read(&format!("out/{name}.csv"));
    let mut lines = text.lines().map(cells);
    (lines.next().unwrap(), lines.collect())
}

/// Returns the cells of a line; a quoted one may hold commas.
fn cells(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let marked: String = parts
        .map(|(k, part)| if k % 2 == 0 { part.replace(',', "\n") } else { part.into() })
        .collect();
    marked.split('\n').map(str::to_owned).collect()
}

/// Returns the lines with the numbers of measured and of kept clouds.
fn counts(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains(" measured")).collect()
}

#[test]
fn quick_makes_every_figure_and_goes_on_where_it_was() {
    let folder = Folder::new();
    folder.cloud("given.ply", Kind::Room, 3000);
    let text = folder.ok("paper --quick --only figure2,table4 -o out");
    assert_eq!(counts(&text).len(), 2, "{text}");
    // As after an interrupted run: two figures and three clouds exist, the rest does not.
    let text = folder.ok("paper --quick --data given.ply -o out");
    let output = counts(&text);
    assert_eq!(output.len(), FIGURES.len(), "{text}");
    for line in &output {
        let known = line.starts_with("figure2") || line.starts_with("table4");
        let expected = if known { ": 1 measured, 3 kept" } else { ": 4 measured," };
        assert!(line.contains(expected), "{line}");
    }
    let page = folder.read("out/report.html");
    for plot in FIGURES.into_iter().flat_map(plots) {
        let svg = folder.read(&format!("out/{plot}.svg"));
        assert!(page.contains(&svg) && !svg.contains("NaN") && !svg.contains("inf"), "{plot}");
    }
    assert!(!page.contains("NaN"));
    let before = folder.read("out/figure14.csv");
    let text = folder.ok("paper --quick --data given.ply -o out");
    assert!(counts(&text).iter().all(|line| line.contains(": 0 measured, 4 kept")), "{text}");
    assert_eq!(folder.read("out/figure14.csv"), before);
}

/// Returns the plots of a figure.
fn plots(figure: &str) -> Vec<String> {
    match figure {
        "figure14" => {
            ["latency", "memory", "throughput"].map(|what| format!("figure14-{what}")).into()
        }
        name => vec![name.to_owned()],
    }
}

/// Reads a file of the repository.
fn committed(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_committed_reports_follow_from_the_recorded_numbers() {
    let document = committed("docs/development/paper.md");
    for device in ["cpu", "cuda"] {
        let folder = Folder::new();
        let record = format!("lab/records/paper/{device}");
        for name in FIGURES.map(|name| format!("{name}.csv")) {
            folder.write(&name, committed(&format!("{record}/{name}")));
        }
        folder.write("run.json", committed(&format!("{record}/run.json")));
        let text = folder.ok("paper --from . -o out");
        assert!(text.contains("statements of the paper") && counts(&text).is_empty(), "{text}");
        let mut made = vec!["report.html".to_owned(), "verdicts.md".into(), "run.json".into()];
        for name in FIGURES {
            made.push(format!("{name}.csv"));
            made.extend(plots(name).into_iter().map(|plot| format!("{plot}.svg")));
        }
        for name in made {
            assert!(
                folder.read(&format!("out/{name}")) == committed(&format!("{record}/{name}")),
                "{record}/{name}: `cargo xtask lab paper --from {record} -o {record}` makes another"
            );
        }
        let verdicts = folder.read("out/verdicts.md");
        assert!(
            document.contains(verdicts.trim()),
            "docs/development/paper.md does not quote {record}/verdicts.md"
        );
        statements_are_judged_by_their_numbers(device, &verdicts);
    }
}

/// The two statements whose verdicts were once written by hand.
fn statements_are_judged_by_their_numbers(device: &str, verdicts: &str) {
    let line = |words: [&str; 2]| {
        let found = verdicts.lines().find(|line| words.iter().all(|word| line.contains(word)));
        found.unwrap_or_else(|| panic!("no statement with {words:?}")).to_owned()
    };
    if device == "cpu" {
        let npdu = line(["FPS+NPDU is at most 5.8 times", "at most 5.8x"]);
        assert!(npdu.contains("134x") && npdu.contains("**differs**"), "{npdu}");
        let room = line(["186.56 times", "within a factor of 2 of 186.56x (93.28x to 373.12x)"]);
        assert!(room.contains("79.6x") && room.contains("**differs**"), "{room}");
    }
    let tables = line(["Table 2 ", "not made"]);
    assert!(tables.contains("checkpoints of PointMetaBase"), "{tables}");
}

#[test]
fn a_record_is_read_as_it_was_written_or_refused() {
    let folder = Folder::new();
    folder.ok("paper --quick --only figure3,figure2 -o out");
    folder.ok("paper --from out -o again");
    for name in ["figure2.csv", "figure3.svg", "report.html", "verdicts.md", "run.json"] {
        assert!(
            folder.read(&format!("out/{name}")) == folder.read(&format!("again/{name}")),
            "{name}"
        );
    }
    assert!(folder.read("out/report.html").contains("--only figure15 makes it"));
    folder.ok("paper --from out --only figure2 -o less");
    assert!(folder.path("less/figure2.svg").exists() && !folder.path("less/figure3.svg").exists());
    folder.fails("paper --from out --only table5 -o x", &["--from out", "table5", "--only"]);
    folder.fails("paper --from nowhere -o x", &["--from nowhere", "run.json"]);
    folder.write("out/figure2.csv", "cloud,other\na,1\n");
    folder.fails("paper --from out -o x", &["figure2.csv", "columns", "measure again"]);
    folder.write("out/run.json", "{");
    folder.fails("paper --from out -o x", &["run.json", "measure again"]);
}

#[test]
fn exact_algorithms_agree() {
    let folder = Folder::new();
    folder.ok("paper --quick --only figure15 -o out");
    let (head, rows) = csv(&folder, "figure15");
    let column = |name: &str| head.iter().position(|cell| cell == name).unwrap();
    let [sum, cloud, algorithm] = [column("checksum"), column("cloud"), column("algorithm")];
    for row in rows.iter().filter(|row| row[algorithm] == "radius") {
        let peak =
            rows.iter().find(|other| other[cloud] == row[cloud] && other[algorithm] == "peak");
        assert_eq!(row[sum], peak.unwrap()[sum], "{row:?}");
    }
}

#[test]
fn a_folder_gives_the_largest_cloud_of_each_folder() {
    let folder = Folder::new();
    for (name, points) in [("a/few", 1200), ("a/most", 1500), ("b/only", 1300), ("c/tiny", 50)] {
        std::fs::create_dir_all(folder.path(name).parent().unwrap()).unwrap();
        folder.cloud(&format!("{name}.npy"), Kind::Cube, points);
    }
    folder.write("a/notes.txt", "not a cloud");
    let text = folder.ok("paper --quick --only figure3 --data . -o out");
    for (name, there) in [("a/most", true), ("b/only", true), ("a/few", false), ("c/tiny", false)] {
        assert_eq!(text.contains(&format!("  {name}: ")), there, "{name}: {text}");
    }
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.fails("paper --quick -o out --data empty", &["--data empty", "1,000 points"]);
    folder.fails("paper --quick -o out --data c/tiny.npy", &["c/tiny.npy", "1,000"]);
    folder.fails("paper --quick -o out --data a/notes.txt", &["notes.txt"]);
}

#[test]
fn a_damaged_state_is_started_anew() {
    let folder = Folder::new();
    folder.ok("paper --quick --only figure3 -o out");
    folder.write("out/state.json", "{ not JSON");
    let output = folder.run("paper --quick --only figure3 -o out");
    assert_eq!(output.status, 0, "{}", output.err);
    assert!(
        output.err.contains("measured again") && output.out.contains("3 measured"),
        "{}",
        output.err
    );
    folder.write("file", "");
    folder.fails("paper --quick -o file", &["--output file", "another folder"]);
}
