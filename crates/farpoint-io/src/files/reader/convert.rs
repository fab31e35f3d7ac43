//! Writing rows in any format a block at a time: the same bytes as for all rows at once.
//!
//! The decisions of a writer for all rows (names, types, the scale of coordinates) depend on their extreme values. So
//! every block is written together with the few chosen rows that have those, whose records are then cut off again;
//! blocks that are not written alike are an error.

mod extremes;
mod shape;

use super::{Content, Reader};
use crate::bytes::sink::{Sink, put_by};
use crate::cloud::Cloud;
use crate::cloud::column::Column;
use crate::cloud::header::DataKind;
use crate::cloud::header::{Header, LasHeader};
use crate::cloud::statistics::Statistics;
use crate::error::{Error, ParseError};
use crate::files::output::{encode, output_format};
use crate::format::Format;
use crate::{Encoding, TextStyle, WriteOptions, formats::las};
use extremes::Extremes;
use shape::{Head, Shape};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// The stored rows of a block, and a column that is added to them, with its name.
pub(super) type BlockRows = (Vec<u8>, Option<(&'static str, Column)>);

/// Returns a block.
type Block<'a> = &'a mut dyn FnMut(usize) -> io::Result<BlockRows>;

/// State of writing in blocks.
struct Writing<'a> {
    reader: &'a Reader,
    name: String,
    format: Format,
    options: WriteOptions,
    /// Facts about all rows of the file.
    statistics: Arc<Statistics>,
    /// The chosen rows that have extreme values.
    extremes: Vec<u8>,
    /// Number of rows in all.
    count: u64,
    /// The first block's header.
    head: Option<Head>,
    /// The same, if it is one of LAS.
    las: Option<Box<LasHeader>>,
    warnings: Vec<String>,
    failure: Option<Error>,
}

impl Reader {
    /// Returns whether [`Reader::write_blocks`] can write to `path` with these options.
    ///
    /// # Errors
    /// [`Error::Output`] if the format cannot be written.
    pub fn writes_blocks(&self, path: &Path, options: &WriteOptions) -> Result<bool, Error> {
        if !matches!(self.content, Content::Parts { .. }) || path == Path::new("-") {
            return Ok(false);
        }
        let input_packed = match &self.head().header {
            Header::Pcd(header) => header.data == DataKind::BinaryCompressed,
            _ => false,
        };
        let packed = options
            .encoding
            .map_or(input_packed, |requested| requested == Encoding::BinaryCompressed);
        Ok(match output_format(path, options)? {
            Format::Ply | Format::Las | Format::Laz | Format::Npy | Format::Text => true,
            Format::Pcd => !packed,
            _ => false,
        })
    }

    /// Writes `count` stored rows that `block` returns for each number below `blocks`, each twice: one after another,
    /// or each with a line feed if rows are lines ([`Reader::stride`] is `None`). An added column is one of floats, the
    /// first of which is infinite. Reads the file once, on `threads`
    /// threads, for the facts about all rows that a writer needs. The bytes are those that [`crate::write()`] writes
    /// of these rows of the whole cloud. Returns warnings.
    ///
    /// # Errors
    /// Same as [`crate::write()`] and [`Reader::read`], errors of `block`, and [`Error::Output`] if blocks come out
    /// differently, as lines can that differ among themselves. The output is complete or not there.
    ///
    /// # Panics
    /// Unless [`Reader::writes_blocks`], and if there is no block.
    pub fn write_blocks<E: From<Error>>(
        &self,
        path: &Path,
        options: &WriteOptions,
        (count, blocks, threads): (u64, usize, usize),
        mut block: impl FnMut(usize) -> Result<BlockRows, E>,
    ) -> Result<Vec<String>, E> {
        assert!(self.writes_blocks(path, options)? && blocks > 0, "blocks that can be written");
        let mut writing = self.writing(path, options, count, threads)?;
        let mut found = Extremes::default();
        for k in 0..blocks {
            found.look(&writing.cloud(block(k)?.0)?);
        }
        writing.extremes = found.stored(self.stride().is_none());
        let mut block_error: Option<E> = None;
        let written = put_by(path, |sink| {
            let Sink::File(file) = sink else { return Err(io::Error::other("is no file")) };
            writing.run(file, blocks, &mut |k| {
                block(k).map_err(|error| {
                    block_error = Some(error);
                    io::Error::other("no more rows")
                })
            })
        });
        match (block_error, writing.failure) {
            (Some(error), _) => Err(error),
            (None, Some(failure)) => Err(failure.into()),
            (None, None) => written.map(|()| writing.warnings).map_err(E::from),
        }
    }

    fn writing(
        &self,
        path: &Path,
        options: &WriteOptions,
        count: u64,
        threads: usize,
    ) -> Result<Writing<'_>, Error> {
        let format = output_format(path, options)?;
        let style = options.style.or_else(|| Some(TextStyle::of(path)));
        // Compressed once all is assembled.
        let each = if format == Format::Laz { Format::Las } else { format };
        let (extremes, head, las, warnings, failure) = Default::default();
        Ok(Writing {
            reader: self,
            name: path.display().to_string(),
            format,
            options: options.clone().format(each).style(style),
            statistics: Arc::new(self.statistics(threads)?),
            extremes,
            count,
            head,
            las,
            warnings,
            failure,
        })
    }
}

