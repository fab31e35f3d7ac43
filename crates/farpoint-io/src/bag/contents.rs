//! The contents of an MCAP file: its topics, their numbers of messages, and the time span.

use super::frames::damaged;
use super::kind::{self, Kind};
use super::pieces::{self, End, each_piece, each_record};
use super::source::Source;
use super::unpack::{CHUNK_HEAD, ChunkHead, Unpacker};
use crate::error::{Error, ParseError};
use crate::format::Format;
use mcap::records::{Record, op};
use mcap::sans_io::{SummaryReadEvent, SummaryReader, summary_reader::SummaryReaderOptions};
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

/// Bytes of the largest record of a summary.
const LARGEST_IN_SUMMARY: usize = 64 << 20;

/// A topic and its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// The type of its messages, such as `sensor_msgs/msg/PointCloud2`; empty if it states none.
    pub schema: String,
    /// Encoding of the messages, such as `cdr`.
    pub encoding: String,
    /// Kind of the messages.
    pub kind: Kind,
    /// Number of messages.
    pub messages: u64,
    /// The numbers of its channels: several may share a topic.
    pub channels: Vec<u16>,
}

/// The contents of an MCAP file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Contents {
    /// Profile of the messages, such as `ros2`; may be empty.
    pub profile: String,
    /// Library that wrote the file.
    pub library: String,
    /// Compression of the chunks: `zstd`, `lz4` or empty; `None` if messages are not in chunks.
    pub compression: Option<String>,
    /// Topics, by name.
    pub topics: Vec<Topic>,
    /// Number of all messages.
    pub messages: u64,
    /// Log time of the first and the last message, in nanoseconds; `None` without a message.
    pub times: Option<[u64; 2]>,
    /// True if this comes from the file's summary; without one all of the file is read.
    pub indexed: bool,
    /// Problems with the file as a whole.
    pub warnings: Vec<String>,
}

impl Contents {
    /// Seconds from the first message to the last.
    pub fn seconds(&self) -> f64 {
        self.times.map_or(0.0, |[first, last]| last.saturating_sub(first) as f64 * 1e-9)
    }

    /// Returns the topic of that name, or the only one with clouds.
    ///
    /// # Errors
    /// A text that lists the topics and says what to do: no topic of that name, none with clouds, several of them, or
    /// clouds in a form that is not read.
    pub fn cloud_topic(&self, name: Option<&str>) -> Result<&Topic, String> {
        let Some(name) = name else { return self.only_topic() };
        // One name may have several types.
        let mut named = self.topics.iter().filter(|topic| topic.name == name).peekable();
        let first = named.peek().copied();
        match (first, named.find(|topic| matches!(topic.kind, Kind::Cloud(_)))) {
            (_, Some(topic)) => Ok(topic),
            (Some(topic), None) => Err(match topic.kind {
                Kind::Refused(what, fix) => format!("{name} holds {what}; {fix}"),
                _ => format!(
                    "{name} holds {}, not sensor_msgs/PointCloud2; {}",
                    topic.schema,
                    self.clouds()
                ),
            }),
            (None, None) => Err(format!("there is no topic {name}; {}", self.clouds())),
        }
    }

    fn only_topic(&self) -> Result<&Topic, String> {
        let clouds: Vec<_> = self.with_clouds().collect();
        match clouds[..] {
            [topic] => Ok(topic),
            [] => Err(match self.topics.iter().find_map(|topic| topic.refused()) {
                Some((topic, what, fix)) => {
                    format!("no topic with sensor_msgs/PointCloud2: {topic} holds {what}; {fix}")
                }
                None => self.clouds(),
            }),
            _ => Err(format!(
                "several topics hold clouds; select one with `topic`: {}",
                list(&clouds)
            )),
        }
    }

    fn with_clouds(&self) -> impl Iterator<Item = &Topic> {
        self.topics.iter().filter(|topic| matches!(topic.kind, Kind::Cloud(_)))
    }

