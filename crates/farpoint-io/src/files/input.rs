//! Reading a file: detection of its format, then the reader of the format.

#[cfg(feature = "mcap")]
use crate::bag;
use crate::bytes::load;
use crate::bytes::{memory, unpack};
use crate::cloud::summary::Summary;
use crate::cloud::{Cloud, degrees};
use crate::error::{Error, ParseError};
use crate::files::detect;
use crate::files::filter::Filter;
use crate::files::reader::Reader;
use crate::format;
use crate::format::Format;
use crate::formats::{self, functions};
use crate::options::ReadOptions;
use crate::other_bags;
use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// Reads a cloud from a file; the path `-` is standard input.
///
/// # Errors
/// [`Error::Read`] if the file cannot be read, [`Error::UnknownFormat`] if its format is unknown, and
/// [`Error::Malformed`] if its content is damaged.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Cloud, Error> {
    let name = path.display().to_string();
    let fail = |source| Error::Read { name: name.clone(), source };
    if path == Path::new("-") {
        let name = "standard input";
        let bytes =
            load::stream(&mut std::io::stdin().lock(), name, &|start| check(start, name, options))?;
        return decode(Cow::Owned(bytes), name, options);
    }
    #[cfg(feature = "mcap")]
    if let Some(files) = bag::bag_files(path)? {
        return bag::read_of(&name, &files, options);
    }
    let mut file = File::open(path).map_err(fail)?;
    let length = file.metadata().map_err(fail)?.len();
    #[cfg(feature = "mcap")]
    if detect::is_mcap(&mut file, options).map_err(fail)? {
        return bag::read(&bag::Bag::open(path)?, options);
    }
    if options.format.is_none() && !detect::is_raw(options) {
        other_bags::refuse_file(&mut file, &name)?;
    }
    memory::require(&name, length)?;
    let bytes = load::read_all(&mut file, length, &name, &|start| check(start, &name, options))?;
    decode(Cow::Owned(bytes), &name, options)
}

/// Like [`read`], for a filter: of a COPC file only those nodes are read that its boxes, and its conditions on x, y
/// and z, can use rows of. Rows keep their numbers; those of other nodes have NaN for coordinates and 0 for all else.
/// Facts about all rows that a writer needs (the corner of coordinates that become float32, the range of colors) are
/// still found, by reading the rest if necessary.
///
/// # Errors
/// Same as [`read`]; [`Error::Field`] if a field of the filter does not exist.
pub fn read_for(path: &Path, options: &ReadOptions, filter: &Filter) -> Result<Cloud, Error> {
    if !filter.is_of_places() || !detect::is_copc(path, options) {
        return read(path, options);
    }
    match Reader::open(path, options, None)?.read_filtered(filter)? {
        Ok(Some(cloud)) => Ok(cloud),
        Ok(None) => read(path, options),
        Err(ParseError { what, .. }) => {
            let mut cloud = read(path, options)?;
            cloud.warnings.push(format!("{what}, so all nodes were read"));
            Ok(cloud)
        }
    }
}

/// Returns the summary in the header of a file without reading its points, however many there are; `None` for formats
/// other than LAS, LAZ and E57, whose headers contain little, and for standard input.
///
/// # Errors
/// Same as [`read`]. Damage after the header is not found.
pub fn summary(path: &Path, options: &ReadOptions) -> Result<Option<Summary>, Error> {
    if path == Path::new("-") {
        return Ok(None);
    }
    let name = path.display().to_string();
    let fail = |source| Error::Read { name: name.clone(), source };
    let mut file = File::open(path).map_err(fail)?;
    let length = file.metadata().map_err(fail)?;
    if !length.is_file() {
        // A pipe can be read once only.
        return Ok(None);
    }
    let mut start = Vec::new();
    file.by_ref().take(detect::SIGNATURE).read_to_end(&mut start).map_err(fail)?;
    let Some(format) = detect::with_header(&start, options) else { return Ok(None) };
    let Some(summary) = functions(format).summary else { return Ok(None) };
    file.rewind().map_err(fail)?;
    let found = summary(&mut file, length.len()).map_err(|error| error.named(&name, format));
    let mut found = found?;
    degrees::warn(found.crs.as_ref(), &mut found.warnings, || false);
    Ok(Some(found))
}

/// Reads a cloud from bytes in memory; `name` helps to detect the format and appears in messages.
///
/// # Errors
/// [`Error::UnknownFormat`] if the format is unknown, [`Error::Malformed`] if the content is damaged.
pub fn read_bytes(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Cloud, Error> {
    decode(Cow::Borrowed(bytes), name, options)
}

/// Checks the format of a stream, and the header of those that have it at the start, however long they are.
pub(crate) fn check(start: &[u8], name: &str, options: &ReadOptions) -> Result<(), Error> {
    if unpack::is_packed(start) {
        return Ok(());
    }
    let format = detect::detect(start, name, options)?;
    let header = match format {
        Format::Ply => formats::ply::layout(start, u64::MAX),
        Format::Pcd => formats::pcd::layout(start, u64::MAX),
        Format::Npy => formats::npy::layout(start, u64::MAX),
        _ => Ok(None),
    };
    header.map(drop).map_err(|error| error.named(name, format))
}

/// Decodes the bytes of a file; readers that keep most of them take over their memory.
pub(crate) fn decode(
    bytes: Cow<'_, [u8]>,
    name: &str,
    options: &ReadOptions,
) -> Result<Cloud, Error> {
    let named = format::plain_name(Path::new(name)) != Path::new(name);
    if unpack::is_packed(&bytes) && (named || !detect::is_raw(options)) {
        let plain = unpack::unpacked(&bytes, name)?;
        drop(bytes);
        let inner = format::plain_name(Path::new(name)).display().to_string();
        let mut cloud = decode_plain(Cow::Owned(plain), &inner, options)
            .map_err(|error| error.renamed(name))?;
        cloud.description.push_str(", packed by gzip");
        return Ok(cloud);
    }
    decode_plain(bytes, name, options)
}

fn decode_plain(bytes: Cow<'_, [u8]>, name: &str, options: &ReadOptions) -> Result<Cloud, Error> {
    let format = detect::detect(&bytes, name, options)?;
    #[cfg(feature = "mcap")]
    if format == Format::Mcap {
        return bag::read(&bag::Bag::from_bytes(bytes.into_owned(), name)?, options);
    }
    let cloud = (functions(format).read)(formats::Input { bytes, name, options });
    let mut cloud = cloud.map_err(|error| error.named(name, format))?;
    let Cloud { crs, warnings, coordinates, .. } = &mut cloud;
    degrees::warn(crs.as_ref(), warnings, || degrees::beside_lengths(coordinates));
    Ok(cloud)
}
