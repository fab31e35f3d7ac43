//! Several neighbors of each point: of NumPy arrays (`host`, by the clouds of a `side`), trees that are
//! built once (`index`), and by addresses of device memory (`device`).

mod device;
mod gradients;
mod host;
mod index;
mod side;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use farpoint::{Norm, Order, Searcher};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    host::add(module)?;
    gradients::add(module)?;
    index::add(module)?;
    device::add(module)
}

/// Parameters of a search, checked by Python.
#[derive(FromPyObject)]
struct Request {
    /// Most neighbors of a point; all in the ball unless set.
    k: Option<usize>,
    /// "nearest", "ball" with a radius and a smallest radius, or "raw" with limits of raw
    /// distances.
    kind: String,
    limits: [f64; 3],
    inclusive: bool,
    by_index: bool,
    exclude_self: bool,
    norm: u8,
    /// Set for indices of 32 bits, else 64.
    narrow: bool,
    threads: Option<usize>,
}

impl Request {
    /// Returns the job; of all neighbors if `k` is not set.
    fn searcher(&self) -> PyResult<Searcher> {
        let (k, [maximum, minimum, near]) = (self.k.unwrap_or(1), self.limits);
        let order = if self.by_index { Order::Index } else { Order::Nearest };
        let searcher = match self.kind.as_str() {
            "nearest" => Searcher::nearest(k),
            "ball" => Searcher::ball(maximum, k),
            "raw" => Searcher::raw_ball(maximum, k),
            other => {
                return Err(PyValueError::new_err(format!("there is no search \"{other}\"")));
            }
        };
        let norm = match self.norm {
            1 => Norm::One,
            2 => Norm::Two,
            norm => {
                return Err(PyValueError::new_err(format!("norm is {norm}; it must be 1 or 2")));
            }
        };
        let searcher =
            searcher.min_radius(minimum).near(near).inclusive(self.inclusive).order(order);
        Ok(searcher.norm(norm).exclude_self(self.exclude_self))
    }
}
