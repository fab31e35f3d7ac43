//! `farpoint chamfer` of two folders: files of one name in both, pair by pair.

use super::{Outcome, as_json, measure_files};
use crate::args;
use crate::many::Failed;
use crate::messages::complain;
use crate::output::{self, number};
use crate::progress::ProgressWatch;
use crate::report;
use anyhow::{Result, ensure};
use farpoint_pipeline::{InputFile, expand, names_several};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns whether folders, patterns or lists are compared.
pub(super) fn names_folders(args: &args::Chamfer) -> bool {
    names_several(&args.a) || names_several(&args.b)
}

/// Compares each pair; pairs that fail print an error, and the others go on.
pub(super) fn run(args: &args::Chamfer) -> Result<()> {
    ensure!(args.per_point.is_none(), "--per-point is for two files; remove it");
    crate::check::outputs(&args.report, &[], &[&args.a, &args.b], &[])?;
    let watch = ProgressWatch::default();
    let files =
        |path: &PathBuf| expand(std::slice::from_ref(path), args.search.recursive, None, &watch);
    let (first, mut second) = (by_name(files(&args.a)?)?, by_name(files(&args.b)?)?);
    let (mut objects, mut errors) = (Vec::new(), Vec::new());
    let mut rows = vec![["file", "chamfer", "hausdorff", "f-score"].map(str::to_owned).to_vec()];
    let mut fail = |name: String, error: String| {
        complain("error", &error);
        errors.push(json!({ "file": name, "error": error }));
    };
    let total = first.len() + second.keys().filter(|name| !first.contains_key(*name)).count();
    for (name, a) in first {
        let label = name.display().to_string();
        let Some(b) = second.remove(&name) else {
            fail(label, format!("{}: no such file in {}", a.display(), args.b.display()));
            continue;
        };
        match measure_files(args, &a, &b) {
            Ok((outcome, read)) => {
                rows.push(row(label, &outcome));
                objects.push(as_json(args, [&a, &b], &outcome, read));
            }
            Err(error) => fail(label, error.to_string()),
        }
    }
    for (name, b) in second {
        let error = format!("{}: no such file in {}", b.display(), args.a.display());
        fail(name.display().to_string(), error);
    }
    let table = output::table(&rows);
    let failed = Failed { files: errors.len(), total };
    report::print(&args.report, json!({ "pairs": objects, "errors": errors }), &table, false)?;
    if failed.files == 0 { Ok(()) } else { Err(failed.into()) }
}

/// Maps each file's path below its input, without the format's extension, to its path.
fn by_name(found: Vec<InputFile>) -> Result<BTreeMap<PathBuf, PathBuf>> {
    let mut paths: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for InputFile { path, inside } in found {
        let inside = inside.with_file_name(stem(&inside));
        if let Some(other) = paths.insert(inside, path.clone()) {
            let (path, other) = (path.display(), other.display());
            anyhow::bail!("{path}: {other} has the same name; keep one of them there");
        }
    }
    Ok(paths)
}

/// Returns the name up to its first dot: `a.pcd.bin` and `a.ply` are a pair.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split('.').next().unwrap_or_default().to_owned()
}

fn row(name: String, outcome: &Outcome) -> Vec<String> {
    let score = outcome.score.map_or("-".to_owned(), |score| format!("{:.4}", score.f_score));
    vec![name, number(outcome.sum), number(outcome.hausdorff), score]
}
