//! Writing LAS and LAZ a block of records at a time: the same bytes as all at once.

use super::counts::Counts;
use super::describe::describe_kept;
use super::write::{before_points, header_bytes, move_extended, prepare, warn_of_octree};
use crate::error::Fault;
use crate::header::LasHeader;
use crate::layout::Blocks;
use crate::quiet::guarded;
use laz::{LazVlr, ParLasZipCompressor};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

/// Writes the input's header, the records that `next` gives and what comes after them.
pub(crate) fn stream(
    header: &LasHeader,
    compress: bool,
    file: &mut File,
    next: Blocks<'_>,
    warnings: &mut Vec<String>,
) -> Result<(), Fault> {
    let mut header = header.clone();
    warn_of_octree(&header, warnings);
    describe_kept(&mut header, &[])?;
    let laz = prepare(&mut header, compress)?;
    let mut counts = Counts::new(&header);
    file.write_all(&before_points(&header)?).map_err(unwritten)?;
    let mut counted = || {
        let block = next()?;
        block.iter().for_each(|block| counts.add(block));
        Ok(block)
    };
    match laz {
        Some(vlr) => compressed(file, vlr, &mut counted)?,
        None => {
            while let Some(block) = counted().map_err(unwritten)? {
                file.write_all(&block).map_err(unwritten)?;
            }
        }
    }
    counts.state(&mut header);
    let end = file.stream_position().map_err(unwritten)?;
    move_extended(&mut header, end);
    for record in &header.extended {
        file.write_all(&record.bytes).map_err(unwritten)?;
    }
    file.seek(SeekFrom::Start(0)).map_err(unwritten)?;
    file.write_all(&header_bytes(&header.raw)?).map_err(unwritten)
}

/// A fault that the system's error is found in again.
fn unwritten(error: std::io::Error) -> Fault {
    Fault { io: Some(error), ..Fault::new("cannot be written") }
}

fn compressed(file: &mut File, vlr: LazVlr, next: Blocks<'_>) -> Result<(), Fault> {
    guarded("the points cannot be compressed", || {
        let mut laz = ParLasZipCompressor::new(&mut *file, vlr)
            .map_err(|e| Fault::new(format!("the points cannot be compressed: {e}")))?;
        // Without any point there is a table all the same.
        laz.compress_many(&[]).map_err(unwritten)?;
        while let Some(block) = next().map_err(unwritten)? {
            laz.compress_many(&block).map_err(unwritten)?;
        }
        let done = laz.done();
        done.map_err(|e| unwritten(std::io::Error::other(e.to_string())))
    })?;
    file.seek(SeekFrom::End(0)).map_err(unwritten)?;
    Ok(())
}
