//! Memory: the need of a job is compared with the free memory before it starts, because a process that runs out of
//! memory is killed, or aborts, without a word about its input.

use crate::error::{Error, ParseError, Shortage};
use std::fs;
use std::path::Path;

/// Bytes that this process can still allocate: the free memory of the system (with swap), less where a container or
/// `ulimit -v` allows less. `None` if unknown, which is everywhere but on Linux.
pub fn available() -> Option<u64> {
    let limits = [system(), container(), address_space()];
    limits.into_iter().flatten().min()
}

/// Refuses work that needs more memory than is free. `name` is the file, for the message.
///
/// # Errors
/// [`Error::TooLarge`] if less than `bytes` are free, as far as the system tells.
pub fn require(name: &str, bytes: u64) -> Result<(), Error> {
    match shortage(bytes) {
        Some(shortage) => Err(shortage.named(name)),
        None => Ok(()),
    }
}

/// Refuses `rows` rows of `bytes` bytes each that don't fit.
pub(crate) fn fits(rows: u64, bytes: usize) -> Result<(), ParseError> {
    shortage(rows.saturating_mul(bytes as u64)).map_or(Ok(()), |shortage| Err(shortage.into()))
}

/// Returns the shortage if `needed` bytes are not free.
pub(crate) fn shortage(needed: u64) -> Option<Shortage> {
    // The check takes longer than reading a small file.
    if needed < 16 << 20 {
        return None;
    }
    let free = available()?;
    (needed > free).then_some(Shortage { needed, free })
}

/// Free memory of the whole machine.
fn system() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let free = kibibytes(&text, "MemAvailable:")?;
    Some(free + kibibytes(&text, "SwapFree:").unwrap_or(0))
}

/// The number in a line such as `MemAvailable:   123 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Memory left by `ulimit -v`.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    Some(limit.saturating_sub(kibibytes(&status, "VmSize:")?))
}

/// Memory left by the control groups of this process, version 1 or 2.
fn container() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    groups.lines().filter_map(|line| group(line, Path::new("/sys/fs/cgroup"))).min()
}

/// Memory left by the group of a line such as `0::/a/b` (version 2) or `9:memory:/a/b` and all above it.
fn group(line: &str, root: &Path) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (root, limit, used, cache) = match controllers {
        "" => (root.to_owned(), "memory.max", "memory.current", "inactive_file"),
        _ if controllers.split(',').any(|name| name == "memory") => {
            let names = ("memory.limit_in_bytes", "memory.usage_in_bytes");
            (root.join("memory"), names.0, names.1, "total_inactive_file")
        }
        _ => return None,
    };
    let remaining = |folder: &Path| -> Option<u64> {
        let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok();
        let (limit, used): (u64, u64) = (number(limit)?, number(used)?);
        let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        // Cached files count as used, and are evicted when memory is needed.
        let cached = statistics.lines().find_map(|line| {
            let (name, value) = line.split_once(' ')?;
            (name == cache).then(|| value.parse::<u64>().ok())?
        });
        Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
    };
    let inside = root.join(path.trim_start_matches('/'));
    // In a container the path is that of the host, and only the root is there.
    inside.ancestors().take_while(|folder| folder.starts_with(&root)).filter_map(remaining).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_memory_than_exists_is_refused() {
        assert!(require("scan.laz", 0).is_ok());
        match available() {
            None => println!("skipped: the refusal (this system does not report its free memory)"),
            Some(free) => {
                assert!(free > 1 << 20, "{free}");
                let error = require("scan.laz", 1 << 60).unwrap_err().to_string();
                assert!(error.starts_with("scan.laz: needs about 1024 PiB"), "{error}");
            }
        }
    }

    #[test]
    fn groups_of_both_versions_and_their_parents() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/memory.max", "1000\n");
        write("a/memory.current", "900\n");
        write("a/memory.stat", "anon 5\ninactive_file 300\n");
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "10\n");
        assert_eq!(group("0::/a/b", root.path()), Some(400));
        assert_eq!(group("0::/none", root.path()), None);
        write("memory/c/memory.limit_in_bytes", "500");
        write("memory/c/memory.usage_in_bytes", "100");
        assert_eq!(group("9:cpu,memory:/c", root.path()), Some(400));
        assert_eq!(group("9:cpuset:/c", root.path()), None);
        assert_eq!(kibibytes("A: 1 kB\nMemAvailable:   2 kB\n", "MemAvailable:"), Some(2048));
    }
}
