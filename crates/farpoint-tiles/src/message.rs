//! Requests of a conductor and replies of tiles, and their encoding between processes.
//!
//! An encoded message is `b"fpt1"`, a byte for its kind, its fields in the order below, and a checksum of 8 bytes; all
//! numbers little endian. Coordinates and distances have the run's precision (4 or 8 bytes), keys are 16 bytes
//! (the complement of the distance's bits, then the index: they sort as the points are chosen), lists begin
//! with their length (8 bytes). Reading checks every length, the checksum, and that distances are numbers;
//! otherwise it returns [`Error::Encoding`].
//!
//! Bands are numbered from 0, which is the band of the start points. A tile that has finished `b` bands answers
//! requests about band `b`, and about earlier ones those that only read. Any request may arrive late or twice.

use crate::wire::{Reader, Writer};
use crate::{Bound, Bytes, Corners, Entry, Error, Key, TileId};
use farpoint::Scalar;

/// Request to a tile.
#[derive(Debug, Clone, PartialEq)]
pub enum Request<T> {
    /// Begin or restart: forget what was decided in an unfinished band, and the bands of the log from `finished`
    /// on. Answered by [`Reply::About`].
    Begin {
        /// Counts up with every such request of a run: earlier ones that arrive late are refused.
        epoch: u64,
        /// The tile's number.
        tile: TileId,
        /// Boxes around the points of all tiles, by number; empty before they are known.
        tiles: Vec<Corners<T>>,
        /// Bands that all tiles have finished.
        finished: u64,
    },
    /// Find the candidates of a band. Answered by [`Reply::Prepared`].
    Prepare {
        /// The band.
        band: u64,
        /// Its floor.
        floor: Key,
        /// Maximum number of candidates of a tile; only the first ones are kept. 0 for a deep band: bounds of pages
        /// are examined and nothing is read.
        max_candidates: u64,
    },
    /// Count points by 16 bits of their keys: candidates of a prepared band, facts of a finished one.
    /// Answered by [`Reply::Counts`].
    Count {
        /// The band.
        band: u64,
        /// Kind of points to count.
        of: Counted,
        /// Leading bits of the keys to count; others are left out.
        prefix: u128,
        /// Number of leading bits: 0, 16, 32, ... 112.
        bits: u32,
    },
    /// Decide what can be decided. Answered by [`Reply::Solved`].
    Solve(Solve<T>),
    /// The band is over: write the log, lower distances. Answered by [`Reply::Finished`].
    Finish {
        /// The band.
        band: u64,
        /// Its floor.
        floor: Key,
        /// True if the tile has decided in this band; a tile that has not is behind.
        solved: bool,
        /// Facts of the band within reach of this tile and facts about its own points, made elsewhere.
        facts: Vec<Entry<T>>,
    },
    /// The exact largest distance of the points that are not chosen. Answered by [`Reply::Largest`].
    Largest,
    /// Chosen points of the tile, of one finished band, in order. Answered by [`Reply::Chosen`].
    Chosen {
        /// The band.
        band: u64,
        /// Number of points to skip.
        from: u64,
        /// Maximum number of points to return.
        max_keys: u64,
    },
    /// Only duplicates of chosen points remain: choose those whose key is before the floor.
    /// Answered by [`Reply::Finished`].
    Fill {
        /// The band.
        band: u64,
        /// Its floor, whose value is 0.
        floor: Key,
    },
}

/// Request to decide, with the known facts. All lists may be old, incomplete or repeated: missing facts only make
/// points wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Solve<T> {
    /// The band.
    pub band: u64,
    /// Its floor.
    pub floor: Key,
    /// True if the tile processes the band in narrow bands of its own. Its points are loaded into
    /// memory for it; with `keep`, they stay there.
    pub deep: bool,
    /// See `deep`.
    pub keep: bool,
    /// Maximum number of undecided points plus half of the facts to send, in a deep band without `keep`. The tile
    /// stops with a floor of its own where there are more.
    pub room: u64,
    /// Number of this tile's facts that the conductor has: only later ones are sent.
    pub seen: u64,
    /// Facts of other tiles.
    pub facts: Vec<Entry<T>>,
    /// Undecided points of other tiles.
    pub others: Vec<Entry<T>>,
    /// Undecided points of other tiles that this one shall decide with its own.
    pub carried: Vec<Entry<T>>,
    /// Pages of tiles that have not reported facts and undecided points.
    pub bounds: Vec<Bound<T>>,
}