    /// Lists the topics with clouds, for messages.
    fn clouds(&self) -> String {
        let clouds: Vec<_> = self.with_clouds().collect();
        match clouds.is_empty() {
            true => {
                "no topic holds sensor_msgs/PointCloud2; 'farpoint info' lists the topics".into()
            }
            false => format!("topics with clouds: {}", list(&clouds)),
        }
    }
}

impl Topic {
    fn refused(&self) -> Option<(&str, &str, &str)> {
        match self.kind {
            Kind::Refused(what, fix) => Some((&self.name, what, fix)),
            _ => None,
        }
    }
}

fn list(topics: &[&Topic]) -> String {
    let one = |topic: &&Topic| format!("{} ({} messages)", topic.name, topic.messages);
    topics.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// An open MCAP file, with its contents.
pub struct Bag {
    pub(super) name: String,
    pub(super) source: Source,
    pub(super) contents: Contents,
}

/// A channel, reduced to the parts that are used.
struct Channel {
    topic: String,
    schema: u16,
    encoding: String,
}

impl Bag {
    /// Opens a file and reads its contents: its summary, or all of it if it has none.
    ///
    /// # Errors
    /// [`Error::Read`] if the file can't be read, [`Error::UnknownFormat`] if it is no MCAP file that is read,
    /// [`Error::Malformed`] if it is damaged.
    pub fn open(path: &Path) -> Result<Bag, Error> {
        let name = path.display().to_string();
        let source = Source::file(path, &name)?;
        Bag::from_source(source, name)
    }

    /// Like [`Bag::open`], from bytes in memory; `name` is for messages.
    ///
    /// # Errors
    /// Same as [`Bag::open`].
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>, name: &str) -> Result<Bag, Error> {
        Bag::from_source(Source::Bytes(bytes.into()), name.to_owned())
    }

    fn from_source(source: Source, name: String) -> Result<Bag, Error> {
        let survey = Survey::read(&source).map_err(|error| error.named(&name, Format::Mcap))?;
        Ok(Bag { contents: survey.contents(), name, source })
    }

    /// Returns the contents of the file.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Returns the name of the file for messages.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Data gathered from a file.
#[derive(Default)]
struct Survey {
    contents: Contents,
    schemas: BTreeMap<u16, String>,
    channels: BTreeMap<u16, Channel>,
    counts: BTreeMap<u16, u64>,
}

impl Survey {
    fn read(source: &Source) -> Result<Survey, ParseError> {
        let mut survey = Survey::default();
        let ended = survey.start(source)?;
        if ended && survey.summary(source) {
            survey.contents.indexed = true;
        } else {
            survey.all(source)?;
        }
        Ok(survey)
    }

    /// Reads the header, and how messages are stored. Returns whether the file ends with the magic bytes.
    fn start(&mut self, source: &Source) -> Result<bool, ParseError> {
        let mut frames = pieces::open(source)?;
        let mut first = true;
        while let Some(head) = frames.next()? {
            match head.opcode {
                op::HEADER if first && head.complete => {
                    if let Ok(Record::Header(header)) =
                        mcap::parse_record(op::HEADER, &frames.content(&head)?)
                    {
                        self.contents.profile = header.profile;
                        self.contents.library = header.library;
                    }
                }
                op::CHUNK => {
                    let mut start = [0; CHUNK_HEAD];
                    let content_end = head.at + head.available(frames.end());
                    let read = frames.read(&mut start, content_end)?;
                    let chunk_head = ChunkHead::parse(&start[..read]);
                    self.contents.compression =
                        Some(chunk_head.map_or(String::new(), |c| c.compression));
                    break;
                }
                op::MESSAGE => break,
                op::DATA_END => {
                    self.contents.compression = Some("zstd".into());
                    break;
                }
                _ => {}
            }
            first = false;
            frames.skip(&head)?;
        }
        Ok(pieces::ends(source))
    }

    /// Reads the summary; returns whether it is complete.
    fn summary(&mut self, source: &Source) -> bool {
        let Some(summary) = summary(source) else { return false };
        let Some(stats) = summary.stats else { return false };
        if stats.message_count > 0 && summary.channels.is_empty() {
            return false;
        }
        self.contents.messages = stats.message_count;
        let times = [stats.message_start_time, stats.message_end_time];
        self.contents.times = (stats.message_count > 0).then_some(times);
        self.counts = stats.channel_message_counts;
        for (id, channel) in summary.channels {
            let schema = channel.schema.as_ref();
            let number = schema.map_or(0, |schema| schema.id);
            self.schemas.extend(schema.map(|schema| (number, schema.name.clone())));
            let (topic, encoding) = (channel.topic.clone(), channel.message_encoding.clone());
            self.channels.insert(id, Channel { topic, schema: number, encoding });
        }
        // Counts of channels that it does not describe.
        self.counts.keys().all(|id| self.channels.contains_key(id))
    }

    /// Reads all of the file.
    fn all(&mut self, source: &Source) -> Result<(), ParseError> {
        (self.channels, self.counts, self.schemas) = Default::default();
        (self.contents.messages, self.contents.times) = (0, None);
        let mut unpacker = Unpacker::new();
        let end = each_piece(source, &mut |piece| {
            each_record(&piece, &mut unpacker, &mut |opcode, data| self.record(opcode, data))?;
            Ok(true)
        })?;
        self.contents.warnings.push(match end {
            End::Complete => "has no index, so all of it was read".into(),
            End::Truncated(how) => {
                format!("{how}; the complete records were read, without an index")
            }
        });
        Ok(())
    }

    fn record(&mut self, opcode: u8, data: &[u8]) -> Result<(), ParseError> {
        if !matches!(opcode, op::SCHEMA | op::CHANNEL | op::MESSAGE) {
            return Ok(());
        }
        match mcap::parse_record(opcode, data).map_err(|error| damaged(format!("{error}")))? {
            Record::Schema { header, .. } => {
                self.schemas.insert(header.id, header.name);
            }
            Record::Channel(channel) => {
                let (topic, encoding) = (channel.topic, channel.message_encoding);
                let schema = channel.schema_id;
                self.channels.insert(channel.id, Channel { topic, schema, encoding });
            }
            Record::Message { header, .. } => {
                *self.counts.entry(header.channel_id).or_default() += 1;
                self.contents.messages += 1;
                let time = header.log_time;
                let [first, last] = self.contents.times.unwrap_or([time; 2]);
                self.contents.times = Some([first.min(time), last.max(time)]);
            }
            _ => {}
        }
        Ok(())
    }

    /// Topics with their channels, a topic for each type under a name.
    fn contents(self) -> Contents {
        let mut topics = BTreeMap::<(String, String, String), Topic>::new();
        for (id, channel) in self.channels {
            let schema = self.schemas.get(&channel.schema).cloned().unwrap_or_default();
            let key = (channel.topic.clone(), schema.clone(), channel.encoding.clone());
            let topic = topics.entry(key).or_insert_with(|| Topic {
                kind: kind::classify(&schema, &channel.encoding),
                name: channel.topic,
                schema,
                encoding: channel.encoding,
                messages: 0,
                channels: Vec::new(),
            });
            topic.messages += self.counts.get(&id).copied().unwrap_or(0);
            topic.channels.push(id);
        }
        Contents { topics: topics.into_values().collect(), ..self.contents }
    }
}

/// Returns the summary, if the file has a readable one.
fn summary(source: &Source) -> Option<mcap::Summary> {
    let mut input = source.open().ok()?;
    let options = SummaryReaderOptions::default()
        .with_file_size(source.length().ok()?)
        .with_record_length_limit(LARGEST_IN_SUMMARY);
    let mut reader = SummaryReader::new_with_options(options);
    while let Some(event) = reader.next_event() {
        match event.ok()? {
            SummaryReadEvent::ReadRequest(count) => {
                let read = input.read(reader.insert(count)).ok()?;
                reader.notify_read(read);
            }
            SummaryReadEvent::SeekRequest(to) => reader.notify_seeked(input.seek(to).ok()?),
        }
    }
    reader.finish()
}
