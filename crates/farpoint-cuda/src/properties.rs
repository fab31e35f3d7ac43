//! Properties of this machine's GPUs.

use crate::Error;
use crate::driver::{self, check, sys};
use std::ffi::{CStr, c_int};
use std::fmt;

/// Properties of a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// The card's name.
    pub name: String,
    /// Compute capability: 90 stands for 9.0.
    pub capability: u32,
    /// Number of streaming multiprocessors.
    pub multiprocessors: u32,
    /// Maximum clock rate of the multiprocessors, in Hz.
    pub clock: u64,
    /// Bytes of memory.
    pub memory: usize,
    /// Maximum bytes of shared memory per block.
    pub shared_per_block: u32,
    /// Bytes of the level 2 cache.
    pub cache: u32,
    /// Set if all blocks of a launch can wait for each other.
    pub cooperative: bool,
    /// Set if memory can be allocated in stream order, without which nothing runs.
    pub pools: bool,
    /// Set if blocks can form clusters with distributed shared memory (from 9.0 on).
    pub clusters: bool,
}

impl Properties {
    /// Returns the properties of all GPUs of this machine, in order of their ordinals. Opens none of them.
    ///
    /// # Errors
    /// If CUDA can't be used, or there is no device.
    pub fn all() -> Result<Vec<Self>, Error> {
        (0..driver::device_count()?).map(|ordinal| query(handle(ordinal)?)).collect()
    }
}

impl Properties {
    /// Returns the same card, as if it were of at most this compute capability.
    pub(crate) fn at_most(self, max_capability: u32) -> Self {
        // Shared memory per block, by the programming guide's table of compute capabilities.
        let shared = match max_capability {
            ..80 => 64 << 10,
            80..90 => 163 << 10,
            _ => u32::MAX,
        };
        Self {
            capability: self.capability.min(max_capability),
            shared_per_block: self.shared_per_block.min(shared),
            clusters: self.clusters && max_capability >= 90,
            ..self
        }
    }
}

impl fmt::Display for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, capability, .. } = self;
        let memory = self.memory as f64 / (1u64 << 30) as f64;
        let (major, minor) = (capability / 10, capability % 10);
        write!(f, "{name} (compute capability {major}.{minor}, {memory:.0} GiB)")
    }
}

/// Returns the driver's handle of a device.
pub(crate) fn handle(ordinal: usize) -> Result<sys::CUdevice, Error> {
    let mut handle = 0;
    // SAFETY: writes the handle.
    check("cuDeviceGet", unsafe { sys::cuDeviceGet(&mut handle, ordinal as c_int) })?;
    Ok(handle)
}

/// Returns an attribute of a device by its number in cuda.h.
pub(crate) fn attribute(ordinal: usize, number: u32) -> Result<c_int, Error> {
    let mut value = 0;
    // SAFETY: writes one number; the driver refuses attributes that it does not know.
    let code = unsafe { sys::cuDeviceGetAttribute(&mut value, number, handle(ordinal)?) };
    check("cuDeviceGetAttribute", code)?;
    Ok(value)
}

/// Queries the driver for a device's properties.
pub(crate) fn query(handle: sys::CUdevice) -> Result<Properties, Error> {
    let attribute = |number: u32| {
        let mut value = 0;
        // SAFETY: writes one number.
        let code = unsafe { sys::cuDeviceGetAttribute(&mut value, number, handle) };
        check("cuDeviceGetAttribute", code).map(|()| value as u32)
    };
    let mut name = [0; 256];
    let mut memory = 0;
    // SAFETY: writes a text of at most 255 letters and a zero.
    check("cuDeviceGetName", unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), 256, handle) })?;
    // SAFETY: writes one number.
    check("cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&mut memory, handle) })?;
    // SAFETY: the text ends with a zero.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    let capability = 10 * attribute(sys::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?
        + attribute(sys::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    Ok(Properties {
        capability,
        multiprocessors: attribute(sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        // Reported in kHz.
        clock: 1000 * u64::from(attribute(sys::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?),
        memory,
        shared_per_block: attribute(sys::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        cache: attribute(sys::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        cooperative: attribute(sys::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
        pools: attribute(sys::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? != 0,
        clusters: capability >= 90,
        name,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Properties;

    #[test]
    fn a_limited_card_has_the_features_of_older_ones() {
        let h100 = card(90);
        let limited = |max_capability| {
            let Properties { capability, shared_per_block, clusters, .. } =
                h100.clone().at_most(max_capability);
            (capability, shared_per_block, clusters)
        };
        assert_eq!(limited(75), (75, 64 << 10, false));
        assert_eq!(limited(80), (80, 163 << 10, false));
        assert_eq!(limited(90), (90, 227 << 10, true));
        assert_eq!(limited(120), (90, 227 << 10, true));
        assert_eq!(card(80).at_most(90).capability, 80);
    }

    /// A card like an H100 of another compute capability.
    pub(crate) fn card(capability: u32) -> Properties {
        Properties {
            name: "a card".into(),
            capability,
            multiprocessors: 132,
            clock: 1_980_000_000,
            memory: 80 << 30,
            shared_per_block: if capability >= 90 { 227 << 10 } else { 163 << 10 },
            cache: 50 << 20,
            cooperative: true,
            pools: true,
            clusters: capability >= 90,
        }
    }
}
