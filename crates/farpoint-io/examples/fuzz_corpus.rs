//! Writes the seeds of the fuzz targets: small clouds in every format, into one folder per target.
//!
//! Usage: `cargo run -p farpoint-io --example fuzz_corpus -- fuzz/corpus`

#[cfg(feature = "mcap")]
#[path = "../tests/it/bags.rs"]
mod bags;

use farpoint_io::{
    Cloud, Column, Coordinates, Encoding, Format, ReadOptions, WriteOptions, write_bytes,
};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

/// Any error ends the program with its message.
type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let folder =
        std::env::args().nth(1).map_or_else(|| PathBuf::from("fuzz/corpus"), PathBuf::from);
    let clouds = [cloud(0, false), cloud(3, false), cloud(7, true), cloud(40, true)];
    for (i, cloud) in clouds.iter().enumerate() {
        let encodings = [Encoding::Ascii, Encoding::Binary, Encoding::BinaryBigEndian];
        for (k, encoding) in encodings.into_iter().enumerate() {
            save(
                &folder,
                "ply",
                &format!("{i}_{k}.ply"),
                &bytes(cloud, Format::Ply, Some(encoding))?,
            )?;
        }
        let encodings = [Encoding::Ascii, Encoding::Binary, Encoding::BinaryCompressed];
        for (k, encoding) in encodings.into_iter().enumerate() {
            save(
                &folder,
                "pcd",
                &format!("{i}_{k}.pcd"),
                &bytes(cloud, Format::Pcd, Some(encoding))?,
            )?;
        }
        save(&folder, "las", &format!("{i}.las"), &bytes(cloud, Format::Las, None)?)?;
        save(&folder, "las", &format!("{i}.laz"), &bytes(cloud, Format::Laz, None)?)?;
        let npy = bytes(cloud, Format::Npy, None)?;
        save(&folder, "npy", &format!("{i}.npy"), &npy)?;
        save(&folder, "npy", &format!("{i}.npz"), &archive(&npy)?)?;
        save(&folder, "text", &format!("{i}.txt"), &bytes(cloud, Format::Text, None)?)?;
        save(&folder, "raw", &format!("{i}.bin"), &raw(cloud))?;
        save(&folder, "e57", &format!("{i}.e57"), &e57(cloud, i % 2 == 1)?)?;
    }
    for (target, name, text) in AWKWARD {
        save(&folder, target, name, text.as_bytes())?;
    }
    old_formats(&folder)?;
    #[cfg(feature = "mcap")]
    save_bags(&folder)?;
    Ok(())
}

/// Messages of every layout; MCAP files of every kind.
#[cfg(feature = "mcap")]
fn save_bags(folder: &Path) -> Result<(), Failure> {
    for (i, layout) in bags::layouts().iter().enumerate() {
        save(folder, "cloud2", &format!("{i}.bin"), &bags::cloud(layout, 16, i))?;
    }
    for (i, file) in bags::files().iter().enumerate() {
        for encoding in ["cdr", "ros1"] {
            let layout = bags::MessageLayout { encoding, ..bags::OUSTER };
            let clouds: Vec<_> = (0..2).map(|k| bags::cloud(&layout, 8, k)).collect();
            let name = format!("{i}_{encoding}.mcap");
            save(folder, "mcap", &name, &bags::drive(file, encoding, &clouds))?;
        }
    }
    Ok(())
}

/// Shapes that the writers do not make: lists, extra elements, old headers, count lines.
const AWKWARD: [(&str, &str, &str); 12] = [
    (
        "ply",
        "lists.ply",
        "ply\nformat ascii 1.0\ncomment c\nelement camera 1\nproperty float f\nelement vertex 2\nproperty list uchar int near\nproperty double x\nproperty double y\nproperty double z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0.5\n2 1 2 0 1 2\n0 3 4 nan\n3 0 1 1\n",
    ),
    (
        "pcd",
        "padding.pcd",
        "# .PCD v.7\nVERSION .7\nFIELDS x y z _\nSIZE 4 4 4 1\nTYPE F F F U\nCOUNT 1 1 1 4\nWIDTH 1\nHEIGHT 2\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ascii\n1 2 3 0 0 0 0\nnan nan nan 0 0 0 0\n",
    ),
    ("text", "points.pts", "2\n1 2 3 7\n4 5 6 8\n"),
    ("text", "survey.csv", "ID,Easting,Northing,Height\n7,1.5,2,3\nB,4,5,6\n"),
    (
        "text",
        "scan.ptx",
        "1\n2\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n1 2 3 0.5 1 2 3\n0 0 0 0.5 0 0 0\n",
    ),
    ("mesh", "colors.off", "CNOFF\n2 0 0\n0 0 0 0 0 1 10 20 30\n1 1 1 0 0 1 10 20 30\n"),
    ("text", "table.csv", "x,y,z,label\n1,2,3,4\n4,5,6,\n"),
    ("text", "semicolons.txt", "//X;Y;Z;I\r\n1;2;3;4\r\n4;5;6;7\r\n"),
    ("mesh", "a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"),
    ("mesh", "glued.off", "OFF3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"),
    ("mesh", "color.off", "COFF\n# c\n1 0 0\n0 0 0 1 1 1 1\n"),
    ("mesh", "a.obj", "# o\nv 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1e-3 0 0 0 1\nvn 0 0 1\nf 1 2 3\n"),
];

