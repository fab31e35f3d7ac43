//! Host memory that a GPU may use beside its own. It is pinned and never swapped, so that no more is used than the
//! machine has free now.

use std::fs;
use std::path::Path;

/// Divisor of the share that stays free for everything else: a sixteenth.
const RESERVE_DIVISOR: u64 = 16;

/// Returns the bytes that may be used: of the system's free memory, and within the limits of this process's control
/// groups. `None` if the system does not report it, that is, everywhere but on Linux.
pub(crate) fn available() -> Option<usize> {
    let available = container().map_or(system()?, |remaining| remaining.min(system().unwrap_or(0)));
    usize::try_from(available - available / RESERVE_DIVISOR).ok()
}

fn system() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes left by the control groups (version 2).
fn container() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    let root = Path::new("/sys/fs/cgroup");
    let remaining = |folder: &Path| {
        let number = |name| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        Some(number("memory.max")?.saturating_sub(number("memory.current")?))
    };
    // In a container the path is that of the host, and only the root exists.
    let inside = root.join(group.trim_start_matches('/'));
    inside.ancestors().take_while(|folder| folder.starts_with(root)).filter_map(remaining).min()
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn linux_reports_free_memory() {
        let available =
            super::available().expect("MemAvailable is in /proc/meminfo since Linux 3.14");
        assert!(available > 1 << 20 && available < 1 << 50, "{available}");
    }
}
