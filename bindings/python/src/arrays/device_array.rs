//! Device memory of our own, exported by DLPack and the CUDA array interface.

use super::dlpack::{Managed, NAME, Tensor};
use crate::error::cuda as failed;
use farpoint_cuda::{Buffer, Element, Gpu, Stream};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// `kDLCUDA`.
const CUDA: i32 = 2;

/// Numbers in device memory of our own, for a library that has no way to allocate some.
#[pyclass(frozen, module = "farpoint._native")]
pub(crate) struct DeviceArray {
    memory: Memory,
    device: usize,
    stream: u64,
    shape: Vec<i64>,
}

enum Memory {
    Single(Arc<Buffer<f32>>),
    Double(Arc<Buffer<f64>>),
    Half(Arc<Buffer<u16>>),
    Long(Arc<Buffer<i64>>),
    Narrow(Arc<Buffer<i32>>),
}

/// Borrows a stream of another owner.
fn borrowed(device: usize, stream: u64) -> Result<Stream, farpoint_cuda::Error> {
    let gpu = Gpu::new(device)?;
    // SAFETY: the Python half passes the default stream or one that its owner keeps.
    Ok(unsafe { Stream::borrowed(&gpu, stream) })
}

fn filled<T: Element>(
    stream: &Stream,
    len: usize,
    byte: Option<u8>,
) -> Result<Arc<Buffer<T>>, farpoint_cuda::Error> {
    let mut buffer = Buffer::new(stream, len, "a result")?;
    if let Some(byte) = byte {
        buffer.fill(byte)?;
    }
    Ok(buffer.into())
}

/// Data of a capsule of ours.
struct Export {
    managed: Managed,
    shape: Vec<i64>,
    #[expect(dead_code, reason = "held, not read")]
    memory: Memory,
}

impl Memory {
    fn share(&self) -> Self {
        match self {
            Self::Single(buffer) => Self::Single(buffer.clone()),
            Self::Double(buffer) => Self::Double(buffer.clone()),
            Self::Half(buffer) => Self::Half(buffer.clone()),
            Self::Long(buffer) => Self::Long(buffer.clone()),
            Self::Narrow(buffer) => Self::Narrow(buffer.clone()),
        }
    }

    fn address(&self) -> u64 {
        match self {
            Self::Single(buffer) => buffer.pointer(),
            Self::Double(buffer) => buffer.pointer(),
            Self::Half(buffer) => buffer.pointer(),
            Self::Long(buffer) => buffer.pointer(),
            Self::Narrow(buffer) => buffer.pointer(),
        }
    }

    /// Returns code and bits in DLPack's terms.
    fn kind(&self) -> (u8, u8) {
        match self {
            Self::Single(_) => (2, 32),
            Self::Double(_) => (2, 64),
            Self::Half(_) => (2, 16),
            Self::Long(_) => (0, 64),
            Self::Narrow(_) => (0, 32),
        }
    }
}

#[pymethods]
impl DeviceArray {
    /// Allocates an array of `kind` "f2", "f4", "f8", "i4" or "i8", in the order of a stream that outlives
    /// the array (0 is the legacy default stream). Every byte is `byte`, if set.
    #[new]
    #[pyo3(signature = (device, stream, shape, kind, byte = None))]
    fn new(
        py: Python<'_>,
        device: usize,
        stream: u64,
        shape: Vec<i64>,
        kind: &str,
        byte: Option<u8>,
    ) -> PyResult<Self> {
        let len = shape.iter().product::<i64>().max(0) as usize;
        let allocate = || {
            let stream = borrowed(device, stream)?;
            Ok(match kind {
                "f4" => Memory::Single(filled(&stream, len, byte)?),
                "f8" => Memory::Double(filled(&stream, len, byte)?),
                "f2" => Memory::Half(filled(&stream, len, byte)?),
                "i4" => Memory::Narrow(filled(&stream, len, byte)?),
                _ => Memory::Long(filled(&stream, len, byte)?),
            })
        };
        let memory = py.detach(allocate).map_err(|error| failed(error, "a result"))?;
        Ok(Self { memory, device, stream, shape })
    }

