//! Errors: a message with problem, place and remedy; status 2; no output.

use crate::common::Folder;

/// Runs and expects status 2 and these words in a usage error.
fn refuses(folder: &Folder, arguments: &str, words: &[&str]) {
    let output = folder.run(arguments);
    assert_eq!(output.status, 2, "farpoint-lab {arguments}: {}", output.err);
    for word in words {
        assert!(
            output.err.contains(word),
            "farpoint-lab {arguments}: no '{word}' in {}",
            output.err
        );
    }
}

#[test]
fn usage() {
    let folder = Folder::new();
    refuses(&folder, "bench --only speed", &["speed", "algorithms"]);
    refuses(&folder, "paper --quick", &["--output"]);
    refuses(&folder, "paper -o made --only figure9", &["figure9", "figure14"]);
    refuses(&folder, "paper -o made --device tpu", &["tpu", "cuda"]);
    refuses(&folder, "gpu bench --algorithm fast", &["fast", "peak"]);
    refuses(&folder, "gpu bench-chamfer --method fast", &["fast", "tree"]);
}

#[test]
fn inputs_and_devices() {
    let folder = Folder::new();
    folder.fails("bench nowhere.ply", &["nowhere.ply"]);
    folder.fails("paper -o made --data nowhere", &["--data nowhere", "no such"]);
    folder.fails("paper -o made --device cuda --gpu 99", &["--device cuda", "--device cpu"]);
    folder.fails("paper -o made --gpu 0", &["--gpu", "--device cuda"]);
    assert!(!folder.path("made").exists());
}
