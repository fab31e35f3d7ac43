//! DLPack, for libraries that export arrays in no other way, JAX first of all: its structs, and imported
//! capsules.
//!
//! The structs are those of `dlpack.h`, version 0.8 and 1.0; both begin alike.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// Name of a capsule whose array has not been taken yet.
pub(super) const NAME: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";

#[repr(C)]
pub(crate) struct Tensor {
    pub(crate) data: *mut c_void,
    pub(crate) device_type: i32,
    pub(crate) device_id: i32,
    pub(crate) ndim: i32,
    /// 0 signed whole numbers, 1 unsigned, 2 floating point.
    pub(crate) code: u8,
    pub(crate) bits: u8,
    pub(crate) lanes: u16,
    pub(crate) shape: *mut i64,
    /// Strides in elements; null when dense.
    pub(crate) strides: *mut i64,
    pub(crate) byte_offset: u64,
}

impl Tensor {
    /// Returns a tensor to be filled in.
    pub(crate) const fn empty() -> Self {
        let (data, none) = (std::ptr::null_mut(), std::ptr::null_mut());
        Self {
            data,
            device_type: 0,
            device_id: 0,
            ndim: 0,
            code: 0,
            bits: 0,
            lanes: 0,
            shape: none,
            strides: none,
            byte_offset: 0,
        }
    }
}

#[repr(C)]
pub(super) struct Managed {
    pub(super) tensor: Tensor,
    pub(super) context: *mut c_void,
    pub(super) deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// An array of another library, held until this is dropped.
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
            return Err(PyTypeError::new_err(
                "__dlpack__() did not return an unused 'dltensor' capsule",
            ));
        }
        let managed = capsule.pointer_checked(Some(NAME))?.cast();
        // SAFETY: the capsule is valid; by this name its maker knows that it is ours now.
        match unsafe { pyo3::ffi::PyCapsule_SetName(capsule.as_ptr(), USED.as_ptr()) } {
            0 => Ok(Self(managed)),
            _ => Err(PyErr::fetch(capsule.py())),
        }
    }

    /// Returns `(device type, device)`.
    #[getter]
    fn device(&self) -> (i32, i32) {
        (self.tensor().device_type, self.tensor().device_id)
    }

    #[getter]
    fn address(&self) -> u64 {
        self.tensor().data.addr() as u64 + self.tensor().byte_offset
    }

    /// Returns `(code, bits, lanes)`.
    #[getter]
    fn kind(&self) -> (u8, u8, u16) {
        (self.tensor().code, self.tensor().bits, self.tensor().lanes)
    }

    #[getter]
    fn shape(&self) -> Vec<i64> {
        self.numbers(self.tensor().shape).unwrap_or_default()
    }

    /// Returns the strides in elements.
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
        // SAFETY: the array lives until the deleter is called, once, by its only owner.
        unsafe {
            if let Some(deleter) = (*managed).deleter {
                deleter(managed);
            }
        }
    }
}
