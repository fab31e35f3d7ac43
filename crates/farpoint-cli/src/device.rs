//! Where a run takes place: what the options allow, what the machine has, what pays.

use crate::args::{Cards, Device, Where};
use crate::messages;
use anyhow::{Result, anyhow, bail, ensure};
use farpoint::{Cpu, DeviceKind};
use farpoint_cuda::{Gpu, Gpus, Placement};

/// A chosen device.
pub(crate) enum Place {
    Cpu(Cpu),
    Gpu(Card),
    /// The GPU was not requested: the CPU steps in if it fails.
    Either(Card, Cpu),
}

/// A GPU, or several.
pub(crate) struct Card {
    gpus: Gpus,
    /// Whether these were requested.
    named: bool,
}

impl Place {
    /// Runs there, on the first of several GPUs. Where a GPU fails that was not requested, runs on the CPU; errors in the job are
    /// the same on both and come from the CPU then.
    pub(crate) fn run<R>(
        &self,
        on_cpu: impl FnOnce(&Cpu) -> Result<R, farpoint::Error>,
        on_gpu: impl FnOnce(&Gpu) -> Result<R, farpoint_cuda::Error>,
    ) -> Result<R> {
        self.run_with(on_cpu, |card| on_gpu(&card.gpus.as_slice()[0]))
    }

    /// The same place, or all GPUs of this machine where none was named and the first has no room for a cloud. `placement`
    /// is what the cloud takes there: what lies in host memory is said.
    pub(crate) fn with_room(
        mut self,
        placement: impl Fn(&Gpus) -> Result<Option<Placement>, farpoint_cuda::Error>,
    ) -> Self {
        let (Self::Gpu(card) | Self::Either(card, _)) = &mut self else { return self };
        let host = |gpus| placement(gpus).ok().flatten().filter(|placed| placed.host > 0);
        let mut placed = host(&card.gpus);
        if let (Some(_), false, Ok(all)) = (placed, card.named, Gpus::all())
            && all.as_slice().len() > 1
        {
            placed = host(&all);
            card.gpus = all;
        }
        if let Some(Placement { bytes, host, .. }) = placed {
            let [bytes, host] = [bytes, host].map(|bytes| bytes as f64 / f64::from(1 << 30));
            messages::note(&format!(
                "{host:.1} GiB of {bytes:.1} lie in host memory, as the GPU has no room for them"
            ));
        }
        self
    }

    /// The same, on all of these GPUs. Without any named, on all of this machine if a cloud does not fit the first.
    pub(crate) fn run_on_all<R>(
        &self,
        on_cpu: impl FnOnce(&Cpu) -> Result<R, farpoint::Error>,
        on_gpus: impl Fn(&Gpus) -> Result<R, farpoint_cuda::Error>,
    ) -> Result<R> {
        self.run_with(on_cpu, |card| match on_gpus(&card.gpus) {
            Err(error @ farpoint_cuda::Error::OutOfMemory { .. }) if !card.named => {
                match farpoint_cuda::device_count() {
                    Ok(2..) => {
                        messages::note(&format!("{error}; going on with all GPUs"));
                        on_gpus(&Gpus::all()?)
                    }
                    _ => Err(error),
                }
            }
            done => done,
        })
    }

    fn run_with<R>(
        &self,
        on_cpu: impl FnOnce(&Cpu) -> Result<R, farpoint::Error>,
        on_gpu: impl FnOnce(&Card) -> Result<R, farpoint_cuda::Error>,
    ) -> Result<R> {
        match self {
            Self::Cpu(cpu) => Ok(on_cpu(cpu)?),
            Self::Gpu(gpu) => Ok(on_gpu(gpu)?),
            Self::Either(gpu, cpu) => on_gpu(gpu).or_else(|error| {
                if !matches!(error, farpoint_cuda::Error::Sampling(_)) {
                    messages::warn(&format!("{error}; going on without the GPU"));
                }
                Ok(on_cpu(cpu)?)
            }),
        }
    }
}

/// Whether a kind of device has what a job needs; the library knows.
pub(crate) type Has<'a> = &'a dyn Fn(DeviceKind) -> Result<(), farpoint::Error>;

