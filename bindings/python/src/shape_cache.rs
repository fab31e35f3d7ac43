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
    module.add_class::<ShapeCache>()
}

/// Cached results, by requests and tensors.
#[pyclass(frozen)]
struct ShapeCache {
    table: Mutex<Table>,
    /// Required device type of tensors, by DLPack.
    device_type: i32,
    /// Maximum number of entries.
    max_entries: usize,
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
    results: HashMap<Box<[i64]>, Py<PyAny>, BuildHasherDefault<Mixer>>,
    /// One of all equal requests, by which results are kept: it stays, so that its address identifies it.
    requests: Option<Py<PyDict>>,
}

#[pymethods]
impl ShapeCache {
    /// `keys` is None if it can't be known what sees a call.
    #[new]
    fn new(
        device_type: i32,
        plain: (Py<PyType>, Py<PyType>),
        levels: Py<PyAny>,
        keys: Option<Py<PyAny>>,
        unusual: u64,
        max_entries: usize,
    ) -> Self {
        let watch = keys.map(|keys| Watch { levels, keys, unusual });
        Self { table: Mutex::default(), device_type, max_entries, plain, watch }
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
        let uncacheable = || Ok(Some(false.into_pyobject(py)?.to_owned().into_any().unbind()));
        let tensors = [Some(first), Some(second), third, fourth];
        let mut key = Key::of(make, request);
        if !self.write(&mut key, tensors)? || self.is_watched(py)? {
            return uncacheable();
        }
        let cached = self.lock().results.get(key.words()).map(|result| result.clone_ref(py));
        if cached.is_some() {
            return Ok(cached);
        }
        // An equal request may have been met in another object.
        let requests = self.lock().requests.as_ref().map(|requests| requests.clone_ref(py));
        let Some(same) = requests.map(|all| all.bind(py).get_item(request)).transpose()?.flatten()
        else {
            return Ok(None);
        };
        key.rename(&same);
        Ok(self.lock().results.get(key.words()).map(|result| result.clone_ref(py)))
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
        if self.lock().results.len() >= self.max_entries {
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
            let replaced = self.lock().results.insert(key.words().into(), answer);
            drop(replaced);
        }
        Ok(())
    }

    fn __len__(&self) -> usize {
        self.lock().results.len()
    }

    fn clear(&self) {
        // Dropping may run any code: not under the lock.
        let table = std::mem::take(&mut *self.lock());
        drop(table);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Ok(table) = self.table.try_lock() else { return Ok(()) };
        visit.call(&table.requests)?;
        table.results.values().try_for_each(|answer| visit.call(answer))
    }

    fn __clear__(&self) {
        self.clear();
    }
}

impl ShapeCache {
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
            let position = tensors[..place]
                .iter()
                .position(|other| other.is_some_and(|other| other.is(tensor)));
            if let Some(position) = position {
                key.push(-2 - position as i64);
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
            tensors::read(tensor, |view| {
                key.push(view.kind);
                key.push(view.device.into());
                key.push(view.shape.len() as i64);
                view.shape.iter().chain(view.strides).for_each(|&number| key.push(number));
                view.device_type == self.device_type
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
    words: [i64; Key::MAX_WORDS],
    used: usize,
}

impl Key {
    /// Four tensors of up to five axes.
    const MAX_WORDS: usize = 54;

    fn of(make: &Bound<'_, PyAny>, request: &Bound<'_, PyAny>) -> Self {
        let mut key = Self { words: [0; Self::MAX_WORDS], used: 2 };
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
        self.used > Self::MAX_WORDS
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
