//! Options that all commands share: formats, columns, units, reports, messages.

use crate::common::{CommandOutput, Folder, text};
use farpoint_io::{Format, ReadOptions, WriteOptions, read, write};

/// Checks that a run succeeded, and returns its stderr.
fn fine(output: CommandOutput) -> String {
    assert_eq!(output.status, 0, "{}", output.err);
    output.err
}

#[test]
fn formats_of_outputs() {
    let folder = Folder::new();
    folder.room("room.ply", 200);
    let start = |name: &str| String::from_utf8_lossy(&folder.read(name)[..100]).into_owned();
    folder.ok("sample room.ply -n 20 -o a.out --format ply:ascii");
    assert!(start("a.out").contains("format ascii"), "{}", start("a.out"));
    folder.ok("sample room.ply -n 20 -o b.out --format ply:binary-big-endian");
    assert!(start("b.out").contains("binary_big_endian"));
    folder.ok("order room.ply -o c.out --format pcd:compressed");
    assert!(folder.ok("info c.out").text().contains("PCD binary_compressed"));
    folder.ok("generate room -n 20 -o d.out --format CSV");
    assert!(start("d.out").starts_with("x,y,z\n"), "{}", start("d.out"));
    folder.ok("chamfer room.ply a.out --per-point e.out --format npy");
    assert!(folder.read("e.out").starts_with(b"\x93NUMPY"));
    let output = folder.ok("generate room -n 20 -o - --format xyz");
    assert_eq!(output.text().lines().filter(|line| !line.starts_with('#')).count(), 20);
    folder.ok("demo --points 2000 --format pcd");
    assert!(folder.files().contains(&"farpoint-demo.pcd".to_owned()), "{:?}", folder.files());
}

#[test]
fn precision_and_scale_of_outputs() {
    let folder = Folder::new();
    folder.room("room.ply", 50);
    folder.ok("sample room.ply -n 20 -o a.ply --precision double");
    assert_eq!(folder.ok("info a.ply --json").json()["precision"], "f64");
    fine(folder.run("sample room.ply -n 20 -o a.las --scale 1cm"));
    let scale = folder.ok("info a.las --json").json()["scale"].clone();
    assert_eq!(scale, serde_json::json!([0.01, 0.01, 0.01]));
}

#[test]
fn formats_and_columns_of_inputs() {
    let folder = Folder::new();
    let rows = [[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0], [7.5, 8.0, 9.0]];
    folder.write("cloud.data", text(&rows));
    let info = folder.ok("info cloud.data --input-format xyz --json").json();
    assert_eq!(info["points"], 3);
    folder.fails("info cloud.data --input-format ply", &["cloud.data", "PLY"]);
    folder.fails("info cloud.data --input-format docx", &["docx", "ply, pcd"]);
    folder.fails("info cloud.data --xyz 1,2", &["--xyz", "2,3,4"]);
    folder.write("cloud.xyz", text(&rows));
    let err = fine(folder.run("sample cloud.xyz -n 1 --json --columns 4"));
    assert!(err.contains("--columns"), "{err}");
}

