//! Errors: one line with the cause, the place and the remedy; status 2; no output.

use crate::common::Folder;

#[test]
fn usage() {
    let folder = Folder::new();
    folder.fails("", &["no command", "--help"]);
    folder.fails("smaple a.ply", &["smaple"]);
    folder.fails("sample", &["IN"]);
    folder.fails("sample a.ply", &["--count", "--ratio", "--spacing"]);
    folder.fails("sample a.ply -n 5 --ratio 0.5", &["--count", "--ratio"]);
    folder.fails("sample a.ply -n -5", &["-5", "--count"]);
    folder.fails("sample a.ply -n many", &["many", "--count"]);
    folder.fails("sample a.ply -n 5 --algorithm fast", &["fast", "peak", "tree"]);
    folder.fails("sample a.ply -n 5 --simd mmx", &["mmx", "avx2"]);
    folder.fails("sample a.ply -n 5 --threads 0", &["--threads", "0"]);
    folder.fails("sample a.ply -n 5 --start here", &["here", "random"]);
    folder.fails("sample a.ply -n 5 --columns 2", &["--columns", "2"]);
    folder.fails("sample a.ply -n 5 --device tpu", &["tpu", "cpu"]);
    folder.fails("generate house -n 5 -o a.ply", &["house", "room"]);
}

