//! Errors of the crates below as exceptions of Python.

use pyo3::create_exception;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyOSError,
    PyRuntimeError, PyUserWarning, PyValueError,
};
use pyo3::{PyErr, PyResult, Python};
use std::ffi::CString;
use std::io;
use std::path::Path;

create_exception!(
    farpoint,
    CudaUnavailable,
    PyRuntimeError,
    "CUDA is required but not available on this machine; the message gives the reason."
);

/// Converts the error of an unknown name, or of an unknown value of an option.
pub(crate) fn name(error: farpoint::ParseError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// End of the core's message about non-finite rows; Python's option has another name.
const SKIP: &str = " or set `non_finite` to skip them";

/// Converts an error of the library; `about` has the array's shape and type.
pub(crate) fn sampling(error: farpoint::Error, about: &str) -> PyErr {
    match error {
        farpoint::Error::Cancelled(_) | farpoint::Error::SearchCancelled(_) => {
            PyKeyboardInterrupt::new_err(error.to_string())
        }
        error if is_memory(&error) => PyMemoryError::new_err(format!("{error} ({about})")),
        farpoint::Error::IndexOutOfRange { .. } => {
            PyIndexError::new_err(format!("{error} ({about})"))
        }
        _ => {
            let text = error.to_string().replace(SKIP, " or pass non_finite=\"skip\"");
            PyValueError::new_err(format!("{text} ({about})"))
        }
    }
}

/// Like [`sampling`], for a function without `non_finite`.
pub(crate) fn without_skipping(error: farpoint::Error, about: &str) -> PyErr {
    match error.to_string().strip_suffix(SKIP) {
        Some(text) => PyValueError::new_err(format!("{text} ({about})")),
        None => sampling(error, about),
    }
}

fn is_memory(error: &farpoint::Error) -> bool {
    use farpoint::Error;
    match error {
        Error::InPair { source, .. } | Error::InBatch { source, .. } => is_memory(source),
        error => matches!(error, Error::OutOfMemory { .. } | Error::TooManyNeighbors(_)),
    }
}

/// Allocates arrays by the functions of [`memory`](farpoint::backend::memory); `MemoryError` if memory runs out.
pub(crate) fn room<R>(make: impl FnOnce() -> R) -> PyResult<R> {
    let result = farpoint::backend::caught(|| Ok(make()));
    result.map_err(|error| PyMemoryError::new_err(error.to_string()))
}

/// Converts an error of a GPU.
pub(crate) fn cuda(error: farpoint_cuda::Error, about: &str) -> PyErr {
    use farpoint_cuda::Error;
    match error {
        Error::Sampling(error) => sampling(error, about),
        Error::Unavailable(_) | Error::NoSuchDevice { .. } => {
            CudaUnavailable::new_err(error.to_string())
        }
        Error::OutOfMemory { .. } => PyMemoryError::new_err(format!("{error} ({about})")),
        Error::Unsupported(_) => PyValueError::new_err(format!("{error} ({about})")),
        _ => PyRuntimeError::new_err(format!("{error} ({about})")),
    }
}

/// Returns a message of the library with its options as arguments of Python.
pub(crate) fn spelled(message: impl ToString) -> String {
    farpoint_io::spelled(&message.to_string(), |name, value| {
        let name = if name == "input_format" { "format" } else { name };
        match value.starts_with(|first: char| first.is_ascii_lowercase()) {
            true => format!("{name}=\"{value}\""),
            false => format!("{name}={value}"),
        }
    })
}

/// Passes a warning on to Python's filters, as of the caller of the function that called the module.
pub(crate) fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = CString::new(text.replace('\0', " "))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)
}

/// Passes the library's warnings about a file on, and returns them.
pub(crate) fn passed_on(
    py: Python<'_>,
    path: &Path,
    warnings: impl IntoIterator<Item = impl ToString>,
) -> PyResult<Vec<String>> {
    let warnings: Vec<String> = warnings.into_iter().map(spelled).collect();
    for text in &warnings {
        warn(py, &format!("{}: {text}", path.display()))?;
    }
    Ok(warnings)
}

/// Converts an error of a file.
pub(crate) fn file(error: farpoint_io::Error) -> PyErr {
    use farpoint_io::Error;
    let text = spelled(&error);
    match &error {
        Error::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(text)
        }
        Error::Read { .. } | Error::Write { .. } => PyOSError::new_err(text),
        Error::TooLarge { .. } => PyMemoryError::new_err(text),
        Error::RowOutOfRange { .. } => PyIndexError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
