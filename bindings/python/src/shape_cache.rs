//! Cache of calls by their arguments: results for a request and for tensors of some shapes,
//! strides and types, found again without reading their attributes in Python.

use crate::tensors;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use pyo3::{PyTraverseError, PyVisit, intern};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Met>()
}

/// Cached results, by requests and tensors.
#[pyclass(frozen)]
struct Met {
    table: Mutex<Table>,
    /// Required device type of tensors, by DLPack.
    device_type: i32,
    /// Maximum number of entries.
    most: usize,
    /// Types of plain tensors.
    plain: (Py<PyType>, Py<PyType>),
    watch: Option<Watch>,
}

/// Checks for anything else that would see a call.
struct Watch {
    /// The module with the level of dual numbers.
    levels: Py<PyAny>,
    /// PyTorch's function that returns the dispatch keys of this thread.
    keys: Py<PyAny>,
    /// Keys that only modes, transforms and tracers set.
    unusual: u64,
}

#[derive(Default)]
struct Table {
    answers: HashMap<Box<[i64]>, Py<PyAny>, BuildHasherDefault<Mixer>>,
    /// One of all equal requests, by which results are kept: it stays, so that its address identifies it.
    requests: Option<Py<PyDict>>,
}

#[pymethods]
impl Met {
    /// `keys` is None if it can't be known what sees a call.
    #[new]
    fn new(
        device_type: i32,
        plain: (Py<PyType>, Py<PyType>),
        levels: Py<PyAny>,
        keys: Option<Py<PyAny>>,
        unusual: u64,
        most: usize,
    ) -> Self {
        let watch = keys.map(|keys| Watch { levels, keys, unusual });
        Self { table: Mutex::default(), device_type, most, plain, watch }
    }

    /// Returns the cached result of `make` for this request and such tensors, or None. False if more than a kernel and
    /// autograd have to see the call, or a tensor is more than memory on such a device.
    #[pyo3(signature = (make, request, first, second, third = None, fourth = None))]
    fn find(
        &self,
        make: &Bound<'_, PyAny>,
        request: &Bound<'_, PyAny>,
        first: &Bound<'_, PyAny>,
        second: &Bound<'_, PyAny>,
        third: Option<&Bound<'_, PyAny>>,
        fourth: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let py = request.py();
        let no = || Ok(Some(false.into_pyobject(py)?.to_owned().into_any().unbind()));
        let tensors = [Some(first), Some(second), third, fourth];
        let mut key = Key::of(make, request);
        if !self.write(&mut key, tensors)? || self.is_watched(py)? {
            return no();
        }
        let found = self.lock().answers.get(key.words()).map(|answer| answer.clone_ref(py));
        if found.is_some() {
            return Ok(found);
        }
        // An equal request may have been met in another object.
        let requests = self.lock().requests.as_ref().map(|requests| requests.clone_ref(py));
        let Some(same) = requests.map(|all| all.bind(py).get_item(request)).transpose()?.flatten()
        else {
            return Ok(None);
        };
        key.rename(&same);
        Ok(self.lock().answers.get(key.words()).map(|answer| answer.clone_ref(py)))
    }

    /// Stores a result for arguments for which `find` has found nothing.
    #[pyo3(signature = (answer, make, request, first, second, third = None, fourth = None))]
    #[expect(clippy::too_many_arguments, reason = "Python passes arguments faster than tuples")]
    fn keep(
        &self,
        answer: Py<PyAny>,
        make: &Bound<'_, PyAny>,
        request: &Bound<'_, PyAny>,
        first: &Bound<'_, PyAny>,
        second: &Bound<'_, PyAny>,
        third: Option<&Bound<'_, PyAny>>,
        fourth: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = request.py();
        if self.lock().answers.len() >= self.most {
            self.clear();
        }
        // No Python code runs under the lock.
        let fresh = PyDict::new(py).unbind();
        let requests = self.lock().requests.get_or_insert(fresh).clone_ref(py);
        let requests = requests.bind(py);
        let same = match requests.get_item(request)? {
            Some(same) => same,
            None => request.clone(),
        };
        requests.set_item(&same, &same)?;
        // It stays, too.
        requests.set_item(make, make)?;
        let mut key = Key::of(make, &same);
        if self.write(&mut key, [Some(first), Some(second), third, fourth])? {
            let before = self.lock().answers.insert(key.words().into(), answer);
            drop(before);
        }
        Ok(())
    }

