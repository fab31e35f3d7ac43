//! Memory on several GPUs, and on the host, at one range of addresses (CUDA's virtual memory management): each page
//! is on one GPU or in host memory, and all GPUs read and write it.

use crate::driver::{self, check, sys};
use crate::stream::Stream;
use crate::{Element, Error, Gpu, host, properties};
use std::ffi::{c_int, c_ulonglong, c_ushort};
use std::ops::Range;

/// Bytes per page: the granularity of the drivers.
pub(crate) const PAGE: usize = 2 << 20;

/// Consecutive pages of one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// Index of the GPU in the list.
    pub(crate) owner: usize,
    /// Set if they are in host memory, which is pinned.
    pub(crate) host: bool,
    /// Size in bytes, a multiple of [`PAGE`].
    pub(crate) bytes: usize,
}

/// A range of addresses, mapped to memory of several GPUs. Work queued with it must be done before it
/// is dropped.
pub(crate) struct Pages {
    calls: Calls,
    gpu: Gpu,
    address: u64,
    bytes: usize,
    /// Offset of each mapped run, its handle and its owner.
    mapped: Vec<(usize, u64, Run)>,
}

impl Pages {
    /// Maps these runs one after another.
    pub(crate) fn new(gpus: &[Gpu], runs: &[Run]) -> Result<Self, Error> {
        let calls = Calls::new().map_err(Error::Unsupported)?;
        let _current = gpus[0].bind()?;
        let bytes = runs.iter().map(|run| run.bytes).sum();
        let mut address = 0;
        // SAFETY: writes the address of a range that `drop` gives back.
        let code = unsafe { (calls.reserve)(&mut address, bytes, PAGE, 0, 0) };
        check("cuMemAddressReserve", code)?;
        let mut pages = Self { calls, gpu: gpus[0].clone(), address, bytes, mapped: Vec::new() };
        let mut at = 0;
        for run in runs {
            pages.map(&gpus[run.owner], at, *run)?;
            at += run.bytes;
        }
        pages.grant_access(gpus)?;
        Ok(pages)
    }

    /// Allocates a run and returns its handle.
    fn create(&self, gpu: &Gpu, run: Run) -> Result<u64, Error> {
        let mut code = sys::CUresult::CUDA_ERROR_NOT_SUPPORTED;
        for location in if run.host { Location::of_host(gpu)? } else { vec![Location::of(gpu)?] } {
            let allocation =
                Allocation { kind: PINNED, handles: 0, location, windows: 0, flags: [0; 4] };
            let mut handle = 0;
            // SAFETY: reads the allocation, writes the handle, which `drop` releases.
            code = unsafe { (self.calls.create)(&mut handle, run.bytes, &allocation, 0) };
            match code {
                sys::CUresult::CUDA_SUCCESS => return Ok(handle),
                sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => break,
                _ => {}
            }
        }
        let out_of_memory = code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        match (run.host, out_of_memory) {
            (true, true) => {
                let (requested, free) = (run.bytes, host::available().unwrap_or(0));
                Err(Error::OutOfHostMemory { requested, free })
            }
            (true, false) => Err(Error::Unsupported(format!(
                "the driver can't map host memory for GPU {} ({}), so a cloud must fit its memory; \
                 use several GPUs, or the CPU",
                gpu.ordinal(),
                driver::reason(code)
            ))),
            (false, true) => {
                let (free, total) = gpu.memory()?;
                let what = "a part of the cloud";
                Err(Error::OutOfMemory { what, requested: run.bytes, free, total, fit: None })
            }
            (false, false) => Err(check("cuMemCreate", code).expect_err("it failed")),
        }
    }

    fn map(&mut self, gpu: &Gpu, at: usize, run: Run) -> Result<(), Error> {
        let handle = self.create(gpu, run)?;
        // SAFETY: this part of the range is reserved and not mapped yet.
        let code = unsafe { (self.calls.map)(self.address + at as u64, run.bytes, 0, handle, 0) };
        if let Err(error) = check("cuMemMap", code) {
            // SAFETY: created above, and mapped nowhere.
            let _ = unsafe { (self.calls.release)(handle) };
            return Err(error);
        }
        self.mapped.push((at, handle, run));
        Ok(())
    }

