//! Every dependency's license must be allowed by `deny.toml`.

use crate::notices;
use crate::process::{cargo, output};
use anyhow::{Context, Result, bail};

/// Packages with a license file only, and the license that a person read in it.
const READ: [(&str, &str); 1] = [("pcd-rs ", "MIT")];

/// Checks the licenses of all packages that this platform builds.
pub(crate) fn check() -> Result<Vec<String>> {
    let rules = std::fs::read_to_string("deny.toml")?;
    let allowed = allowed(&rules)?;
    let packages = output(&mut cargo(&[
        "tree",
        "--workspace",
        "--all-features",
        "--prefix",
        "none",
        "--format",
        "{p}|{l}",
    ]))?;
    let mut packages: Vec<_> =
        packages.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once('|')).collect();
    packages.sort_unstable();
    packages.dedup();
    let disallowed: Vec<_> = packages
        .iter()
        .filter(|(package, license)| {
            let read =
                READ.iter().find(|(name, _)| license.is_empty() && package.starts_with(name));
            !permits(read.map_or(license, |(_, license)| license), &allowed)
        })
        .map(|(package, license)| format!("{package}: '{license}'"))
        .collect();
    if !disallowed.is_empty() {
        bail!("licenses that deny.toml does not allow:\n  {}", disallowed.join("\n  "));
    }
    eprintln!("{} packages, all licenses allowed", packages.len());
    notices::check()?;
    Ok(Vec::new())
}

/// Returns the strings of the list `allow` in deny.toml.
fn allowed(deny: &str) -> Result<Vec<&str>> {
    let list = deny
        .split_once("\nallow = [")
        .and_then(|(_, rest)| rest.split_once(']'))
        .context("deny.toml has no list 'allow'")?;
    Ok(list.0.split('"').skip(1).step_by(2).collect())
}

/// Returns whether an SPDX expression can be met with allowed licenses alone.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    // Before SPDX, "MIT/Apache-2.0" meant a choice.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    any_of(&mut words, allowed) && words.is_empty()
}

/// Parses `a OR b OR ...`; takes its words from the end of the reversed list.
fn any_of(words: &mut Vec<&str>, allowed: &[&str]) -> bool {
    let mut permitted = all_of(words, allowed);
    while words.last() == Some(&"OR") {
        words.pop();
        permitted |= all_of(words, allowed);
    }
    permitted
}

/// Parses `a AND b AND ...`.
fn all_of(words: &mut Vec<&str>, allowed: &[&str]) -> bool {
    let mut permitted = one(words, allowed);
    while words.last() == Some(&"AND") {
        words.pop();
        permitted &= one(words, allowed);
    }
    permitted
}

/// Parses a license, `license WITH exception`, or an expression in parentheses.
fn one(words: &mut Vec<&str>, allowed: &[&str]) -> bool {
    match words.pop() {
        Some("(") => any_of(words, allowed) & (words.pop() == Some(")")),
        Some(license) if words.last() == Some(&"WITH") => {
            words.pop();
            let exception = words.pop().unwrap_or_default();
            allowed.contains(&format!("{license} WITH {exception}").as_str())
        }
        Some(license) => allowed.contains(&license),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::permits;

    #[test]
    fn expressions() {
        let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR GPL-3.0) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(permits(good, &allowed), "{good}");
        }
        for invalid in
            ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT GPL-3.0", "MIT WITH exception"]
        {
            assert!(!permits(invalid, &allowed), "{invalid}");
        }
    }
}
