//! Which devices the options allow.

use crate::args::{Device, Where};
use anyhow::{Result, anyhow, bail, ensure};
use farpoint::DeviceKind;

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
            if let Some(option) = place.place().cpu_option() {
                bail!("{option} is for the CPU; leave it out, or use --device cpu");
            }
            place.place().present().map_err(|error| {
                anyhow!("--device cuda: {error}; use --device cpu or leave it out")
            })
        }
        Device::Auto if has(DeviceKind::Cpu).is_err() => {
            // Where neither device can do it, the CPU's reason is the one to read.
            if has(DeviceKind::Gpu).is_err() {
                return on(DeviceKind::Cpu);
            }
            if let Some(option) = place.place().cpu_option() {
                bail!("{option} is for the CPU, and {what} for GPUs");
            }
            place.place().present().map_err(|error| anyhow!("{what} is for GPUs: {error}"))
        }
        Device::Auto if place.gpu.is_some() => {
            place.place().present().map_err(|error| anyhow!("--gpu: {error}"))
        }
        Device::Auto => Ok(()),
    }
}