#[test]
fn options_are_checked_before_the_input_is_read() {
    let folder = Folder::new();
    // There is no a.ply: an error about it would come too late.
    folder.fails("sample a.ply --ratio 1.5", &["--ratio 1.5", "between 0 and 1"]);
    folder.fails("sample a.ply --ratio -0.5", &["--ratio -0.5"]);
    folder.fails("sample a.ply --ratio nan", &["--ratio NaN"]);
    folder.fails("sample a.ply --spacing -1", &["--spacing -1"]);
    folder.fails("sample a.ply --spacing inf", &["--spacing inf"]);
    folder.fails("sample a.ply -n 5 --device cuda --algorithm tree", &["tree", "persistent"]);
    folder.fails("sample a.ply -n 5 --device cuda --threads 2", &["--threads", "--device cpu"]);
    folder.fails("sample a.ply -n 5 --device cpu --algorithm persistent", &["persistent", "tree"]);
    folder.fails("sample a.ply -n 5 --device cpu --gpu 1", &["--gpu", "--device cuda"]);
    folder.fails("sample a.ply -n 5 --device cuda --gpu 99", &["--device cuda", "--device cpu"]);
    folder.fails("sample a.ply -n 5 --seed 7", &["--seed", "--start random"]);
    folder.fails("sample a.ply -n 5 --nvox 16", &["--nvox", "--algorithm radius:nvox=N"]);
    folder.fails("sample a.ply -n 5 --gamma=0.5", &["--algorithm peak:gamma=X"]);
    folder.fails("order a.ply -o b --no-point-skip", &["--algorithm radius:point-skip=off"]);
    folder.fails("sample a.ply -n 5 --algorithm radius:nvox=0", &["nvox = 0", "1..=1024"]);
    folder.fails("sample a.ply -n 5 --algorithm radius:nvox=few", &["'few' for nvox", "number"]);
    folder.fails("sample a.ply -n 5 --algorithm tree:nvox=8", &["tree has no option"]);
    folder.fails("sample a.ply -n 5 --algorithm peak:nvox=3", &["peak", "nvox", "gamma"]);
    folder.fails("sample a.ply -n 5 --indices rows.txt", &["rows.txt", ".npy"]);
    folder.fails("sample a.ply -n 5 --indices a.npy -o a.npy", &["a.npy", "two names"]);
    folder.fails("sample a.ply -n 5 -o - --json", &["stdout"]);
    folder.fails("sample a.ply -n 5 -o - --indices -", &["stdout"]);
    folder.fails("sample a.ply -n 5 -o b.doc", &["b.doc"]);
    folder.fails("sample a.ply -n 5 -o no/where/b.ply", &["no/where"]);
    folder.fails("sample a.ply -n 5 --indices no/where/b.npy", &["no/where"]);
    folder.fails("order a.ply -o no/where/b.ply", &["no/where"]);
    folder.fails("order a.ply -o - --json", &["stdout"]);
    folder.fails("generate room -n 5 -o no/where/b.ply", &["no/where"]);
    folder.fails("generate room -n 99999999999 -o b.ply", &["99,999,999,999", "fewer"]);
    folder.fails("demo --points 10", &["--points 10"]);
    folder.fails("demo --ratio 2", &["--ratio 2"]);
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn errors_without_a_gpu_have_the_reason() {
    let folder = Folder::new();
    let Err(why) = farpoint_cuda::device_count() else { return };
    let why = why.to_string();
    folder.fails("sample a.ply -n 5 --device cuda", &["--device cuda", &why, "--device cpu"]);
    folder.fails("sample a.ply -n 5 --algorithm persistent", &["persistent", &why]);
    folder.fails("sample a.ply -n 5 --gpu 0", &["--gpu", &why]);
    folder.fails("order a.ply -o b.ply --device cuda", &["--device cuda", &why]);
}

#[test]
fn only_existing_commands_are_suggested() {
    let folder = Folder::new();
    let output = folder.run("sampel a.ply");
    assert_eq!(output.status, 2);
    assert!(output.err.contains("'sample'") && !output.err.contains("paper"), "{}", output.err);
    folder.fails("paper a.ply", &["paper"]);
}

#[test]
fn a_ratio_of_zero_is_refused() {
    let folder = Folder::new();
    folder.room("room.ply", 50);
    for command in [
        "sample room.ply -o none.ply --ratio 0",
        "sample room.ply --output-dir thin --ratio 0%",
        "sample room.ply -o none.ply --ratio 0 --algorithm random",
    ] {
        folder.fails(command, &["--ratio 0", "above 0"]);
    }
    assert_eq!(folder.files(), ["room.ply"]);
    // As many as requested, by number.
    folder.ok("sample room.ply -o none.ply -n 0");
    assert_eq!(folder.ok("info none.ply --json").json()["points"], 0);
}

#[test]
fn inputs() {
    let folder = Folder::new();
    folder.fails("info nowhere.ply", &["nowhere.ply"]);
    folder.fails("sample nowhere.ply -n 1", &["nowhere.ply"]);
    folder.write("empty.ply", "");
    folder.fails("info empty.ply", &["empty.ply"]);
    folder.write(
        "short.ply",
        "ply\nformat binary_little_endian 1.0\nelement vertex 9\n\
        property float x\nproperty float y\nproperty float z\nend_header\nabc",
    );
    folder.fails("sample short.ply -n 1", &["short.ply"]);
    folder.write(
        "huge.ply",
        "ply\nformat binary_little_endian 1.0\nelement vertex 1099511627776\n\
        property float x\nproperty float y\nproperty float z\nend_header\nabc",
    );
    folder.fails("sample huge.ply -n 1", &["huge.ply"]);
    folder.write("words.xyz", "these are words\nand more words\n");
    folder.fails("sample words.xyz -n 1", &["words.xyz"]);
    folder.write("cloud.docx", [0u8; 100]);
    folder.fails("sample cloud.docx -n 1", &["cloud.docx"]);
    folder.write("nan.xyz", "nan 1 2\n3 nan 4\n");
    folder.fails("sample nan.xyz -n 1", &["nan.xyz", "2 rows"]);
}

#[test]
fn amounts_and_starts_that_do_not_fit_the_cloud() {
    let folder = Folder::new();
    folder.room("room.ply", 100);
    folder.fails("sample room.ply -n 101", &["room.ply", "101", "100"]);
    folder.fails("sample room.ply -n 5 --start 100", &["room.ply", "100"]);
    folder.fails("sample room.ply -n 5 --start 3,3", &["room.ply", "twice"]);
    folder.fails("sample room.ply -n 2 --start 1,2,3", &["room.ply", "3"]);
    folder.write("bad.xyz", "1 2 3\nnan 1 2\n3 1 4\n");
    folder.fails("sample bad.xyz -n 3", &["bad.xyz", "3", "2"]);
    folder.fails("sample bad.xyz -n 2 --start 1", &["bad.xyz", "1", "NaN"]);
}

#[test]
fn the_input_is_never_overwritten() {
    let folder = Folder::new();
    folder.room("room.ply", 100);
    let before = folder.read("room.ply");
    folder.fails("sample room.ply -n 5 -o room.ply", &["room.ply", "input"]);
    folder.fails("sample room.ply -n 5 -o ./room.ply", &["room.ply", "input"]);
    folder.fails("order room.ply -o room.ply", &["room.ply", "input"]);
    assert_eq!(folder.read("room.ply"), before);
}

#[test]
fn a_failed_run_leaves_the_old_output_alone() {
    let folder = Folder::new();
    folder.room("room.ply", 100);
    folder.write("small.ply", "precious");
    folder.fails("sample room.ply -n 500 -o small.ply", &["500"]);
    assert_eq!(folder.read("small.ply"), b"precious");
    assert_eq!(folder.files(), ["room.ply", "small.ply"]);
}

#[test]
fn zero_samples_of_an_empty_cloud() {
    let folder = Folder::new();
    folder.ok("generate room -n 0 -o none.ply");
    folder.ok("sample none.ply -n 0 -o still-none.ply");
    folder.fails("sample none.ply -n 1", &["none.ply"]);
    folder.room("room.ply", 10);
    let json = folder.ok("sample room.ply -n 0 --json").json();
    assert_eq!(json["samples"], 0);
    assert!(json["covering_radius"].is_null(), "{json}");
}
