//! A few seconds of everything, for compute-sanitizer, and its launch.

use crate::equality::{self, Class, Depth};
use crate::machine::Machine;
use crate::report::write_file;
use crate::runner::Group;
use crate::variants::{self, ALL};
use crate::{
    awkward, baselines, batches, graphs, neighbors, pointers, search, streams, values, voxels,
};
use anyhow::{Context, Result};
use farpoint_generate::Kind;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Kernels that wait for each other are slow under the sanitizer: small clouds only.
const SMALL: Class = Class {
    name: "n = 33, 300, 1,025",
    sizes: &[33, 300, 1_025],
    parts: ALL,
    depth: Depth::Quarter,
};
const SMALLER: Class =
    Class { name: "n = 100, 3,000", sizes: &[100, 3_000], parts: ALL, depth: Depth::Quarter };

/// All checks that are small.
pub(crate) fn groups() -> Vec<Group> {
    let mut groups = vec![
        equality::group::<f32>(Kind::Room, SMALL),
        equality::group::<f64>(Kind::Room, SMALLER),
        equality::group::<f32>(Kind::Lattice, SMALLER),
        equality::group::<f32>(Kind::Duplicated, SMALL),
        awkward::axes::<f32>(2, &[33, 300]),
        awkward::axes::<f64>(5, &[300]),
        awkward::far::<f32>(&[1_200]),
        awkward::far::<f64>(&[1_200]),
    ];
    groups.extend(batches::small());
    groups.extend(pointers::small());
    groups.extend(streams::small());
    groups.extend(graphs::small());
    groups.extend(baselines::small());
    groups.extend(neighbors::small());
    groups.extend(search::small());
    groups.extend(values::small());
    groups.extend(voxels::small());
    groups
}

/// Small checks in which no block waits for another: for racecheck, under which kernels whose blocks
/// wait do not finish. Data shared by threads of a block is checked this way, too.
pub(crate) fn alone() -> Vec<Group> {
    variants::set_alone();
    let mut groups = vec![
        equality::group::<f32>(Kind::Room, SMALL),
        equality::group::<f64>(Kind::Room, SMALL),
        equality::group::<f32>(Kind::Lattice, SMALL),
        equality::group::<f32>(Kind::Duplicated, SMALL),
        awkward::axes::<f32>(2, &[33, 300]),
        awkward::axes::<f64>(5, &[300]),
        awkward::far::<f32>(&[1_200]),
        awkward::far::<f64>(&[1_200]),
    ];
    groups.extend(neighbors::alone());
    groups.extend(search::alone());
    groups.extend(values::small());
    groups.extend(voxels::small());
    for group in &mut groups {
        // `auto` would choose teams of several blocks.
        group.parts.retain(|part| *part != "auto");
    }
    groups
}

/// Tools that each look for a different kind of error.
const TOOLS: [&str; 3] = ["memcheck", "racecheck", "synccheck"];

/// Outcome of a tool.
struct ToolResult {
    tool: &'static str,
    passed: bool,
    seconds: f64,
    /// Its last words.
    summary: String,
}

/// Runs the small checks under each tool; does nothing if the sanitizer is missing.
pub(crate) fn sanitize(tools: &[String], only: &[String], record: Option<&Path>) -> Result<bool> {
    if Command::new("compute-sanitizer").arg("--version").output().is_err() {
        println!("skipped: compute-sanitizer is not on PATH");
        if let Some(path) = record {
            write_file(path, "# compute-sanitizer\n\nskipped: it is not on PATH\n")?;
        }
        return Ok(true);
    }
    let mut results = Vec::new();
    for tool in TOOLS.iter().filter(|tool| tools.is_empty() || tools.iter().any(|t| t == *tool)) {
        println!("== {tool}");
        let result = run_tool(tool, only)?;
        let status = if result.passed { "ok" } else { "FAIL" };
        println!("== {tool}: {status}, {:.1} s, {}\n", result.seconds, result.summary);
        results.push(result);
    }
    if let Some(path) = record {
        let mut text = format!("# compute-sanitizer\n\n{}\n\n", Machine::detect());
        text.push_str("`farpoint-cuda-tests small` under each tool (racecheck: `small --alone`).\n\n| tool | | s | |\n|---|---|---:|---|\n");
        for ToolResult { tool, passed, seconds, summary } in &results {
            let status = if *passed { "ok" } else { "**FAIL**" };
            text.push_str(&format!("| {tool} | {status} | {seconds:.1} | {summary} |\n"));
        }
        write_file(path, &text)?;
    }
    Ok(results.iter().all(|result| result.passed))
}

/// Runs one tool, forwarding its output.
fn run_tool(tool: &'static str, only: &[String]) -> Result<ToolResult> {
    let begin = Instant::now();
    let mut command = Command::new("compute-sanitizer");
    command.args(["--tool", tool, "--error-exitcode", "1", "--print-limit", "20"]);
    command.arg(std::env::current_exe()?).args(["small", "--limit", "600", "--patience", "300"]);
    if tool == "racecheck" {
        command.arg("--alone");
    }
    command.args(only.iter().flat_map(|text| ["--only", text]));
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut summary = Vec::new();
    for line in BufReader::new(child.stdout.take().context("no output")?).lines() {
        let line = line?;
        println!("{line}");
        if line.contains("SUMMARY") || line.contains(" comparisons: ") {
            summary.push(line.trim_matches(['=', ' ']).to_owned());
        }
    }
    let passed = child.wait()?.success();
    Ok(ToolResult {
        tool,
        passed,
        seconds: begin.elapsed().as_secs_f64(),
        summary: summary.join("; "),
    })
}
