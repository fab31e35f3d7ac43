//! Files that are packed by gzip, as `scan.xyz.gz`.

use crate::error::Error;
use crate::memory;
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// What a packed file starts with.
const MAGIC: &[u8] = b"\x1f\x8b\x08";
/// Bytes between two looks at the memory that is free.
const STEP: u64 = 64 << 20;

/// Whether bytes are packed.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Bytes that the last packed part says it holds, modulo 4 GiB.
pub(crate) fn stated_size(end: [u8; 4]) -> u64 {
    u32::from_le_bytes(end).into()
}

/// What is packed in the bytes of a file.
///
/// # Errors
/// If it is damaged, or takes more memory than is free.
pub(crate) fn unpacked(bytes: &[u8], name: &str) -> Result<Vec<u8>, Error> {
    let mut reader = MultiGzDecoder::new(bytes);
    let mut out = Vec::new();
    loop {
        let before = out.len();
        reader.by_ref().take(STEP).read_to_end(&mut out).map_err(|error| Error::UnknownFormat {
            name: name.to_owned(),
            what: format!("it cannot be unpacked: {error}"),
            fix: "the file is damaged or cut short: fetch it again".into(),
        })?;
        if out.len() == before {
            return Ok(out);
        }
        // What grows is moved to twice its size.
        memory::require(name, out.len() as u64)?;
    }
}
