//! Points in time on a stream.

use crate::driver::{self, sys};
use crate::{Error, Gpu, Stream};

/// A point in time on a stream, for measuring how long work takes on the device.
pub struct Event {
    gpu: Gpu,
    raw: sys::CUevent,
}

// SAFETY: the handle is a name that the driver accepts from every thread.
unsafe impl Send for Event {}

impl Event {
    /// Creates an event that has not been recorded yet.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let _current = gpu.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes the event, which `drop` destroys.
        gpu.check("cuEventCreate", unsafe { sys::cuEventCreate(&mut raw, 0) })?;
        Ok(Self { gpu: gpu.clone(), raw })
    }

    /// Records the event on a stream: it happens when all work queued before is done.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn record(&self, stream: &Stream) -> Result<(), Error> {
        let _current = self.gpu.bind()?;
        // SAFETY: both live.
        let code = unsafe { sys::cuEventRecord(self.raw, stream.handle()) };
        self.gpu.check("cuEventRecord", code)
    }

    /// Waits until the event has happened.
    ///
    /// # Errors
    /// If the work before it failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        let _current = self.gpu.bind()?;
        // SAFETY: the event lives.
        self.gpu.check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.raw) })
    }

    /// Returns the seconds from another event to this one, on the device's clock.
    ///
    /// # Errors
    /// If one of them has not happened yet.
    pub fn seconds_since(&self, other: &Self) -> Result<f64, Error> {
        type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;
        let _current = self.gpu.bind()?;
        // By name: the bindings name a successor that drivers before 12.8 do not have.
        // SAFETY: this is the function's type.
        let elapsed = unsafe { driver::symbol::<Elapsed>("cuEventElapsedTime") };
        let elapsed = elapsed.map_err(Error::Unsupported)?;
        let mut milliseconds = 0.0;
        // SAFETY: both events live; writes one number.
        let code = unsafe { elapsed(&mut milliseconds, other.raw, self.raw) };
        self.gpu.check("cuEventElapsedTime", code)?;
        Ok(f64::from(milliseconds) / 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(_current) = self.gpu.bind() {
            // SAFETY: created by `new`.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}