/// Points that [`Request::Count`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Candidates of a thin band, after [`Request::Prepare`].
    Candidates,
    /// The tile's points that were chosen in this band.
    Facts,
    /// Points that are not chosen, as if their distance were 0.
    Rest,
}

/// Reply of a tile.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply<T> {
    /// Description of the tile.
    About {
        /// Number of points.
        points: u64,
        /// Box around the points; empty if there are none.
        corners: Corners<T>,
        /// Number of bands in its log, without those to be forgotten.
        finished: u64,
        /// Upper bound of all distances.
        largest: T,
    },
    /// The tile has restarted or does not know this band: bring it up to date and repeat the call.
    Behind {
        /// Number of bands in its log.
        finished: u64,
    },
    /// The tile has failed: its store cannot be read or written.
    Failed(String),
    /// Reply to [`Request::Prepare`].
    Prepared {
        /// Number of candidates, if they were searched.
        candidates: u64,
        /// The floor above which these are all candidates: that of the request, unless there were too many.
        floor: Key,
        /// Number of points of the pages that may hold candidates.
        touched: u64,
        /// The pages among them that are within reach of other tiles.
        bounds: Vec<Bound<T>>,
    },
    /// Reply to [`Request::Count`]: numbers of points by their next 16 bits, without zeros.
    Counts(Vec<(u16, u64)>),
    /// Reply to [`Request::Solve`].
    Solved {
        /// Number of the first fact here among all that the tile had to send in this band.
        from: u64,
        /// New facts within reach of other tiles, and all about points of other tiles.
        facts: Vec<Entry<T>>,
        /// Undecided points of the tile.
        open: Vec<Entry<T>>,
        /// Undecided points of those carried to it.
        carried: Vec<Entry<T>>,
        /// Number of candidates examined in this call.
        candidates: u64,
        /// Number of facts made in this call.
        made: u64,
        /// Floor down to which it has decided; that of the request unless the limit was reached.
        floor: Key,
    },
    /// Reply to [`Request::Finish`] and [`Request::Fill`].
    Finished {
        /// Number of points of the tile that were chosen in this band.
        chosen: u64,
        /// Upper bound of all remaining distances.
        largest: T,
    },
    /// Reply to [`Request::Largest`].
    Largest {
        /// The distance; 0 if all points are chosen.
        largest: T,
    },
    /// Reply to [`Request::Chosen`]: keys in order.
    Chosen(Vec<Key>),
}

const REQUEST: &str = "a request";
const REPLY: &str = "a reply";

impl<T: Scalar> Request<T> {
    /// Encodes it as bytes.
    pub fn encode(&self) -> Bytes {
        let begin = |kind: u8| Writer::new(kind).u8(size_of::<T>() as u8);
        match self {
            Self::Begin { epoch, tile, tiles, finished } => {
                let out = begin(1).u64(*epoch).u32(*tile).u64(*finished).u64(tiles.len() as u64);
                tiles.iter().fold(out, |out, corners| out.corners(corners)).end()
            }
            Self::Prepare { band, floor, max_candidates } => {
                begin(2).u64(*band).key(*floor).u64(*max_candidates).end()
            }
            Self::Count { band, of, prefix, bits } => {
                let of = match of {
                    Counted::Candidates => 0,
                    Counted::Facts => 1,
                    Counted::Rest => 2,
                };
                begin(3).u64(*band).u8(of).key(Key::from_bits(*prefix)).u32(*bits).end()
            }
            Self::Solve(solve) => {
                let flags = u8::from(solve.deep) | (u8::from(solve.keep) << 1);
                let out = begin(4).u64(solve.band).key(solve.floor).u8(flags);
                let out = out.u64(solve.room).u64(solve.seen);
                let out = out.entries(&solve.facts).entries(&solve.others);
                out.entries(&solve.carried).bounds(&solve.bounds).end()
            }
            Self::Finish { band, floor, solved, facts } => {
                begin(5).u64(*band).key(*floor).u8(u8::from(*solved)).entries(facts).end()
            }
            Self::Largest => begin(6).end(),
            Self::Chosen { band, from, max_keys } => {
                begin(7).u64(*band).u64(*from).u64(*max_keys).end()
            }
            Self::Fill { band, floor } => begin(8).u64(*band).key(*floor).end(),
        }
    }

