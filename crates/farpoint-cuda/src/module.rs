//! The kernels' PTX, compiled into the program, and loading it on a device.

use crate::driver::{self, sys};
use crate::{Device, Error};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Mutex, PoisonError};
use sys::CUjit_option as Option_;

/// One PTX file.
struct Ptx {
    module: &'static str,
    precision: &'static str,
    /// The oldest compute capability it runs on, 90 for 9.0.
    capability: u32,
    text: &'static str,
}

/// The table of all PTX files, from the modules' names.
macro_rules! table {
    ($($module:literal)*) => { &[$(
        table!(@ $module "f32" 75), table!(@ $module "f64" 75),
        table!(@ $module "f32" 80), table!(@ $module "f64" 80),
        table!(@ $module "f32" 90), table!(@ $module "f64" 90),
    )*] };
    (@ $module:literal $precision:literal $capability:literal) => {
        Ptx {
            module: $module,
            precision: $precision,
            capability: $capability,
            text: include_str!(concat!(
                "../ptx/", $module, ".", $precision, ".compute_", $capability, ".ptx"
            )),
        }
    };
}

/// `cargo xtask kernels` writes these files from `kernels/*.cu`.
static PTX: &[Ptx] = table!(
    "chamfer_backward" "chamfer_backward_small" "check" "naive" "nearest_brute" "nearest_plain" "nearest_tree" "peak"
    "persistent" "radius" "roots"
);

/// The modules of one device: compiled by the driver on first use, kept from then on.
pub(crate) struct Modules {
    capability: u32,
    /// Whether machine code may be loaded, and not only PTX.
    #[expect(dead_code, reason = "there is only PTX yet")]
    machine_code: bool,
    loaded: Mutex<HashMap<(&'static str, &'static str), Loaded>>,
}

struct Loaded {
    module: sys::CUmodule,
    functions: HashMap<&'static str, Function>,
}

/// A kernel on a device. Valid as long as the device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Function {
    pub(crate) raw: sys::CUfunction,
    pub(crate) name: &'static str,
}

impl Modules {
    pub(crate) fn new(capability: u32, machine_code: bool) -> Self {
        Self { capability, machine_code, loaded: Mutex::new(HashMap::new()) }
    }

    /// The kernel `{name}_{precision}` of a module.
    pub(crate) fn function(
        &self,
        device: &Device,
        module: &'static str,
        name: &'static str,
        precision: &'static str,
    ) -> Result<Function, Error> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = match loaded.entry((module, precision)) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let ptx = choose(PTX, module, precision, self.capability)
                    .ok_or_else(|| no_ptx(device, module, precision))?;
                let _relaxed = Relaxed::new(device)?;
                entry.insert(Loaded { module: load(device, ptx)?, functions: HashMap::new() })
            }
        };
        if let Some(function) = entry.functions.get(name) {
            return Ok(*function);
        }
        let _relaxed = Relaxed::new(device)?;
        let _current = device.bind()?;
        let symbol = CString::new(format!("{name}_{precision}")).expect("no zero in a name");
        let mut raw = std::ptr::null_mut();
        // SAFETY: the module is loaded in this context.
        let code = unsafe { sys::cuModuleGetFunction(&mut raw, entry.module, symbol.as_ptr()) };
        if code != sys::CUresult::CUDA_SUCCESS {
            let name = symbol.to_string_lossy().into_owned();
            return Err(Error::Kernel { name, reason: driver::reason(code) });
        }
        let function = Function { raw, name };
        entry.functions.insert(name, function);
        Ok(function)
    }
}

// SAFETY: module handles may be used from every thread; the table is behind a mutex.
unsafe impl Send for Modules {}
// SAFETY: all that changes is behind the mutex.
unsafe impl Sync for Modules {}

fn no_ptx(device: &Device, module: &str, precision: &str) -> Error {
    let properties = device.properties();
    Error::Unsupported(format!(
        "there is no kernel '{module}' ({precision}) for {} of compute capability {}.{}",
        properties.name,
        properties.capability / 10,
        properties.capability % 10
    ))
}

/// The newest PTX that runs on the device.
fn choose<'a>(table: &'a [Ptx], module: &str, precision: &str, capability: u32) -> Option<&'a Ptx> {
    let fits = |ptx: &&Ptx| {
        ptx.module == module && ptx.precision == precision && ptx.capability <= capability
    };
    table.iter().filter(fits).max_by_key(|ptx| ptx.capability)
}

/// Has the driver compile PTX for its device; its log is the reason if it can't.
fn load(device: &Device, ptx: &Ptx) -> Result<sys::CUmodule, Error> {
    const LOG: usize = 8192;
    let _current = device.bind()?;
    let text = CString::new(ptx.text).expect("PTX holds no zero");
    let mut log = vec![0u8; LOG];
    let mut options =
        [Option_::CU_JIT_ERROR_LOG_BUFFER, Option_::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), LOG as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: the text ends with a zero, and the log has the size told.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if code == sys::CUresult::CUDA_SUCCESS {
        return Ok(module);
    }
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(LOG);
    let said = String::from_utf8_lossy(&log[..end]);
    let name = format!("{}.{}.compute_{}", ptx.module, ptx.precision, ptx.capability);
    let reason = format!("{} {}", driver::reason(code), said.trim());
    Err(Error::Kernel { name, reason: reason.trim_end().to_owned() })
}

/// Allows this thread what a capture in another would forbid: loading a kernel does not touch
/// any stream.
struct Relaxed<'a>(&'a Device, sys::CUstreamCaptureMode);

impl<'a> Relaxed<'a> {
    fn new(device: &'a Device) -> Result<Self, Error> {
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: exchanges one number.
        let code = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) };
        device.check("cuThreadExchangeStreamCaptureMode", code)?;
        Ok(Self(device, mode))
    }
}

impl Drop for Relaxed<'_> {
    fn drop(&mut self) {
        // SAFETY: as in `new`; puts back what was.
        let code = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut self.1) };
        let _ = self.0.check("cuThreadExchangeStreamCaptureMode", code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_that_runs_is_chosen() {
        let ptx = |capability, precision| Ptx { module: "a", precision, capability, text: "" };
        let table = [ptx(75, "f32"), ptx(90, "f32"), ptx(80, "f32"), ptx(75, "f64")];
        let of = |capability, precision| {
            choose(&table, "a", precision, capability).map(|ptx| ptx.capability)
        };
        assert_eq!(of(70, "f32"), None);
        assert_eq!(of(75, "f32"), Some(75));
        assert_eq!(of(86, "f32"), Some(80));
        assert_eq!(of(89, "f32"), Some(80));
        assert_eq!(of(90, "f32"), Some(90));
        assert_eq!(of(120, "f32"), Some(90));
        assert_eq!(of(120, "f64"), Some(75));
        assert!(choose(&table, "b", "f32", 90).is_none());
    }

    #[test]
    fn every_kernel_is_there_for_every_card_from_turing_on() {
        for ptx in PTX {
            assert!(ptx.text.contains(&format!(".target sm_{}", ptx.capability)));
            assert!(ptx.text.contains(".version 8.4"), "needs a newer driver than we say");
            // Nothing may be fused: the bits would differ from the CPU's. The scores by which
            // `brute` filters are no distances, and of f32 in both precisions.
            let scored = ptx.module == "nearest_brute";
            let fused = if scored { "fma.rn.f64" } else { "fma.rn.f" };
            assert!(!ptx.text.contains(fused), "{} has a fused operation", ptx.module);
        }
    }
}
