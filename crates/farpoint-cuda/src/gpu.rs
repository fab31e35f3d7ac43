//! A GPU: its primary context, its properties, and the kernels loaded on it.

use crate::context::{Context, Current};
use crate::driver::{self, check, sys};
use crate::module::{Function, Loaded, Modules};
use crate::once::OncePerKey;
use crate::watch::Watch;
use crate::{CudaScalar, Error, Properties};
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A GPU of this machine, ready for work. Cheap to clone; may be used from any thread.
///
/// It uses the GPU's *primary* context, as the CUDA runtime and PyTorch do, so that their pointers and
/// streams are valid here. A GPU stays open until the program ends: opening it again costs nothing.
///
/// It is a [`farpoint::Device`]: [`farpoint::Sampler::on`] and [`farpoint::Matcher::on`] take it. Its
/// own methods work on device memory.
#[derive(Clone)]
pub struct Gpu(Arc<Inner>);

struct Inner {
    ordinal: usize,
    /// Compute capability that it is limited to, if any.
    max_capability: Option<u32>,
    modules: Modules,
    watch: Watch,
    /// Clusters that it runs at once, by bytes per number, blocks, threads and bytes of shared memory.
    clusters: OncePerKey<[usize; 4], u32>,
    /// Bytes of its memory that a test lets it use.
    memory_limit: AtomicUsize,
    /// Blocks per pair of [`farpoint::Method::Tree`], as set by a test; 0 if not set.
    tree_team: AtomicU32,
    /// Dropped last: the other fields depend on it.
    context: Context,
}

/// GPUs opened so far.
static OPEN: Mutex<Vec<Gpu>> = Mutex::new(Vec::new());

impl Gpu {
    /// Opens the GPU with this ordinal; the first is 0.
    ///
    /// # Errors
    /// If CUDA can't be used, if there is no such GPU, or if it can't be opened.
    pub fn new(ordinal: usize) -> Result<Self, Error> {
        Self::open(ordinal, None)
    }

    /// Opens the same GPU as a card of at most this compute capability (75 for 7.5): kernels are
    /// compiled by the driver from the PTX for it, and launches use no feature that it lacks. For tests
    /// of that code without such a card; results are the same, times are not.
    ///
    /// # Errors
    /// Same as [`Gpu::new`].
    #[doc(hidden)]
    pub fn with_capability(ordinal: usize, max_capability: u32) -> Result<Self, Error> {
        Self::open(ordinal, Some(max_capability))
    }