    /// Decodes it from bytes.
    ///
    /// # Errors
    /// If they are no request, or have another precision.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let (kind, mut from) = Reader::new(bytes, REQUEST)?;
        if usize::from(from.u8()?) != size_of::<T>() {
            return Err(from.error("wrong precision"));
        }
        let request = match kind {
            1 => {
                let (epoch, tile, finished) = (from.u64()?, from.u32()?, from.u64()?);
                let count = from.count(6 * size_of::<T>())?;
                let tiles = (0..count).map(|_| from.corners()).collect::<Result<_, _>>()?;
                Self::Begin { epoch, tile, tiles, finished }
            }
            2 => {
                Self::Prepare { band: from.u64()?, floor: from.key()?, max_candidates: from.u64()? }
            }
            3 => Self::decode_count(&mut from)?,
            4 => Self::decode_solve(&mut from)?,
            5 => Self::Finish {
                band: from.u64()?,
                floor: from.key()?,
                solved: from.u8()? != 0,
                facts: from.entries()?,
            },
            6 => Self::Largest,
            7 => Self::Chosen { band: from.u64()?, from: from.u64()?, max_keys: from.u64()? },
            8 => Self::Fill { band: from.u64()?, floor: from.key()? },
            _ => return Err(from.error("unknown request")),
        };
        from.end().map(|()| request)
    }

    fn decode_count(from: &mut Reader<'_>) -> Result<Self, Error> {
        let band = from.u64()?;
        let of = match from.u8()? {
            0 => Counted::Candidates,
            1 => Counted::Facts,
            2 => Counted::Rest,
            _ => return Err(from.error("unknown kind of count")),
        };
        let (prefix, bits) = (from.key()?.bits(), from.u32()?);
        if bits > 112 || bits % 16 != 0 {
            return Err(from.error("a prefix has 0, 16, 32, ... 112 bits"));
        }
        Ok(Self::Count { band, of, prefix, bits })
    }

    fn decode_solve(from: &mut Reader<'_>) -> Result<Self, Error> {
        let (band, floor, flags) = (from.u64()?, from.key()?, from.u8()?);
        Ok(Self::Solve(Solve {
            band,
            floor,
            deep: flags & 1 != 0,
            keep: flags & 2 != 0,
            room: from.u64()?,
            seen: from.u64()?,
            facts: from.entries()?,
            others: from.entries()?,
            carried: from.entries()?,
            bounds: from.bounds()?,
        }))
    }
}

impl<T: Scalar> Reply<T> {
    /// Encodes it as bytes.
    pub fn encode(&self) -> Bytes {
        let begin = |kind: u8| Writer::new(kind).u8(size_of::<T>() as u8);
        match self {
            Self::About { points, corners, finished, largest } => {
                begin(65).u64(*points).corners(corners).u64(*finished).number(*largest).end()
            }
            Self::Behind { finished } => begin(66).u64(*finished).end(),
            Self::Failed(text) => begin(67).text(text).end(),
            Self::Prepared { candidates, floor, touched, bounds } => {
                begin(68).u64(*candidates).key(*floor).u64(*touched).bounds(bounds).end()
            }
            Self::Counts(counts) => {
                let out = begin(69).u64(counts.len() as u64);
                let pair = |out: Writer, &(digit, count): &(u16, u64)| {
                    out.u32(u32::from(digit)).u64(count)
                };
                counts.iter().fold(out, pair).end()
            }
            Self::Solved { from, facts, open, carried, candidates, made, floor } => {
                let out = begin(70).u64(*from).entries(facts).entries(open).entries(carried);
                out.u64(*candidates).u64(*made).key(*floor).end()
            }
            Self::Finished { chosen, largest } => begin(71).u64(*chosen).number(*largest).end(),
            Self::Largest { largest } => begin(72).number(*largest).end(),
            Self::Chosen(keys) => {
                let out = begin(73).u64(keys.len() as u64);
                keys.iter().fold(out, |out, &key| out.key(key)).end()
            }
        }
    }