/// Refuses a device that is not there, or cannot do the job, before any work. `what` names the job
/// in messages: `--algorithm tree`.
pub(crate) fn check(place: &Where, what: &str, has: Has<'_>) -> Result<()> {
    let on = |kind| has(kind).map_err(|error| anyhow!("{what}: {error}"));
    match place.device {
        Device::Cpu => {
            ensure!(place.gpu.is_none(), "--gpu is for --device cuda or auto, not cpu");
            on(DeviceKind::Cpu)
        }
        Device::Cuda => {
            on(DeviceKind::Gpu)?;
            if let Some(option) = cpu_option(place) {
                bail!("{option} is for the CPU; leave it out, or use --device cpu");
            }
            present(place).map_err(|error| {
                anyhow!("--device cuda: {error}; use --device cpu or leave it out")
            })
        }
        Device::Auto if has(DeviceKind::Cpu).is_err() => {
            // Where neither device can do it, the CPU's reason is the one to read.
            if has(DeviceKind::Gpu).is_err() {
                return on(DeviceKind::Cpu);
            }
            if let Some(option) = cpu_option(place) {
                bail!("{option} is for the CPU, and {what} for GPUs");
            }
            present(place).map_err(|error| anyhow!("{what} is for GPUs: {error}"))
        }
        Device::Auto if place.gpu.is_some() => {
            present(place).map_err(|error| anyhow!("--gpu: {error}"))
        }
        Device::Auto => Ok(()),
    }
}

/// An option that only the CPU has.
fn cpu_option(place: &Where) -> Option<&'static str> {
    let given = [(place.threads.is_some(), "--threads"), (place.simd.is_some(), "--simd")];
    given.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
}

/// Whether there are GPUs of these numbers; opens none.
fn present(place: &Where) -> Result<(), farpoint_cuda::Error> {
    let count = farpoint_cuda::device_count()?;
    let first = &[0][..];
    let wanted = match &place.gpu {
        Some(Cards::These(cards)) => cards,
        Some(Cards::All) | None => first,
    };
    match wanted.iter().find(|&&ordinal| ordinal >= count) {
        None => Ok(()),
        Some(&ordinal) => Err(farpoint_cuda::Error::NoSuchDevice { ordinal, count }),
    }
}

fn open(place: &Where) -> Result<Card, farpoint_cuda::Error> {
    let gpus = match &place.gpu {
        None => Gpus::new(vec![Gpu::new(0)?])?,
        Some(Cards::All) => Gpus::all()?,
        Some(Cards::These(cards)) => {
            Gpus::new(cards.iter().map(|&card| Gpu::new(card)).collect::<Result<_, _>>()?)?
        }
    };
    Ok(Card { gpus, named: place.gpu.is_some() })
}

/// The CPU as the options have it.
pub(crate) fn cpu(place: &Where) -> Cpu {
    let cpu = place.threads.map_or(Cpu::new(), |threads| Cpu::new().threads(threads.into()));
    place.simd.map_or(cpu, |level| cpu.level(level))
}

/// Threads of work that chooses no instruction set.
pub(crate) fn threads(place: &Where) -> usize {
    place.threads.map_or_else(rayon::current_num_threads, usize::from)
}

/// Chooses the device of a job; `pays` says whether `auto` tries a GPU.
pub(crate) fn choose(place: &Where, has: Has<'_>, pays: impl FnOnce() -> bool) -> Result<Place> {
    let on = |kind| has(kind).is_ok();
    match place.device {
        Device::Cpu => Ok(Place::Cpu(cpu(place))),
        Device::Cuda => Ok(Place::Gpu(open(place)?)),
        Device::Auto if !on(DeviceKind::Cpu) => Ok(Place::Gpu(open(place)?)),
        Device::Auto if on(DeviceKind::Gpu) && cpu_option(place).is_none() && pays() => {
            Ok(open(place).map_or(Place::Cpu(cpu(place)), |gpu| Place::Either(gpu, cpu(place))))
        }
        Device::Auto => Ok(Place::Cpu(cpu(place))),
    }
}
