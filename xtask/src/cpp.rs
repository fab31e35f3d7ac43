//! The C++ interface for its users: built and installed by CMake, tested with every compiler that is
//! there, found by other projects in every way that the guide names.

mod configure;
mod consumers;
mod snippets;

use crate::native::SONAME;
use crate::process::{of_workspace, output, run, target_folder, works, workspace_version};
use crate::sizes;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of the examples, with the requirements of each beside the library.
const EXAMPLES: [(&str, &str); 5] = [
    ("arrays", ""),
    ("pointcloud2", ""),
    ("eigen", "Eigen"),
    ("pcl", "PCL"),
    ("pointcloud2_ros1", "the messages of ROS 1"),
];

const TESTS: &str = "bindings/cpp/tests";

/// The package of the ROS 2 node.
const ROS2: &str = "bindings/cpp/examples/ros2";

/// Libraries of this machine, and folders.
struct Setting {
    /// Folder of everything, `target/cpp`.
    folder: PathBuf,
    /// Folder in which farpoint is installed.
    prefix: PathBuf,
    eigen: bool,
    pcl: bool,
    ros1: bool,
}

/// Runs the tests; returns what was skipped, and why.
pub(crate) fn check() -> Result<Vec<String>> {
    if !works(Command::new("cmake").arg("--version")) {
        return Ok(vec!["cmake is not installed".into()]);
    }
    if !works(Command::new("c++").arg("--version")) {
        return Ok(vec!["there is no C++ compiler".into()]);
    }
    texts_agree()?;
    let folder = target_folder().join("cpp");
    configure::check(&folder)?;
    let prefix = folder.join("prefix");
    build_and_install(&folder, &prefix)?;
    let mut skipped = Vec::new();
    let found = run_examples(&folder, &mut skipped)?;
    let has = |name: &str| found.contains(&name);
    if has("pcl") {
        pcl_example(&folder)?;
    }
    let setting = Setting {
        eigen: has("eigen"),
        pcl: has("pcl"),
        ros1: has("pointcloud2_ros1"),
        folder,
        prefix,
    };
    every_compiler(&setting, &mut skipped)?;
    sanitizers(&setting, &mut skipped)?;
    valgrind(&setting, &mut skipped)?;
    consumers::check(&setting.folder, &setting.prefix, &mut skipped)?;
    snippets::check(&setting, &mut skipped)?;
    ros2(&setting, &mut skipped)?;
    debian_package(&setting, &mut skipped)?;
    Ok(skipped)
}

/// Checks the versions in both package.xml, and the size of the kernels in all texts.
fn texts_agree() -> Result<()> {
    let version = format!("<version>{}</version>", workspace_version()?);
    let cargo = format!("Rust {} or later", of_workspace("rust-version")?);
    let node = format!("{ROS2}/package.xml");
    for (file, text) in [("package.xml", &version), ("package.xml", &cargo), (&node, &version)] {
        ensure!(fs::read_to_string(file)?.contains(text), "{file} does not say {text}");
    }
    let megabytes = fs::metadata(sizes::ARCHIVE)?.len() as f64 / 1e6;
    let weight = format!("kernels of {megabytes:.0} MB");
    for file in ["CMakeLists.txt", "crates/farpoint-capi/Cargo.toml", "docs/c.md", "docs/cpp.md"] {
        ensure!(fs::read_to_string(file)?.contains(&weight), "{file} does not say '{weight}'");
    }
    Ok(())
}

/// Returns a run of CMake that prints errors only.
fn cmake() -> Command {
    let mut command = Command::new("cmake");
    // One folder and one profile with everything else that builds the library in release mode.
    command.env("CARGO_TARGET_DIR", target_folder());
    command
}

/// Runs `cmake -S source -B build ARGS`, then builds all, on all cores.
fn configure_and_build(source: &Path, build: &Path, args: &[String]) -> Result<()> {
    // A cache of another source or compiler gives an unclear error.
    if build.exists() {
        fs::remove_dir_all(build)?;
    }
    let mut configure = cmake();
    configure.arg("-S").arg(source).arg("-B").arg(build).args(args);
    let log = output(configure.arg("-DCMAKE_BUILD_TYPE=Release"))?;
    for line in log.lines().filter(|line| line.contains("farpoint:")) {
        eprintln!("{line}");
    }
    run(cmake().arg("--build").arg(build).args(["--parallel", &cores(), "--", "--quiet"]))
}

