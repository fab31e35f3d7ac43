//! Machine and date of a record.

use farpoint::Level;
use farpoint_cuda::Properties;
use serde_json::{Value, json};
use std::process::Command;
use std::thread::available_parallelism;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fmt, fs};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Machine and date.
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) simd: Level,
    pub(crate) date: String,
    /// Set for records of a GPU.
    gpus: Option<Gpus>,
}

/// The GPUs of a machine and their driver, as text.
struct Gpus {
    cards: String,
    driver: String,
}

impl Machine {
    /// Returns this machine, for records of the CPU.
    pub(crate) fn current() -> Self {
        Self {
            cpu: cpu(),
            cores: available_parallelism().map_or(1, usize::from),
            simd: Level::detect(),
            date: today(),
            gpus: None,
        }
    }

    /// Returns this machine with its GPUs.
    pub(crate) fn with_gpus() -> Self {
        Self { gpus: Some(Gpus::current()), ..Self::current() }
    }

    /// Returns the machine and farpoint's version, the same from day to day.
    pub(crate) fn identity(&self) -> String {
        let Self { cpu, cores, simd, .. } = self;
        format!("{cpu}, {cores} cores, {simd}, farpoint {VERSION}")
    }

    pub(crate) fn json(&self) -> Value {
        let Self { cpu, cores, date, gpus, .. } = self;
        let mut object = json!({ "cpu": cpu, "cores": cores, "date": date, "farpoint": VERSION });
        if let Some(Gpus { cards, driver }) = gpus {
            object["card"] = cards.as_str().into();
            object["driver"] = driver.as_str().into();
        }
        object
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Gpus { cards, driver }) = &self.gpus {
            write!(f, "{cards}; driver, largest clock and power limit: {driver}; ")?;
        }
        write!(f, "{}, {}", self.identity(), self.date)
    }
}

impl Gpus {
    fn current() -> Self {
        let cards = Properties::all().unwrap_or_default();
        let cards: Vec<_> = cards
            .iter()
            .map(|card| format!("{card}, {} multiprocessors", card.multiprocessors))
            .collect();
        let query =
            ["--query-gpu=driver_version,clocks.max.sm,power.limit", "--format=csv,noheader"];
        let output = Command::new("nvidia-smi").args(query).output();
        let text = output.map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).into());
        let driver = text.lines().next().map_or("unknown", str::trim).to_owned();
        let cards = if cards.is_empty() { "no GPU".into() } else { cards.join("; ") };
        Self { cards, driver }
    }
}

/// Returns the processor's name on Linux, else its architecture.
fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// Returns today's date in UTC, as 2026-11-20.
fn today() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (year, month, day) = civil((now / 86_400) as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns year, month and day of a day counted from 1970-01-01 (after H. Hinnant's algorithm).
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_777), (2026, 11, 20));
    }
}
