//! Chain of kernels as a CUDA graph: a quarter of the time between two of them that starting them one
//! by one takes (2.3 us instead of 8.5, for a pair of small kernels on an H100).
//!
//! From compute capability 9.0 on each kernel may start while its predecessor still runs (programmatic
//! dependent launch): it reads what does not depend on that, and waits. The kernels are written for it;
//! see `wait_for_previous` in `kernels/radius/step.cuh`.

use super::Link;
use crate::driver::{self, sys};
use crate::{Error, Gpu, Stream};
use std::ffi::{c_uint, c_void};

/// Overlaps kernels if the card can. The result is the same.
const PROGRAMMATIC: bool = true;

/// A graph that can be launched many times.
pub(super) struct Chain<'a> {
    gpu: &'a Gpu,
    exec: sys::CUgraphExec,
}

impl<'a> Chain<'a> {
    /// Chains the kernels `links`, `repeats` times, all with the same argument.
    pub(super) fn new<A: Copy>(
        gpu: &'a Gpu,
        links: &[Link],
        args: &A,
        repeats: usize,
    ) -> Result<Self, Error> {
        let _current = gpu.bind()?;
        let template = Template::new(gpu)?;
        // SAFETY: this is the function's type.
        let add = unsafe { driver::symbol::<AddKernel>("cuGraphAddKernelNode_v2") };
        let add = add.map_err(Error::Unsupported)?;
        let nodes = std::iter::repeat_n(links, repeats)
            .flatten()
            .map(|link| template.add(add, gpu, link, args))
            .collect::<Result<Vec<_>, _>>()?;
        template.chain(gpu, &nodes)?;
        let mut exec = std::ptr::null_mut();
        // SAFETY: the graph was just made; writes the executable one, which `drop` destroys.
        let code = unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, template.0, 0) };
        gpu.check("cuGraphInstantiate", code)?;
        Ok(Self { gpu, exec })
    }

    /// Queues all kernels of the chain.
    ///
    /// # Safety
    /// The argument must be as the kernels require, and the memory it points to must stay valid, until
    /// the stream is done with them.
    pub(super) unsafe fn launch(&self, stream: &Stream) -> Result<(), Error> {
        let _current = self.gpu.bind()?;
        // SAFETY: graph and stream live; that the argument is what the kernels want is this function's
        // contract.
        let code = unsafe { sys::cuGraphLaunch(self.exec, stream.handle()) };
        self.gpu.check("cuGraphLaunch", code)
    }
}

impl Drop for Chain<'_> {
    fn drop(&mut self) {
        if let Ok(_current) = self.gpu.bind() {
            // SAFETY: made by `new`. Launches that are under way are finished.
            let _ = unsafe { sys::cuGraphExecDestroy(self.exec) };
        }
    }
}

/// A graph before instantiation.
struct Template(sys::CUgraph);

impl Template {
    fn new(gpu: &Gpu) -> Result<Self, Error> {
        let mut graph = std::ptr::null_mut();
        // SAFETY: writes the graph, which `drop` destroys.
        gpu.check("cuGraphCreate", unsafe { sys::cuGraphCreate(&mut graph, 0) })?;
        Ok(Self(graph))
    }

    /// Adds a kernel without dependencies.
    fn add<A: Copy>(
        &self,
        add: AddKernel,
        gpu: &Gpu,
        (function, launch): &Link,
        args: &A,
    ) -> Result<sys::CUgraphNode, Error> {
        let mut params = [(&raw const *args).cast_mut().cast::<c_void>()];
        let node_params = NodeParams {
            function: function.raw,
            grid: launch.grid,
            block: [launch.block, 1, 1],
            shared: launch.shared,
            params: params.as_mut_ptr(),
            extra: std::ptr::null_mut(),
            kernel: std::ptr::null_mut(),
            context: std::ptr::null_mut(),
        };
        let mut node = std::ptr::null_mut();
        // SAFETY: the driver copies the parameters before it returns; writes the node.
        let code = unsafe { add(&mut node, self.0, std::ptr::null(), 0, &node_params) };
        gpu.check("cuGraphAddKernelNode", code)?;
        Ok(node)
    }

    /// Makes each node depend on its predecessor.
    fn chain(&self, gpu: &Gpu, nodes: &[sys::CUgraphNode]) -> Result<(), Error> {
        let edges = nodes.len().saturating_sub(1);
        if edges == 0 {
            return Ok(());
        }
        let programmatic = PROGRAMMATIC && gpu.properties().capability >= 90;
        let edge = if programmatic { OVERLAPPING } else { Edge::default() };
        let edge_data = vec![edge; edges];
        // SAFETY: this is the function's type.
        let add = unsafe { driver::symbol::<AddEdges>("cuGraphAddDependencies_v2") };
        let add = add.map_err(Error::Unsupported)?;
        let (from, to) = (nodes.as_ptr(), nodes[1..].as_ptr());
        // SAFETY: all three lists have as many entries as there are edges.
        let code = unsafe { add(self.0, from, to, edge_data.as_ptr(), edges) };
        gpu.check("cuGraphAddDependencies", code)
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        // SAFETY: made by `new`.
        let _ = unsafe { sys::cuGraphDestroy(self.0) };
    }
}

// What follows mirrors cuda.h. The bindings have these types and functions only if made for
// CUDA 12, which depends on the toolkit of the machine that builds.

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
struct NodeParams {
    function: sys::CUfunction,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: *mut c_void,
    context: sys::CUcontext,
}

/// `CUgraphEdgeData`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct Edge {
    from_port: u8,
    to_port: u8,
    kind: u8,
    reserved: [u8; 5],
}

/// From `CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC`, of `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC`.
const OVERLAPPING: Edge = Edge { from_port: 1, to_port: 0, kind: 1, reserved: [0; 5] };

type AddKernel = unsafe extern "C" fn(
    *mut sys::CUgraphNode,
    sys::CUgraph,
    *const sys::CUgraphNode,
    usize,
    *const NodeParams,
) -> sys::CUresult;
type AddEdges = unsafe extern "C" fn(
    sys::CUgraph,
    *const sys::CUgraphNode,
    *const sys::CUgraphNode,
    *const Edge,
    usize,
) -> sys::CUresult;

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn structures_are_laid_out_as_in_cuda_h() {
        assert_eq!(size_of::<NodeParams>(), 72);
        assert_eq!(offset_of!(NodeParams, params), 40);
        assert_eq!(size_of::<Edge>(), 8);
    }
}
