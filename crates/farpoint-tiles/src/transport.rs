//! Transports of requests to tiles: unchanged within a process, encoded as bytes between processes.

use crate::message::{Reply, Request};
use crate::{Bytes, TileId};
use farpoint::Scalar;
use rayon::prelude::*;
use thiserror::Error;

/// A call without a reply. The tile may have handled the request, or not, or may do so later; it may have
/// restarted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Lost(pub String);

/// Carries requests to tiles and brings back replies.
pub trait Transport<T> {
    /// Makes all calls, in any order or in parallel; returns one result each, in the order of the calls. A list has at
    /// most one call per tile. A call that cannot be made or takes too long is [`Lost`]; the transport limits the
    /// time. The conductor then repeats it, after bringing the tile up to date if it has restarted.
    fn call(&mut self, calls: Vec<(TileId, Request<T>)>) -> Vec<Result<Reply<T>, Lost>>;
}

/// Answers requests: a [`crate::Tile`], whatever its store.
pub trait Worker<T>: Send {
    /// Answers a request; an error is [`Reply::Failed`].
    fn answer(&mut self, request: Request<T>) -> Reply<T>;
}

impl<T, W: Worker<T> + ?Sized> Worker<T> for Box<W> {
    fn answer(&mut self, request: Request<T>) -> Reply<T> {
        (**self).answer(request)
    }
}

/// Carries encoded requests to tiles of other processes, and brings back encoded replies.
pub trait ByteTransport {
    /// Makes all calls, as [`Transport::call`] does. Messages are encoded as [`crate::message`] describes.
    fn call(&mut self, calls: &[(TileId, Bytes)]) -> Vec<Result<Bytes, Lost>>;
}

/// Answers encoded requests: a [`crate::Tile`] of either precision.
pub trait ByteWorker: Send {
    /// Answers a request, both encoded as [`crate::message`] describes. Errors are in the reply.
    fn answer_bytes(&mut self, request: &[u8]) -> Bytes;
}

/// A [`Transport`] over a [`ByteTransport`].
pub struct Encoded<'a, B: ?Sized>(pub &'a mut B);

impl<T: Scalar, B: ByteTransport + ?Sized> Transport<T> for Encoded<'_, B> {
    fn call(&mut self, calls: Vec<(TileId, Request<T>)>) -> Vec<Result<Reply<T>, Lost>> {
        let calls: Vec<_> =
            calls.into_iter().map(|(tile, request)| (tile, request.encode())).collect();
        // A damaged reply counts as lost.
        let decode = |bytes: Bytes| Reply::decode(&bytes).map_err(|error| Lost(error.to_string()));
        self.0.call(&calls).into_iter().map(|reply| reply.and_then(decode)).collect()
    }
}

/// Tiles of this process, by number, called one after another by this thread.
pub struct Local<W>(pub Vec<W>);

impl<T, W: Worker<T>> Transport<T> for Local<W> {
    fn call(&mut self, calls: Vec<(TileId, Request<T>)>) -> Vec<Result<Reply<T>, Lost>> {
        let answer = |(tile, request): (TileId, _)| match self.0.get_mut(tile as usize) {
            Some(worker) => Ok(worker.answer(request)),
            None => Err(no_tile(tile)),
        };
        calls.into_iter().map(answer).collect()
    }
}

/// Tiles of this process, by number, called in parallel on the current rayon pool.
pub struct Threads<W>(pub Vec<W>);

impl<T: Send, W: Worker<T>> Transport<T> for Threads<W> {
    fn call(&mut self, calls: Vec<(TileId, Request<T>)>) -> Vec<Result<Reply<T>, Lost>> {
        let mut replies: Vec<_> = calls.iter().map(|&(tile, _)| Err(no_tile(tile))).collect();
        let mut call_of: Vec<_> = self.0.iter().map(|_| None).collect();
        for (call, (tile, request)) in calls.into_iter().enumerate() {
            if let Some(request_of_tile) = call_of.get_mut(tile as usize) {
                *request_of_tile = Some((call, request));
            }
        }
        let workers = self.0.par_iter_mut().zip(call_of);
        let answers: Vec<_> = workers
            .filter_map(|(worker, call)| call.map(|(call, request)| (call, worker.answer(request))))
            .collect();
        answers.into_iter().for_each(|(call, reply)| replies[call] = Ok(reply));
        replies
    }
}

fn no_tile(tile: TileId) -> Lost {
    Lost(format!("there is no tile {tile}"))
}
