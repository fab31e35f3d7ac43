//! Memory that a tile is refused is an error that says so. A process of its own, whose
//! allocator refuses.

#[path = "../../farpoint/tests/refusing/mod.rs"]
mod refusing;

use farpoint::{Amount, BadRows, Start};
use farpoint_tiles::{Error, Local, Plan, TileOptions, Tiled, TiledSample, sample};

/// Bytes of an allocation that is refused when its turn has come: those that grow with a tile.
const LARGE: usize = 1 << 20;

#[test]
fn memory_that_a_tile_is_refused_is_an_error() {
    let cloud = farpoint_generate::room(300_000, 3);
    let refused = |number: isize| -> (Result<TiledSample<f32>, Error>, isize) {
        let tiled = Tiled::new(&cloud, BadRows::Error, 2, 256).unwrap();
        let plan = Plan::new(Amount::Count(60_000), tiled.starts(&Start::Index(0)).unwrap());
        let mut tiles = Local(tiled.workers(TileOptions::default()));
        refusing::refused(number, || sample(plan, tiled.tiles(), &mut tiles))
    };
    let wanted = refused(isize::MAX / 2).1;
    assert!(wanted > 4, "{wanted}");
    for number in 0..wanted {
        match refused(number).0 {
            Err(Error::Tile { text, .. }) if text.starts_with("there is no memory") => {}
            other => panic!("allocation {number} of {wanted}: {other:?}"),
        }
    }
}
