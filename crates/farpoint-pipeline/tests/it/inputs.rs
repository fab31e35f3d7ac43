//! Files that are found, and the paths of their outputs.

use farpoint_pipeline::{InputFile, Notes, expand, names_several, plan};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tempfile::TempDir;

/// Creates a folder with these empty files.
fn folder(files: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    folder
}

fn silent() -> Mutex<Notes> {
    Mutex::default()
}

fn found(folder: &TempDir, inputs: &[&str], recursive: bool) -> Vec<(String, String)> {
    let inputs: Vec<PathBuf> = inputs.iter().map(|name| folder.path().join(name)).collect();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let below = |found: InputFile| {
        (text(found.path.strip_prefix(folder.path()).unwrap()), text(&found.inside))
    };
    expand(&inputs, recursive, Some(&folder.path().join("thin")), &silent())
        .unwrap()
        .into_iter()
        .map(below)
        .collect()
}

fn pairs(names: &[(&str, &str)]) -> Vec<(String, String)> {
    names.iter().map(|(path, inside)| ((*path).into(), (*inside).into())).collect()
}

const FILES: [&str; 8] = [
    "s/b.ply",
    "s/a.laz",
    "s/readme.md",
    "s/.hidden.ply",
    "s/deep/c.PLY",
    "s/deep/er/d.bin",
    "thin/a.laz",
    "x.pcd",
];

#[test]
fn folders_with_and_without_those_below() {
    let folder = folder(&FILES);
    assert_eq!(found(&folder, &["s"], false), pairs(&[("s/a.laz", "a.laz"), ("s/b.ply", "b.ply")]));
    let all = pairs(&[
        ("s/a.laz", "a.laz"),
        ("s/b.ply", "b.ply"),
        ("s/deep/c.PLY", "deep/c.PLY"),
        ("s/deep/er/d.bin", "deep/er/d.bin"),
    ]);
    assert_eq!(found(&folder, &["s"], true), all);
    // The folder of the outputs is skipped, and a file that is named twice is one.
    let whole = found(&folder, &["", "x.pcd"], true);
    assert_eq!(whole.len(), 5);
    assert!(whole.iter().all(|(path, _)| !path.starts_with("thin")), "{whole:?}");
    assert!(
        expand(&[folder.path().join("thin")], true, Some(&folder.path().join("thin")), &silent())
            .is_err()
    );
}

#[test]
fn patterns() {
    let folder = folder(&FILES);
    assert_eq!(found(&folder, &["s/*.ply"], false), pairs(&[("s/b.ply", "b.ply")]));
    assert_eq!(
        found(&folder, &["s/**/*.{ply,PLY}"], false),
        pairs(&[("s/b.ply", "b.ply"), ("s/deep/c.PLY", "deep/c.PLY")])
    );
    assert_eq!(found(&folder, &["s/d*/?.PLY"], false), pairs(&[("s/deep/c.PLY", "deep/c.PLY")]));
    for nothing in ["s/*.e57", "none/*.ply", "s/[", "s", ""] {
        let inputs = [folder.path().join(nothing)];
        let empty = TempDir::new().unwrap();
        let inputs = if nothing.is_empty() { [empty.path().to_owned()] } else { inputs };
        let error = expand(&inputs, false, None, &silent());
        assert_eq!(error.is_ok(), nothing == "s", "{nothing}: {error:?}");
    }
    // A file whose name looks like a pattern is that file.
    let odd = self::folder(&["s/[1].ply"]);
    assert_eq!(found(&odd, &["s/[1].ply"], false), pairs(&[("s/[1].ply", "[1].ply")]));
    assert!(names_several(&odd.path().join("s")) && names_several(Path::new("s/*.ply")));
    assert!(!names_several(&odd.path().join("s/[1].ply")) && !names_several(Path::new("-")));
}

