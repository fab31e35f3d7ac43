//! One message as a cloud, for all that takes one.

use super::cloud2::PointCloud2;
use super::contents::Bag;
use super::frames::damaged;
use super::kind::Kind;
use super::pieces::{each_piece, each_record};
use super::unpack::Unpacker;
use crate::ReadOptions;
use crate::cloud::Cloud;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::Header;
use crate::cloud::table::{Dimension, Store, Table};
use crate::error::{Error, ParseError};
use crate::format::Format;
use crate::means::Groups;
use mcap::records::{Record, op};
use std::path::PathBuf;

/// Reads the message that the options name.
pub(crate) fn read(bag: &Bag, options: &ReadOptions) -> Result<Cloud, Error> {
    let refuse = |what: String, fix: &str| Error::UnknownFormat {
        name: bag.name.clone(),
        what,
        fix: fix.to_owned(),
    };
    let topic = bag.contents.cloud_topic(options.topic.as_deref());
    let topic = topic.map_err(|what| refuse("an MCAP file".into(), &what))?;
    let (name, count) = (&topic.name, topic.messages);
    let Some(index) = options.message else {
        let what = format!("an MCAP file with {count} clouds on {name}");
        return Err(refuse(what, "select one with `message=K`, from 0"));
    };
    if index as u64 >= count {
        let what = format!("there is no message {index} on {name}, which has {count}");
        return Err(refuse(what, "messages are numbered from 0"));
    }
    let Kind::Cloud(encoding) = topic.kind else {
        return Err(refuse(format!("{name} holds no clouds"), "use another topic"));
    };
    let message = find(bag, &topic.channels, index);
    let message = message.map_err(|error| error.named(&bag.name, Format::Mcap))?;
    let wrong = |what: String| {
        ParseError::new(format!("message {index} on {name}: {what}"))
            .fix("select another message, or check the driver's settings")
            .named(&bag.name, Format::Mcap)
    };
    let parsed = PointCloud2::parse(encoding, &message).map_err(wrong)?;
    let mut cloud = cloud(&parsed);
    let [height, width] = parsed.shape();
    cloud.description = format!("MCAP, message {index} of {count} on {name}, {encoding}");
    if height > 1 {
        cloud.description += &format!(", organized {width} x {height}");
    }
    cloud.warnings.extend(bag.contents.warnings.iter().cloned());
    Ok(cloud)
}

/// Like [`read`], for a bag in several files, whose messages are numbered through.
pub(crate) fn read_of(
    name: &str,
    files: &[PathBuf],
    options: &ReadOptions,
) -> Result<Cloud, Error> {
    let (mut before, mut last) = (0, None);
    for file in files {
        let bag = Bag::open(file)?;
        // The first file reports errors of the options.
        let count = match bag.contents.cloud_topic(options.topic.as_deref()) {
            Ok(topic) => topic.messages as usize,
            Err(_) if last.is_some() => 0,
            Err(_) => return read(&bag, options),
        };
        match options.message {
            Some(index) if index >= before + count => {
                before += count;
                last = Some(bag);
            }
            index => {
                let message = index.map(|index| index - before);
                return read(&bag, &options.clone().message(message));
            }
        }
    }
    Err(Error::UnknownFormat {
        name: name.to_owned(),
        what: format!("a bag with {before} clouds in {} files", files.len()),
        fix: "select one with `message=K`, from 0".into(),
    })
}

/// The data of a message of these channels, by its number.
fn find(bag: &Bag, channels: &[u16], index: usize) -> Result<Vec<u8>, ParseError> {
    let (mut unpacker, mut remaining, mut found) = (Unpacker::new(), index, None);
    each_piece(&bag.source, &mut |piece| {
        each_record(&piece, &mut unpacker, &mut |opcode, content| {
            if opcode != op::MESSAGE || found.is_some() {
                return Ok(());
            }
            let record = mcap::parse_record(opcode, content);
            if let Record::Message { header, data } =
                record.map_err(|error| damaged(error.to_string()))?
                && channels.contains(&header.channel_id)
            {
                match remaining.checked_sub(1) {
                    Some(fewer) => remaining = fewer,
                    None => found = Some(data.into_owned()),
                }
            }
            Ok(())
        })?;
        Ok(found.is_none())
    })?;
    found.ok_or_else(|| damaged("its index counts more messages than it has"))
}

impl PointCloud2<'_> {
    /// Returns the message with a point for each group of its rows, at these positions: like
    /// [`PointCloud2::with_rows`], with fields as [`Cloud::means`] makes them.
    ///
    /// # Panics
    /// If there are not as many positions as groups, or a row is not in the message.
    pub fn with_means(&self, groups: &Groups, centers: Coordinates, dense: bool) -> Vec<u8> {
        match cloud(self).means(groups, centers).table {
            Some(Table { store: Store::Records { bytes, stride }, .. }) => {
                self.with_points(bytes.chunks_exact(stride), dense)
            }
            _ => self.with_rows(&[], dense),
        }
    }
}

/// All rows with all fields.
fn cloud(message: &PointCloud2<'_>) -> Cloud {
    let stride = message.point_step();
    let mut bytes = Vec::with_capacity(message.len() * stride);
    match message.even() {
        Some((data, ..)) => bytes.extend_from_slice(data),
        None => (0..message.len()).for_each(|row| bytes.extend_from_slice(message.row(row))),
    }
    let (mut dimensions, mut warnings): (Vec<Dimension>, _) = (Vec::new(), Vec::new());
    for field in message.fields() {
        let known = field.kind.filter(|kind| {
            let size = field.count.checked_mul(kind.size());
            size.and_then(|size| size.checked_add(field.offset)).is_some_and(|end| end <= stride)
        });
        let twice = dimensions.iter().any(|dimension| dimension.name == field.name);
        match known.filter(|_| !twice) {
            Some(kind) => {
                dimensions.push(Dimension::new(&field.name, kind, field.offset).count(field.count));
            }
            None => warnings.push(format!(
                "field '{}' is left out: it is named twice, goes beyond the point, or has no known type",
                field.name
            )),
        }
    }
    let coordinates = message.coordinates();
    let axis = |name: &str| dimensions.iter().position(|dimension| dimension.name == name);
    let mut cloud = match [axis("x"), axis("y"), axis("z")] {
        [Some(x), Some(y), Some(z)] => {
            let (store, big_endian) =
                (Store::Records { bytes: bytes.into(), stride }, message.big_endian());
            let table = Table { dimensions, store, big_endian, xyz: [x, y, z] };
            Cloud::from_table(Format::Mcap, "", coordinates, table, Header::None)
        }
        // Only a message without points has none.
        _ => Cloud::from_file(Format::Mcap, "", coordinates),
    };
    cloud.warnings = warnings;
    cloud
}