fn cores() -> String {
    std::thread::available_parallelism().map_or(1, usize::from).to_string()
}

/// Builds the library and the examples as in the README, from the root of a clone.
fn build_and_install(folder: &Path, prefix: &Path) -> Result<()> {
    let build = folder.join("build");
    configure_and_build(Path::new("."), &build, &[])?;
    if prefix.exists() {
        fs::remove_dir_all(prefix)?;
    }
    output(cmake().arg("--install").arg(&build).arg("--prefix").arg(prefix))?;
    Ok(())
}

/// Runs the examples that were built; returns their names.
fn run_examples(folder: &Path, skipped: &mut Vec<String>) -> Result<Vec<&'static str>> {
    let mut found = Vec::new();
    for (name, needs) in EXAMPLES {
        let program = folder.join("build/examples").join(name);
        if program.exists() {
            eprintln!("$ {name}");
            run(&mut Command::new(program))?;
            found.push(name);
        } else {
            ensure!(!needs.is_empty(), "the example '{name}' was not built");
            skipped.push(format!("the example and the tests '{name}' ({needs} is not installed)"));
        }
    }
    Ok(found)
}

/// Checks that the example `pcl` keeps all fields of a file, and that it refuses too many samples with a sentence.
fn pcl_example(folder: &Path) -> Result<()> {
    let (input, output) = (folder.join("fields.pcd"), folder.join("fewer.pcd"));
    let fields = "FIELDS x y z rgb ring\nSIZE 4 4 4 4 2\nTYPE F F F U U\nCOUNT 1 1 1 1 1\n";
    let rows = "0 0 0 255 1\n1 0 0 65280 2\n5 0 0 16711680 3\n";
    let head = format!("VERSION .7\n{fields}WIDTH 3\nHEIGHT 1\nPOINTS 3\nDATA ascii\n");
    fs::write(&input, head + rows)?;
    let example = |samples: &str| {
        let mut command = Command::new(folder.join("build/examples/pcl"));
        command.arg(&input).arg(&output).arg(samples);
        command
    };
    run(&mut example("2"))?;
    let written = fs::read(&output)?;
    let header = String::from_utf8_lossy(&written[..written.len().min(400)]).into_owned();
    ensure!(header.contains(fields) && header.contains("POINTS 2"), "fields changed: {header}");
    let refused = example("9").output()?;
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    ensure!(
        refused.status.code() == Some(1) && words == "can't take 9 samples of 3 points\n",
        "9 samples of 3 points end with {}: {words}",
        refused.status
    );
    Ok(())
}

/// Compilation of a test project.
struct Flavor<'a> {
    name: &'a str,
    compiler: &'a str,
    standard: u32,
    flags: &'a str,
    pcl: bool,
}

fn build_tests(setting: &Setting, flavor: &Flavor) -> Result<PathBuf> {
    let build = setting.folder.join(format!("tests-{}", flavor.name));
    let on = |condition: bool| if condition { "ON" } else { "OFF" };
    let args = [
        format!("-DCMAKE_CXX_COMPILER={}", flavor.compiler),
        format!("-DCMAKE_CXX_STANDARD={}", flavor.standard),
        format!("-DCMAKE_CXX_FLAGS={}", flavor.flags),
        // Checks in the standard library's containers, too.
        "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -D_GLIBCXX_ASSERTIONS".into(),
        format!("-DCMAKE_PREFIX_PATH={}", setting.prefix.display()),
        format!("-DFARPOINT_TEST_EIGEN={}", on(setting.eigen)),
        format!("-DFARPOINT_TEST_PCL={}", on(setting.pcl && flavor.pcl)),
        format!("-DFARPOINT_TEST_ROS1={}", on(setting.ros1 && flavor.standard == 17)),
    ];
    configure_and_build(Path::new(TESTS), &build, &args)?;
    Ok(build)
}