#[test]
fn lists() {
    let folder = folder(&FILES);
    let name = |file: &str| folder.path().join(file).display().to_string();
    let list = folder.path().join("list.txt");
    fs::write(
        &list,
        format!("# some\n{}\n\n{}\n{}\n", name("x.pcd"), name("s"), name("not-there.ply")),
    )
    .unwrap();
    let inputs = [PathBuf::from(format!("@{}", list.display()))];
    let all = expand(&inputs, false, None, &silent()).unwrap();
    let inside: Vec<_> = all.iter().map(|found| found.inside.to_str().unwrap()).collect();
    assert_eq!(inside, ["not-there.ply", "a.laz", "b.ply", "x.pcd"]);
    fs::write(&list, "# nothing\n").unwrap();
    assert!(
        expand(&inputs, false, None, &silent()).unwrap_err().to_string().contains("names no file")
    );
    assert!(
        expand(&["@/no/where.txt".into()], false, None, &silent())
            .unwrap_err()
            .to_string()
            .contains("/no/where.txt")
    );
    assert!(
        expand(&["-".into()], false, None, &silent())
            .unwrap_err()
            .to_string()
            .contains("standard input")
    );
}

/// A note of subfolders that are skipped: not of hidden ones, of the output's, or of those that are searched.
#[test]
fn skipped_subfolders_are_noted() {
    let folder = folder(&FILES);
    fs::create_dir_all(folder.path().join("s/.git")).unwrap();
    let all = |name: &str, recursive, out: &str| {
        let notes = silent();
        let out = folder.path().join(out);
        expand(&[folder.path().join(name)], recursive, Some(&out), &notes).unwrap();
        let notes = notes.into_inner().unwrap();
        notes.iter().map(|(_, text)| text.to_owned()).collect::<Vec<_>>()
    };
    for (name, recursive, out, skipped) in [
        ("s", false, "thin", Some("s: 1 subfolder is")),
        ("s", true, "thin", None),
        ("s", false, "s/deep", None),
        ("s/*", false, "thin", None),
        ("s/b.ply", false, "thin", None),
        ("", false, "thin", Some("1 subfolder is")),
        ("", false, "elsewhere", Some("2 subfolders are")),
    ] {
        let notes = all(name, recursive, out);
        assert_eq!(notes.len(), usize::from(skipped.is_some()), "{name} {notes:?}");
        let words = |text: &String| {
            text.contains(skipped.unwrap_or_default()) && text.contains("`recursive=True`")
        };
        assert!(notes.iter().all(words), "{name} {notes:?}");
    }
}

#[test]
fn outputs_keep_the_tree() {
    let folder = folder(&FILES);
    let out = folder.path().join("thin");
    let all = expand(&[folder.path().join("s")], true, Some(&out), &silent()).unwrap();
    let files = plan(all.clone(), &out, None).unwrap();
    assert_eq!(files[2].place, Path::new("deep/c.PLY"));
    assert_eq!(files[2].output, out.join("deep/c.PLY"));
    let files = plan(all, &out, Some("laz")).unwrap();
    let places: Vec<_> = files.iter().map(|file| file.place.to_str().unwrap()).collect();
    assert_eq!(places, ["a.laz", "b.laz", "deep/c.laz", "deep/er/d.laz"]);
    // An extension of no format is part of the name.
    let odd =
        vec![InputFile { path: folder.path().join("s/scan.final"), inside: "scan.final".into() }];
    assert_eq!(plan(odd, &out, Some("ply")).unwrap()[0].place, Path::new("scan.final.ply"));
}

#[test]
fn outputs_that_can_not_be_are_refused() {
    let folder = folder(&["a/x.ply", "b/x.ply", "b/x.laz"]);
    let out = folder.path().join("thin");
    let path = |name: &str| folder.path().join(name);
    let two = |inputs: &[PathBuf], to| {
        plan(expand(inputs, false, Some(&out), &silent()).unwrap(), &out, to)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let error = two(&[path("a"), path("b/x.ply")], None).unwrap_err();
    assert!(
        error.contains("a/x.ply") && error.contains("b/x.ply") && error.contains("thin/x.ply"),
        "{error}"
    );
    assert!(two(&[path("b")], Some("npy")).unwrap_err().contains("thin/x.npy"));
    assert!(two(&[path("b")], None).is_ok());
    // An output that is an input, by its name or by a link to it.
    let files = expand(&[path("a")], false, None, &silent()).unwrap();
    let error = plan(files.clone(), &path("a"), None).unwrap_err().to_string();
    assert!(error.contains("one of the inputs"), "{error}");
    #[cfg(unix)]
    {
        fs::create_dir(&out).unwrap();
        fs::hard_link(path("a/x.ply"), out.join("x.ply")).unwrap();
        assert!(plan(files, &out, None).is_err());
    }
}
