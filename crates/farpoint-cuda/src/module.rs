//! Loading kernels on a GPU: machine code if the archive has it for the card, otherwise PTX, which
//! the driver compiles.

use crate::Error;
use crate::archive::{self, Code, Kind};
use crate::context::{Context, Relaxed};
use crate::driver::{self, sys};
use crate::once::OncePerKey;
use std::ffi::{CString, c_uint, c_void};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use sys::CUresult;

/// Kernels of one device, loaded on first use and kept from then on.
pub(crate) struct Modules {
    capability: u32,
    /// Set if machine code may be used.
    machine_code: bool,
    /// By module and precision.
    modules: OncePerKey<(&'static str, &'static str), Module>,
    /// By module, name and precision.
    functions: OncePerKey<(&'static str, &'static str, &'static str), Function>,
    counters: LoadCounters,
}

#[derive(Debug, Clone, Copy)]
struct Module(sys::CUmodule);

/// A kernel on a device. Valid as long as the device.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    pub(crate) raw: sys::CUfunction,
    pub(crate) name: &'static str,
}

/// Cost of loading kernels on a GPU so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// Modules loaded as machine code.
    pub machine_code: usize,
    /// Modules that the driver compiled from PTX.
    pub ptx: usize,
    /// Time to unpack the modules.
    pub unpacking: Duration,
    /// Time in the driver, compilation included.
    pub loading: Duration,
}

/// Counters of [`Loaded`], updated from any thread; times in nanoseconds.
#[derive(Default)]
struct LoadCounters {
    machine_code: AtomicUsize,
    ptx: AtomicUsize,
    unpacking: AtomicU64,
    loading: AtomicU64,
}

/// Error of the driver when it loads a module.
struct LoadError {
    code: CUresult,
    /// Log of the driver's compiler.
    log: String,
}

impl Modules {
    /// Creates the kernels of a card of this compute capability. Without `machine_code` the driver
    /// compiles the newest PTX of at most that capability.
    pub(crate) fn new(capability: u32, machine_code: bool) -> Self {
        Self {
            capability,
            machine_code,
            modules: OncePerKey::default(),
            functions: OncePerKey::default(),
            counters: LoadCounters::default(),
        }
    }

    /// Returns the kernel `{name}_{precision}` of a module.
    pub(crate) fn function(
        &self,
        context: &Context,
        module: &'static str,
        name: &'static str,
        precision: &'static str,
    ) -> Result<Function, Error> {
        self.functions.get((module, name, precision), || {
            let _relaxed = Relaxed::new()?;
            let _current = context.bind()?;
            let loaded = self.module(context, module, precision)?;
            let symbol = CString::new(format!("{name}_{precision}")).expect("no zero in a name");
            let mut raw = std::ptr::null_mut();
            // SAFETY: the module is loaded in the context that is current; the name ends with a
            // zero; the driver writes one handle.
            let found = self.counters.loading(|| unsafe {
                sys::cuModuleGetFunction(&mut raw, loaded.0, symbol.as_ptr())
            });
            let code = match found {
                CUresult::CUDA_SUCCESS => self.counters.loading(|| load_function(raw)),
                error => error,
            };
            if code != CUresult::CUDA_SUCCESS {
                let name = symbol.to_string_lossy().into_owned();
                return Err(Error::Kernel { name, reason: driver::reason(code) });
            }
            Ok(Function { raw, name })
        })
    }

    /// Loads every function of every module that the card runs.
    pub(crate) fn load_all(&self, context: &Context) -> Result<(), Error> {
        for (module, precision) in archive::modules(self.capability) {
            let _relaxed = Relaxed::new()?;
            let _current = context.bind()?;
            let loaded = self.module(context, module, precision)?;
            let code = self.counters.loading(|| load_functions(loaded));
            if code != CUresult::CUDA_SUCCESS {
                let name = format!("{module}.{precision}");
                return Err(Error::Kernel { name, reason: driver::reason(code) });
            }
        }
        Ok(())
    }

    /// Returns the cost of loading so far.
    pub(crate) fn loaded(&self) -> Loaded {
        let time =
            |nanoseconds: &AtomicU64| Duration::from_nanos(nanoseconds.load(Ordering::Relaxed));
        Loaded {
            machine_code: self.counters.machine_code.load(Ordering::Relaxed),
            ptx: self.counters.ptx.load(Ordering::Relaxed),
            unpacking: time(&self.counters.unpacking),
            loading: time(&self.counters.loading),
        }
    }

    /// Returns a module; the device's context must be current.
    fn module(
        &self,
        context: &Context,
        module: &'static str,
        precision: &'static str,
    ) -> Result<Module, Error> {
        self.modules.get((module, precision), || {
            let codes = archive::codes_of(module);
            if self.machine_code
                && let Some(cubin) = archive::cubin(&codes, module, precision, self.capability)
            {
                match self.load(&cubin)? {
                    Err(error) if error.is_machine_code_only() => {}
                    done => return done.map_err(|error| error.into_error(&cubin)),
                }
            }
            let ptx = archive::ptx(&codes, module, precision, self.capability)
                .ok_or_else(|| no_code(context, module, precision))?;
            self.load(&ptx)?.map_err(|error| error.into_error(&ptx))
        })
    }