#[test]
fn advice_that_does_not_fit_is_refused() {
    let folder = Folder::new();
    folder.fails("sample a.ply -n 5 -o b.ply --format ptx", &["ptx", "ply, pcd"]);
    folder.fails("sample a.ply -n 5 -o b.ply --format las:ascii", &["':ascii'"]);
    folder.fails("sample a.ply -n 5 --format ply", &["--format", "--output"]);
    folder.fails("sample a.ply -n 5 -o b.las --precision single", &["--precision", "--scale"]);
    folder.fails("sample a.ply -n 5 -o b.ply --scale 1mm", &["--scale", "PLY"]);
    folder.fails("sample a.las -n 5 -o b.las --scale 0", &["--scale 0", "0.001"]);
    folder.fails("sample - -n 5 -o - --scale 1mm", &["--scale", "--format"]);
    folder.fails("chamfer a.ply b.ply --scale 1mm", &["--scale", "--per-point"]);
    folder.fails("chamfer a.ply b.ply --per-point -", &["--per-point", "file"]);
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn numbers_as_people_write_them() {
    let folder = Folder::new();
    folder.room("room.ply", 2000);
    let samples = |options: &str| {
        folder.ok(&format!("sample room.ply --json {options}")).json()["samples"].clone()
    };
    for same in ["-n 1000", "-n 1k", "-n 1e3", "-n 1,000", "-n 1_000", "--ratio 50%", "--ratio 0.5"]
    {
        assert_eq!(samples(same), 1000, "{same}");
    }
    let expected = samples("--spacing 0.5");
    assert_eq!(samples("--spacing 5e-1"), expected);
    for same in ["50cm", "500mm", "0.5m"] {
        let output = folder.run(&format!("sample room.ply --json --spacing {same}"));
        assert_eq!(output.json()["samples"], expected, "{same}");
    }
    folder.fails("sample room.ply --spacing 5furlongs", &["5furlongs", "0.05, 5cm or 50mm"]);
    folder.fails("sample room.ply --ratio half", &["half", "25%"]);
    folder.fails("sample room.ply -n 0.5", &["--ratio 0.5"]);
    folder.fails("sample room.ply -n 1,00", &["1,00", "10,000"]);
    folder.fails("chamfer room.ply room.ply --threshold far", &["far", "5cm"]);
}

/// Writes a LAS file of a room with this well-known text as its coordinate system.
fn with_crs(folder: &Folder, name: &str, wkt: &str) {
    fine(folder.run(&format!("generate room -n 2000 --seed 3 -o {name}")));
    folder.add_crs(name, wkt);
}

#[test]
fn lengths_are_converted_to_the_unit_of_the_file() {
    let folder = Folder::new();
    with_crs(&folder, "feet.las", r#"PROJCS["grid",GEOGCS["base"],UNIT["foot",0.3048]]"#);
    let samples = |options: &str| {
        let output = folder.run(&format!("sample feet.las --json {options}"));
        (output.json()["samples"].clone(), fine(output))
    };
    let (plain, silent) = samples("--spacing 0.5");
    let (feet, _) = samples("--spacing 0.5ft");
    let (meters, note) = samples("--spacing 15.24cm");
    assert_eq!((feet, meters), (plain.clone(), plain));
    assert!(note.contains("--spacing 15.24cm is 0.5000") && !silent.contains("spacing"), "{note}");
    with_crs(&folder, "degrees.las", r#"GEOGCS["WGS 84",UNIT["degree",0.0174532925]]"#);
    folder.fails("sample degrees.las --spacing 5cm", &["degrees.las", "--spacing 5cm", "WGS 84"]);
    fine(folder.run("sample degrees.las --spacing 0.5 --json"));
    with_crs(&folder, "vague.las", r#"PROJCS["grid",GEOGCS["base"]]"#);
    let err = fine(folder.run("sample vague.las --spacing 50cm --json"));
    assert!(err.contains("taken as 0.5, for meters"), "{err}");
    folder.room("none.ply", 2000);
    let err = fine(folder.run("sample none.ply --spacing 50cm"));
    assert!(err.contains("note: none.ply: --spacing 50cm is taken as 0.5, for meters"), "{err}");
    let tables = [
        ("sample feet.las -n 50", " ft"),
        ("neighbors feet.las -k 1 -o k.npz", " ft"),
        ("chamfer feet.las feet.las", "0 ft"),
        ("info feet.las", " ft"),
        ("sample none.ply -n 50", "covering radius"),
    ];
    for (command, unit) in tables {
        let table = folder.run(command).text();
        assert!(table.contains(unit), "{command}: {table}");
        assert!(command.contains("feet") || !table.contains(" ft"), "{command}: {table}");
    }
    with_crs(&folder, "meters.las", r#"PROJCS["grid",GEOGCS["base"],UNIT["metre",1]]"#);
    for command in ["chamfer feet.las meters.las", "neighbors meters.las feet.las -k 1 -o k.npz"] {
        let err = fine(folder.run(command));
        assert!(err.contains("feet.las is") || err.contains("feet.las in"), "{err}");
        assert!(err.contains("distances mix units"), "{err}");
    }
}

#[test]
fn every_path_warns_of_axes_in_different_units() {
    let folder = Folder::new();
    let grid =
        |unit: &str| format!(r#"PROJCS["g",GEOGCS["b",UNIT["degree",0.01]],UNIT["u",{unit}]]"#);
    let both = |across: &str, up: &str| {
        format!(r#"COMPD_CS["c",{},VERT_CS["h",UNIT["u",{up}]]]"#, grid(across))
    };
    let keys = |stated: &[[u16; 4]]| -> Vec<u8> {
        let head = [[1, 1, 0, stated.len() as u16]];
        head.iter().chain(stated).flatten().flat_map(|n| n.to_le_bytes()).collect()
    };
    with_crs(&folder, "meters.las", &both("1", "0.3048"));
    with_crs(&folder, "feet.las", &both("0.3048", "1"));
    with_crs(&folder, "degrees.las", r#"GEOGCS["b",UNIT["degree",0.01745]]"#);
    with_crs(&folder, "same.las", &both("0.3048", "0.3048006096012192"));
    fine(folder.run("generate room -n 2000 --seed 3 -o keys.las"));
    folder.add_record("keys.las", 34735, &keys(&[[3072, 0, 1, 32632], [4099, 0, 1, 9003]]));
    fine(folder.run("generate room -n 2000 --seed 3 -o plain.csv"));
    let text = String::from_utf8(folder.read("plain.csv")).unwrap();
    let (_, rows) = text.split_once('\n').unwrap();
    folder.write("text.csv", format!("X_ft,Y_ft,Z_m\n{rows}"));
    folder.write("other.csv", format!("X_ft,Y_m,Z\n{rows}"));
    let warned = |command: &str| fine(folder.run(command)).contains("distances mix units");
    for file in ["meters.las", "feet.las", "degrees.las", "keys.las", "text.csv", "other.csv"] {
        for command in [
            "info FILE",
            "info FILE --points",
            "sample FILE -n 9",
            "sample FILE -n 9 --memory 128MiB -o out.ply",
            "sample FILE FILE2 --merge -n 9 -o out.ply",
            "convert FILE -o out.ply",
            "order FILE -o out.ply",
        ] {
            let second = format!("b_{file}");
            folder.write(&second, folder.read(file));
            let command = command.replace("FILE2", &second).replace("FILE", file);
            assert!(warned(&command), "{command}");
        }
    }
    assert!(!warned("sample same.las -n 9") && !warned("sample plain.csv -n 9"));
}

#[test]
fn points_that_las_cannot_hold_can_be_left_out() {
    let folder = Folder::new();
    folder.write("nan.csv", "x,y,z\n0,0,0\n1,2,3\n1,nan,1\n3,1,inf\n");
    let mut command = "convert nan.csv -o out.las".to_owned();
    for option in [" --keep y=-1e99..1e99", " --keep z=-1e99..1e99"] {
        folder.fails(&command, &["not finite", option]);
        command += option;
    }
    fine(folder.run(&command));
    assert_eq!(folder.ok("info out.las --json").json()["points"], 2);
}

#[test]
fn units_of_codes_and_of_text_headers_count() {
    let folder = Folder::new();
    fine(folder.run("generate room -n 2000 --seed 3 -o room.las"));
    // Keys with the code of a projected system, in US survey feet, and that of its heights.
    let keys: [u16; 16] = [1, 1, 0, 3, 1024, 0, 1, 1, 3072, 0, 1, 2227, 4096, 0, 1, 5754];
    let keys: Vec<u8> = keys.iter().flat_map(|n| n.to_le_bytes()).collect();
    folder.add_record("room.las", 34735, &keys);
    let samples = |file: &str, options: &str| {
        let output = folder.run(&format!("sample {file} --json {options}"));
        (output.json()["samples"].clone(), fine(output))
    };
    let (plain, _) = samples("room.las", "--spacing 0.5");
    let (feet, note) = samples("room.las", "--spacing 15.24003048006096cm");
    assert_eq!(feet, plain);
    assert!(note.contains("is 0.5000 in its unit of 0.3048 m"), "{note}");
    let info = folder.ok("info room.las").text();
    assert!(info.contains("EPSG:2227 + EPSG:5754, units of 0.3048"), "{info}");
    let warned = fine(folder.run("order room.las -o room.copc.laz"));
    assert!(warned.contains("heights (EPSG:5754) is not known as well-known text"), "{warned}");
    fine(folder.run("convert room.las -o room.csv"));
    let text = String::from_utf8(folder.read("room.csv")).unwrap();
    let (_, rows) = text.split_once('\n').unwrap();
    folder.write("feet.csv", format!("X_ft,Y_ft,Z_ft\n{rows}"));
    let (plain, _) = samples("feet.csv", "--spacing 0.5");
    let (feet, note) = samples("feet.csv", "--spacing 15.24cm");
    assert_eq!(feet, plain);
    assert!(note.contains("is 0.5000 in its unit of 0.3048 m"), "{note}");
    let kept = folder.run("convert feet.csv -o again.csv");
    assert!(!fine(kept).contains("unit"));
    let lost = fine(folder.run("convert feet.csv -o feet.ply"));
    assert!(lost.contains("the unit of the columns (0.3048 m) cannot be kept in PLY"), "{lost}");
    folder.write("meters.csv", format!("X_m,Y_m,Z_m\n{rows}"));
    folder.fails("sample feet.csv meters.csv --merge -o all.ply -n 10", &["meters.csv", "0.3048"]);
}

#[test]
fn json_is_one_object_of_every_command() {
    let folder = Folder::new();
    folder.room("room.ply", 1000);
    folder.write("zeros.xyz", "0 0 0\n1 2 3\nnan 1 1\n3 1 2\n");
    for command in [
        "sample room.ply -n 10",
        "order room.ply -o ordered.ply",
        "chamfer room.ply room.ply",
        "compare room.ply -n 10 --algorithms random --no-picture",
        "info room.ply",
        "generate room -n 10 -o made.ply",
        "demo --points 1000",
    ] {
        let printed = folder.ok(&format!("{command} --json")).json();
        assert_eq!(printed["warnings"], serde_json::json!([]), "{command}");
        folder.ok(&format!("{command} --json=report.json"));
        let kept: serde_json::Value = serde_json::from_slice(&folder.read("report.json")).unwrap();
        let keys = |value: &serde_json::Value| {
            value.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(keys(&kept), keys(&printed), "{command}");
        folder.fails(&format!("{command} --json=no/where.json"), &["folder no "]);
        folder.fails(&format!("{command} --json=report.txt"), &["report.txt", ".json"]);
    }
    let output = folder.run("sample zeros.xyz -n 1 --json");
    let warnings = output.json()["warnings"].as_array().unwrap().clone();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    for warning in warnings {
        assert!(output.err.contains(warning.as_str().unwrap()), "{warning}: {}", output.err);
    }
}

#[test]
fn quiet_and_verbose() {
    let folder = Folder::new();
    folder.write("bad.xyz", "1 2 3\nnan 1 2\n3 1 4\n");
    let usual = folder.run("sample bad.xyz -n 1");
    usual.names(&["warning", "bad.xyz"]);
    usual.names(&["note", "-o FILE"]);
    let table = folder.ok("sample bad.xyz -n 1 --quiet").text();
    assert!(table.contains("covering radius"), "{table}");
    let verbose = folder.run("-v sample bad.xyz -n 1 -o a.ply").err;
    for stage in ["stage: reading bad.xyz: ", "stage: sampling bad.xyz: ", "stage: writing a.ply: "]
    {
        assert!(verbose.contains(stage), "{stage}: {verbose}");
    }
    folder.fails("sample bad.xyz -n 1 -q -v", &["--quiet", "--verbose"]);
    folder.fails("-q sample nowhere.ply -n 1", &["nowhere.ply"]);
}

#[test]
fn sampling_without_an_output_says_so() {
    let folder = Folder::new();
    folder.room("room.ply", 100);
    let output = folder.run("sample room.ply -n 5");
    assert!(output.text().contains("covering radius"), "{}", output.text());
    assert!(fine(output).contains("-o FILE"));
    for silent in ["--json", "-o a.ply", "--indices a.npy", "--indices -"] {
        folder.ok(&format!("sample room.ply -n 5 {silent}"));
    }
}

#[test]
fn the_folder_of_an_output_must_be_there() {
    let folder = Folder::new();
    folder.room("room.ply", 100);
    for command in [
        "sample room.ply -n 5 -o no/a.ply",
        "sample room.ply -n 5 --indices no/a.npy",
        "order room.ply -o no/a.ply",
        "generate room -n 5 -o no/a.ply",
        "chamfer room.ply room.ply --per-point no/a.ply",
        "compare room.ply -n 5 -o no/a.png",
        "compare room.ply -n 5 --csv no/a.csv",
        "demo --points 1000 --out-dir no",
    ] {
        folder.fails(command, &["folder", "no"]);
    }
    assert_eq!(folder.files(), ["room.ply"]);
}

#[test]
fn every_option_stands_under_its_heading() {
    let folder = Folder::new();
    for command in
        ["sample", "order", "chamfer", "neighbors", "compare", "info", "generate", "demo"]
    {
        let help = folder.ok(&format!("{command} --help")).text();
        let mut heading = "";
        for line in help.lines() {
            if let Some(name) = line.strip_suffix(':').filter(|name| !name.starts_with(' ')) {
                heading = name;
            }
            let option = line.split_whitespace().find(|word| word.starts_with("--"));
            // Deeper lines are wrapped text.
            let starts = line.starts_with("  -") || line.starts_with("      -");
            let Some(option) = option.filter(|_| starts) else { continue };
            let option = option.split(['[', '=']).next().unwrap_or(option);
            let expected = match option {
                "--help" | "--quiet" | "--verbose" => "Options",
                "--json" | "--stats" | "--threshold" => "Report",
                "--output" | "--indices" | "--format" | "--scale" | "--out-dir" => "Output",
                "--csv" | "--no-picture" | "--per-point" | "--precision" => "Output",
                "--columns" | "--xyz" | "--input-format" | "--drop-zeros" | "--f32" => "Input",
                "--device" | "--gpu" | "--simd" => "Device",
                "--keep" | "--drop" | "--box" | "--box3" | "--polygon" => {
                    "Filters (rows keep their numbers)"
                }
                "--min-points" => "Approximate samplers",
                "--start" | "--algorithm" | "--algorithms" => "Sampling",
                _ => continue,
            };
            assert_eq!(heading, expected, "{command} {option}");
        }
    }
}

#[test]
fn the_short_help_has_a_line_for_each_common_option() {
    let folder = Folder::new();
    let options = |help: &str| {
        let starts = |line: &&str| line.starts_with("  -") || line.starts_with("      -");
        help.lines().filter(starts).map(str::to_owned).collect::<Vec<_>>()
    };
    for command in ["sample", "order", "convert", "chamfer", "neighbors", "compare", "view"] {
        let short = folder.ok(&format!("{command} -h")).text();
        let long = folder.ok(&format!("{command} --help")).text();
        let (common, all) = (options(&short), options(&long));
        assert!(common.len() <= 15 && all.len() <= 45, "{command}: {} {}", common.len(), all.len());
        assert!(common.len() < all.len(), "{command}");
        // A line each: a name and its text, no more.
        let lines = short.split("\nExamples:").next().unwrap().lines();
        let deep = lines.filter(|line| line.starts_with("          ")).count();
        assert_eq!(deep, 0, "{short}");
        assert!(
            common.iter().all(|line| line.chars().count() <= 100 && line.trim().contains("  ")),
            "{short}"
        );
    }
}

#[test]
fn completions_and_manual_pages() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.ok(&format!("completions {shell}")).text();
        assert!(script.contains("input-format") && !script.contains("bench"), "{shell}");
    }
    folder.fails("completions tcsh", &["tcsh", "bash"]);
    let page = folder.ok("man").text();
    assert!(page.starts_with(".ie") && page.contains(".TH farpoint 1"), "{page}");
    folder.ok("man share/man1");
    folder.ok("man share/man1");
    let sample = String::from_utf8(folder.read("share/man1/farpoint-sample.1")).unwrap();
    assert!(sample.contains("\\-\\-spacing") && sample.contains("\\-\\-quiet"), "{sample}");
    folder.write("file", "");
    folder.fails("man file", &["file"]);
    folder.write("script", folder.ok("completions bash").out);
    for (tool, arguments) in [
        ("bash", &["-n", "script"][..]),
        ("groff", &["-man", "-ww", "-z", "share/man1/farpoint-sample.1"]),
    ] {
        match std::process::Command::new(tool)
            .args(arguments)
            .current_dir(folder.path("."))
            .output()
        {
            Err(error) => println!("skipped: {tool} on what is generated ({error})"),
            Ok(output) => {
                let err = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success() && err.is_empty(), "{tool}: {err}");
            }
        }
    }
}

#[test]
fn info_of_a_header_and_of_the_points_agree() {
    let folder = Folder::new();
    with_crs(&folder, "room.las", r#"PROJCS["grid",GEOGCS["base"],UNIT["metre",1]]"#);
    let quick = folder.ok("info room.las --json").json();
    let full = folder.ok("info room.las --points --json").json();
    assert_eq!((&quick["points_read"], &full["points_read"]), (&false.into(), &true.into()));
    assert!(quick["repeated"].is_null() && full["repeated"].is_u64());
    for key in ["points", "format", "description", "fields", "min", "max", "crs", "scale", "offset"]
    {
        assert_eq!(quick[key], full[key], "{key}");
        assert!(!quick[key].is_null(), "{key}");
    }
    let table = folder.ok("info room.las").text();
    assert!(table.contains("CRS            grid, meters"), "{table}");
    // Without points the header is enough; with a byte less than it promises it is not believed.
    let whole = folder.read("room.las");
    folder.write("cut.las", &whole[..whole.len() - 1]);
    folder.fails("info cut.las", &["cut.las", "2000 points", "1999"]);
}

#[test]
fn info_counts_classes_and_returns() {
    let folder = Folder::new();
    folder.write(
        "a.csv",
        "x,y,z,intensity,classification,return_number\n0,0,0,7,2,1\n1,0,0,9,6,1\n2,0,0,8,2,2\n",
    );
    let cloud = read(&folder.path("a.csv"), &ReadOptions::default()).unwrap();
    let las = WriteOptions::default().format(Format::Las);
    write(&folder.path("a.las"), &cloud, &[0, 1, 2], &las).unwrap();
    for name in ["a.csv", "a.las"] {
        let table = folder.ok(&format!("info {name} --points")).text();
        for line in
            ["intensity      7 to 9", "2 ground: 2 (66.67 %)", "6 building: 1", "1: 2 (66.67 %)"]
        {
            assert!(table.contains(line), "{name}: {line}: {table}");
        }
        let json = folder.ok(&format!("info {name} --points --json")).json();
        assert_eq!(json["classes"], serde_json::json!({"2": 2, "6": 1}), "{name}");
        assert_eq!(json["intensity"], serde_json::json!([7.0, 9.0]), "{name}");
    }
}

/// Returns the words of the form `--word`.
fn options(text: &str) -> Vec<String> {
    let parts = text.split("--").skip(1).map(|part| {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '-');
        part[..end.unwrap_or(part.len())].trim_end_matches('-').to_owned()
    });
    parts.filter(|word| word.len() > 1).collect()
}

#[test]
fn messages_name_only_options_that_exist() {
    let folder = Folder::new();
    // '--one' is between two processes of the program, and hidden.
    let mut known = vec!["version".to_owned(), "one".to_owned()];
    for command in
        ["sample", "order", "chamfer", "neighbors", "compare", "info", "generate", "demo"]
    {
        known.extend(options(&folder.ok(&format!("{command} --help")).text()));
    }
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders = vec![
        crates.join("farpoint-io/src"),
        crates.join("farpoint-cli/src"),
        crates.join("farpoint-pipeline/src"),
    ];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            // Comments, and the command of another program.
            let own = |line: &&str| {
                !line.trim_start().starts_with("//") && !line.contains("--dst-storage")
            };
            for line in text.lines().filter(own) {
                for option in options(line) {
                    seen += 1;
                    let there = known.contains(&option);
                    assert!(there, "{}: there is no --{option}: {line}", path.display());
                }
            }
        }
    }
    assert!(seen > 50, "{seen}");
}