    fn open(ordinal: usize, max_capability: Option<u32>) -> Result<Self, Error> {
        let count = driver::device_count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice { ordinal, count });
        }
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|gpu| !gpu.0.context.is_lost());
        let matches =
            |gpu: &&Self| gpu.0.ordinal == ordinal && gpu.0.max_capability == max_capability;
        if let Some(gpu) = open.iter().find(matches) {
            return Ok(gpu.clone());
        }
        let gpu = Self(Arc::new(Inner::open(ordinal, max_capability)?));
        open.push(gpu.clone());
        Ok(gpu)
    }

    /// Opens all GPUs of this machine.
    ///
    /// # Errors
    /// If CUDA can't be used, or one of them can't be opened.
    pub fn all() -> Result<Vec<Self>, Error> {
        (0..driver::device_count()?).map(Self::new).collect()
    }

    /// Returns the ordinal of the GPU on this machine, from 0.
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// Returns name, size and features of the GPU.
    pub fn properties(&self) -> &Properties {
        &self.0.context.properties
    }

    /// For tests: places clouds that take more bytes of its memory than this partly in host memory, as if the GPU had
    /// no more; as much as is free if `None`. Changes the time that takes, never a result.
    #[doc(hidden)]
    pub fn set_memory_limit(&self, bytes: Option<usize>) {
        self.0.memory_limit.store(bytes.unwrap_or(usize::MAX), Ordering::Relaxed);
    }

    /// Returns whether a test has limited its memory.
    pub(crate) fn has_memory_limit(&self) -> bool {
        self.0.memory_limit.load(Ordering::Relaxed) != usize::MAX
    }

    /// Returns the bytes of its memory that a cloud may take: the free ones less `reserve`.
    pub(crate) fn available_memory(&self, reserve: usize) -> Result<usize, Error> {
        Ok(self
            .memory()?
            .0
            .saturating_sub(reserve)
            .min(self.0.memory_limit.load(Ordering::Relaxed)))
    }

    /// Returns the free and the total bytes of memory.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn memory(&self) -> Result<(usize, usize), Error> {
        let _current = self.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two numbers.
        check("cuMemGetInfo", unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) })?;
        Ok((free, total))
    }

    /// Loads every kernel now, so that no later call waits for that: a fraction of a second for machine
    /// code, up to a minute if the driver compiles PTX (all of it on a card newer than this crate),
    /// which it caches on disk.
    /// Does not disturb calls before or meanwhile. It is optional: without it, a call loads the kernels
    /// it uses.
    ///
    /// # Errors
    /// If a kernel can't be loaded.
    pub fn warm_up(&self) -> Result<(), Error> {
        self.0.modules.load_all(&self.0.context)
    }

    /// Returns the cost of loading kernels on this GPU so far.
    pub fn loaded(&self) -> Loaded {
        self.0.modules.loaded()
    }

    /// For tests: sets the number of blocks per pair of [`farpoint::Method::Tree`] in all later calls;
    /// chosen by measured rules if `None`. Changes the time a search takes, never its result.
    #[doc(hidden)]
    pub fn set_tree_team(&self, team: Option<u32>) {
        self.0.tree_team.store(team.unwrap_or(0), Ordering::Relaxed);
    }

    pub(crate) fn tree_team(&self) -> Option<u32> {
        Some(self.0.tree_team.load(Ordering::Relaxed)).filter(|&team| team > 0)
    }

    /// Makes the GPU's context current on this thread until the guard is dropped.
    pub(crate) fn bind(&self) -> Result<Current<'_>, Error> {
        self.0.context.bind()
    }

    /// Returns the kernel `name` of `module.cu` in the precision of `T`; loads the module on first use.
    #[doc(hidden)]
    pub fn function<T: CudaScalar>(
        &self,
        module: &'static str,
        name: &'static str,
    ) -> Result<Function, Error> {
        self.0.modules.function(&self.0.context, module, name, T::SUFFIX)
    }

    /// Returns the number of clusters of a size that run at once, as `ask` says, which is called once per size.
    pub(crate) fn clusters_at_once(
        &self,
        size: [usize; 4],
        ask: impl FnOnce() -> Result<u32, Error>,
    ) -> Result<u32, Error> {
        self.0.clusters.get(size, ask)
    }

    /// Returns the words in which kernels report that they gave up.
    pub(crate) fn watch(&self) -> &Watch {
        &self.0.watch
    }

    /// Converts a status code into an error, and records whether the context is damaged.
    pub(crate) fn check(&self, call: &'static str, code: sys::CUresult) -> Result<(), Error> {
        self.0.context.check(call, code)
    }

    /// Records that the context is damaged.
    pub(crate) fn lose(&self, during: &str, code: sys::CUresult) -> Error {
        self.0.context.lose(during, code)
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu({}: {})", self.ordinal(), self.properties().name)
    }
}

impl PartialEq for Gpu {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Inner {
    fn open(ordinal: usize, max_capability: Option<u32>) -> Result<Self, Error> {
        let context = Context::new(ordinal, max_capability)?;
        let watch = {
            let _current = context.bind()?;
            Watch::new()?
        };
        // Machine code is for the card as it is.
        let modules = Modules::new(context.properties.capability, max_capability.is_none());
        let clusters = OncePerKey::default();
        let tree_team = AtomicU32::new(0);
        let memory_limit = AtomicUsize::new(usize::MAX);
        Ok(Self {
            ordinal,
            max_capability,
            modules,
            watch,
            clusters,
            memory_limit,
            tree_team,
            context,
        })
    }
}
