//! Writes an MCAP file again with its clouds cut down: one thread reads, several work on a piece each, one writes in
//! order. Bytes in flight are bounded, whatever the length of the file.

use super::contents::{Bag, Topic};
use super::cut::{Choose, Cut, Kept, Ready, cut};
use super::frames::damaged;
use super::pieces::{End, Piece, each_piece};
use super::queue::{Gate, POLL_INTERVAL};
use super::unpack::Unpacker;
use super::wire::Encoding;
use super::writer::Writer;
use super::{PointCloud2, kind::Kind};
use crate::bytes::panics::catch_panic;
use crate::bytes::sink::{Sink, Target, put_by};
use crate::error::{Error, ParseError};
use crate::format::Format;
use mcap::write::NoSeek;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Cursor};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes written at a time.
const WRITTEN: usize = 1 << 20;

/// Options for rewriting an MCAP file.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Rewrite<'a> {
    /// The topics whose clouds are cut down.
    pub topics: &'a [&'a Topic],
    /// Number of messages worked on concurrently.
    pub threads: usize,
    /// Largest number of bytes of messages in flight, if each has no more.
    pub memory: u64,
    /// Cancels the work when set by another thread.
    pub stop: &'a AtomicBool,
}

/// Result of rewriting an MCAP file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Totals {
    /// Seconds of all stages, and of the whole.
    pub stages: Stages,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Time of each stage: sums over all threads, and the wall-clock time of the whole.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Stages {
    pub unpacking: Duration,
    pub cutting: Duration,
    pub writing: Duration,
    pub whole: Duration,
}

