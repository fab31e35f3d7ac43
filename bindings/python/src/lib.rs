//! The compiled half of the Python package `farpoint`. It holds no algorithm: it hands arrays of
//! Python to the crates beside it, and their results and errors back.
//!
//! * `host`: sampling NumPy arrays. Everything on the CPU comes here as one, without a copy.
//! * `approximate`: samplers whose results are approximate, and measures of any sample.
//! * `ragged`: clouds of different lengths, one after another in an array.
//! * `cuda`: sampling by addresses of device memory, on the caller's stream.
//! * `dlpack`: arrays of libraries that give nothing but DLPack capsules.
//! * `files`: reading and writing point clouds.
//! * `chamfer`: nearest neighbors (the feature of that name); `cuda_match`: the same by addresses of
//!   device memory; `chamfer_value` and `cuda_chamfer`: one value for each pair, and its gradients.
//!
//! What users see, with its documentation, is Python: `python/farpoint`.

mod approximate;
#[cfg(feature = "chamfer")]
mod chamfer;
#[cfg(feature = "chamfer")]
mod chamfer_value;
mod cuda;
#[cfg(feature = "chamfer")]
mod cuda_chamfer;
#[cfg(feature = "chamfer")]
mod cuda_match;
mod dlpack;
mod error;
mod files;
mod host;
mod ragged;
mod view;
mod watch;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CudaUnavailable", py.get_type::<error::CudaUnavailable>())?;
    host::add(module)?;
    ragged::add(module)?;
    approximate::add(module)?;
    cuda::add(module)?;
    files::add(module)?;
    module.add_class::<dlpack::Imported>()?;
    module.add_class::<dlpack::DeviceArray>()?;
    #[cfg(feature = "chamfer")]
    {
        chamfer::add(module)?;
        chamfer_value::add(module)?;
        cuda_match::add(module)?;
        cuda_chamfer::add(module)?;
    }
    Ok(())
}
