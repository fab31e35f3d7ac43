//! Transports: how requests reach tiles, in this process as they are, in other processes as bytes.

use crate::message::{Reply, Request};
use crate::{Bytes, TileId};
use farpoint::Scalar;
use rayon::prelude::*;
use thiserror::Error;

/// A call that brought back nothing. The tile may have done what it was asked to do, or not, or may do so
/// later; it may have begun anew.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Lost(pub String);

/// Carries requests to tiles and brings back replies.
pub trait Transport<T> {
    /// Makes all calls, in any order or side by side; one result each, in the order of the calls. A tile is called
    /// once in a list at most. A call that cannot be made or takes too long is [`Lost`]; it is the
    /// transport that limits the time. The conductor then repeats it, after bringing the tile up to date if that
    /// says it has begun anew.
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
    /// Answers a request, both encoded as [`crate::message`] describes. Errors are in the answer.
    fn answer_bytes(&mut self, request: &[u8]) -> Bytes;
}

/// A transport that encodes what a [`ByteTransport`] carries.
pub struct Encoded<'a, B: ?Sized>(pub &'a mut B);

impl<T: Scalar, B: ByteTransport + ?Sized> Transport<T> for Encoded<'_, B> {
    fn call(&mut self, calls: Vec<(TileId, Request<T>)>) -> Vec<Result<Reply<T>, Lost>> {
        let calls: Vec<_> =
            calls.into_iter().map(|(tile, request)| (tile, request.encode())).collect();
        // A reply that was damaged on its way is as good as lost.
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

/// Tiles of this process, by number, called side by side on the current rayon pool.
pub struct Threads<W>(pub Vec<W>);

impl<T: Send, W: Worker<T>> Transport<T> for Threads<W> {
    fn call(&mut self, calls: Vec<(TileId, Request<T>)>) -> Vec<Result<Reply<T>, Lost>> {
        let mut all: Vec<_> = calls.iter().map(|&(tile, _)| Err(no_tile(tile))).collect();
        let mut call_of: Vec<_> = self.0.iter().map(|_| None).collect();
        for (call, (tile, request)) in calls.into_iter().enumerate() {
            if let Some(of) = call_of.get_mut(tile as usize) {
                *of = Some((call, request));
            }
        }
        let workers = self.0.par_iter_mut().zip(call_of);
        let answers: Vec<_> = workers
            .filter_map(|(worker, call)| call.map(|(call, request)| (call, worker.answer(request))))
            .collect();
        answers.into_iter().for_each(|(call, reply)| all[call] = Ok(reply));
        all
    }
}

fn no_tile(tile: TileId) -> Lost {
    Lost(format!("there is no tile {tile}"))
}