    /// Gives all of these GPUs read and write access.
    fn grant_access(&self, gpus: &[Gpu]) -> Result<(), Error> {
        let access = |gpu| Ok(Access { location: Location::of(gpu)?, flags: READ_AND_WRITE });
        let mut descriptions = gpus.iter().map(access).collect::<Result<Vec<_>, Error>>()?;
        descriptions.sort_by_key(|access| access.location.id);
        descriptions.dedup_by_key(|access| access.location.id);
        // SAFETY: the range is fully mapped; as many descriptions are read as there are.
        let code = unsafe {
            (self.calls.access)(self.address, self.bytes, descriptions.as_ptr(), descriptions.len())
        };
        check("cuMemSetAccess", code)
    }

    /// Returns the beginning of the range.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Splits a stretch, in bytes from the beginning, at the runs' borders; returns each piece with its run.
    fn pieces(&self, range: Range<usize>) -> impl Iterator<Item = (Run, Range<usize>)> {
        let first = self.mapped.partition_point(|&(at, _, run)| at + run.bytes <= range.start);
        self.mapped[first..].iter().map_while(move |&(at, _, run)| {
            let piece = range.start.max(at)..range.end.min(at + run.bytes);
            (!piece.is_empty()).then_some((run, piece))
        })
    }

    /// Returns whether any of a stretch belongs to the GPU of number `owner`.
    pub(crate) fn has_part(&self, owner: usize, range: Range<usize>) -> bool {
        self.pieces(range).any(|(run, _)| run.owner == owner)
    }

    /// Copies to the GPU of number `owner` its part of the values, where `values` go to the bytes from `at` on, and
    /// synchronizes.
    pub(crate) fn write_part<T: Element>(
        &self,
        stream: &Stream,
        owner: usize,
        at: usize,
        values: &[T],
    ) -> Result<(), Error> {
        let gpu = stream.gpu();
        let _current = gpu.bind()?;
        assert!(at + size_of_val(values) <= self.bytes, "outside the pages");
        let mut queued = Ok(());
        let own_pieces =
            self.pieces(at..at + size_of_val(values)).filter(|(run, _)| run.owner == owner);
        for (_, piece) in own_pieces {
            // SAFETY: the piece is mapped; its values lie this far from the beginning, and live until the
            // copy is done, which is waited for below. Which memory is whose the driver knows by the addresses.
            let code = unsafe {
                let from = values.as_ptr().cast::<u8>().add(piece.start - at) as u64;
                let to = self.address + piece.start as u64;
                sys::cuMemcpyAsync(to, from, piece.len(), stream.handle())
            };
            queued = queued.and(gpu.check("cuMemcpyAsync", code));
        }
        queued.and(stream.wait_only("cuStreamSynchronize"))
    }

    /// Fills `values` with the bytes from `at` on, piece by piece on the streams of their owners; synchronizes.
    pub(crate) fn read<T: Element>(
        &self,
        streams: &[Stream],
        at: usize,
        values: &mut [T],
    ) -> Result<(), Error> {
        assert!(at + size_of_val(values) <= self.bytes, "outside the pages");
        let to = values.as_mut_ptr().cast::<u8>();
        let mut queued = Ok(());
        for (run, piece) in self.pieces(at..at + size_of_val(values)) {
            let (stream, gpu) = (&streams[run.owner], streams[run.owner].gpu());
            let _current = gpu.bind()?;
            // SAFETY: the piece is mapped; its values lie this far from the beginning, and are borrowed until
            // the copy is done, which is waited for below.
            let code = unsafe {
                let from = self.address + piece.start as u64;
                let to = to.add(piece.start - at) as u64;
                sys::cuMemcpyAsync(to, from, piece.len(), stream.handle())
            };
            queued = queued.and(gpu.check("cuMemcpyAsync", code));
        }
        let synchronized = streams.iter().map(|stream| stream.wait_only("cuStreamSynchronize"));
        synchronized.fold(queued, Result::and)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let Ok(_current) = self.gpu.bind() else { return };
        // SAFETY: what was mapped, created and reserved above, each once; nothing uses it anymore, which the
        // owner of this sees to.
        unsafe {
            for &(at, handle, run) in &self.mapped {
                let _ = (self.calls.unmap)(self.address + at as u64, run.bytes);
                let _ = (self.calls.release)(handle);
            }
            let _ = (self.calls.free)(self.address, self.bytes);
        }
    }
}