fn cloud(count: usize, double: bool) -> Cloud {
    let point = |i: usize| [i as f64 * 0.25, (i * i % 17) as f64, -(i as f64)];
    let points = (0..count).map(point);
    let mut cloud = Cloud::new(match double {
        true => Coordinates::F64(points.collect()),
        false => Coordinates::F32(points.map(|p| p.map(|v| v as f32)).collect()),
    });
    if double {
        for name in ["red", "green", "blue"] {
            cloud.add_column(name, Column::U8((0..count).map(|i| (i * 37) as u8).collect()));
        }
        cloud.add_column("intensity", Column::U16((0..count).map(|i| i as u16).collect()));
        cloud.add_column("gps_time", Column::F64((0..count).map(|i| i as f64 * 0.1).collect()));
        cloud
            .add_column("spacing", Column::F32((0..count).map(|i| 1.0 / (i + 1) as f32).collect()));
    }
    cloud
}

fn bytes(cloud: &Cloud, format: Format, encoding: Option<Encoding>) -> Result<Vec<u8>, Failure> {
    let rows: Vec<usize> = (0..cloud.len()).collect();
    Ok(write_bytes(cloud, &rows, &WriteOptions::default().format(format).encoding(encoding))?.0)
}

fn raw(cloud: &Cloud) -> Vec<u8> {
    let mut out = vec![4];
    for i in 0..cloud.len() {
        let [x, y, z] = cloud.coordinates().get(i);
        for v in [x, y, z, 0.5] {
            out.extend((v as f32).to_le_bytes());
        }
    }
    out
}

fn archive(npy: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("points.npy", zip::write::SimpleFileOptions::default())?;
    zip.write_all(npy)?;
    Ok(zip.finish()?.into_inner())
}

fn e57(cloud: &Cloud, spherical: bool) -> Result<Vec<u8>, Failure> {
    use e57::{E57Writer, Record, RecordValue};
    let mut out = Cursor::new(Vec::new());
    let mut writer = E57Writer::new(&mut out, "file")?;
    let double = e57::RecordDataType::F64;
    let names = match spherical {
        false => {
            [e57::RecordName::CartesianX, e57::RecordName::CartesianY, e57::RecordName::CartesianZ]
        }
        true => [
            e57::RecordName::SphericalRange,
            e57::RecordName::SphericalAzimuth,
            e57::RecordName::SphericalElevation,
        ],
    };
    let mut prototype: Vec<Record> =
        names.into_iter().map(|name| Record { name, data_type: double.clone() }).collect();
    prototype.push(Record {
        name: e57::RecordName::Intensity,
        data_type: e57::RecordDataType::Integer { min: 0, max: 1000 },
    });
    let mut scan = writer.add_pointcloud("scan", prototype)?;
    for i in 0..cloud.len() {
        let [x, y, z] = cloud.coordinates().get(i).map(RecordValue::Double);
        scan.add_point(vec![x, y, z, RecordValue::Integer(i as i64)])?;
    }
    scan.finalize()?;
    writer.finalize()?;
    drop(writer);
    Ok(out.into_inner())
}

/// The point formats that the writer does not make itself, with bytes that nothing describes.
fn old_formats(folder: &Path) -> Result<(), Failure> {
    for format in [0, 1, 3, 5, 9, 10] {
        let mut builder = las::Builder::from((1, 4));
        builder.point_format = las::point::Format::new(format)?;
        builder.point_format.extra_bytes = 3;
        let mut writer = las::Writer::new(Cursor::new(Vec::new()), builder.into_header()?)?;
        for i in 0..20u8 {
            let mut bytes = vec![0u8; usize::from(writer.header().point_format().len())];
            bytes[0] = i * 10;
            bytes[14] = 9;
            let points =
                las::PointDataBuilder::new().for_header(writer.header()).build_from_bytes(bytes)?;
            writer.write_points(&points)?;
        }
        writer.close()?;
        let las = writer.into_inner()?.into_inner();
        let cloud = farpoint_io::read_bytes(&las, "old.las", &ReadOptions::default())?;
        save(folder, "las", &format!("old_{format}.las"), &las)?;
        save(folder, "las", &format!("old_{format}.laz"), &bytes(&cloud, Format::Laz, None)?)?;
    }
    Ok(())
}

fn save(folder: &Path, target: &str, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let folder = folder.join(target);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(name), bytes)?;
    Ok(())
}
