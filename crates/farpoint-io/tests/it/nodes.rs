//! Of a COPC file a filter reads only the nodes that it can use rows of, with the results of the whole file: rows,
//! values, files of every format, warnings.

use crate::cases::random;
use farpoint_io::{
    Cloud, Condition, Coordinates, Error, Filter, Format, Precision, ReadOptions, WriteOptions,
    read, read_for, write_bytes,
};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// Made by copclib; on pages of which the root is not the first.
const MADE: &str = "tests/copc/pages.copc.laz";
const REAL: &str = "../../../shared/data/las/lone-star.copc.laz";

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn made() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(MADE)
}

fn used(filter: &Filter, cloud: &Cloud) -> Vec<usize> {
    let mask = filter.mask(cloud, "cloud").unwrap();
    (0..cloud.len()).filter(|&row| mask[row]).collect()
}

/// Compares all results for the rows that a filter uses.
fn compare(path: &Path, whole: &Cloud, filter: &Filter) -> Option<[usize; 2]> {
    let some = read_for(path, &options(), filter).unwrap();
    assert_eq!(some.len(), whole.len());
    assert_eq!((some.crs(), some.scale()), (whole.crs(), whole.scale()));
    assert_eq!(some.warnings(), whole.warnings());
    let rows = used(filter, whole);
    assert_eq!(used(filter, &some), rows, "{filter}");
    let single = WriteOptions::default().precision(Precision::Single);
    let every = [Format::Las, Format::Laz, Format::Ply, Format::Pcd, Format::Npy, Format::E57];
    let plain = every.map(|format| WriteOptions::default().format(format));
    for writing in plain.into_iter().chain([single.format(Format::Ply)]) {
        let expected = write_bytes(whole, &rows, &writing).unwrap();
        let found = write_bytes(&some, &rows, &writing).unwrap();
        assert_eq!(found.1, expected.1, "{filter} as {:?}", writing.format);
        // An identifier of E57 differs from file to file.
        let same = writing.format == Some(Format::E57) || found.0 == expected.0;
        assert!(same, "{filter} as {:?}", writing.format);
    }
    assert_eq!(some.description(), whole.description());
    some.nodes_read()
}

fn corner() -> impl Strategy<Value = [f64; 3]> {
    // Faces of cubes often.
    let axis = || prop_oneof![(0..=16).prop_map(f64::from), -2.0..18.0, Just(f64::INFINITY)];
    (axis(), axis(), axis()).prop_map(|(x, y, z)| [1000.0 + x, 2000.0 + y, z])
}

fn filter() -> impl Strategy<Value = Filter> {
    let condition = prop_oneof![
        Just("classification=2..9"),
        Just("z=..3.5"),
        Just("x=1001..1002,1012..1013.5"),
        Just("y=2000..2008"),
    ];
    let conditions = prop::collection::vec((condition, any::<bool>()), 0..3);
    (corner(), corner(), conditions).prop_map(|(a, b, conditions)| {
        let low = std::array::from_fn(|axis| a[axis].min(b[axis]));
        let high = std::array::from_fn(|axis| a[axis].max(b[axis]));
        let filter = Filter::default().within(low, high);
        conditions.into_iter().fold(filter, |filter, (condition, keep)| {
            let condition: Condition = condition.parse().unwrap();
            if keep { filter.keep(condition) } else { filter.drop(condition) }
        })
    })
}

proptest! {
    #![proptest_config(random(40))]
    #[test]
    fn a_filter_uses_the_same_rows(filter in filter()) {
        let whole = read(&made(), &options()).unwrap();
        compare(&made(), &whole, &filter);
    }
}

#[test]
fn only_nodes_that_a_box_meets_are_read() {
    let whole = read(&made(), &options()).unwrap();
    let nodes = |filter: &Filter| compare(&made(), &whole, filter);
    // The root, and one node of each level below it.
    let small = Filter::default().within([1000.5, 2000.5, 0.5], [1001.0, 2001.0, 1.0]);
    assert_eq!(nodes(&small), Some([3, 41]));
    let low = Filter::default().keep("z=..3.9".parse().unwrap());
    assert_eq!(nodes(&low), Some([1 + 4 + 16, 41]));
    let nowhere = Filter::default().within([0.0; 3], [1.0; 3]);
    assert_eq!(nodes(&nowhere), Some([0, 41]));
    let everywhere = Filter::default().within([0.0; 3], [1e9; 3]);
    assert_eq!(nodes(&everywhere), None);
    let values = Filter::default().keep("classification=2".parse().unwrap());
    assert_eq!(nodes(&values), None);
}

#[test]
fn rows_of_other_nodes_have_no_place() {
    let filter = Filter::default().within([1000.5, 2000.5, 0.5], [1001.0, 2001.0, 1.0]);
    let cloud = read_for(&made(), &options(), &filter).unwrap();
    let Coordinates::F64(points) = cloud.coordinates() else { panic!("LAS is read as doubles") };
    assert_eq!(points.iter().filter(|at| at[0].is_finite()).count(), 3 * 40);
}

