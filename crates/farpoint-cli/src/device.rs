//! Where a run takes place: what the options allow, what the machine has, what pays.

use crate::args::{Device, Run};
use anyhow::{Result, anyhow, bail, ensure};
use farpoint::{Amount, approximate};
use std::fmt;
use std::str::FromStr;

/// Value of `--algorithm`: a name that the CPU, the GPU or both know, or that of an approximate
/// sampler, which runs on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Method {
    cpu: Option<farpoint::Algorithm>,
    gpu: Option<farpoint_cuda::Algorithm>,
    approximate: Option<approximate::Method>,
}

impl Method {
    /// The fastest, on either.
    pub(crate) const AUTO: Self = Self {
        cpu: Some(farpoint::Algorithm::Auto),
        gpu: Some(farpoint_cuda::Algorithm::Auto),
        approximate: None,
    };

    /// The algorithm of this name on the CPU.
    pub(crate) fn on_cpu(self) -> Option<farpoint::Algorithm> {
        self.cpu
    }

    /// The algorithm of this name on a GPU.
    pub(crate) fn on_gpu(self) -> Option<farpoint_cuda::Algorithm> {
        self.gpu
    }

    /// The approximate sampler of this name, with its defaults.
    pub(crate) fn approximate(self) -> Option<approximate::Method> {
        self.approximate
    }

    pub(crate) fn name(self) -> &'static str {
        let on_gpu = self.gpu.map(farpoint_cuda::Algorithm::name);
        let approximate = self.approximate.map(|method| method.name());
        self.cpu.map(farpoint::Algorithm::name).or(on_gpu).or(approximate).unwrap_or_default()
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let approximate = name.parse().ok();
        let method = Self { cpu: name.parse().ok(), gpu: name.parse().ok(), approximate };
        match method {
            Self { cpu: None, gpu: None, approximate: None } => Err(format!(
                "choose one of {} (exact, CPU), {} (exact, GPU) or {} (approximate)",
                names(farpoint::Algorithm::ALL.map(farpoint::Algorithm::name)),
                names(farpoint_cuda::Algorithm::ALL.map(farpoint_cuda::Algorithm::name)),
                names(approximate::Method::ALL.map(|method| method.name()))
            )),
            method => Ok(method),
        }
    }
}

fn names<const N: usize>(names: [&str; N]) -> String {
    names.join(", ")
}

/// Where to run.
pub(crate) enum Place {
    Cpu,
    Gpu(farpoint_cuda::Device),
    /// As it was not asked for, the CPU steps in if it fails.
    GpuIfItWorks(farpoint_cuda::Device),
}

/// Refuses what can't be done anywhere or not where it was asked for, before any work.
pub(crate) fn check(run: &Run) -> Result<()> {
    let name = run.algorithm.name();
    match run.device {
        Device::Cpu => {
            ensure!(run.gpu.is_none(), "--gpu is for --device cuda or auto, not cpu");
            ensure!(
                run.algorithm.cpu.is_some(),
                "--algorithm {name} is for GPUs; on the CPU there are {}",
                names(farpoint::Algorithm::ALL.map(farpoint::Algorithm::name))
            );
        }
        Device::Cuda => {
            ensure!(
                run.algorithm.gpu.is_some(),
                "--algorithm {name} is for the CPU; with --device cuda there are {}",
                names(farpoint_cuda::Algorithm::ALL.map(farpoint_cuda::Algorithm::name))
            );
            if let Some(option) = cpu_option(run) {
                bail!("{option} is for the CPU; leave it out, or use --device cpu");
            }
            present(run.gpu).map_err(|error| {
                anyhow!("--device cuda: {error}; use --device cpu or leave it out")
            })?;
        }
        Device::Auto if run.algorithm.cpu.is_none() => {
            if let Some(option) = cpu_option(run) {
                bail!("{option} is for the CPU, and --algorithm {name} for GPUs");
            }
            present(run.gpu).map_err(|error| anyhow!("--algorithm {name} is for GPUs: {error}"))?;
        }
        Device::Auto => {
            let gpu = run.gpu.map_or(Ok(()), |_| present(run.gpu));
            gpu.map_err(|error| anyhow!("--gpu: {error}"))?;
        }
    }
    Ok(())
}

/// An option that only the CPU has a use for.
fn cpu_option(run: &Run) -> Option<&'static str> {
    let given = [
        (run.threads.is_some(), "--threads"),
        (run.simd.is_some(), "--simd"),
        (run.no_radius_pruning, "--no-radius-pruning"),
        (run.no_point_skip, "--no-point-skip"),
    ];
    given.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
}

/// Whether there is a GPU of this number; opens none.
fn present(ordinal: Option<usize>) -> Result<(), farpoint_cuda::Error> {
    let (ordinal, count) = (ordinal.unwrap_or(0), farpoint_cuda::device_count()?);
    if ordinal < count {
        Ok(())
    } else {
        Err(farpoint_cuda::Error::NoSuchDevice { ordinal, count })
    }
}

/// Chooses the device for so many points.
pub(crate) fn choose(run: &Run, points: usize, amount: Amount) -> Result<Place> {
    let open = || farpoint_cuda::Device::new(run.gpu.unwrap_or(0));
    match run.device {
        Device::Cpu => Ok(Place::Cpu),
        Device::Cuda => Ok(Place::Gpu(open()?)),
        Device::Auto if run.algorithm.cpu.is_none() => Ok(Place::Gpu(open()?)),
        Device::Auto if run.algorithm.gpu.is_none() || cpu_option(run).is_some() => Ok(Place::Cpu),
        Device::Auto if !farpoint_cuda::fps::pays(points, most(points, amount)) => Ok(Place::Cpu),
        Device::Auto => Ok(open().map_or(Place::Cpu, Place::GpuIfItWorks)),
    }
}

/// Samples at most.
fn most(points: usize, amount: Amount) -> usize {
    match amount {
        Amount::Count(count) => count,
        Amount::Ratio(ratio) => (ratio * points as f64).ceil() as usize,
        Amount::Spacing(_) | Amount::All => points,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_either_device_are_known() {
        for name in ["auto", "peak", "radius", "naive"] {
            let method: Method = name.parse().unwrap();
            assert!(method.cpu.is_some() && method.gpu.is_some(), "{name}");
            assert_eq!(method.to_string(), name);
        }
        assert!("tree".parse::<Method>().unwrap().gpu.is_none());
        assert!("reference".parse::<Method>().unwrap().gpu.is_none());
        let persistent: Method = "persistent".parse().unwrap();
        assert_eq!((persistent.cpu, persistent.name()), (None, "persistent"));
        let npdu: Method = "npdu".parse().unwrap();
        assert!(npdu.approximate().is_some() && npdu.cpu.is_none() && npdu.gpu.is_none());
        let error = "fast".parse::<Method>().unwrap_err();
        assert!(error.contains("tree") && error.contains("persistent"), "{error}");
    }
}