/// Returns two of these GPUs of which the first can't access the other's memory.
pub(crate) fn find_unlinked(gpus: &[Gpu]) -> Result<Option<(usize, usize)>, Error> {
    for (a, b) in gpus.iter().flat_map(|a| gpus.iter().map(move |b| (a.ordinal(), b.ordinal()))) {
        let mut can_access: c_int = 1;
        if a != b {
            let (from, to) = (properties::handle(a)?, properties::handle(b)?);
            // SAFETY: writes one number.
            let code = unsafe { sys::cuDeviceCanAccessPeer(&mut can_access, from, to) };
            check("cuDeviceCanAccessPeer", code)?;
        }
        if can_access == 0 {
            return Ok(Some((a, b)));
        }
    }
    Ok(None)
}

// The following mirrors cuda.h, unchanged there since CUDA 11.2, and for host memory since 12.2; the bindings differ
// by the toolkit of the machine that builds.

/// `CU_MEM_ALLOCATION_TYPE_PINNED`, `CU_MEM_LOCATION_TYPE_DEVICE`, `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const PINNED: u32 = 1;
const DEVICE: u32 = 1;
const READ_AND_WRITE: u32 = 3;
/// `CU_MEM_LOCATION_TYPE_HOST`, `.._HOST_NUMA`, `.._HOST_NUMA_CURRENT`.
const HOST: u32 = 2;
const HOST_NODE: u32 = 3;
const HOST_NODE_CURRENT: u32 = 4;
/// `CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID`.
const NODE: u32 = 134;

/// `CUmemLocation`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Location {
    kind: u32,
    id: c_int,
}

impl Location {
    fn of(gpu: &Gpu) -> Result<Self, Error> {
        Ok(Self { kind: DEVICE, id: properties::handle(gpu.ordinal())? })
    }

    /// Host memory: near the GPU, if the driver reports its location; else the first of these that it accepts.
    fn of_host(gpu: &Gpu) -> Result<Vec<Self>, Error> {
        let nearest = properties::attribute(gpu.ordinal(), NODE).ok().filter(|&node| node >= 0);
        let mut locations = vec![
            Self { kind: HOST_NODE, id: 0 },
            Self { kind: HOST_NODE_CURRENT, id: 0 },
            Self { kind: HOST, id: 0 },
        ];
        if let Some(id) = nearest.filter(|&node| node > 0) {
            locations.insert(0, Self { kind: HOST_NODE, id });
        }
        Ok(locations)
    }
}

/// `CUmemAllocationProp`.
#[repr(C)]
struct Allocation {
    kind: u32,
    handles: u32,
    location: Location,
    windows: usize,
    flags: [c_ushort; 4],
}

/// `CUmemAccessDesc`.
#[repr(C)]
struct Access {
    location: Location,
    flags: u32,
}

type Code = sys::CUresult;

/// The driver's functions.
struct Calls {
    reserve: unsafe extern "C" fn(*mut u64, usize, usize, u64, c_ulonglong) -> Code,
    create: unsafe extern "C" fn(*mut u64, usize, *const Allocation, c_ulonglong) -> Code,
    map: unsafe extern "C" fn(u64, usize, usize, u64, c_ulonglong) -> Code,
    access: unsafe extern "C" fn(u64, usize, *const Access, usize) -> Code,
    unmap: unsafe extern "C" fn(u64, usize) -> Code,
    release: unsafe extern "C" fn(u64) -> Code,
    free: unsafe extern "C" fn(u64, usize) -> Code,
}

impl Calls {
    fn new() -> Result<Self, String> {
        // SAFETY: each has the type that its field has, by cuda.h.
        unsafe {
            Ok(Self {
                reserve: driver::symbol("cuMemAddressReserve")?,
                create: driver::symbol("cuMemCreate")?,
                map: driver::symbol("cuMemMap")?,
                access: driver::symbol("cuMemSetAccess")?,
                unmap: driver::symbol("cuMemUnmap")?,
                release: driver::symbol("cuMemRelease")?,
                free: driver::symbol("cuMemAddressFree")?,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn structures_are_laid_out_as_in_cuda_h() {
        assert_eq!((size_of::<Location>(), size_of::<Access>()), (8, 12));
        assert_eq!((size_of::<Allocation>(), offset_of!(Allocation, flags)), (32, 24));
    }
}
