//! Primary context of a GPU, which every other driver call needs.

use crate::driver::{self, check, sys};
use crate::{Error, Properties, properties};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

/// Minimum number of bytes that the device's default pool keeps for the next run; the rest is returned
/// to the driver when a stream is synchronized.
const RETAINED_BYTES: u64 = 256 << 20;

/// Makes the device's default pool keep some memory, never less than before: other libraries use the
/// same pool.
pub(crate) fn retain_memory(gpu: sys::CUdevice) -> Result<(), Error> {
    let threshold = sys::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    let mut pool = std::ptr::null_mut();
    let mut retained = 0u64;
    // SAFETY: writes the pool, which belongs to the device.
    let code = unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, gpu) };
    check("cuDeviceGetDefaultMemPool", code)?;
    // SAFETY: this attribute is one 64-bit number.
    let code = unsafe { sys::cuMemPoolGetAttribute(pool, threshold, (&raw mut retained).cast()) };
    check("cuMemPoolGetAttribute", code)?;
    retained = retained.max(RETAINED_BYTES);
    // SAFETY: reads one 64-bit number, which this attribute is.
    let code = unsafe { sys::cuMemPoolSetAttribute(pool, threshold, (&raw mut retained).cast()) };
    check("cuMemPoolSetAttribute", code)
}

/// A retained primary context, and its card's properties.
pub(crate) struct Context {
    handle: sys::CUdevice,
    context: sys::CUcontext,
    pub(crate) properties: Properties,
    /// Set once the context is found damaged.
    lost: AtomicBool,
}

// SAFETY: the handles are names that the driver accepts from every thread.
unsafe impl Send for Context {}
// SAFETY: the driver accepts the handles from several threads at a time; what changes is atomic.
unsafe impl Sync for Context {}

impl Context {
    /// Retains the context of the GPU with this ordinal, used as one of at most this compute capability.
    pub(crate) fn new(ordinal: usize, max_capability: Option<u32>) -> Result<Self, Error> {
        let handle = properties::handle(ordinal)?;
        let mut properties = properties::query(handle)?;
        if let Some(max_capability) = max_capability {
            properties = properties.at_most(max_capability);
        }
        if !properties.pools {
            let name = properties.name;
            return Err(Error::Unsupported(format!("{name}: its driver has no memory pools")));
        }
        retain_memory(handle)?;
        let mut context = std::ptr::null_mut();
        // SAFETY: writes the context, which `drop` releases.
        let code = unsafe { sys::cuDevicePrimaryCtxRetain(&mut context, handle) };
        check("cuDevicePrimaryCtxRetain", code)?;
        Ok(Self { handle, context, properties, lost: AtomicBool::new(false) })
    }

    /// Makes the context current on this thread until the guard is dropped.
    pub(crate) fn bind(&self) -> Result<Current<'_>, Error> {
        // SAFETY: the context is retained as long as `self` lives.
        let code = unsafe { sys::cuCtxPushCurrent_v2(self.context) };
        self.check("cuCtxPushCurrent", code)?;
        Ok(Current(PhantomData))
    }

    /// Converts a status code into an error, and records whether the context is damaged.
    pub(crate) fn check(&self, call: &'static str, code: sys::CUresult) -> Result<(), Error> {
        if !driver::is_fatal(code) {
            return check(call, code);
        }
        Err(self.lose(call, code))
    }

    /// Records that the context is damaged.
    pub(crate) fn lose(&self, during: &str, code: sys::CUresult) -> Error {
        self.lost.store(true, Ordering::Relaxed);
        Error::Lost {
            device: self.properties.name.clone(),
            during: during.to_owned(),
            reason: driver::reason(code),
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Only a lost context gets here. Its modules end with it.
        // SAFETY: retained by `new`.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.handle) };
    }
}

/// Keeps a context current on this thread.
pub(crate) struct Current<'a>(PhantomData<(&'a Context, *const ())>);

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut context = std::ptr::null_mut();
        // SAFETY: pops the context that `bind` pushed.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&mut context) };
    }
}

/// Permits on this thread calls that a capture in another would forbid: allocating host memory and
/// loading a kernel do not touch any stream.
pub struct Relaxed(u32);

impl Relaxed {
    /// Allows calls that a capture of another stream would forbid.
    pub fn new() -> Result<Self, Error> {
        let mut mode = sys::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: exchanges one number.
        let code = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) };
        check("cuThreadExchangeStreamCaptureMode", code)?;
        Ok(Self(mode))
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: exchanges one number; restores the mode.
        let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut self.0) };
    }
}
