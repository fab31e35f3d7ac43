//! Files compressed by gzip, such as `scan.xyz.gz`.

use crate::bytes::load;
use crate::bytes::share::Counter;
use crate::error::Error;
use flate2::read::MultiGzDecoder;
use std::io::{self, Read};

/// Magic bytes of a gzip file.
const MAGIC: &[u8] = b"\x1f\x8b\x08";
/// Returns whether the bytes are compressed by gzip.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Bytes that the last member declares to hold, modulo 4 GiB.
pub(crate) fn stated_size(end: [u8; 4]) -> u64 {
    u32::from_le_bytes(end).into()
}

/// Bytes whose reading counts.
struct Counted<'a> {
    bytes: &'a [u8],
    counter: Counter,
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(out)?;
        self.counter.add(read);
        Ok(read)
    }
}

/// Decompresses the bytes of a file.
///
/// # Errors
/// If it is damaged, or takes more memory than is free.
pub(crate) fn unpacked(bytes: &[u8], name: &str) -> Result<Vec<u8>, Error> {
    let packed = Counted { bytes, counter: Counter::of_bytes(bytes.len()) };
    load::stream(&mut MultiGzDecoder::new(packed), name, &|_| Ok(())).map_err(|error| match error {
        Error::Read { name, source } => Error::UnknownFormat {
            name,
            what: format!("it cannot be unpacked: {source}"),
            fix: "the file is damaged or truncated: download it again".into(),
        },
        error => error,
    })
}
