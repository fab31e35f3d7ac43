//! How requests reach tiles.

use crate::TileId;
use rayon::prelude::*;
use thiserror::Error;

/// A message.
pub type Bytes = Vec<u8>;

/// A call that brought back nothing. The tile may have done what it was asked to do, or not, or may do so
/// later; it may have begun anew.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Lost(pub String);

/// Carries requests to tiles and brings back replies.
pub trait Transport {
    /// Makes all calls, in any order or side by side; one result each, in the order of the calls. A tile is called
    /// once in a list at most. A call that cannot be made or takes too long is [`Lost`]; it is the
    /// transport that limits the time. The conductor then repeats it, after bringing the tile up to date if that
    /// says it has begun anew.
    fn call(&mut self, calls: &[(TileId, Bytes)]) -> Vec<Result<Bytes, Lost>>;
}

/// What answers requests: [`crate::Tile`], whatever its precision and store.
pub trait Worker: Send {
    /// Answers a request, both encoded as [`crate::message`] says. What goes wrong is in the answer.
    fn answer(&mut self, request: &[u8]) -> Bytes;
}

impl<W: Worker + ?Sized> Worker for Box<W> {
    fn answer(&mut self, request: &[u8]) -> Bytes {
        (**self).answer(request)
    }
}

/// Tiles of this process, by number, called one after another by this thread.
pub struct Local<W>(pub Vec<W>);

impl<W: Worker> Transport for Local<W> {
    fn call(&mut self, calls: &[(TileId, Bytes)]) -> Vec<Result<Bytes, Lost>> {
        let answer = |(tile, request): &(TileId, Bytes)| match self.0.get_mut(*tile as usize) {
            Some(worker) => Ok(worker.answer(request)),
            None => Err(Lost(format!("there is no tile {tile}"))),
        };
        calls.iter().map(answer).collect()
    }
}

/// Tiles of this process, by number, called side by side on the current rayon pool.
pub struct Threads<W>(pub Vec<W>);

impl<W: Worker> Transport for Threads<W> {
    fn call(&mut self, calls: &[(TileId, Bytes)]) -> Vec<Result<Bytes, Lost>> {
        let mut call_of = vec![None; self.0.len()];
        for (call, (tile, _)) in calls.iter().enumerate() {
            if let Some(of) = call_of.get_mut(*tile as usize) {
                *of = Some(call);
            }
        }
        let workers = self.0.par_iter_mut().zip(call_of);
        let answers: Vec<_> = workers
            .filter_map(|(worker, call)| call.map(|call| (call, worker.answer(&calls[call].1))))
            .collect();
        let missing = |(tile, _): &(TileId, Bytes)| Err(Lost(format!("there is no tile {tile}")));
        let mut all: Vec<_> = calls.iter().map(missing).collect();
        answers.into_iter().for_each(|(call, bytes)| all[call] = Ok(bytes));
        all
    }
}
