//! The device of a job: the request, the devices of the machine, and what pays.

use crate::Kind;
use farpoint::{Cpu, DeviceKind, Level};
use farpoint_cuda::{Gpu, Gpus, Placement};

/// Device request of a job.
#[derive(Clone, Debug)]
pub struct DeviceOptions {
    /// The kind of device.
    pub device: Choice,
    /// The GPUs; the first unless set, and all if a cloud does not fit there.
    pub gpu: Option<Cards>,
    /// Threads of the CPU; all unless set.
    pub threads: Option<usize>,
    /// Instruction set of the CPU; the best of the machine unless set.
    pub level: Option<Level>,
    /// Receives warnings and notes, such as that a GPU was not used.
    pub report: fn(Kind, &str),
}

/// Value of `--device`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// A GPU if there is one and it pays.
    Auto,
    /// The CPU.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// Value of `--gpu`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cards {
    /// All GPUs of the machine.
    All,
    /// These GPUs; at least one, none twice.
    These(Vec<usize>),
}

impl std::str::FromStr for Cards {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let cards: Result<Vec<usize>, _> =
            text.split(',').map(|card| card.trim().parse()).collect();
        let cards =
            cards.map_err(|_| "use a number (the first GPU is 0), several as 0,1, or 'all'")?;
        match cards.iter().enumerate().find(|(k, card)| cards[..*k].contains(card)) {
            Some((_, card)) => Err(format!("GPU {card} is named twice")),
            None => Ok(Self::These(cards)),
        }
    }
}

impl DeviceOptions {
    /// Requests all threads of the CPU.
    pub fn cpu() -> Self {
        Self { device: Choice::Cpu, gpu: None, threads: None, level: None, report: |_, _| () }
    }

    /// Returns the requested CPU.
    pub fn as_cpu(&self) -> Cpu {
        let cpu = self.threads.map_or(Cpu::new(), |threads| Cpu::new().threads(threads));
        self.level.map_or(cpu, |level| cpu.level(level))
    }

    /// Returns the number of threads for work that chooses no instruction set.
    pub fn thread_count(&self) -> usize {
        self.threads.unwrap_or_else(rayon::current_num_threads)
    }

    /// Returns an option that only the CPU has, if it was given.
    pub fn cpu_option(&self) -> Option<&'static str> {
        let options = [(self.threads.is_some(), "`threads`"), (self.level.is_some(), "`simd`")];
        options.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name)
    }

    /// Chooses the device of a job: `supports` is whether a kind of device can do it, `pays` whether [`Choice::Auto`]
    /// tries a GPU.
    ///
    /// # Errors
    /// If a requested GPU can't be opened.
    pub fn choose(
        &self,
        supports: &dyn Fn(DeviceKind) -> Result<(), farpoint::Error>,
        pays: impl FnOnce() -> bool,
    ) -> Result<Place, farpoint_cuda::Error> {
        let runs_on = |kind| supports(kind).is_ok();
        let place = match self.device {
            Choice::Cpu => Device::Cpu(self.as_cpu()),
            Choice::Cuda => Device::Gpu(self.open()?),
            Choice::Auto if !runs_on(DeviceKind::Cpu) => Device::Gpu(self.open()?),
            Choice::Auto if runs_on(DeviceKind::Gpu) && self.cpu_option().is_none() && pays() => {
                let cpu = self.as_cpu();
                self.open().map_or(Device::Cpu(cpu), |gpus| Device::Either(gpus, cpu))
            }
            Choice::Auto => Device::Cpu(self.as_cpu()),
        };
        Ok(Place { device: place, explicit: self.gpu.is_some(), report: self.report })
    }

    /// Checks that there are GPUs of these numbers; opens none.
    ///
    /// # Errors
    /// The reason, if there are none.
    pub fn present(&self) -> Result<(), farpoint_cuda::Error> {
        let count = farpoint_cuda::device_count()?;
        let first = &[0][..];
        let requested = match &self.gpu {
            Some(Cards::These(cards)) => cards,
            Some(Cards::All) | None => first,
        };
        match requested.iter().find(|&&ordinal| ordinal >= count) {
            None => Ok(()),
            Some(&ordinal) => Err(farpoint_cuda::Error::NoSuchDevice { ordinal, count }),
        }
    }

    fn open(&self) -> Result<Gpus, farpoint_cuda::Error> {
        match &self.gpu {
            None => Gpus::new(vec![Gpu::new(0)?]),
            Some(Cards::All) => Gpus::all(),
            Some(Cards::These(cards)) => {
                Gpus::new(cards.iter().map(|&card| Gpu::new(card)).collect::<Result<_, _>>()?)
            }
        }
    }
}

