//! `farpoint info` of a bag: topics, types, counts, rates.

use super::BagInput;
use crate::args;
use crate::messages::warn;
use crate::output::{count, number, seconds, table};
use crate::report;
use crate::text::lines;
use anyhow::{Result, ensure};
use farpoint_io::bag::{Bag, Contents, Kind, Topic};
use serde_json::{Value, json};

pub(crate) fn info(args: &args::Info, bag_input: &BagInput) -> Result<()> {
    ensure!(
        !args.reads_points(),
        "--points and --density are for one message of a bag; add --message K, or remove it"
    );
    let bags = bag_input.files.iter().map(|file| Bag::open(file)).collect::<Result<Vec<_>, _>>()?;
    for bag in &bags {
        let name = bag.name();
        bag.contents().warnings.iter().for_each(|warning| warn(&format!("{name}: {warning}")));
    }
    let files: Vec<_> = bags.iter().map(Bag::contents).collect();
    let contents = merged(&files);
    let name = bag_input.path.display().to_string();
    report::print(
        &args.report,
        object(&name, bags.len(), &contents),
        &text(&name, &contents),
        false,
    )
}

/// Merges the contents of all files.
fn merged(files: &[&Contents]) -> Contents {
    let mut contents = Contents::default();
    if let Some(first) = files.first() {
        contents = (*first).clone();
    }
    for file in files.iter().skip(1) {
        contents.messages += file.messages;
        contents.indexed &= file.indexed;
        contents.times = match (contents.times, file.times) {
            (Some([a, b]), Some([c, d])) => Some([a.min(c), b.max(d)]),
            (times, None) | (None, times) => times,
        };
        for topic in &file.topics {
            let same = |known: &&mut Topic| {
                known.name == topic.name
                    && known.schema == topic.schema
                    && known.encoding == topic.encoding
            };
            match contents.topics.iter_mut().find(same) {
                Some(known) => known.messages += topic.messages,
                None => contents.topics.push(topic.clone()),
            }
        }
    }
    contents
}

/// Returns the messages per second: those after the first, in the time of all.
fn rate(topic: &Topic, contents: &Contents) -> Option<f64> {
    let seconds = contents.seconds();
    (seconds > 0.0 && topic.messages > 1).then(|| (topic.messages - 1) as f64 / seconds)
}

fn object(name: &str, files: usize, contents: &Contents) -> Value {
    let topics: Vec<_> = contents
        .topics
        .iter()
        .map(|topic| {
            json!({
                "topic": topic.name,
                "type": topic.schema,
                "encoding": topic.encoding,
                "channels": topic.channels,
                "messages": topic.messages,
                "per_second": rate(topic, contents),
                "clouds": matches!(topic.kind, Kind::Cloud(_)),
                "refused": refused(topic),
            })
        })
        .collect();
    json!({
        "file": name,
        "format": "MCAP",
        "files": files,
        "profile": contents.profile,
        "library": contents.library,
        "compression": contents.compression,
        "indexed": contents.indexed,
        "messages": contents.messages,
        "start_ns": contents.times.map(|times| times[0]),
        "end_ns": contents.times.map(|times| times[1]),
        "seconds": contents.seconds(),
        "topics": topics,
    })
}

fn refused(topic: &Topic) -> Option<String> {
    match topic.kind {
        Kind::Refused(what, fix) => Some(format!("{what}; {fix}")),
        _ => None,
    }
}

fn text(name: &str, contents: &Contents) -> String {
    let compression = match contents.compression.as_deref() {
        None => "no chunks".to_owned(),
        Some("") => "chunks, not compressed".to_owned(),
        Some(name) => format!("chunks, {name}"),
    };
    let profile = match contents.profile.as_str() {
        "" => String::new(),
        profile => format!(", profile {profile}"),
    };
    let head = [
        ("file", name.to_owned()),
        ("format", format!("MCAP{profile}, {compression}")),
        ("written by", contents.library.clone()),
        ("messages", count(contents.messages)),
        ("duration", seconds(contents.seconds())),
    ];
    let head = lines(&head, 13);
    let mut rows =
        vec![["topic", "type", "encoding", "messages", "per second"].map(str::to_owned).to_vec()];
    for topic in &contents.topics {
        rows.push(vec![
            topic.name.clone(),
            topic.schema.clone(),
            topic.encoding.clone(),
            count(topic.messages),
            rate(topic, contents).map_or("-".into(), number),
        ]);
    }
    let clouds: Vec<_> = contents
        .topics
        .iter()
        .filter_map(|topic| match topic.kind {
            Kind::Cloud(_) => {
                Some(format!("{}: clouds, which 'farpoint sample' takes\n", topic.name))
            }
            _ => refused(topic).map(|why| format!("{}: {why}\n", topic.name)),
        })
        .collect();
    format!("{head}\n{}\n{}", table(&rows), clouds.concat())
}
