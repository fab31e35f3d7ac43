//! DLPack, for libraries that give arrays in no other way, JAX first of all: capsules taken in,
//! and device memory of our own given out.
//!
//! The structs are those of `dlpack.h`, version 0.8 and 1.0; both begin alike.

use crate::error::cuda as failed;
use farpoint_cuda::{Buffer, Device, Element, Stream};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

const NAME: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";

/// `kDLCUDA`.
const CUDA: i32 = 2;

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    /// 0 whole numbers, 1 without sign, 2 floating point.
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    /// In elements; null when dense.
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// An array of another library, held until this goes.
#[pyclass(frozen, module = "farpoint._native")]
pub(crate) struct Imported(NonNull<Managed>);

// SAFETY: DLPack lets the deleter be called on any thread, and nothing else is tied to one.
unsafe impl Send for Imported {}
// SAFETY: shared, it is only read; the deleter is called by `drop`, which has it alone.
unsafe impl Sync for Imported {}

#[pymethods]
impl Imported {
    /// Takes the array out of a capsule that `__dlpack__()` returned.
    #[new]
    fn new(capsule: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        if !capsule.is_valid_checked(Some(NAME)) {
            return Err(PyTypeError::new_err("__dlpack__() gave no unused 'dltensor' capsule"));
        }
        let managed = capsule.pointer_checked(Some(NAME))?.cast();
        // SAFETY: the capsule is valid; by this name its maker knows that it is ours now.
        match unsafe { pyo3::ffi::PyCapsule_SetName(capsule.as_ptr(), USED.as_ptr()) } {
            0 => Ok(Self(managed)),
            _ => Err(PyErr::fetch(capsule.py())),
        }
    }

    /// `(device type, device)`.
    #[getter]
    fn device(&self) -> (i32, i32) {
        (self.tensor().device_type, self.tensor().device_id)
    }

    #[getter]
    fn address(&self) -> u64 {
        self.tensor().data.addr() as u64 + self.tensor().byte_offset
    }

    /// `(code, bits, lanes)`.
    #[getter]
    fn kind(&self) -> (u8, u8, u16) {
        (self.tensor().code, self.tensor().bits, self.tensor().lanes)
    }

    #[getter]
    fn shape(&self) -> Vec<i64> {
        self.numbers(self.tensor().shape).unwrap_or_default()
    }

    /// In elements.
    #[getter]
    fn strides(&self) -> Vec<i64> {
        let dense = || {
            let mut strides = vec![1; self.shape().len()];
            for (axis, extent) in self.shape().into_iter().enumerate().skip(1).rev() {
                strides[axis - 1] = strides[axis] * extent.max(1);
            }
            strides
        };
        self.numbers(self.tensor().strides).unwrap_or_else(dense)
    }
}

impl Imported {
    fn tensor(&self) -> &Tensor {
        // SAFETY: it lives until the deleter is called, which only `drop` does.
        unsafe { &self.0.as_ref().tensor }
    }

    fn numbers(&self, from: *const i64) -> Option<Vec<i64>> {
        let count = usize::try_from(self.tensor().ndim).unwrap_or(0);
        // SAFETY: shapes and strides have a number for each axis.
        (!from.is_null()).then(|| unsafe { std::slice::from_raw_parts(from, count) }.to_vec())
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        let managed = self.0.as_ptr();
        // SAFETY: it is there until the deleter is called, once, by its only owner.
        unsafe {
            if let Some(deleter) = (*managed).deleter {
                deleter(managed);
            }
        }
    }
}

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
    Whole(Arc<Buffer<i64>>),
}

/// A stream of somebody else's.
fn borrowed(device: usize, stream: u64) -> Result<Stream, farpoint_cuda::Error> {
    let device = Device::new(device)?;
    // SAFETY: the Python half passes the default stream or one that its owner keeps.
    Ok(unsafe { Stream::borrowed(&device, stream) })
}

fn filled<T: Element>(
    stream: &Stream,
    len: usize,
    byte: Option<u8>,
) -> Result<Arc<Buffer<T>>, farpoint_cuda::Error> {
    let mut buffer = Buffer::new(stream, len, "an answer")?;
    if let Some(byte) = byte {
        buffer.fill(byte)?;
    }
    Ok(buffer.into())
}

/// What a capsule of ours keeps alive.
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
            Self::Whole(buffer) => Self::Whole(buffer.clone()),
        }
    }

    fn address(&self) -> u64 {
        match self {
            Self::Single(buffer) => buffer.pointer(),
            Self::Double(buffer) => buffer.pointer(),
            Self::Whole(buffer) => buffer.pointer(),
        }
    }

    /// Code and bits as DLPack has them.
    fn kind(&self) -> (u8, u8) {
        match self {
            Self::Single(_) => (2, 32),
            Self::Double(_) => (2, 64),
            Self::Whole(_) => (0, 64),
        }
    }
}

#[pymethods]
impl DeviceArray {
    /// Room for an array of `kind` "f4", "f8" or "i8", in the order of a stream that is there
    /// as long as the array (0 is the legacy default stream). Every byte is `byte`, if given.
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
                _ => Memory::Whole(filled(&stream, len, byte)?),
            })
        };
        let memory = py.detach(allocate).map_err(|error| failed(error, "an answer"))?;
        Ok(Self { memory, device, stream, shape })
    }

    /// Whole numbers copied to the device.
    #[staticmethod]
    fn upload(py: Python<'_>, device: usize, stream: u64, values: Vec<i64>) -> PyResult<Self> {
        let upload = || Buffer::upload(&borrowed(device, stream)?, &values, "numbers");
        let buffer = py.detach(upload).map_err(|error| failed(error, "numbers"))?;
        let shape = vec![values.len() as i64];
        Ok(Self { memory: Memory::Whole(buffer.into()), device, stream, shape })
    }

    /// Whole numbers copied to the host, once the stream has come past.
    fn download(&self, py: Python<'_>) -> PyResult<Vec<i64>> {
        let Memory::Whole(buffer) = &self.memory else {
            return Err(PyTypeError::new_err("only whole numbers are copied to the host"));
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
            Memory::Whole(_) => "int64",
        }
    }

    /// Waits for the stream on which the numbers are written.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        let wait = || borrowed(self.device, self.stream)?.synchronize();
        py.detach(wait).map_err(|error| failed(error, "an answer"))
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
                Memory::Whole(_) => "<i8",
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

    /// The numbers as a capsule; they are there already, whatever the stream.
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

/// The deleter of our capsules.
///
/// # Safety
/// `managed` is that of an [`Export`], and not used again.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: the context is the address that `Box::into_raw` gave.
    drop(unsafe { Box::from_raw((*managed).context.cast::<Export>()) });
}

/// Called when a capsule goes; one that nobody took still owns its array.
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
