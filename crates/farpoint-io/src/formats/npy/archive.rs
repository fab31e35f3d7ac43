//! NPZ: a zip archive of arrays, of which one is the cloud.

use crate::WriteOptions;
use crate::bytes::sink::Target;
use crate::cloud::Cloud;
use crate::error::ParseError;
use crate::format::Format;
use std::io::{Cursor, Read, Write};
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, ZipArchive};

/// Bytes from which an entry needs the larger fields of zip64.
const LARGE: usize = 1 << 31;

/// Names of the array that is the cloud, best first.
const NAMES: [&str; 8] =
    ["points", "xyz", "pos", "coords", "coord", "vertices", "point_cloud", "pc"];

/// Writes the rows as one array, which is the cloud.
pub(crate) fn write_packed(
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, ParseError> {
    let array = super::write(cloud, rows, options, warnings)?;
    let failed =
        |error: zip::result::ZipError| ParseError::new(format!("cannot be packed: {error}"));
    let mut packed = Cursor::new(Vec::new());
    let mut archive = ZipWriter::new(&mut packed as &mut dyn Target);
    // Without a date the bytes are the same from run to run.
    let how = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(array.len() >= LARGE);
    archive.start_file(format!("{}.npy", NAMES[0]), how).map_err(failed)?;
    archive.write_all(&array).map_err(|error| failed(error.into()))?;
    archive.finish().map_err(failed)?;
    Ok(packed.into_inner())
}

/// Reads the array named like points, or else the first that is a cloud.
pub(crate) fn read_archive(bytes: &[u8]) -> Result<Cloud, ParseError> {
    let broken = |e: zip::result::ZipError| {
        ParseError::truncated(format!("the archive cannot be read: {e}"))
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    let mut names: Vec<String> = archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.into_owned()))
        .filter(|name| name.ends_with(".npy"))
        .collect();
    let rank = |name: &String| {
        let plain = name.trim_end_matches(".npy").to_ascii_lowercase();
        NAMES.iter().position(|n| *n == plain).unwrap_or(NAMES.len())
    };
    names.sort_by_key(rank);
    let mut reasons = Vec::new();
    for name in &names {
        let mut array = Vec::new();
        let read = archive.by_name(name).map_err(broken)?.read_to_end(&mut array);
        if let Err(error) = read {
            return Err(ParseError::truncated(format!(
                "array '{name}' cannot be unpacked: {error}"
            )));
        }
        match super::read(array.into()) {
            Ok(mut cloud) => {
                cloud.format = Some(Format::Npz);
                cloud.description = cloud.description.replacen("NPY", &format!("NPZ '{name}'"), 1);
                let others: Vec<&str> =
                    names.iter().filter(|n| *n != name).map(String::as_str).collect();
                if !others.is_empty() {
                    let warning = format!("other arrays are left out: {}", others.join(", "));
                    cloud.warnings.push(warning);
                }
                return Ok(cloud);
            }
            Err(reason) => reasons.push(format!("'{name}': {}", reason.what)),
        }
    }
    let what = match reasons.is_empty() {
        true => "the archive holds no array (.npy)".to_owned(),
        false => format!("no array is a cloud ({})", reasons.join("; ")),
    };
    Err(ParseError::new(what).fix(super::FIX))
}
