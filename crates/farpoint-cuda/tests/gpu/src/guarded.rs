//! Device memory with a rim that no kernel may write.

use farpoint_cuda::{Buffer, Element, Error, Stream};

/// Numbers of the rim on either side: a multiple of 256 bytes for every type.
const RIM: usize = 256;

/// An array between two rims, all of it filled with the same bytes at first.
pub(crate) struct Guarded<E> {
    buffer: Buffer<E>,
    len: usize,
    fill: E,
}

impl<E: Element + PartialEq> Guarded<E> {
    pub(crate) fn new(stream: &Stream, len: usize) -> Result<Self, Error> {
        let mut buffer = Buffer::new(stream, len + 2 * RIM, "a guarded array")?;
        buffer.fill(0xa5)?;
        let fill = buffer.download(1)?[0];
        Ok(Self { buffer, len, fill })
    }

    /// The address of the array within its rims.
    pub(crate) fn pointer(&self) -> u64 {
        self.buffer.pointer() + (RIM * size_of::<E>()) as u64
    }

    /// The numbers, once the stream is done; an error if a rim was written.
    pub(crate) fn read(&self, label: &str) -> anyhow::Result<Vec<E>> {
        let all = self.buffer.download(self.len + 2 * RIM)?;
        let rims = [&all[..RIM], &all[RIM + self.len..]];
        let whole = rims.into_iter().flatten().all(|x| *x == self.fill);
        anyhow::ensure!(whole, "{label} was written beyond its ends");
        Ok(all[RIM..RIM + self.len].to_vec())
    }

    /// Returns the numbers, without checking the rims.
    pub(crate) fn numbers(&self) -> Result<Vec<E>, Error> {
        let all = self.buffer.download(self.len + 2 * RIM)?;
        Ok(all[RIM..RIM + self.len].to_vec())
    }

    /// Returns the value of an untouched number.
    pub(crate) fn untouched(&self) -> E {
        self.fill
    }
}