impl<'a> Rewrite<'a> {
    /// Options for these topics, on `threads` threads, until `stop` is set.
    pub fn new(
        topics: &'a [&'a Topic],
        threads: usize,
        memory: u64,
        stop: &'a AtomicBool,
    ) -> Rewrite<'a> {
        Rewrite { topics, threads: threads.max(1), memory, stop }
    }

    /// Writes `bag` to `output`, completely or not at all. `choose` returns the points of each message of the topics
    /// that are kept; it is called by several threads. `each` is called for every message, in order. Returns `None`
    /// if the work was stopped.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the file is damaged, [`Error::Write`] if the system refuses.
    pub fn write(
        &self,
        bag: &Bag,
        output: &Path,
        choose: &(dyn Fn(&PointCloud2<'_>) -> Result<Kept, String> + Sync),
        each: &mut dyn FnMut(Cut),
    ) -> Result<Option<Totals>, Error> {
        let mut outcome = Err(ParseError::new("nothing was written"));
        let written = put_by(output, |sink| {
            let (target, seeks): (Box<dyn Target + '_>, bool) = match sink {
                Sink::File(file) => (Box::new(BufWriter::with_capacity(WRITTEN, file)), true),
                Sink::Stream(stream) => {
                    (Box::new(NoSeek::new(BufWriter::with_capacity(WRITTEN, stream))), false)
                }
            };
            outcome = self.run(bag, (target, seeks), choose, each);
            match &mut outcome {
                Ok(Some(_)) => Ok(()),
                Ok(None) => Err(io::ErrorKind::Interrupted.into()),
                // A system error is passed on as such.
                Err(parse_error) => {
                    Err(parse_error.io.take().unwrap_or(io::ErrorKind::InvalidData.into()))
                }
            }
        });
        match (outcome, written) {
            (Ok(None), _) => Ok(None),
            (Ok(totals), Ok(())) => Ok(totals),
            (Err(parse_error), Err(Error::Write { source, .. }))
                if source.kind() == io::ErrorKind::InvalidData =>
            {
                Err(parse_error.named(&bag.name, Format::Mcap))
            }
            (Err(parse_error), Ok(())) => Err(parse_error.named(&bag.name, Format::Mcap)),
            (_, Err(error)) => Err(error),
        }
    }

    /// Like [`Rewrite::write`], but into memory.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the file is damaged.
    pub fn bytes(
        &self,
        bag: &Bag,
        choose: &(dyn Fn(&PointCloud2<'_>) -> Result<Kept, String> + Sync),
        each: &mut dyn FnMut(Cut),
    ) -> Result<Option<Vec<u8>>, Error> {
        let mut bytes = Cursor::new(Vec::new());
        let done = self.run(bag, (Box::new(&mut bytes), true), choose, each);
        let done = done.map_err(|error| error.named(&bag.name, Format::Mcap))?;
        Ok(done.map(|_| bytes.into_inner()))
    }

    fn run(
        &self,
        bag: &Bag,
        (target, seeks): (Box<dyn Target + '_>, bool),
        choose: Choose<'_>,
        each: &mut dyn FnMut(Cut),
    ) -> Result<Option<Totals>, ParseError> {
        let start = Instant::now();
        let writer = Writer::new(target, seeks, &bag.contents, &bag.source)?;
        let channels = self.channels();
        let gate = Gate::new(self.memory, self.stop);
        let (piece_sender, piece_receiver) = channel();
        let (done_sender, done_receiver) = channel();
        let piece_receiver = Mutex::new(piece_receiver);
        thread::scope(|scope| {
            let mut workers = 0;
            for _ in 0..self.threads {
                let done_sender = done_sender.clone();
                let (piece_receiver, gate, channels) = (&piece_receiver, &gate, &channels);
                let work = move || work(piece_receiver, &done_sender, gate, channels, choose);
                workers += usize::from(thread::Builder::new().spawn_scoped(scope, work).is_ok());
            }
            let reading = &gate;
            let read = move || read(bag, &piece_sender, &done_sender, reading);
            let reader = thread::Builder::new().spawn_scoped(scope, read);
            if workers == 0 || reader.is_err() {
                gate.close();
                let what = "the system refuses the two threads that a bag needs besides this one";
                return Err(ParseError::new(what).fix("raise the limit of processes ('ulimit -u')"));
            }
            let done = write(writer, &done_receiver, &gate, each);
            // Waiting threads end.
            gate.close();
            let done = done?;
            Ok(done.map(|totals| {
                let stages = Stages { whole: start.elapsed(), ..totals.stages };
                Totals { stages, ..totals }
            }))
        })
    }

    /// Returns the number and the encoding of the topic of each channel.
    fn channels(&self) -> BTreeMap<u16, (usize, Encoding)> {
        let mut channels = BTreeMap::new();
        for (number, topic) in self.topics.iter().enumerate() {
            if let Kind::Cloud(encoding) = topic.kind {
                channels.extend(topic.channels.iter().map(|&id| (id, (number, encoding))));
            }
        }
        channels
    }
}

/// Input of the writer.
enum Done {
    /// A piece by its number, with the bytes that it takes.
    Piece(u64, u64, Result<Ready, ParseError>),
    /// End of the input, with the number of pieces before it.
    End(u64, Result<End, ParseError>),
}

/// A piece by its number, with its size in bytes.
type NumberedPiece = (u64, u64, Piece);

fn read(
    bag: &Bag,
    piece_sender: &Sender<NumberedPiece>,
    done_sender: &Sender<Done>,
    gate: &Gate<'_>,
) {
    let mut count = 0;
    let end = catch_panic("the reader failed", || {
        each_piece(&bag.source, &mut |piece| {
            let bytes = piece.bytes();
            let go = gate.enter(bytes) && piece_sender.send((count, bytes, piece)).is_ok();
            count += u64::from(go);
            Ok(go)
        })
    });
    // A writer that is gone needs no end.
    let _ = done_sender.send(Done::End(count, end));
}

fn work(
    piece_receiver: &Mutex<Receiver<NumberedPiece>>,
    done_sender: &Sender<Done>,
    gate: &Gate<'_>,
    channels: &BTreeMap<u16, (usize, Encoding)>,
    choose: Choose<'_>,
) {
    let mut unpacker = Unpacker::new();
    loop {
        let received = piece_receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, bytes, piece)) = received else { return };
        if gate.closed() {
            return;
        }
        let ready = catch_panic("the work on a chunk failed", || {
            cut(&piece, &mut unpacker, channels, choose)
        });
        drop(piece);
        if done_sender.send(Done::Piece(number, bytes, ready)).is_err() {
            return;
        }
    }
}

/// Writes the pieces in order; returns `None` if the work was stopped.
fn write(
    mut writer: Writer<'_>,
    done_receiver: &Receiver<Done>,
    gate: &Gate<'_>,
    each: &mut dyn FnMut(Cut),
) -> Result<Option<Totals>, ParseError> {
    let mut totals = Totals::default();
    let (mut next, mut end) = (0, None);
    let mut waiting = BTreeMap::new();
    while end.is_none_or(|end| next < end) {
        if gate.closed() {
            return Ok(None);
        }
        match done_receiver.recv_timeout(POLL_INTERVAL) {
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Err(damaged("a thread ended early")),
            Ok(Done::End(count, how)) => {
                end = Some(count);
                if let End::Truncated(how) = how? {
                    totals.warnings.push(format!("{how}; the complete records were kept"));
                }
            }
            Ok(Done::Piece(number, bytes, ready)) => {
                waiting.insert(number, (bytes, ready?));
            }
        }
        while let Some((bytes, ready)) = waiting.remove(&next) {
            let start = Instant::now();
            writer.put(&ready)?;
            totals.stages.writing += start.elapsed();
            if let Ready::Records { cuts, unpacking, .. } = ready {
                totals.stages.unpacking += unpacking;
                for cut in cuts {
                    totals.stages.cutting += cut.time;
                    each(cut);
                }
            }
            gate.leave(bytes);
            next += 1;
        }
    }
    if gate.closed() {
        return Ok(None);
    }
    if writer.unknown > 0 {
        totals.warnings.push(format!("{} records of unknown types are left out", writer.unknown));
    }
    let start = Instant::now();
    writer.finish()?;
    totals.stages.writing += start.elapsed();
    Ok(Some(totals))
}
