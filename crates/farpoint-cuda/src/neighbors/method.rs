//! The methods by name, and the one place that starts them.

use super::matching::{Matching, Shape};
use super::{TreeOptions, auto, pairs, tree};
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::Norm;
use std::fmt;
use std::str::FromStr;

/// Ways to find nearest points on a GPU. All give the same bits; they differ in speed only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// The fastest for the input and the card at hand, by measured rules.
    Auto,
    /// The textbook kernel: a thread a query, all points by tiles in shared memory.
    Plain,
    /// All pairs by registers, for batches of small clouds; up to three axes.
    Brute,
    /// Through box trees of both clouds.
    Tree,
}

impl Method {
    /// Every method, `Auto` first.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Plain, Self::Brute, Self::Tree];

    /// The name used in messages and benchmarks.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Plain => "plain",
            Self::Brute => "brute",
            Self::Tree => "tree",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("'{name}' is no method of the GPU; choose one of {names}")
        })
    }
}

/// A method with its switches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    pub(crate) method: Method,
    pub(crate) norm: Norm,
    pub(crate) tree: TreeOptions,
}

impl Choice {
    /// The same with `Auto` replaced by what it stands for here.
    pub(crate) fn resolve(self, device: &Gpu, shape: Shape) -> Self {
        let method = match self.method {
            Method::Auto => auto::choose(device.properties(), shape),
            method => method,
        };
        Self { method, ..self }
    }

    /// Bytes of scratch memory that `enqueue` uses.
    pub(crate) fn scratch_bytes<T: CudaScalar>(self, device: &Gpu, shape: Shape) -> usize {
        match self.resolve(device, shape).method {
            Method::Tree if !shape.is_empty() => {
                tree::scratch_bytes::<T>(device, shape, self.norm, self.tree)
            }
            _ => 0,
        }
    }

    /// Queues the search for a batch of pairs.
    ///
    /// # Safety
    /// The addresses in `matching` and `scratch` must be as `shape` says, and stay so until the
    /// stream has come past.
    pub(crate) unsafe fn enqueue<T: CudaScalar>(
        self,
        device: &Gpu,
        stream: &Stream,
        matching: &Matching,
        shape: Shape,
        scratch: Option<(u64, usize)>,
    ) -> Result<(), Error> {
        if shape.is_empty() {
            return Ok(());
        }
        let (s, m, norm) = (stream, matching, self.norm);
        // SAFETY: each of these has this function's contract, and is given its addresses and its shape.
        unsafe {
            match self.method {
                Method::Auto => {
                    let choice = self.resolve(device, shape);
                    choice.enqueue::<T>(device, stream, matching, shape, scratch)
                }
                Method::Plain => pairs::PLAIN.enqueue::<T>(device, s, m, shape, norm),
                Method::Brute => pairs::BRUTE.enqueue::<T>(device, s, m, shape, norm),
                Method::Tree => tree::enqueue::<T>(device, s, m, shape, scratch, norm, self.tree),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Method;

    #[test]
    fn names_are_read_back() {
        for method in Method::ALL {
            assert_eq!(method.name().parse(), Ok(method));
            assert_eq!(method.to_string(), method.name());
        }
        let error = "grid".parse::<Method>().unwrap_err();
        assert!(error.contains("grid") && error.contains("auto, plain, brute, tree"), "{error}");
    }
}
