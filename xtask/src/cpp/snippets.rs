//! The C++ code of the documents compiles as it stands there.

use super::Setting;
use crate::documents;
use crate::process::run;
use anyhow::{Result, ensure};
use std::fs;
use std::process::Command;

const DOCUMENTS: [&str; 3] = ["README.md", "docs/cpp.md", "docs/guide/robotics.md"];

pub(super) fn check(setting: &Setting, skipped: &mut Vec<String>) -> Result<()> {
    let mut compiled = 0;
    for document in DOCUMENTS {
        let text = fs::read_to_string(document)?;
        for (number, block) in documents::blocks(&text, "cpp").enumerate() {
            let needs =
                [("<farpoint/eigen.hpp>", setting.eigen), ("<farpoint/pcl.hpp>", setting.pcl)];
            if let Some((header, _)) =
                needs.iter().find(|(header, available)| block.contains(header) && !available)
            {
                skipped.push(format!("an example of {document} with {header} (not installed)"));
                continue;
            }
            let file = setting.folder.join(format!("snippet-{number}.cpp"));
            fs::write(&file, block)?;
            let mut compile = Command::new("c++");
            compile.args(["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I"]);
            compile.arg(setting.prefix.join("include"));
            // Of the shape of ROS 2's messages, where there is no ROS 2.
            compile.args(["-isystem", "bindings/cpp/tests/ros2"]);
            for folder in ["/usr/include/eigen3", "/usr/include/pcl-1.13", "/usr/include/pcl-1.15"]
            {
                compile.args(["-isystem", folder]);
            }
            run(compile.arg(&file))?;
            compiled += 1;
        }
    }
    ensure!(compiled > 0, "the documents have no C++ code");
    eprintln!("{compiled} examples of the documents compile");
    Ok(())
}