/// A chosen device.
#[derive(Debug)]
pub struct Place {
    device: Device,
    /// True if GPUs were named.
    explicit: bool,
    report: fn(Kind, &str),
}

#[derive(Debug)]
enum Device {
    Cpu(Cpu),
    Gpu(Gpus),
    /// The GPU was not requested: the CPU steps in if it fails.
    Either(Gpus, Cpu),
}

impl Place {
    /// Runs on the device, on the first of several GPUs. If a GPU fails that was not requested, runs on the CPU;
    /// errors in the job are the same on both and come from the CPU then.
    ///
    /// # Errors
    /// The errors of the run, as text.
    pub fn run<R>(
        &self,
        on_cpu: impl FnOnce(&Cpu) -> Result<R, farpoint::Error>,
        on_gpu: impl FnOnce(&Gpu) -> Result<R, farpoint_cuda::Error>,
    ) -> Result<R, String> {
        self.run_with(on_cpu, |gpus| on_gpu(&gpus.as_slice()[0]))
    }

    /// Returns the same place, or all GPUs of this machine if none was named and the first has no room for a cloud.
    /// `placement` is the memory of the cloud there; a note names the part in host memory.
    pub(crate) fn with_room(
        mut self,
        placement: impl Fn(&Gpus) -> Result<Option<Placement>, farpoint_cuda::Error>,
    ) -> Self {
        let (Device::Gpu(gpus) | Device::Either(gpus, _)) = &mut self.device else { return self };
        let host = |gpus: &Gpus| placement(gpus).ok().flatten().filter(|placed| placed.host > 0);
        let mut placed = host(gpus);
        if let (Some(_), false, Ok(all)) = (placed, self.explicit, Gpus::all())
            && all.as_slice().len() > 1
        {
            placed = host(&all);
            *gpus = all;
        }
        if let Some(Placement { bytes, host, .. }) = placed {
            let [bytes, host] = [bytes, host].map(|bytes| bytes as f64 / f64::from(1 << 30));
            let note = format!(
                "{host:.1} GiB of {bytes:.1} lie in host memory, as the GPU has no room for them"
            );
            (self.report)(Kind::Note, &note);
        }
        self
    }

    /// Like [`Place::run`], on all of the GPUs; with none named, all of this machine if a cloud does not fit the first.
    pub(crate) fn run_on_all<R>(
        &self,
        on_cpu: impl FnOnce(&Cpu) -> Result<R, farpoint::Error>,
        on_gpus: impl Fn(&Gpus) -> Result<R, farpoint_cuda::Error>,
    ) -> Result<R, String> {
        self.run_with(on_cpu, |gpus| match on_gpus(gpus) {
            Err(error @ farpoint_cuda::Error::OutOfMemory { .. }) if !self.explicit => {
                match farpoint_cuda::device_count() {
                    Ok(2..) => {
                        (self.report)(Kind::Note, &format!("{error}; continuing with all GPUs"));
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
        on_gpu: impl FnOnce(&Gpus) -> Result<R, farpoint_cuda::Error>,
    ) -> Result<R, String> {
        let on_cpu = |cpu| on_cpu(cpu).map_err(|error| error.to_string());
        match &self.device {
            Device::Cpu(cpu) => on_cpu(cpu),
            Device::Gpu(gpus) => on_gpu(gpus).map_err(|error| error.to_string()),
            Device::Either(gpus, cpu) => on_gpu(gpus).or_else(|error| {
                if !matches!(error, farpoint_cuda::Error::Sampling(_)) {
                    (self.report)(Kind::Warning, &format!("{error}; continuing on the CPU"));
                }
                on_cpu(cpu)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cards;

    #[test]
    fn gpus_are_named_one_by_one_or_all() {
        assert_eq!("0".parse(), Ok(Cards::These(vec![0])));
        assert_eq!("2, 0".parse(), Ok(Cards::These(vec![2, 0])));
        assert_eq!("all".parse(), Ok(Cards::All));
        for wrong in ["", "one", "0,", "-1", "0,0"] {
            assert!(wrong.parse::<Cards>().is_err(), "{wrong}");
        }
    }
}
