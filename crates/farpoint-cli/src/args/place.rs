//! Options of the sampler, its rows, and its device.

use super::{Method, Named, algorithm};
use crate::hints::did_you_mean;
use crate::messages;
use anyhow::{Result, ensure};
use farpoint::{Level, Start};
use farpoint_pipeline::{Cards, Choice, RowList};
use std::path::PathBuf;

/// Options of the sampler.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    #[arg(long, value_name = "A", default_value = "auto", help_heading = "Sampling",
        help = "Sampler of those that --help lists", long_help = algorithm::long_help())]
    pub(crate) algorithm: Method,
    /// Row to start at, several separated by commas to continue a sample, or 'random'
    /// [default: the first row]. For exact algorithms.
    #[arg(long, value_name = "I|random", help_heading = "Sampling")]
    pub(crate) start: Option<StartAt>,
    /// Seed of --start random; in 'sample' also of random, and of grid with --keep-point random.
    #[arg(long, value_name = "K", help_heading = "Sampling")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) selection: Selection,
}

/// Selection of rows of a file; all rows by default.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Selection {
    /// Use only the rows that this file lists (.npy of integers, or text; the first row is 0), each once. Ties go
    /// to the row listed first; --start and --indices are rows of the whole input.
    #[arg(long, value_name = "FILE", help_heading = "Sampling", conflicts_with = "mask")]
    rows: Option<PathBuf>,
    /// Use only the rows whose value in this file is 1, or true (.npy or text, a value per row of the input).
    #[arg(long, value_name = "FILE", help_heading = "Sampling")]
    mask: Option<PathBuf>,
}

impl Selection {
    /// Returns the file of rows that is set, if any.
    pub(crate) fn listed(&self) -> Option<RowList> {
        match (&self.rows, &self.mask) {
            (Some(path), _) => Some(RowList::Rows(path.clone())),
            (None, Some(path)) => Some(RowList::Mask(path.clone())),
            (None, None) => None,
        }
    }

    /// Returns the file that is set, with its option.
    pub(crate) fn file(&self) -> Named<'_> {
        match &self.mask {
            Some(mask) => ("--mask", Some(mask)),
            None => ("--rows", self.rows.as_deref()),
        }
    }

    /// Refuses the options where they have no effect.
    ///
    /// # Errors
    /// If one is set; `what` is the input that they are for.
    pub(crate) fn refuse(&self, input_kind: &str) -> Result<()> {
        let option = self.listed().map(|listed| listed.option());
        ensure!(option.is_none(), "{} is for {input_kind}; remove it", option.unwrap_or_default());
        Ok(())
    }
}

/// Options of the device.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Device")]
pub(crate) struct DeviceOptions {
    /// Device to use: cpu, cuda (an NVIDIA GPU, also cuda:1 for --gpu 1) or auto (a GPU if present and faster).
    #[arg(long, value_name = "D", default_value = "auto")]
    pub(crate) device: DeviceName,
    /// Number of the GPU, from 0, or several separated by commas, or 'all': these share a large cloud of 'sample'
    /// [default: 0, and all if a cloud does not fit there].
    #[arg(long, value_name = "N|all")]
    pub(crate) gpu: Option<Cards>,
    /// CPU only: threads to use [default: one per core].
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// CPU only, instruction set: portable, avx2, avx512 or neon [default: the best of this machine].
    #[arg(long, value_name = "LEVEL")]
    pub(crate) simd: Option<Level>,
}

impl DeviceOptions {
    /// Converts the options to the library's.
    pub(crate) fn place(&self) -> farpoint_pipeline::DeviceOptions {
        farpoint_pipeline::DeviceOptions {
            device: match self.device.kind {
                Device::Auto => Choice::Auto,
                Device::Cpu => Choice::Cpu,
                Device::Cuda => Choice::Cuda,
            },
            gpu: self.gpu.clone().or(self.device.card.map(|card| Cards::These(vec![card]))),
            threads: self.threads.map(usize::from),
            level: self.simd,
            report: messages::print_message,
        }
    }
}

/// Value of `--start`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StartAt {
    Rows(Vec<usize>),
    Random,
}

impl std::str::FromStr for StartAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "random" {
            return Ok(Self::Random);
        }
        let rows = text.split(',').map(|row| row.trim().parse());
        let rows: Result<_, _> = rows.collect();
        rows.map(Self::Rows).map_err(|_| "use a row number (the first is 0) or 'random'".into())
    }
}

impl StartAt {
    pub(crate) fn with_seed(&self, seed: u64) -> Start {
        match self {
            Self::Random => Start::Random(seed),
            Self::Rows(rows) if rows.len() == 1 => Start::Index(rows[0]),
            Self::Rows(rows) => Start::Indices(rows.clone()),
        }
    }
}

/// A kind of device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    Auto,
    Cpu,
    Cuda,
}

/// Value of `--device`: a kind, or a GPU by its number as PyTorch writes it, `cuda:1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceName {
    pub(crate) kind: Device,
    pub(crate) card: Option<usize>,
}

impl std::str::FromStr for DeviceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let card = text.strip_prefix("cuda:").map(str::parse);
        let kind = match text {
            "auto" => Device::Auto,
            "cpu" => Device::Cpu,
            "cuda" => Device::Cuda,
            _ if matches!(card, Some(Ok(_))) => Device::Cuda,
            _ => {
                let hint = did_you_mean(text, ["auto", "cpu", "cuda"]);
                return Err(format!("use auto, cpu, cuda, or cuda:N for the GPU N{hint}"));
            }
        };
        Ok(Self { kind, card: card.and_then(Result::ok) })
    }
}
