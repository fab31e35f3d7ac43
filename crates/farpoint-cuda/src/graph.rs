//! CUDA graphs: work recorded once, launched many times.

use crate::driver::sys;
use crate::{Error, Gpu, Stream};

/// Work that was captured from a stream.
pub struct Graph {
    gpu: Gpu,
    exec: sys::CUgraphExec,
}

// SAFETY: the handle is a name that the driver accepts from every thread.
unsafe impl Send for Graph {}

impl Stream {
    /// Captures what `work` queues on this stream instead of running it.
    ///
    /// This must not be the legacy default stream. The memory that the work uses must live as long as
    /// the graph is launched.
    ///
    /// # Errors
    /// If `work` fails, or queues something that can't be captured.
    pub fn capture(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<Graph, Error> {
        let gpu = self.gpu();
        let _current = gpu.bind()?;
        self.set_captured();
        // Other threads are not restricted meanwhile.
        let mode = sys::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives.
        let code = unsafe { sys::cuStreamBeginCapture_v2(self.handle(), mode) };
        gpu.check("cuStreamBeginCapture", code)?;
        let result = work();
        let mut graph = std::ptr::null_mut();
        // The capture must end even if the work failed.
        // SAFETY: begun above; writes the graph.
        let code = unsafe { sys::cuStreamEndCapture(self.handle(), &mut graph) };
        let graph = Template(graph);
        result?;
        gpu.check("cuStreamEndCapture", code)?;
        let mut exec = std::ptr::null_mut();
        // SAFETY: the graph was just made; writes the executable one.
        let code = unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, graph.0, 0) };
        gpu.check("cuGraphInstantiate", code)?;
        Ok(Graph { gpu: gpu.clone(), exec })
    }
}

impl Graph {
    /// Queues the captured work on a stream of the same GPU.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// The memory that the work uses must still satisfy the contracts of the calls that were captured.
    pub unsafe fn launch(&self, stream: &Stream) -> Result<(), Error> {
        let _current = self.gpu.bind()?;
        // SAFETY: graph and stream live; by this function's contract so does what the work uses, which
        // is all that the driver requires.
        let code = unsafe { sys::cuGraphLaunch(self.exec, stream.handle()) };
        self.gpu.check("cuGraphLaunch", code)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if let Ok(_current) = self.gpu.bind() {
            // SAFETY: made by `capture`. Launches that are under way are finished.
            let _ = unsafe { sys::cuGraphExecDestroy(self.exec) };
        }
    }
}

/// A graph before instantiation.
struct Template(sys::CUgraph);

impl Drop for Template {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: made by the end of a capture.
            let _ = unsafe { sys::cuGraphDestroy(self.0) };
        }
    }
}
