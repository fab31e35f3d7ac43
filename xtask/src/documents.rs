//! The documents name only files that exist, and the commands in them run.

use crate::process::{build_as_tests, run, target_folder};
use anyhow::{Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of the repository whose files the documents name in back-quotes.
const FOLDERS: [&str; 6] = [".ci/", "crates/", "docs/", "fuzz/", "lab/", "xtask/"];

/// Prefixes of links to files of the repository on the web: files to read, and pictures.
pub(crate) const ON_THE_WEB: [&str; 2] = [
    "](https://github.com/farpoint/farpoint/blob/main/",
    "](https://raw.githubusercontent.com/farpoint/farpoint/main/",
];

/// Checks every Markdown file: links to files of the repository and back-quoted paths must exist.
pub(crate) fn check() -> Result<Vec<String>> {
    let mut files = Vec::new();
    markdown_files(Path::new("."), &mut files)?;
    let mut wrong = Vec::new();
    for file in &files {
        let text = without_blocks(&std::fs::read_to_string(file)?);
        let folder = file.parent().unwrap_or(Path::new("."));
        let relative = links(&text).map(|link| folder.join(link));
        for path in relative.chain(absolute_links(&text)).filter(|path| !exists(path)) {
            wrong.push(format!(
                "{}: a link to '{}', which is not there",
                file.display(),
                path.display()
            ));
        }
        for path in quoted_paths(&text).filter(|path| !exists(Path::new(path))) {
            wrong.push(format!("{}: there is no '{path}'", file.display()));
        }
    }
    if !wrong.is_empty() {
        bail!("documents name files that do not exist:\n  {}", wrong.join("\n  "));
    }
    eprintln!("{} documents, all files they name exist", files.len());
    Ok(Vec::new())
}

/// Returns the fenced code blocks in this language.
pub(crate) fn blocks<'a>(text: &'a str, language: &'a str) -> impl Iterator<Item = &'a str> {
    text.split("\n```").skip(1).step_by(2).filter_map(move |block| {
        let (name, body) = block.split_once('\n')?;
        (name.trim() == language).then_some(body)
    })
}

/// Documents whose commands are run.
const COMMANDS: [&str; 6] = [
    "README.md",
    "docs/quick-start.md",
    "docs/guide/command-line.md",
    "docs/guide/thin-a-scan.md",
    "docs/guide/level-of-detail.md",
    "docs/guide/robotics.md",
];

/// Example that makes the bag of these documents.
const BAG: &str = "ouster_bag";

/// Runs the command line examples of the documents, each as it stands there.
pub(crate) fn run_commands() -> Result<Vec<String>> {
    let outputs = std::path::absolute(build_as_tests(&["--example", BAG])?)?;
    let program = outputs.join(format!("farpoint{}", std::env::consts::EXE_SUFFIX));
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = program.parent().map(Path::to_path_buf).into_iter();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&others)))?;
    let folder = target_folder().join("readme");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let mut bag = Command::new(outputs.join("examples").join(BAG));
    run(bag.args(["2", "drive.mcap"]).current_dir(&folder))?;
    let mut commands = 0;
    for document in COMMANDS {
        let text = std::fs::read_to_string(document)?;
        let lines = blocks(&text, "sh").flat_map(|block| block.lines());
        for line in lines.filter(|line| line.starts_with("farpoint ")) {
            eprintln!("$ {line}");
            // By a shell, since some write into a file.
            let mut command = Command::new("sh");
            run(command.args(["-c", line]).env("PATH", &path).current_dir(&folder))?;
            commands += 1;
        }
    }
    ensure!(commands > 0, "there are no commands in {COMMANDS:?}");
    eprintln!("{commands} commands");
    Ok(Vec::new())
}

fn markdown_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let generated = name.starts_with('.') || name == "target" || name == "corpus";
        if path.is_dir() && !generated && !path.is_symlink() {
            markdown_files(&path, files)?;
        } else if name.ends_with(".md") {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

/// Returns the text without fenced code blocks.
pub(crate) fn without_blocks(text: &str) -> String {
    text.split("\n```").step_by(2).collect()
}

/// Returns targets of `[..](target)` that are files, without anchors.
pub(crate) fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', ' ', '#']).next()?;
        (!target.is_empty() && !target.contains("://") && !target.starts_with("mailto:"))
            .then_some(target)
    })
}

/// Returns files of links to their place on the web, which READMEs of packages need.
fn absolute_links(text: &str) -> impl Iterator<Item = PathBuf> {
    let after = ON_THE_WEB.iter().flat_map(|start| text.split(start).skip(1));
    after.filter_map(|rest| rest.split([')', ' ', '#']).next()).map(PathBuf::from)
}

/// Returns back-quoted words that begin with a folder of the repository.
fn quoted_paths(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|word| {
        FOLDERS.iter().any(|folder| word.starts_with(folder))
            && !word.contains([' ', '*', '{', '<', '\n'])
    })
}

fn exists(path: &Path) -> bool {
    // A git-ignored folder such as fuzz/corpus is named before it is made.
    path.exists() || ["fuzz/corpus", "fuzz/artifacts"].iter().any(|made| path.ends_with(made))
}

#[cfg(test)]
mod tests {
    use super::{absolute_links, blocks, links, quoted_paths, without_blocks};
    use std::path::Path;

    const TEXT: &str = "See [a](docs/a.md#part), [b](https://x.y), \
                        [d](https://github.com/farpoint/farpoint/blob/main/docs/d.md#part) and `crates/c`, `x/y`.\n\
                        ```sh\nfarpoint info [x](y)\n```\n![p](p.png \"title\")\n";

    #[test]
    fn finds_what_a_document_names() {
        let text = without_blocks(TEXT);
        assert_eq!(links(&text).collect::<Vec<_>>(), ["docs/a.md", "p.png"]);
        assert_eq!(absolute_links(&text).collect::<Vec<_>>(), [Path::new("docs/d.md")]);
        assert_eq!(quoted_paths(&text).collect::<Vec<_>>(), ["crates/c"]);
        assert_eq!(blocks(TEXT, "sh").collect::<Vec<_>>(), ["farpoint info [x](y)"]);
    }
}