#[test]
fn an_unknown_field_is_refused() {
    let filter = Filter::default().within([0.0; 3], [1.0; 3]).keep("ring=1".parse().unwrap());
    let error = read_for(&made(), &options(), &filter).unwrap_err();
    assert!(matches!(error, Error::Field { field, .. } if field == "ring"));
}

/// The file with some bytes changed, in a folder.
fn damaged(folder: &Path, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
    let mut bytes = std::fs::read(made()).unwrap();
    change(&mut bytes);
    let path = folder.join("damaged.copc.laz");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_damaged_octree_is_not_relied_on() {
    let folder = tempfile::tempdir().unwrap();
    let filter = Filter::default().within([1000.5, 2000.5, 0.5], [1001.0, 2001.0, 1.0]);
    let whole = read(&made(), &options()).unwrap();
    let (info, root) = (375 + 54, 18600);
    let changes: [(&str, usize, &[u8]); 5] = [
        ("truncated", info + 40, &u64::MAX.to_le_bytes()),
        ("invalid cube", info + 24, &f64::NAN.to_le_bytes()),
        ("is not a node", root + 28, &7i32.to_le_bytes()),
        ("is damaged", root, &77i32.to_le_bytes()),
        ("truncated", info + 48, &31u64.to_le_bytes()),
    ];
    for (what, at, bytes) in changes {
        let path = damaged(folder.path(), |file| file[at..at + bytes.len()].copy_from_slice(bytes));
        let cloud = read_for(&path, &options(), &filter).unwrap();
        assert_eq!(cloud.nodes_read(), None, "{what}");
        assert_eq!(used(&filter, &cloud), used(&filter, &whole), "{what}");
        let warned = cloud.warnings().last().unwrap();
        assert!(warned.contains(what) && warned.contains("all nodes"), "{warned}");
    }
}

/// Every entry of the hierarchy is right by itself, but two chunks are exchanged.
#[test]
fn exchanged_nodes_lose_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let whole = read(&made(), &options()).unwrap();
    let filter = Filter::default().within([1000.5, 2000.5, 0.5], [1001.0, 2001.0, 1.0]);
    let rows = used(&filter, &whole);
    let bytes = std::fs::read(made()).unwrap();
    let is_node = |at: &usize| {
        let number = |k: usize| i32::from_le_bytes(bytes[at + k..at + k + 4].try_into().unwrap());
        number(28) == 40 && number(24) > 0 && (1..=2).contains(&number(0)) && number(20) == 0
    };
    let nodes: Vec<usize> = (18_000..bytes.len() - 31).filter(is_node).collect();
    assert!(nodes.len() >= 8, "{nodes:?}");
    let mut found = 0;
    for pair in nodes.windows(2) {
        let path = damaged(folder.path(), |file| {
            let [a, b] =
                [pair[0], pair[1]].map(|at| <[u8; 16]>::try_from(&bytes[at..at + 16]).unwrap());
            file[pair[0]..pair[0] + 16].copy_from_slice(&b);
            file[pair[1]..pair[1] + 16].copy_from_slice(&a);
        });
        let cloud = read_for(&path, &options(), &filter).unwrap();
        assert_eq!(used(&filter, &cloud), rows, "{pair:?}");
        let warned = |w: &String| w.contains("outside of its node") && w.contains("all nodes");
        found += usize::from(cloud.warnings().iter().any(warned));
    }
    assert_eq!(found, nodes.len() - 1);
}

#[test]
fn a_damaged_node_is_found_when_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    // The last chunk is of the node (2, 3, 3, 3); behind its first point, which is checked in every chunk.
    let path = damaged(folder.path(), |file| {
        let end = 18000;
        file[end - 235..end - 200].fill(0xff);
    });
    assert!(read(&path, &options()).is_err());
    let in_damaged_node = Filter::default().within([1015.0, 2015.0, 15.0], [1016.0, 2016.0, 16.0]);
    assert!(matches!(read_for(&path, &options(), &in_damaged_node), Err(Error::Malformed { .. })));
    let elsewhere = Filter::default().within([1000.5, 2000.5, 0.5], [1001.0, 2001.0, 1.0]);
    let cloud = read_for(&path, &options(), &elsewhere).unwrap();
    let rows = used(&elsewhere, &cloud);
    assert!(write_bytes(&cloud, &rows, &WriteOptions::default().format(Format::Laz)).is_ok());
    // The writer needs the range of all colors.
    let error = write_bytes(&cloud, &rows, &WriteOptions::default().format(Format::Ply));
    assert!(error.unwrap_err().to_string().contains("filter"));
}

#[test]
fn another_writers_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(REAL);
    if !path.exists() {
        println!("skipped: {REAL} (not there)");
        return;
    }
    let whole = read(&path, &options()).unwrap();
    let corner = [515_370.0, 4_918_345.0, 2300.0];
    let filter = Filter::default().within(corner, [515_372.0, 4_918_347.0, 2400.0]);
    let [some, all] = compare(&path, &whole, &filter).unwrap();
    assert!(some < all && all == 15, "{some} of {all}");
}