    fn load(&self, code: &Code) -> Result<Result<Module, LoadError>, Error> {
        let image = self.counters.unpacking(|| code.unpack()).map_err(|error| {
            let reason = format!("the archive of kernels is damaged: {error}");
            Error::Kernel { name: code.name(), reason }
        })?;
        let loaded = self.counters.loading(|| load(&image));
        if loaded.is_ok() {
            let modules = match code.kind {
                Kind::Cubin => &self.counters.machine_code,
                Kind::Ptx => &self.counters.ptx,
            };
            modules.fetch_add(1, Ordering::Relaxed);
        }
        Ok(loaded)
    }
}

// SAFETY: handles of modules and functions are names that the driver accepts from every thread.
unsafe impl Send for Modules {}
// SAFETY: the handles only change hands through `OncePerKey`, which locks; the rest is atomic or
// never changes.
unsafe impl Sync for Modules {}

impl LoadCounters {
    fn unpacking<T>(&self, work: impl FnOnce() -> T) -> T {
        timed(&self.unpacking, work)
    }

    fn loading<T>(&self, work: impl FnOnce() -> T) -> T {
        timed(&self.loading, work)
    }
}

fn timed<T>(total: &AtomicU64, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    total.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
    result
}

impl LoadError {
    /// Returns whether PTX may work where machine code did not: the driver is older than the card's
    /// code needs, or the card runs only code made for exactly this card.
    fn is_machine_code_only(&self) -> bool {
        matches!(
            self.code,
            CUresult::CUDA_ERROR_INVALID_IMAGE
                | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
                | CUresult::CUDA_ERROR_INVALID_PTX
                | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                | CUresult::CUDA_ERROR_INVALID_SOURCE
                | CUresult::CUDA_ERROR_NOT_SUPPORTED
        )
    }

    fn into_error(self, code: &Code) -> Error {
        let reason = format!("{} {}", driver::reason(self.code), self.log.trim());
        Error::Kernel { name: code.name(), reason: reason.trim_end().to_owned() }
    }
}

fn no_code(context: &Context, module: &str, precision: &str) -> Error {
    let properties = &context.properties;
    Error::Unsupported(format!(
        "there is no kernel '{module}' ({precision}) for {} of compute capability {}.{}",
        properties.name,
        properties.capability / 10,
        properties.capability % 10
    ))
}

/// Loads an image into the current context.
fn load(image: &[u8]) -> Result<Module, LoadError> {
    const LOG: usize = 8192;
    let mut log = vec![0u8; LOG];
    let mut options = [sys::CU_JIT_ERROR_LOG_BUFFER, sys::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), LOG as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: the image is a whole ELF file, whose header holds its size, or PTX that ends with a
    // zero; there are as many options as values, and the log has the size that one of them gives.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if code == CUresult::CUDA_SUCCESS {
        return Ok(Module(module));
    }
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(LOG);
    Err(LoadError { code, log: String::from_utf8_lossy(&log[..end]).into_owned() })
}

type Count = unsafe extern "C" fn(*mut c_uint, sys::CUmodule) -> CUresult;
type Enumerate = unsafe extern "C" fn(*mut sys::CUfunction, c_uint, sys::CUmodule) -> CUresult;
type Load = unsafe extern "C" fn(sys::CUfunction) -> CUresult;

/// Loads a function now: by itself the driver defers that until the first launch, which may be part of
/// a capture. (The bindings lack this call, and those below, if made for a toolkit before 12.4. The
/// oldest driver has them.)
fn load_function(function: sys::CUfunction) -> CUresult {
    // SAFETY: this is the function's type in cuda.h.
    match unsafe { driver::symbol::<Load>("cuFuncLoad") } {
        // SAFETY: the driver itself gave the handle, of a module in the context that is current.
        Ok(load) => unsafe { load(function) },
        Err(_) => CUresult::CUDA_SUCCESS,
    }
}

/// Loads every function of a module.
fn load_functions(module: Module) -> CUresult {
    // SAFETY: these are the functions' types in cuda.h.
    let found = unsafe {
        (
            driver::symbol::<Count>("cuModuleGetFunctionCount"),
            driver::symbol::<Enumerate>("cuModuleEnumerateFunctions"),
        )
    };
    let (Ok(count), Ok(enumerate)) = found else { return CUresult::CUDA_SUCCESS };
    let mut functions = 0;
    // SAFETY: the module is loaded; the driver writes one number.
    let code = unsafe { count(&mut functions, module.0) };
    if code != CUresult::CUDA_SUCCESS {
        return code;
    }
    let mut handles = vec![std::ptr::null_mut(); functions as usize];
    // SAFETY: there is room for this many handles.
    let code = unsafe { enumerate(handles.as_mut_ptr(), functions, module.0) };
    if code != CUresult::CUDA_SUCCESS {
        return code;
    }
    let mut codes = handles.into_iter().map(load_function);
    codes.find(|&code| code != CUresult::CUDA_SUCCESS).unwrap_or(CUresult::CUDA_SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_machine_code_falls_back_to_ptx() {
        let falls_back = |code| LoadError { code, log: String::new() }.is_machine_code_only();
        assert!(falls_back(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU));
        assert!(falls_back(CUresult::CUDA_ERROR_INVALID_IMAGE));
        assert!(falls_back(CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
        assert!(!falls_back(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
        assert!(!falls_back(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    }

    #[test]
    fn modules_are_loaded_on_first_use() {
        let modules = Modules::new(90, true);
        assert_eq!(modules.loaded(), Loaded::default());
    }
}