impl Writing<'_> {
    /// Returns the cloud of stored rows.
    fn cloud(&self, stored: Vec<u8>) -> Result<Cloud, Error> {
        Ok(Cloud {
            statistics: Some(Arc::clone(&self.statistics)),
            ..self.reader.stored_cloud(stored)?
        })
    }

    /// Writes all blocks.
    fn run(&mut self, file: &mut File, blocks: usize, block: Block<'_>) -> io::Result<()> {
        let mut first = Some(self.body(block(0)?)?);
        if let Some(header) = self.las.take() {
            let (compress, mut number, mut ignored) = (self.format == Format::Laz, 0, Vec::new());
            let mut next = || {
                number += 1;
                match first.take() {
                    Some(body) => Ok(Some(body)),
                    None if number > blocks => Ok(None),
                    None => self.body(block(number - 1)?).map(Some),
                }
            };
            let done = las::stream(&header, compress, file, &mut next, &mut ignored);
            return done.map_err(|mut found| match found.io.take() {
                Some(error) => error,
                None => self.refuse(output_error(&self.name, found)),
            });
        }
        let head = self.head.as_ref().map(|head| head.with_count(self.count));
        file.write_all(&head.unwrap_or_default())?;
        file.write_all(&first.take().unwrap_or_default())?;
        for k in 1..blocks {
            let body = self.body(block(k)?)?;
            file.write_all(&body)?;
        }
        Ok(())
    }

    /// Returns the output of a block, without a header.
    fn body(&mut self, block: BlockRows) -> io::Result<Vec<u8>> {
        self.converted(block).map_err(|error| self.refuse(error))
    }

    fn refuse(&mut self, error: Error) -> io::Error {
        self.failure = Some(error);
        io::Error::other("the output cannot be made")
    }

    fn converted(&mut self, (mut stored, added): BlockRows) -> Result<Vec<u8>, Error> {
        let rows = self.reader.stored_cloud(stored.clone())?.len();
        stored.extend_from_slice(&self.extremes);
        let mut cloud = self.cloud(stored)?;
        if let Some((name, mut column)) = added {
            // The rows of extreme values follow.
            match &mut column {
                Column::F32(values) => values.resize(cloud.len(), f32::INFINITY),
                Column::F64(values) => values.resize(cloud.len(), f64::INFINITY),
                _ => {}
            }
            cloud.add_column(name, column);
        }
        let all: Vec<usize> = (0..cloud.len()).collect();
        let (bytes, warnings) = encode(&self.name, &cloud, &all, &self.options)?;
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        let differs = || Error::Output {
            name: self.name.clone(),
            what: "the rows are too different to be written in blocks".into(),
            fix: "write the input's format, or allow more memory".into(),
        };
        let each = self.options.format.unwrap_or(self.format);
        let shape = Shape::parse(each, &bytes, all.len(), &cloud.header).ok_or_else(differs)?;
        if self.head.is_none() && each == Format::Las {
            let read = las::read(Cow::Borrowed(&bytes))
                .map_err(|error| output_error(&self.name, error))?;
            if let Header::Las(header) = read.header {
                self.las = Some(header);
            }
        }
        match &self.head {
            None => self.head = Some(shape.head),
            Some(head) if *head == shape.head => {}
            Some(_) => return Err(differs()),
        }
        Ok(shape.body.first(&bytes, rows))
    }
}

/// An output that cannot be made.
fn output_error(name: &str, ParseError { what, fix, .. }: ParseError) -> Error {
    Error::Output { name: name.to_owned(), what, fix }
}
