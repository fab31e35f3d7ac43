//! Device memory in stream order: allocated, used and freed like any other work on a stream, without
//! synchronizing, so that a graph can capture it.

use crate::driver::sys;
use crate::{Element, Error, Stream};
use farpoint::backend::{caught, memory as fallible};
use std::marker::PhantomData;

/// An array in device memory, freed in stream order.
pub struct Buffer<T> {
    stream: Stream,
    pointer: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// Allocates `len` uninitialized numbers. `what` is named if memory is short.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and other refusals of the driver.
    pub fn new(stream: &Stream, len: usize, what: &'static str) -> Result<Self, Error> {
        let gpu = stream.gpu();
        let _current = gpu.bind()?;
        let mut pointer = 0;
        // The driver refuses 0 bytes.
        let bytes = len.saturating_mul(size_of::<T>());
        // SAFETY: writes the pointer, which `drop` frees.
        match unsafe { sys::cuMemAllocAsync(&mut pointer, bytes.max(1), stream.handle()) } {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let (free, total) = gpu.memory()?;
                return Err(Error::OutOfMemory { what, requested: bytes, free, total, fit: None });
            }
            code => gpu.check("cuMemAllocAsync", code)?,
        }
        Ok(Self { stream: stream.clone(), pointer, len, element: PhantomData })
    }

    /// Uploads a copy of `values`, which may change as soon as this returns.
    ///
    /// # Errors
    /// Same as [`Buffer::new`] and [`Buffer::write`].
    pub fn upload(stream: &Stream, values: &[T], what: &'static str) -> Result<Self, Error> {
        let mut buffer = Self::new(stream, values.len(), what)?;
        buffer.write(0, values)?;
        Ok(buffer)
    }

    /// Overwrites the numbers from `start` on, once the work before is done. `values` may change as soon
    /// as this returns.
    ///
    /// # Errors
    /// If the copy fails, or the work before it.
    ///
    /// # Panics
    /// If `values` reaches beyond the end.
    pub fn write(&mut self, start: usize, values: &[T]) -> Result<(), Error> {
        assert!(start <= self.len && values.len() <= self.len - start, "outside the buffer");
        if values.is_empty() {
            return Ok(());
        }
        let gpu = self.stream.gpu();
        let _current = gpu.bind()?;
        let to = self.pointer + (start * size_of::<T>()) as u64;
        // SAFETY: both arrays have this many bytes, and live until the copy is done: it is waited
        // for below. (Of pageable memory the driver takes a copy, as a rule; pinned memory it reads
        // when it comes to it.)
        let code = unsafe {
            let from = values.as_ptr().cast();
            sys::cuMemcpyHtoDAsync_v2(to, from, size_of_val(values), self.stream.handle())
        };
        self.finish_copy(gpu.check("cuMemcpyHtoDAsync", code))
    }

    /// Downloads the first `len` numbers, once the work before is done.
    ///
    /// # Errors
    /// If the copy fails, or the work before it, or a kernel of the stream gave up ([`Stream::check`]).
    ///
    /// # Panics
    /// If there are fewer numbers.
    pub fn download(&self, len: usize) -> Result<Vec<T>, Error> {
        let mut values = caught(|| Ok(fallible::filled(len, T::default())))?;
        self.read(0, &mut values)?;
        self.stream.check()?;
        Ok(values)
    }

    /// Fills `values` with the numbers from `start` on, once the work before is done.
    pub fn read(&self, start: usize, values: &mut [T]) -> Result<(), Error> {
        assert!(start <= self.len && values.len() <= self.len - start, "outside the buffer");
        if values.is_empty() {
            return Ok(());
        }
        let gpu = self.stream.gpu();
        let _current = gpu.bind()?;
        let from = self.pointer + (start * size_of::<T>()) as u64;
        // SAFETY: both arrays have this many bytes, and live until the copy is done: it is waited
        // for below, while `values` is borrowed.
        let code = unsafe {
            let bytes = size_of_val(values);
            sys::cuMemcpyDtoHAsync_v2(values.as_mut_ptr().cast(), from, bytes, self.stream.handle())
        };
        self.finish_copy(gpu.check("cuMemcpyDtoHAsync", code))
    }

    /// Synchronizes after a copy, even a refused one: no transfer may be in flight afterwards.
    fn finish_copy(&self, copied: Result<(), Error>) -> Result<(), Error> {
        let synchronized = self.stream.wait_only("cuStreamSynchronize");
        copied.and(synchronized)
    }

    /// Sets every byte.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn fill(&mut self, byte: u8) -> Result<(), Error> {
        if self.len == 0 {
            return Ok(());
        }
        let gpu = self.stream.gpu();
        let _current = gpu.bind()?;
        let bytes = self.len * size_of::<T>();
        // SAFETY: within the array.
        let code = unsafe { sys::cuMemsetD8Async(self.pointer, byte, bytes, self.stream.handle()) };
        gpu.check("cuMemsetD8Async", code)
    }

    /// Returns the address in device memory.
    pub fn pointer(&self) -> u64 {
        self.pointer
    }

    /// Returns the capacity in numbers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the capacity is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        if let Ok(_current) = self.stream.gpu().bind() {
            // SAFETY: allocated by `new`; work queued before still finds it.
            let _ = unsafe { sys::cuMemFreeAsync(self.pointer, self.stream.handle()) };
        }
    }
}

/// Sets `bytes` bytes of device memory to `byte`, in stream order.
///
/// # Safety
/// The memory must be allocated, and stay so until the stream has finished.
pub unsafe fn set(stream: &Stream, pointer: u64, byte: u8, bytes: usize) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    let gpu = stream.gpu();
    let _current = gpu.bind()?;
    // SAFETY: this many bytes are allocated until the stream has finished, by this function's contract.
    gpu.check("cuMemsetD8Async", unsafe {
        sys::cuMemsetD8Async(pointer, byte, bytes, stream.handle())
    })
}

/// Scratch memory of a run: the caller's, or from the pool.
pub enum Scratch {
    /// Address of the caller's memory.
    Borrowed(u64),
    /// From the pool, freed in stream order after the work queued with it.
    Owned(Buffer<u8>),
}

impl Scratch {
    /// Returns at least `required` bytes, aligned to 256: the caller's, or from the pool.
    pub fn new(
        stream: &Stream,
        provided: Option<(u64, usize)>,
        required: usize,
    ) -> Result<Self, Error> {
        match provided {
            Some((pointer, bytes)) if bytes < required || !pointer.is_multiple_of(256) => {
                Err(Error::Unsupported(format!(
                    "the scratch memory has {bytes} bytes at {pointer:#x}; this call needs \
                     {required} bytes, aligned to 256"
                )))
            }
            Some((pointer, _)) => Ok(Self::Borrowed(pointer)),
            None => Ok(Self::Owned(Buffer::new(stream, required, "scratch memory")?)),
        }
    }

    /// Returns its address.
    pub fn pointer(&self) -> u64 {
        match self {
            Self::Borrowed(pointer) => *pointer,
            Self::Owned(buffer) => buffer.pointer(),
        }
    }
}
