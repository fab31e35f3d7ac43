//! Writing: the choice of the format, the attributes it can't keep, and outputs that are refused.

use crate::bytes::identity::FileId;
use crate::bytes::sink::{READ_ONLY, Sink, folder_of, put, put_by};
use crate::cloud::column::Column;
use crate::cloud::crs::Crs;
use crate::cloud::header::Header;
use crate::cloud::resolution::step_text;
use crate::error::{Error, is_url};
use crate::format::Format;
use crate::formats::{self, functions, npy};
use crate::{Cloud, Copc, TextStyle, WriteOptions};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes the given rows in their order; the path `-` is standard output. Returns warnings, which
/// name each attribute that the format could not keep.
///
/// # Errors
/// [`Error::Output`] if the format cannot be written, [`Error::RowOutOfRange`] if a row is not in the
/// cloud, [`Error::Write`] if the system refuses.
pub fn write(
    path: &Path,
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
) -> Result<Vec<String>, Error> {
    let format = match options.format {
        None if path == Path::new("-") => {
            cloud.format().filter(|f| f.can_write()).unwrap_or(Format::Ply)
        }
        _ => output_format(path, options)?,
    };
    let options = WriteOptions { format: Some(format), ..options.clone() };
    let name = path.display().to_string();
    // Standard output has no name: a text keeps its own layout there.
    let style = options.style.or_else(|| (path != Path::new("-")).then(|| TextStyle::of(path)));
    let (bytes, warnings) = encode(&name, cloud, rows, &options.style(style))?;
    put(path, &bytes)?;
    Ok(warnings)
}

/// Like [`write()`], into memory. The format is that of the cloud unless set in the options.
///
/// # Errors
/// Same as [`write()`], without [`Error::Write`].
pub fn write_bytes(
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
) -> Result<(Vec<u8>, Vec<String>), Error> {
    encode("output", cloud, rows, options)
}

/// Writes bytes to a file as other outputs are written: completely or not at all. The path `-` is standard output.
///
/// # Errors
/// [`Error::Write`] if the system refuses, or if the file exists and is read-only.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    put(path, bytes)
}

/// Writes indices as a NumPy array of int64.
///
/// # Errors
/// [`Error::Write`] if the system refuses.
pub fn write_indices(path: &Path, indices: &[usize]) -> Result<(), Error> {
    let values = Column::I64(indices.iter().map(|&i| i as i64).collect());
    put(path, &npy::one_column(&values))
}

/// Like [`write_indices`], for `count` rows that `next` returns in blocks of any size.
///
/// # Errors
/// [`Error::Write`] if the system refuses, or the error of `next`. The output is complete or not there.
pub fn write_indices_in_blocks<E: From<Error>>(
    path: &Path,
    count: u64,
    mut next: impl FnMut() -> Result<Option<Vec<u64>>, E>,
) -> Result<(), E> {
    let mut failed = None;
    let written = put_by(path, |sink| {
        let out: &mut dyn Write = match sink {
            Sink::File(file) => file,
            Sink::Stream(stream) => stream,
        };
        out.write_all(&npy::header_of_indices(count as usize))?;
        loop {
            match next() {
                Ok(None) => return Ok(()),
                Ok(Some(rows)) => {
                    let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
                    out.write_all(&bytes)?;
                }
                Err(error) => {
                    failed = Some(error);
                    return Err(io::Error::other("no more rows"));
                }
            }
        }
    });
    failed.map_or(written.map_err(E::from), Err)
}