    fn __len__(&self) -> usize {
        self.lock().answers.len()
    }

    fn clear(&self) {
        // Dropping may run any code: not under the lock.
        let table = std::mem::take(&mut *self.lock());
        drop(table);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Ok(table) = self.table.try_lock() else { return Ok(()) };
        visit.call(&table.requests)?;
        table.answers.values().try_for_each(|answer| visit.call(answer))
    }

    fn __clear__(&self) {
        self.clear();
    }
}

impl Met {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a mode, a transform or dual numbers of this thread would see a call.
    fn is_watched(&self, py: Python<'_>) -> PyResult<bool> {
        let Some(watch) = &self.watch else { return Ok(true) };
        let level = watch.levels.bind(py).getattr(intern!(py, "_current_level"))?;
        if level.extract::<i64>()? >= 0 {
            return Ok(true);
        }
        let keys = watch.keys.bind(py).call0()?.call_method0(intern!(py, "raw_repr"))?;
        Ok(keys.extract::<u64>()? & watch.unusual != 0)
    }

    /// Writes the keys of the tensors; false if one of them is more than memory on the device.
    fn write(&self, key: &mut Key, tensors: [Option<&Bound<'_, PyAny>>; 4]) -> PyResult<bool> {
        for (place, tensor) in tensors.into_iter().enumerate() {
            let Some(tensor) = tensor else {
                key.push(-1);
                continue;
            };
            let same = tensors[..place]
                .iter()
                .position(|other| other.is_some_and(|other| other.is(tensor)));
            if let Some(same) = same {
                key.push(-2 - same as i64);
            } else if !self.write_one(key, tensor)? {
                return Ok(false);
            }
        }
        Ok(!key.overflowed())
    }

    fn write_one(&self, key: &mut Key, tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (kind, (one, other)) = (tensor.get_type(), &self.plain);
        if !kind.is(one) && !kind.is(other) {
            return Ok(false);
        }
        // SAFETY: the object is a tensor by its type.
        let read = unsafe {
            tensors::read(tensor, |seen| {
                key.push(seen.kind);
                key.push(seen.device.into());
                key.push(seen.shape.len() as i64);
                seen.shape.iter().chain(seen.strides).for_each(|&number| key.push(number));
                seen.device_type == self.device_type
            })
        };
        let py = tensor.py();
        // Sparse and nested tensors can't be read.
        let plain = read.unwrap_or(false);
        Ok(plain && !tensor.call_method0(intern!(py, "is_neg"))?.is_truthy()?)
    }
}

/// Key on the stack: the addresses of a request and of `make`, and the properties of each tensor.
struct Key {
    words: [i64; Key::MOST],
    used: usize,
}

impl Key {
    /// Four tensors of up to five axes.
    const MOST: usize = 54;

    fn of(make: &Bound<'_, PyAny>, request: &Bound<'_, PyAny>) -> Self {
        let mut key = Self { words: [0; Self::MOST], used: 2 };
        key.rename(request);
        key.words[1] = make.as_ptr().addr() as i64;
        key
    }

    fn rename(&mut self, request: &Bound<'_, PyAny>) {
        self.words[0] = request.as_ptr().addr() as i64;
    }

    fn push(&mut self, word: i64) {
        if let Some(place) = self.words.get_mut(self.used) {
            *place = word;
        }
        self.used += 1;
    }

    fn overflowed(&self) -> bool {
        self.used > Self::MOST
    }

    fn words(&self) -> &[i64] {
        &self.words[..self.used]
    }
}

/// Hashes words; collisions can't be provoked from outside.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut full = [0; 8];
            full[..word.len()].copy_from_slice(word);
            self.write_u64(u64::from_ne_bytes(full));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}