fn ctest(build: &Path) -> Result<()> {
    let mut command = Command::new("ctest");
    command.args(["--output-on-failure", "--no-tests=error", "--parallel", &cores()]);
    // Leaks count: what threads of Rust keep is reachable.
    command.env("UBSAN_OPTIONS", "print_stacktrace=1");
    run(command.current_dir(build))
}

/// Tests C++17 and 20 by GCC and clang; PCL, which takes longest to compile, once by each.
fn every_compiler(setting: &Setting, skipped: &mut Vec<String>) -> Result<()> {
    for compiler in ["g++", "clang++"] {
        if !works(Command::new(compiler).arg("--version")) {
            skipped.push(format!("{compiler} is not installed"));
            continue;
        }
        for standard in [17, 20] {
            let name = format!("{compiler}-{standard}");
            let pcl = (compiler == "g++") == (standard == 17);
            let flavor = Flavor { name: &name, compiler, standard, flags: "", pcl };
            ctest(&build_tests(setting, &flavor)?)?;
        }
    }
    Ok(())
}

/// Tests the headers under AddressSanitizer, LeakSanitizer and UBSan; the library itself is tested under
/// AddressSanitizer by the step of that name.
fn sanitizers(setting: &Setting, skipped: &mut Vec<String>) -> Result<()> {
    let flags = "-fsanitize=address,undefined -fno-sanitize-recover=all";
    let probe = setting.folder.join("probe.cpp");
    fs::write(&probe, "int main() { return 0; }\n")?;
    let mut compile = Command::new("c++");
    compile.args(flags.split(' ')).arg(&probe).arg("-o").arg(probe.with_extension("out"));
    if !works(&mut compile) {
        skipped.push("the compiler comes without sanitizers".into());
        return Ok(());
    }
    let flavor = Flavor { name: "sanitized", compiler: "c++", standard: 17, flags, pcl: false };
    ctest(&build_tests(setting, &flavor)?)
}

/// Tests library and headers together under valgrind: reads of uninitialized memory, and leaks.
fn valgrind(setting: &Setting, skipped: &mut Vec<String>) -> Result<()> {
    if !works(Command::new("valgrind").arg("--version")) {
        skipped.push("valgrind is not installed".into());
        return Ok(());
    }
    let build = setting.folder.join("tests-g++-17");
    if !build.exists() {
        skipped.push("valgrind runs what g++ compiled, and that is not installed".into());
        return Ok(());
    }
    for name in ["points", "calls", "pointcloud2", "ros2_node"] {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
        command.arg("--errors-for-leak-kinds=definite,indirect");
        command.arg("--show-leak-kinds=definite,indirect");
        run(command.arg(build.join(format!("test_{name}"))))?;
    }
    Ok(())
}

/// Builds the node's package with ROS 2; without it, the tests compile the node against classes of the same shape.
fn ros2(setting: &Setting, skipped: &mut Vec<String>) -> Result<()> {
    if std::env::var_os("AMENT_PREFIX_PATH").is_none() {
        skipped.push("the node's package by ROS 2 (source its setup.bash)".into());
        return Ok(());
    }
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", setting.prefix.display());
    configure_and_build(Path::new(ROS2), &setting.folder.join("ros2"), &[prefix])
}

/// Runs `cpack -G DEB`, and checks the contents of the package.
fn debian_package(setting: &Setting, skipped: &mut Vec<String>) -> Result<()> {
    if !works(Command::new("dpkg-deb").arg("--version")) {
        skipped.push("dpkg-deb is not installed".into());
        return Ok(());
    }
    let build = setting.folder.join("build");
    let made = setting.folder.join("deb");
    output(Command::new("cpack").args(["-G", "DEB", "-B"]).arg(&made).current_dir(&build))?;
    let package = fs::read_dir(&made)?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "deb"))
        .context("cpack made no package")?;
    let files = output(Command::new("dpkg-deb").arg("-c").arg(&package))?;
    for file in [
        "/usr/include/farpoint.hpp",
        "/usr/include/farpoint/farpoint.h",
        "THIRD-PARTY.txt",
        SONAME,
        "farpoint.pc",
    ] {
        ensure!(files.contains(file), "{} holds no {file}", package.display());
    }
    Ok(())
}