/// Writes arrays as an NPZ archive, straight from their memory: only a piece of one is buffered.
///
/// # Errors
/// [`Error::Output`] if the number of values of an array does not match its shape, [`Error::Write`] if the system
/// refuses.
pub fn write_arrays(path: &Path, arrays: &[npy::Array<'_>]) -> Result<(), Error> {
    if let Some(what) = arrays.iter().find_map(npy::Array::mismatch) {
        let fix = "pass one value for each element of the shape".to_owned();
        return Err(Error::Output { name: path.display().to_string(), what, fix });
    }
    put_by(path, |sink| npy::write_archive(sink, arrays))
}

/// Checks an output before heavy work: its format can be written, its folder exists, and it is not
/// one of the inputs. Returns the format.
///
/// # Errors
/// [`Error::Output`] if one of these does not hold.
pub fn check_output(
    path: &Path,
    inputs: &[&Path],
    options: &WriteOptions,
) -> Result<Format, Error> {
    if path == Path::new("-") && options.format.is_none() {
        let same = inputs.first().and_then(|p| Format::from_path(p)).filter(|f| f.can_write());
        return Ok(same.unwrap_or(Format::Ply));
    }
    let format = output_format(path, options)?;
    if path == Path::new("-") {
        return Ok(format);
    }
    let refuse = |what: String, fix: &str| Error::Output {
        name: path.display().to_string(),
        what,
        fix: fix.into(),
    };
    if path.is_dir() {
        return Err(refuse("is a folder".into(), "use the name of a file"));
    }
    if fs::metadata(path)
        .is_ok_and(|existing| existing.is_file() && existing.permissions().readonly())
    {
        return Err(refuse(READ_ONLY.into(), "make it writable, or choose another output"));
    }
    let folder = folder_of(path);
    if is_url(&path.to_string_lossy()) {
        return Err(refuse("is a URL".into(), "write to a file, and upload that"));
    }
    if !folder.is_dir() {
        return Err(refuse(
            format!("the folder {} is not there", folder.display()),
            "create it first, or write elsewhere",
        ));
    }
    if FileId::of(path)
        .is_some_and(|id| inputs.iter().any(|input| FileId::of(input).as_ref() == Some(&id)))
    {
        return Err(refuse("is the input".into(), "write to another name; the input is kept"));
    }
    Ok(format)
}

pub(crate) fn output_format(path: &Path, options: &WriteOptions) -> Result<Format, Error> {
    let format = options.format.or_else(|| Format::from_path(path));
    let refuse = |what: String, fix: &str| {
        Err(Error::Output { name: path.display().to_string(), what, fix: fix.to_owned() })
    };
    if options.copc.is_none() && options.format.is_none() && Copc::is_named(path) {
        return refuse(
            "COPC has levels, which come from a farthest-first order".into(),
            "use 'farpoint order', or 'sample' with an exact algorithm; or leave out '.copc'",
        );
    }
    if let Some(format) = format.filter(|format| options.copc.is_some() && *format != Format::Laz) {
        return refuse(format!("COPC is LAZ, not {format}"), "use a name that ends in .copc.laz");
    }
    let what = match format {
        Some(format) if format.can_write() => return Ok(format),
        Some(format) => format!("{format} can only be read"),
        None => "the name has no extension of a known format".into(),
    };
    refuse(what, &format!("use one of {}", writable()))
}

/// The extensions that can be written, for messages.
fn writable() -> String {
    let written = Format::ALL.into_iter().filter(|format| format.can_write());
    let names: Vec<&str> = written.flat_map(Format::extensions).copied().collect();
    format!(".{}", names.join(", ."))
}

pub(crate) fn encode(
    name: &str,
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
) -> Result<(Vec<u8>, Vec<String>), Error> {
    if let Some(&row) = rows.iter().find(|&&r| r >= cloud.len()) {
        return Err(Error::RowOutOfRange { row, len: cloud.len() });
    }
    let format = options.format.or(cloud.format());
    let format = output_format(Path::new(name), &WriteOptions { format, ..options.clone() })?;
    let mut warnings: Vec<String> = left_out(cloud, format).into_iter().collect();
    let write = functions(format).write.unwrap_or_else(|| unreachable!("{format} is written"));
    let bytes = write(formats::Output { name, cloud, rows, options, warnings: &mut warnings });
    if let Some(error) = cloud.unread.as_ref().and_then(|unread| unread.failed()) {
        let fix = "read the whole file without a filter to see what is wrong with it".into();
        return Err(Error::Output { name: name.to_owned(), what: error.to_string(), fix });
    }
    let bytes = bytes.map_err(|cause| Error::Output {
        name: name.to_owned(),
        what: match cause.at {
            Some(place) => format!("{place}: {}", cause.what),
            None => cause.what,
        },
        fix: cause.fix,
    })?;
    Ok((bytes, warnings))
}

/// Warns of facts about all points that a file states and the format has no place for.
pub(crate) fn left_out(cloud: &Cloud, format: Format) -> Option<String> {
    let las = |format| matches!(format, Format::Las | Format::Laz);
    let from_las = cloud.format().is_some_and(las);
    if from_las && las(format) {
        return None;
    }
    let holds = |format| las(format) || format == Format::E57;
    let kept = |crs: &&Crs| holds(format) && crs.known_wkt(&mut Vec::new()).is_some();
    let crs = cloud.crs().filter(|crs| !kept(crs));
    let crs = crs.map(|crs| format!("the coordinate system ({})", crs.name));
    let scale = cloud.scale().filter(|_| from_las && format != Format::E57);
    let scale = scale.map(|scale| scale.map(step_text)).map(|[x, y, z]| match x == y && y == z {
        true => format!("the scale ({x}) of LAS"),
        false => format!("the scale ({x} {y} {z}) of LAS"),
    });
    // E57 warns of units.
    let names = matches!(cloud.header, Header::Text(_)) && format == Format::Text;
    let unit = cloud.unit.filter(|&unit| unit != 1.0 && !names && format != Format::E57);
    let unit = unit.map(|unit| format!("the unit of the columns ({} m)", step_text(unit)));
    let dropped: Vec<String> = crs.into_iter().chain(scale).chain(unit).collect();
    (!dropped.is_empty()).then(|| format!("{} cannot be kept in {format}", dropped.join(" and ")))
}
