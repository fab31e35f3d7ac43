//! Driver of a run over tiles that a function of Python reaches.

use super::failed;
use crate::watch::without_gil;
use farpoint::{Amount, Scalar};
use farpoint_tiles::{ByteTransport, Bytes, Encoded, Entry, Error, Lost, Plan, TileId};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};

/// The floor of a deep band over its largest squared distance: less deep than where one tile follows another, because
/// what tiles must tell each other in rounds falls faster than the number of rounds grows.
const DEEP: f64 = 0.5;

/// Undecided points that one tile is told at once: 256 MB of messages (float64: 448). Below that, what is told to several
/// tiles round by round is more.
const GATHER: u64 = 1 << 23;

/// A start: row, coordinates, the tile that holds it.
type PlainStart = (u64, [f64; 3], u32);
/// Counters by name.
type Counts = Vec<(&'static str, u64)>;

/// Drives a run: one band after another. Nothing but what is in `manifest` is needed to go on.
#[pyclass(frozen, module = "farpoint._native")]
pub(super) struct Conductor {
    driver: Mutex<Box<dyn Driver>>,
    transport: Py<PyAny>,
}

#[pymethods]
impl Conductor {
    /// Begins a run, or goes on from a manifest. `transport` takes a list of calls, each a tile and a request,
    /// and returns a list of replies: bytes, or the reason why a call was lost. `tries` is how often a call is
    /// made before the run is given up.
    #[new]
    #[pyo3(signature = (double, count, ratio, spacing, starts, tiles, transport, tries, manifest))]
    #[expect(clippy::too_many_arguments, reason = "the options of the function in Python")]
    fn new(
        py: Python<'_>,
        double: bool,
        count: Option<usize>,
        ratio: Option<f64>,
        spacing: Option<f64>,
        starts: Vec<PlainStart>,
        tiles: u32,
        transport: Py<PyAny>,
        tries: usize,
        manifest: Option<&[u8]>,
    ) -> PyResult<Self> {
        let amount = match (count, ratio, spacing) {
            (Some(count), None, None) => Amount::Count(count),
            (None, Some(ratio), None) => Amount::Ratio(ratio),
            (None, None, Some(spacing)) => Amount::Spacing(spacing),
            _ => return Err(PyValueError::new_err("pass one of count, ratio and spacing")),
        };
        let request = Request { amount, starts, tiles, tries };
        let driver = with(py, &transport, |transport| {
            Ok(match double {
                false => Box::new(request.driver::<f32>(manifest, transport)?) as Box<dyn Driver>,
                true => Box::new(request.driver::<f64>(manifest, transport)?),
            })
        })?;
        Ok(Self { driver: Mutex::new(driver), transport })
    }

    /// Samples one band more: samples so far, of which the last may be too many, and samples wanted at
    /// most. None if all are done.
    fn advance(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        with(py, &self.transport, |transport| self.driver().advance(transport))
    }

    /// Returns the state after the last band.
    fn manifest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &without_gil(py, || self.driver().manifest()))
    }

    /// Returns samples and covering radius, once the run is done.
    fn outcome(&self, py: Python<'_>) -> Option<(u64, f64)> {
        without_gil(py, || self.driver().outcome())
    }

    /// Returns all samples in order of choice: their rows and selection distances, not squared.
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn chosen<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>)> {
        let (rows, distances) =
            with(py, &self.transport, |transport| self.driver().chosen(transport))?;
        Ok((PyArray1::from_vec(py, rows), PyArray1::from_vec(py, distances)))
    }

    /// Returns the counters since the run was begun or resumed.
    fn statistics(&self, py: Python<'_>) -> Counts {
        without_gil(py, || self.driver().statistics())
    }
}

