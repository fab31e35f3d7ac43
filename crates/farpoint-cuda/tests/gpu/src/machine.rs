//! Machine and date of a record.

use farpoint_cuda::Properties;
use std::process::Command;
use std::thread::available_parallelism;

/// Card, processor and date.
pub(crate) struct Machine {
    card: String,
    driver: String,
    cpu: String,
    cores: usize,
    date: String,
}

impl Machine {
    pub(crate) fn detect() -> Self {
        let cards = Properties::all().unwrap_or_default();
        let cards: Vec<_> = cards
            .iter()
            .map(|card| format!("{card}, {} multiprocessors", card.multiprocessors))
            .collect();
        let query =
            ["--query-gpu=driver_version,clocks.max.sm,power.limit", "--format=csv,noheader"];
        let driver = first_line("nvidia-smi", &query);
        Self {
            card: if cards.is_empty() { "no GPU".into() } else { cards.join("; ") },
            driver: if driver.is_empty() { "unknown".into() } else { driver },
            cpu: cpu(),
            cores: available_parallelism().map_or(1, usize::from),
            date: first_line("date", &["-u", "+%Y-%m-%d"]),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { card, driver, cpu, cores, date } = self;
        let version = env!("CARGO_PKG_VERSION");
        write!(f, "{card}; driver, largest clock and power limit: {driver}; ")?;
        write!(f, "{cpu}, {cores} cores; farpoint {version}, {date}")
    }
}

/// Name of the processor as reported by Linux.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// Returns the first line of a program's output; empty if the program is missing.
fn first_line(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    let text =
        output.map_or(String::new(), |out| String::from_utf8_lossy(&out.stdout).into_owned());
    text.lines().next().unwrap_or_default().trim().to_owned()
}
