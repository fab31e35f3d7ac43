//! Writing stored rows, a block at a time, in the format of the input.

use super::{Content, Reader};
use crate::bytes::sink::{Sink, put_by};
use crate::cloud::column::NumberType;
use crate::cloud::header::DataKind;
use crate::cloud::header::Header;
use crate::error::{Error, ParseError};
use crate::files::output::{left_out, output_format};
use crate::format::Format;
use crate::{Encoding, WriteOptions, formats::las, formats::npy, formats::pcd, formats::ply};
use ply_rs_bw::ply::Encoding as PlyEncoding;
use std::io::{self, Write};
use std::path::Path;

impl Reader {
    /// Returns whether writing to `path` with these options copies stored rows, so that [`Reader::write_stored`] writes
    /// the bytes that [`crate::write()`] does.
    ///
    /// # Errors
    /// [`Error::Output`] if the format cannot be written.
    pub fn copies_rows(&self, path: &Path, options: &WriteOptions) -> Result<bool, Error> {
        if !matches!(self.content, Content::Parts { .. }) || path == Path::new("-") {
            return Ok(false);
        }
        let format = output_format(path, options)?;
        let single = self.is_single();
        let precise = options.precision.is_none_or(|p| (p.kind() == NumberType::F32) == single);
        let encoding = options.encoding;
        Ok(match (&self.head().header, format) {
            (Header::Las(_), Format::Las | Format::Laz) => options.scale.is_none(),
            (Header::Ply(header), Format::Ply) => {
                let stored = match header.encoding {
                    PlyEncoding::BinaryBigEndian => Encoding::BinaryBigEndian,
                    _ => Encoding::Binary,
                };
                precise && encoding.is_none_or(|encoding| encoding == stored)
            }
            (Header::Pcd(header), Format::Pcd) => {
                let binary = encoding.is_none_or(|encoding| encoding == Encoding::Binary);
                precise && binary && header.data == DataKind::Binary
            }
            (Header::Npy(_), Format::Npy) => precise,
            _ => false,
        })
    }

    /// Writes `count` stored rows that `next` returns, one after another in blocks of any size, with the header of
    /// this file. The bytes are those that [`crate::write()`] writes. Returns warnings.
    ///
    /// # Errors
    /// [`Error::Write`] if the system refuses, or the error of `next`. The output is complete or not there.
    ///
    /// # Panics
    /// Unless [`Reader::copies_rows`].
    pub fn write_stored<E: From<Error>>(
        &self,
        path: &Path,
        options: &WriteOptions,
        count: u64,
        mut next: impl FnMut() -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Vec<String>, E> {
        assert!(self.copies_rows(path, options)?, "rows must be written as they are stored");
        let format = output_format(path, options)?;
        let mut warnings: Vec<String> = left_out(self.head(), format).into_iter().collect();
        let (mut row_error, mut output_error) = (None, None);
        let mut blocks = || {
            next().map_err(|error| {
                row_error = Some(error);
                io::Error::other("no more rows")
            })
        };
        let written = put_by(path, |sink| {
            let Sink::File(file) = sink else { return Err(io::Error::other("is no file")) };
            if let Header::Las(header) = &self.head().header {
                let compress = format == Format::Laz;
                let done = las::stream(header, compress, file, &mut blocks, &mut warnings);
                return done.map_err(|found| io_error(found, &mut output_error));
            }
            file.write_all(&self.head_of_output(count))?;
            while let Some(block) = blocks()? {
                file.write_all(&block)?;
            }
            Ok(())
        });
        match (row_error, output_error) {
            (Some(error), _) => Err(error),
            (None, Some(ParseError { what, fix, .. })) => {
                Err(Error::Output { name: path.display().to_string(), what, fix }.into())
            }
            (None, None) => written.map(|()| warnings).map_err(E::from),
        }
    }

    /// Returns the header for `count` rows.
    fn head_of_output(&self, count: u64) -> Vec<u8> {
        let (head, count) = (self.head(), count as usize);
        match (&head.header, &head.table) {
            (Header::Ply(header), _) => ply::same_header(header, count, &[]),
            (Header::Pcd(header), Some(table)) => {
                pcd::kept_header(header, &table.dimensions, &[], count, DataKind::Binary)
            }
            (Header::Npy(header), Some(table)) => npy::same_header(header, table, count),
            _ => Vec::new(),
        }
    }
}

/// Returns the system's error, or another one after storing the parse error.
fn io_error(mut failed: ParseError, stored: &mut Option<ParseError>) -> io::Error {
    match failed.io.take() {
        Some(error) => error,
        None => {
            *stored = Some(failed);
            io::Error::other("the output cannot be made")
        }
    }
}
