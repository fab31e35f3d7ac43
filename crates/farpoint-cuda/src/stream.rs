//! Streams: queues of work on a device, our own or the caller's.

use crate::driver::sys;
use crate::{Device, Error};
use std::sync::Arc;

/// A queue of work on a device. Cheap to clone; an own one ends with its last clone.
#[derive(Clone)]
pub struct Stream(Arc<Inner>);

struct Inner {
    device: Device,
    raw: sys::CUstream,
    own: bool,
}

// SAFETY: the handle is a name that the driver accepts from every thread.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Stream {
    /// A new stream, which does not wait for the legacy default stream.
    pub fn new(device: &Device) -> Result<Self, Error> {
        let _current = device.bind()?;
        let mut raw = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: writes the stream, which `drop` destroys.
        device.check("cuStreamCreate", unsafe { sys::cuStreamCreate(&mut raw, flags) })?;
        Ok(Self(Arc::new(Inner { device: device.clone(), raw, own: true })))
    }

    /// Somebody else's stream: a `CUstream` or `cudaStream_t` as a number, such as PyTorch's
    /// `torch.cuda.current_stream().cuda_stream`. 0 is the legacy default stream.
    ///
    /// # Safety
    /// It must be a stream of the device's primary context, and stay one until the last clone
    /// and the last buffer on it are gone.
    pub unsafe fn borrowed(device: &Device, raw: u64) -> Self {
        let raw = raw as usize as sys::CUstream;
        Self(Arc::new(Inner { device: device.clone(), raw, own: false }))
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The driver's `CUstream`, as a number.
    pub fn raw(&self) -> u64 {
        self.0.raw as usize as u64
    }

    /// Waits until all work on this stream is done.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.wait("cuStreamSynchronize")
    }

    /// Waits; what fails is said to have failed in `what`.
    pub(crate) fn wait(&self, what: &str) -> Result<(), Error> {
        let _current = self.0.device.bind()?;
        // SAFETY: the stream lives.
        match unsafe { sys::cuStreamSynchronize(self.0.raw) } {
            sys::CUresult::CUDA_SUCCESS => Ok(()),
            code if crate::driver::is_fatal(code) => Err(self.0.device.lose(what, code)),
            code => {
                Err(Error::Kernel { name: what.to_owned(), reason: crate::driver::reason(code) })
            }
        }
    }

    /// Refuses a stream of another device.
    pub(crate) fn check_of(&self, device: &Device) -> Result<(), Error> {
        if self.device() == device {
            return Ok(());
        }
        Err(Error::Unsupported(format!("the stream is not of {device:?}")))
    }

    pub(crate) fn handle(&self) -> sys::CUstream {
        self.0.raw
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let (true, Ok(_current)) = (self.own, self.device.bind()) {
            // SAFETY: created by `new`. What is still queued is done first.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}