    /// Copies whole numbers to the device.
    #[staticmethod]
    fn upload(py: Python<'_>, device: usize, stream: u64, values: Vec<i64>) -> PyResult<Self> {
        let upload = || Buffer::upload(&borrowed(device, stream)?, &values, "numbers");
        let buffer = py.detach(upload).map_err(|error| failed(error, "numbers"))?;
        let shape = vec![values.len() as i64];
        Ok(Self { memory: Memory::Long(buffer.into()), device, stream, shape })
    }

    /// Copies whole numbers to the host, once the stream has reached this point.
    fn download(&self, py: Python<'_>) -> PyResult<Vec<i64>> {
        let Memory::Long(buffer) = &self.memory else {
            return Err(PyTypeError::new_err("only int64 arrays can be copied to the host"));
        };
        let len = self.shape.iter().product::<i64>() as usize;
        py.detach(|| buffer.download(len)).map_err(|error| failed(error, "numbers"))
    }

    #[getter]
    fn address(&self) -> u64 {
        self.memory.address()
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        match self.memory {
            Memory::Single(_) => "float32",
            Memory::Double(_) => "float64",
            Memory::Half(_) => "float16",
            Memory::Long(_) => "int64",
            Memory::Narrow(_) => "int32",
        }
    }

    /// Synchronizes with the stream on which the numbers are written.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        let wait = || borrowed(self.device, self.stream)?.synchronize();
        py.detach(wait).map_err(|error| failed(error, "a result"))
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("shape", self.shape(py)?)?;
        dict.set_item(
            "typestr",
            match self.memory {
                Memory::Single(_) => "<f4",
                Memory::Double(_) => "<f8",
                Memory::Half(_) => "<f2",
                Memory::Long(_) => "<i8",
                Memory::Narrow(_) => "<i4",
            },
        )?;
        dict.set_item("data", (self.memory.address(), false))?;
        dict.set_item("version", 3)?;
        // 1 is the legacy default stream.
        dict.set_item("stream", self.stream.max(1))?;
        Ok(dict)
    }

    fn __dlpack_device__(&self) -> (i32, usize) {
        (CUDA, self.device)
    }

    /// Returns the numbers as a capsule; they are there already, whatever the stream.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Py<PyAny>>,
        max_version: Option<Py<PyAny>>,
        dl_device: Option<Py<PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (stream, max_version, dl_device);
        if copy == Some(true) {
            return Err(PyBufferError::new_err("this array can be shared, not copied"));
        }
        let (code, bits) = self.memory.kind();
        let mut export = Box::new(Export {
            managed: Managed {
                tensor: Tensor {
                    data: std::ptr::without_provenance_mut(self.memory.address() as usize),
                    device_type: CUDA,
                    device_id: self.device as i32,
                    ndim: self.shape.len() as i32,
                    code,
                    bits,
                    lanes: 1,
                    shape: std::ptr::null_mut(),
                    strides: std::ptr::null_mut(),
                    byte_offset: 0,
                },
                context: std::ptr::null_mut(),
                deleter: Some(delete),
            },
            shape: self.shape.clone(),
            memory: self.memory.share(),
        });
        export.managed.tensor.shape = export.shape.as_mut_ptr();
        let export = Box::into_raw(export);
        // SAFETY: the box lives until `delete`, which gets the same address by its context.
        unsafe {
            (*export).managed.context = export.cast();
            let managed = &raw mut (*export).managed;
            let capsule = pyo3::ffi::PyCapsule_New(managed.cast(), NAME.as_ptr(), Some(unused));
            Bound::from_owned_ptr_or_err(py, capsule).inspect_err(|_| delete(managed))
        }
    }
}

/// Deletes the data of our capsules.
///
/// # Safety
/// `managed` is that of an [`Export`], and not used again.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: the context is the address that `Box::into_raw` gave.
    drop(unsafe { Box::from_raw((*managed).context.cast::<Export>()) });
}

/// Called when a capsule is dropped; one that was not taken still owns its array.
///
/// # Safety
/// Python calls it with a capsule of ours.
unsafe extern "C" fn unused(capsule: *mut pyo3::ffi::PyObject) {
    // SAFETY: a live capsule, whose pointer is an export's if it still has our name.
    unsafe {
        if pyo3::ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            delete(pyo3::ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        }
    }
}