    /// Decodes it from bytes.
    ///
    /// # Errors
    /// If they are no reply, or have another precision.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let (kind, mut from) = Reader::new(bytes, REPLY)?;
        if usize::from(from.u8()?) != size_of::<T>() {
            return Err(from.error("wrong precision"));
        }
        let reply = match kind {
            65 => Self::About {
                points: from.u64()?,
                corners: from.corners()?,
                finished: from.u64()?,
                largest: from.number()?,
            },
            66 => Self::Behind { finished: from.u64()? },
            67 => Self::Failed(from.text()?),
            68 => Self::Prepared {
                candidates: from.u64()?,
                floor: from.key()?,
                touched: from.u64()?,
                bounds: from.bounds()?,
            },
            69 => {
                let count = from.count(12)?;
                let mut pair = || Ok((from.u32()? as u16, from.u64()?));
                Self::Counts((0..count).map(|_| pair()).collect::<Result<_, Error>>()?)
            }
            70 => Self::Solved {
                from: from.u64()?,
                facts: from.entries()?,
                open: from.entries()?,
                carried: from.entries()?,
                candidates: from.u64()?,
                made: from.u64()?,
                floor: from.key()?,
            },
            71 => Self::Finished { chosen: from.u64()?, largest: from.number()? },
            72 => Self::Largest { largest: from.number()? },
            73 => {
                let count = from.count(16)?;
                Self::Chosen((0..count).map(|_| from.key()).collect::<Result<_, _>>()?)
            }
            _ => return Err(from.error("unknown reply")),
        };
        from.end().map(|()| reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(n: u64) -> Vec<Entry<f32>> {
        let entry = |k| Entry { at: [k as f32, 0.5, -1.0], value: 2.5, index: k << 33, tile: 7 };
        (0..n).map(entry).collect()
    }

    fn requests() -> Vec<Request<f32>> {
        let (band, floor) = (3, Key::new(1.5f32, 9));
        let corners = Corners { low: [0.0; 3], high: [1.0; 3] };
        let bounds = vec![Bound { corners, largest: f32::INFINITY }];
        let (facts, others, carried) = (entries(2), entries(0), entries(3));
        let (deep, keep, room, seen) = (true, false, 12, 4);
        vec![
            Request::Begin { epoch: 5, tile: 1, tiles: vec![corners; 2], finished: 3 },
            Request::Prepare { band, floor, max_candidates: 10 },
            Request::Count { band, of: Counted::Facts, prefix: 1 << 100, bits: 32 },
            Request::Solve(Solve {
                band,
                floor,
                deep,
                keep,
                room,
                seen,
                facts,
                others,
                carried,
                bounds,
            }),
            Request::Finish { band, floor, solved: true, facts: entries(1) },
            Request::Largest,
            Request::Chosen { band, from: 1, max_keys: 2 },
            Request::Fill { band, floor },
        ]
    }

    fn replies() -> Vec<Reply<f32>> {
        let (corners, largest) = (Corners::none(), 3.5);
        let floor = Key::LAST;
        let bounds = vec![Bound { corners, largest }];
        let (facts, open, carried) = (entries(2), entries(1), entries(0));
        vec![
            Reply::About { points: 9, corners, finished: 2, largest },
            Reply::Behind { finished: 2 },
            Reply::Failed("no space".into()),
            Reply::Prepared { candidates: 4, floor, touched: 5, bounds },
            Reply::Counts(vec![(65_535, 1 << 40), (0, 1)]),
            Reply::Solved { from: 1, facts, open, carried, candidates: 8, made: 3, floor },
            Reply::Finished { chosen: 6, largest },
            Reply::Largest { largest },
            Reply::Chosen(vec![Key::FIRST, floor]),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        for request in requests() {
            assert_eq!(Request::decode(&request.encode()).unwrap(), request);
        }
        for reply in replies() {
            assert_eq!(Reply::decode(&reply.encode()).unwrap(), reply);
        }
    }

    #[test]
    fn what_was_cut_or_changed_is_refused() {
        let requests = requests().iter().map(Request::encode).collect::<Vec<_>>();
        for bytes in requests.iter().chain(&replies().iter().map(Reply::encode).collect::<Vec<_>>())
        {
            for at in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << (at % 8);
                assert!(Request::<f32>::decode(&changed).is_err(), "byte {at}");
                assert!(Reply::<f32>::decode(&changed).is_err(), "byte {at}");
                assert!(Request::<f32>::decode(&bytes[..at]).is_err(), "cut at {at}");
                assert!(Reply::<f32>::decode(&bytes[..at]).is_err(), "cut at {at}");
            }
            assert!(Request::<f64>::decode(bytes).is_err() && Reply::<f64>::decode(bytes).is_err());
        }
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        for value in [f32::NAN, -1.0] {
            let facts = vec![Entry { value, ..entries(1)[0] }];
            let (band, floor, solved) = (1, Key::LAST, false);
            let bytes = Request::Finish { band, floor, solved, facts }.encode();
            assert!(matches!(Request::<f32>::decode(&bytes), Err(Error::Encoding { .. })));
        }
    }
}
