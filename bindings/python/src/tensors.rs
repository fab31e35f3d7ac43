//! Tensors of PyTorch read without its Python methods: by the functions that DLPack lets a library export
//! (`__dlpack_c_exchange_api__`, which PyTorch has from 2.10 on), each of which takes some nanoseconds. Without
//! them, by the methods.

use crate::arrays::dlpack::Tensor;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyInt};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// `kDLCPU` and `kDLCUDA` of `dlpack.h`.
const CPU: i32 = 1;
const CUDA: i32 = 2;

const NAME: &CStr = c"dlpack_exchange_api";

/// Known major version of the table.
const MAJOR: u32 = 1;

/// `DLPackExchangeAPI` of `dlpack.h`, version 1.3.
#[repr(C)]
struct Table {
    major: u32,
    minor: u32,
    previous: *const c_void,
    allocate: *const c_void,
    managed_from_object: *const c_void,
    managed_to_object: *const c_void,
    tensor_from_object: Option<TensorFromObject>,
    current_stream: Option<CurrentStream>,
}

/// Fills in a tensor that is the object's, and valid until the interpreter runs on; 0, or an exception is set.
type TensorFromObject = unsafe extern "C" fn(*mut c_void, *mut Tensor) -> i32;
/// Current stream of a device, by its type and number.
type CurrentStream = unsafe extern "C" fn(i32, i32, *mut *mut c_void) -> i32;

/// PyTorch's table; null for none. It lives as long as the process, as the protocol says.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(null_mut());

/// PyTorch's own function for the current stream of a device.
static STREAM: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_tensors_by, module)?)
}

/// Lets calls take tensors in place of addresses, and None in place of the current stream. `exchange` is
/// exported by `torch.Tensor`, if at all; `stream` returns the current stream of a device by its number.
#[pyfunction]
fn read_tensors_by(exchange: Option<&Bound<'_, PyCapsule>>, stream: Py<PyAny>) -> PyResult<()> {
    let table = exchange.map(|capsule| capsule.pointer_checked(Some(NAME))).transpose()?;
    let known = table.map(|table| table.cast::<Table>()).filter(|table| {
        // SAFETY: by its name the capsule has such a table; all versions begin with their number.
        unsafe { table.as_ref() }.major == MAJOR
    });
    TABLE.store(known.map_or(null_mut(), |table| table.as_ptr()), Ordering::Release);
    Python::attach(|py| STREAM.get_or_init(py, || stream));
    Ok(())
}

/// Returns the exported functions, if both are there.
fn functions() -> Option<(TensorFromObject, CurrentStream)> {
    // SAFETY: it is null or a table of the version known here, which lives as long as the process.
    let table = unsafe { TABLE.load(Ordering::Acquire).as_ref() }?;
    Some((table.tensor_from_object?, table.current_stream?))
}

/// Memory and layout of a tensor.
pub(crate) struct TensorView<'a> {
    pub(crate) address: u64,
    /// Device type by DLPack.
    pub(crate) device_type: i32,
    pub(crate) device: i32,
    /// Number of the type of its elements.
    pub(crate) kind: i64,
    pub(crate) shape: &'a [i64],
    pub(crate) strides: &'a [i64],
}

/// Calls `look` with a tensor. An error if the tensor has no plain memory.
///
/// # Safety
/// The object must be a `torch.Tensor` or of a class made from it.
pub(crate) unsafe fn read<R>(
    tensor: &Bound<'_, PyAny>,
    inspect: impl FnOnce(&TensorView<'_>) -> R,
) -> PyResult<R> {
    let Some((from_object, _)) = functions() else { return read_by_methods(tensor, inspect) };
    let mut exported = Tensor::empty();
    // SAFETY: the object is a tensor by this function's contract, and the GIL is held.
    if unsafe { from_object(tensor.as_ptr().cast(), &raw mut exported) } != 0 {
        return Err(PyErr::fetch(tensor.py()));
    }
    let axes = usize::try_from(exported.ndim).unwrap_or(0);
    let numbers = |from: *const i64| match from.is_null() {
        true => &[][..],
        // SAFETY: shape and strides have a number for each axis, and stay while nothing changes the tensor:
        // nothing of Python runs meanwhile.
        false => unsafe { std::slice::from_raw_parts(from, axes) },
    };
    let [code, bits, lanes] =
        [exported.code.into(), exported.bits.into(), i64::from(exported.lanes)];
    Ok(inspect(&TensorView {
        address: exported.data.addr() as u64 + exported.byte_offset,
        device_type: exported.device_type,
        device: exported.device_id,
        kind: code << 32 | bits << 16 | lanes,
        shape: numbers(exported.shape),
        strides: numbers(exported.strides),
    }))
}

fn read_by_methods<R>(
    tensor: &Bound<'_, PyAny>,
    inspect: impl FnOnce(&TensorView<'_>) -> R,
) -> PyResult<R> {
    let py = tensor.py();
    let on_cuda: bool = tensor.getattr(intern!(py, "is_cuda"))?.extract()?;
    let on_cpu: bool = tensor.getattr(intern!(py, "is_cpu"))?.extract()?;
    let shape: Vec<i64> = tensor.getattr(intern!(py, "shape"))?.extract()?;
    let strides: Vec<i64> = tensor.call_method0(intern!(py, "stride"))?.extract()?;
    Ok(inspect(&TensorView {
        address: tensor.call_method0(intern!(py, "data_ptr"))?.extract()?,
        device_type: if on_cuda { CUDA } else { i32::from(on_cpu) * CPU },
        device: tensor.call_method0(intern!(py, "get_device"))?.extract()?,
        // Types are objects that stay.
        kind: tensor.getattr(intern!(py, "dtype"))?.as_ptr().addr() as i64,
        shape: &shape,
        strides: &strides,
    }))
}

/// An address in device memory: a number, a tensor's, or None for none.
#[derive(Clone, Copy)]
pub(crate) struct Address(pub(crate) u64);

impl<'py> FromPyObject<'_, 'py> for Address {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_none() {
            return Ok(Self(0));
        }
        if object.is_instance_of::<PyInt>() {
            return object.extract().map(Self);
        }
        // SAFETY: the Python half passes numbers, None and tensors.
        unsafe { read(&object, |view| Self(view.address)) }
    }
}

/// Returns the given stream, or PyTorch's current one on a device.
pub(crate) fn stream_of(py: Python<'_>, requested: Option<u64>, device: usize) -> PyResult<u64> {
    if let Some(stream) = requested {
        return Ok(stream);
    }
    let Some((_, current_stream)) = functions() else {
        let missing = || PyRuntimeError::new_err("the current stream is unknown");
        return STREAM.get(py).ok_or_else(missing)?.bind(py).call1((device,))?.extract();
    };
    let (device, mut stream) = (i32::try_from(device)?, null_mut());
    // SAFETY: the place is there to be written, and the GIL is held.
    match unsafe { current_stream(CUDA, device, &raw mut stream) } {
        0 => Ok(stream.addr() as u64),
        _ => Err(PyErr::fetch(py)),
    }
}
