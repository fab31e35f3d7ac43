//! A failed allocation in a tile is an error with a message. A process of its own, whose
//! allocator fails on request.

#[path = "../../farpoint/tests/refusing/mod.rs"]
mod refusing;

use farpoint::{Amount, NonFinite, Start};
use farpoint_tiles::{Error, Local, Plan, TileOptions, Tiled, TiledSample, sample};

/// Size of the allocations that may fail: those that grow with a tile.
const LARGE: usize = 1 << 20;

#[test]
fn a_failed_allocation_in_a_tile_is_an_error() {
    let cloud = farpoint_generate::room(300_000, 3);
    let sample_refusing = |number: isize| -> (Result<TiledSample<f32>, Error>, isize) {
        let tiled = Tiled::new(&cloud, NonFinite::Error, 2, 256).unwrap();
        let plan = Plan::new(Amount::Count(60_000), tiled.starts(&Start::Index(0)).unwrap());
        let mut tiles = Local(tiled.workers(TileOptions::default()));
        refusing::refused(number, || sample(plan, tiled.tiles(), &mut tiles))
    };
    let allocations = sample_refusing(isize::MAX / 2).1;
    assert!(allocations > 4, "{allocations}");
    for number in 0..allocations {
        match sample_refusing(number).0 {
            Err(Error::Tile { text, .. }) if text.starts_with("cannot allocate") => {}
            other => panic!("allocation {number} of {allocations}: {other:?}"),
        }
    }
}