impl Conductor {
    fn driver(&self) -> std::sync::MutexGuard<'_, Box<dyn Driver>> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parameters of a run.
struct Request {
    amount: Amount,
    starts: Vec<PlainStart>,
    tiles: u32,
    tries: usize,
}

impl Request {
    fn driver<T: Scalar>(
        self,
        manifest: Option<&[u8]>,
        transport: &mut dyn ByteTransport,
    ) -> Result<farpoint_tiles::Conductor<T>, Error> {
        let entry = |&(index, at, tile): &PlainStart| Entry {
            at: at.map(T::from_f64),
            value: T::INFINITY,
            index,
            tile,
        };
        let starts = self.starts.iter().map(entry).collect();
        let plan = Plan::new(self.amount, starts).tries(self.tries).deep(DEEP).gather(GATHER);
        match manifest {
            Some(manifest) => {
                farpoint_tiles::Conductor::resume(plan, manifest, &mut Encoded(transport))
            }
            None => farpoint_tiles::Conductor::begin(plan, self.tiles, &mut Encoded(transport)),
        }
    }
}

/// A conductor of either precision.
trait Driver: Send {
    fn advance(&mut self, transport: &mut dyn ByteTransport) -> Result<Option<(u64, u64)>, Error>;
    fn manifest(&self) -> Bytes;
    fn outcome(&self) -> Option<(u64, f64)>;
    fn chosen(&mut self, transport: &mut dyn ByteTransport) -> Result<(Vec<i64>, Vec<f64>), Error>;
    fn statistics(&self) -> Counts;
}

impl<T: Scalar> Driver for farpoint_tiles::Conductor<T> {
    fn advance(&mut self, transport: &mut dyn ByteTransport) -> Result<Option<(u64, u64)>, Error> {
        Ok(self.advance(&mut Encoded(transport))?.map(|band| (band.samples, band.limit)))
    }

    fn manifest(&self) -> Bytes {
        self.manifest()
    }

    fn outcome(&self) -> Option<(u64, f64)> {
        let outcome = self.outcome()?;
        Some((outcome.samples, outcome.squared_covering_radius.sqrt().to_f64()))
    }

    fn chosen(&mut self, transport: &mut dyn ByteTransport) -> Result<(Vec<i64>, Vec<f64>), Error> {
        let (mut rows, mut distances) = (Vec::new(), Vec::new());
        self.chosen(&mut Encoded(transport), &mut |key| {
            rows.push(key.index() as i64);
            distances.push(key.value::<T>().sqrt().to_f64());
            Ok(())
        })?;
        Ok((rows, distances))
    }

    fn statistics(&self) -> Counts {
        let counters = self.statistics();
        vec![
            ("bands", counters.bands),
            ("deep_bands", counters.deep_bands),
            ("rounds", counters.rounds),
            ("candidates", counters.candidates),
            ("undecided", counters.undecided),
            ("sent_facts", counters.sent_facts),
            ("sent_undecided", counters.sent_undecided),
            ("calls", counters.calls),
            ("repeated", counters.repeated),
            ("recovered", counters.recovered),
        ]
    }
}

/// Works without the GIL, which the transport takes for its calls. What they raise is raised.
fn with<R: Send>(
    py: Python<'_>,
    callable: &Py<PyAny>,
    work: impl FnOnce(&mut dyn ByteTransport) -> Result<R, Error> + Send,
) -> PyResult<R> {
    without_gil(py, || {
        let mut transport = PythonTransport { callable, raised: None };
        let result = work(&mut transport);
        match transport.raised {
            Some(raised) => Err(raised),
            None => result.map_err(failed),
        }
    })
}

/// A function of Python that makes the calls.
struct PythonTransport<'a> {
    callable: &'a Py<PyAny>,
    raised: Option<PyErr>,
}

impl PythonTransport<'_> {
    fn try_call(&self, calls: &[(TileId, Bytes)]) -> PyResult<Vec<Result<Bytes, Lost>>> {
        Python::attach(|py| {
            let plain: Vec<_> =
                calls.iter().map(|(tile, request)| (*tile, PyBytes::new(py, request))).collect();
            let mut results = Vec::with_capacity(calls.len());
            for reply in self.callable.call1(py, (plain,))?.bind(py).try_iter()? {
                let reply = reply?;
                results.push(match reply.extract::<String>() {
                    Ok(reason) => Err(Lost(reason)),
                    Err(_) => Ok(reply.extract::<&[u8]>()?.to_vec()),
                });
            }
            Ok(results)
        })
    }
}

impl ByteTransport for PythonTransport<'_> {
    fn call(&mut self, calls: &[(TileId, Bytes)]) -> Vec<Result<Bytes, Lost>> {
        let lost = || calls.iter().map(|_| Err(Lost("the transport has failed".into()))).collect();
        if self.raised.is_some() {
            return lost();
        }
        match self.try_call(calls) {
            Ok(results) => results,
            Err(error) => {
                self.raised = Some(error);
                lost()
            }
        }
    }
}
