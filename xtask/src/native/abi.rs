//! The binary interface: symbols, and the types that C sees. Programs were linked with the committed one, so a
//! change here is a change for them.

use super::{CRATE, SONAME, compiler, header_file, include};
use crate::process::{output, run, works};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the file with the symbols that the library exports, one per line.
fn symbols_file() -> PathBuf {
    Path::new(CRATE).join("abi/symbols.txt")
}

/// Returns the file with functions and types as abidw writes them, for this kind of machine.
fn types_file() -> PathBuf {
    Path::new(CRATE).join("abi/x86_64-linux.abi")
}

/// Compares symbols and types with the committed ones.
pub(super) fn check(folder: &Path, skipped: &mut Vec<String>) -> Result<()> {
    let exported = exported(&folder.join(SONAME))?;
    let declared = sorted(declarations()?.into_iter().map(|function| function.name).collect());
    let declared: Vec<_> = declared.iter().map(String::as_str).collect();
    let committed = fs::read_to_string(symbols_file())?;
    let committed: Vec<_> = committed.lines().collect();
    ensure!(
        exported == declared,
        "the library exports other functions than the header declares: {}",
        differences(&exported, &declared)
    );
    ensure!(
        exported == committed,
        "the library exports other functions than {}: {}; if that is meant, run `cargo xtask header`, \
         and mind {SONAME}",
        symbols_file().display(),
        differences(&exported, &committed)
    );
    eprintln!("{} functions exported, all of the header, nothing else", exported.len());
    if !cfg!(target_arch = "x86_64") {
        skipped.push("types of the interface are compared on x86-64 only".into());
    } else if !works(Command::new("abidw").arg("--version")) {
        skipped
            .push("types of the interface: abidw is not installed (Debian: abigail-tools)".into());
    } else if !works(Command::new(compiler()).arg("--version")) {
        skipped.push("types of the interface: there is no C compiler".into());
    } else {
        compare_types(folder)?;
    }
    Ok(())
}

/// Writes both files.
pub(super) fn write(folder: &Path) -> Result<()> {
    fs::create_dir_all(symbols_file().parent().context("no folder")?)?;
    fs::write(symbols_file(), exported(&folder.join(SONAME))?.join("\n") + "\n")?;
    dump(folder, &types_file())
}

fn compare_types(folder: &Path) -> Result<()> {
    let made = folder.join("made.abi");
    dump(folder, &made)?;
    let mut command = Command::new("abidiff");
    command.args(["--redundant", "--no-default-suppression"]).arg(types_file()).arg(made);
    let compared = command.output().context("can't start abidiff")?;
    if !compared.status.success() {
        bail!(
            "the interface is not that of {}; if that is meant, run `cargo xtask header`, and mind {SONAME}:\n{}",
            types_file().display(),
            String::from_utf8_lossy(&compared.stdout)
        );
    }
    Ok(())
}

/// Describes the interface as C sees it: a library with the functions of the header, which do nothing, compiled by a C
/// compiler. What Rust writes about its own types changes with every compiler, and holds what C can't see.
fn dump(folder: &Path, to: &Path) -> Result<()> {
    let mut source = String::from("#include \"farpoint/farpoint.h\"\n#include <stdlib.h>\n");
    for function in declarations()? {
        source += &format!("{}\n{{\n    abort();\n}}\n", function.text);
    }
    let (file, twin) = (folder.join("twin.c"), folder.join("twin.so"));
    fs::write(&file, source)?;
    let mut compile = Command::new(compiler());
    compile.args(["-std=c11", "-g", "-shared", "-fPIC", "-Wno-unused-parameter", "-o"]).arg(&twin);
    compile.arg(format!("-Wl,-soname,{SONAME}")).arg("-I").arg(include()).arg(&file);
    run(&mut compile)?;
    let mut describe = Command::new("abidw");
    describe.args(["--no-show-locs", "--no-corpus-path", "--no-comp-dir-path"]);
    run(describe.arg("--out-file").arg(to).arg(&twin))
}

/// A function of the header.
struct Declaration {
    name: String,
    /// Text without the semicolon.
    text: String,
}

/// Returns the functions that the header declares.
fn declarations() -> Result<Vec<Declaration>> {
    let header = fs::read_to_string(header_file())?;
    let found = declared(&header);
    ensure!(!found.is_empty(), "the header declares no function");
    Ok(found)
}

fn declared(header: &str) -> Vec<Declaration> {
    let mut code = String::new();
    for part in header.split("/*") {
        code += part.split_once("*/").map_or(part, |(_, after)| after);
    }
    // Without lines for the preprocessor and for C++.
    let lines = code.lines().filter(|line| !line.starts_with(['#', '}']) || line.contains(';'));
    let lines = lines.filter(|line| !line.starts_with("extern \"C\""));
    let code = lines.collect::<Vec<_>>().join("\n");
    let statements = code.split(';').map(str::trim);
    // Structures and types of function pointers are no functions.
    let functions = statements.filter(|text| text.ends_with(')') && !text.contains('{'));
    let functions = functions.filter(|text| !text.starts_with("typedef"));
    functions
        .filter_map(|text| {
            let before = text.split('(').next()?;
            let name = before.rsplit([' ', '*', '\n']).next()?;
            Some(Declaration { name: name.to_owned(), text: text.to_owned() })
        })
        .collect()
}

/// Returns the symbols that a shared library defines for others, in order.
fn exported(library: &Path) -> Result<Vec<String>> {
    let list = output(Command::new("nm").args(["-D", "--defined-only"]).arg(library))?;
    let name = |line: &str| line.split_whitespace().nth(2).map(str::to_owned);
    Ok(sorted(list.lines().filter_map(name).collect()))
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

fn differences(new: &[String], old: &[&str]) -> String {
    let more = new.iter().filter(|name| !old.contains(&name.as_str()));
    let fewer = old.iter().filter(|name| !new.iter().any(|new| new == *name));
    let more = more.map(|name| format!("+{name}"));
    more.chain(fewer.map(|name| format!("-{name}"))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::declared;

    #[test]
    fn functions_of_a_header() {
        let header = "#define A(x) x\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n/* int no(void); */\ntypedef struct s {\n    int (*f)(void);\n} s;\n\
                      typedef int (*callback)(void *user);\n\n/** Yes. */\nconst char *one(void);\n\
                      #ifdef B\nstruct s two(int a,\n             struct s *b);\n#endif\n#ifdef __cplusplus\n}  // extern\n#endif\n";
        let functions = declared(header);
        let names: Vec<_> = functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        assert!(functions[1].text.starts_with("struct s two(int a,\n"));
    }
}
