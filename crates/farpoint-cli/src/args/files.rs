//! Options of readers, writers and reports that several commands share.

use super::{Count, Length, Named};
use crate::hints::did_you_mean;
use anyhow::{Result, anyhow, ensure};
use farpoint_io::{Copc, Encoding, Error, Format, Precision, ReadOptions, TextStyle, WriteOptions};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, fs};

/// Options of reading files.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct Reading {
    /// Format of the input if name and content do not show it, by extension: ply, las, csv,
    /// bin (raw float32), ...
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<InputFormat>,
    /// Columns of x, y and z in a text or raw file: names in its header, or numbers from 1.
    #[arg(long, value_name = "COL,COL,COL")]
    xyz: Option<Axes>,
    /// Numbers per row of a raw float32 file (KITTI has 4, nuScenes 5).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(3..))]
    columns: Option<u8>,
    #[command(flatten)]
    pub(crate) bag: BagOptions,
}

/// Topic and message to read from a bag.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct BagOptions {
    /// MCAP: topic of the clouds; 'sample' of a whole bag takes several [default: the only one].
    #[arg(long, value_name = "NAME")]
    pub(crate) topic: Vec<String>,
    /// MCAP: use one message of the topic as the cloud, numbered from 0.
    #[arg(long, value_name = "K")]
    pub(crate) message: Option<usize>,
}

impl Reading {
    /// Returns an option of readers of other files than bags, if one is set.
    #[cfg(feature = "bags")]
    pub(crate) fn file_option(&self) -> Option<&'static str> {
        let options = [
            (self.input_format.is_some_and(|f| f.0 != Format::Mcap), "--input-format"),
            (self.xyz.is_some(), "--xyz"),
            (self.columns.is_some(), "--columns"),
        ];
        options.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name)
    }

    /// Returns the options of reading one cloud.
    pub(crate) fn options(&self) -> Result<ReadOptions> {
        let BagOptions { topic, message } = &self.bag;
        ensure!(
            topic.len() <= 1,
            "{} topics: only 'sample' takes several, of a whole bag; leave one --topic",
            topic.len()
        );
        Ok(ReadOptions::default()
            .topic(topic.first().cloned())
            .message(*message)
            .format(self.input_format.map(|format| format.0))
            .columns(self.columns.map(usize::from))
            .xyz(self.xyz.clone().map(|axes| axes.0)))
    }
}

/// Input file and selection of its rows.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct Input {
    /// The point cloud; '-' is stdin.
    #[arg(value_name = "IN", help_heading = None::<&str>)]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) rows: Rows,
}

/// Selection of rows, and their precision.
#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct Rows {
    /// Leave out rows of zeros, (0, 0, 0), which some sensors write for 'no return'.
    #[arg(long)]
    pub(crate) drop_zeros: bool,
    /// Sample double coordinates in single precision, after subtracting their minimum corner.
    #[arg(long)]
    pub(crate) f32: bool,
}

/// Options of writing clouds.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Writing {
    /// Format of the points written, if the output's name does not set it: ply, pcd, las, laz, e57, npy,
    /// npz, bin, xyz, csv, pts, or copc (order, and sample with an exact algorithm); for ply with :ascii, :binary or :binary-big-endian, for pcd with :ascii, :binary or
    /// :compressed.
    #[arg(long, visible_alias = "to", value_name = "FORMAT[:ENCODING]")]
    format: Option<OutputFormat>,
    /// PLY, PCD and NPY: type of the coordinates written, single or double [default: as in the input;
    /// single for PCD, if that keeps 0.1 mm].
    #[arg(long, value_name = "P", hide_possible_values = true)]
    precision: Option<PrecisionName>,
    /// LAS and LAZ: scale of the coordinates written, 0.001 or 1mm [default: that of the input, or as
    /// fine as its numbers].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) scale: Option<Length>,
    /// COPC (.copc.laz): maximum number of points of a node, 100 to 10M [default: 65,535].
    #[arg(long, value_name = "N")]
    node_points: Option<Count>,
    /// COPC: the coordinate system, as a file of well-known text [default: that of the input].
    #[arg(long, value_name = "FILE")]
    crs_wkt: Option<PathBuf>,
}

impl Writing {
    /// Returns whether COPC is requested, by the format or by the name of the output.
    pub(crate) fn is_copc(&self, path: &Path) -> bool {
        self.format.as_ref().map_or_else(|| Copc::is_named(path), |format| format.copc)
    }

    /// Returns the options of COPC without the distances that levels are built from; `None` unless one of
    /// them is given.
    pub(crate) fn levels(&self) -> Result<Option<Copc>> {
        let is_copc = self.format.as_ref().is_some_and(|format| format.copc);
        if !is_copc && self.node_points.is_none() && self.crs_wkt.is_none() {
            return Ok(None);
        }
        let wkt = self.crs_wkt.as_deref().map(|path| {
            let text = fs::read_to_string(path);
            text.map_err(|error| anyhow!("--crs-wkt {}: cannot be read: {error}", path.display()))
        });
        let levels =
            Copc::new([]).node_points(self.node_points.map(|count| count.0)).wkt(wkt.transpose()?);
        if let Some((message, fix)) = levels.wrong() {
            let option = if self.node_points.is_some() { "--node-points" } else { "--crs-wkt" };
            ensure!(false, "{option}: {message}; {fix}");
        }
        Ok(Some(levels))
    }

    /// Returns the file that an option reads.
    pub(crate) fn file(&self) -> Named<'_> {
        ("--crs-wkt", self.crs_wkt.as_deref())
    }

    /// Returns the option about COPC that is set, if any.
    pub(crate) fn copc_option(&self) -> Option<&'static str> {
        let options =
            [(self.node_points.is_some(), "--node-points"), (self.crs_wkt.is_some(), "--crs-wkt")];
        options.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name)
    }

    /// Returns the options of the writer, `scale` in the unit of the file.
    pub(crate) fn options(&self, scale: Option<f64>) -> WriteOptions {
        let format = self.format.as_ref();
        WriteOptions::default()
            .format(format.map(|requested| requested.format))
            .encoding(format.and_then(|requested| requested.encoding))
            .style(format.and_then(|requested| requested.style))
            .precision(self.precision.map(PrecisionName::value))
            .scale(scale)
    }

    /// Returns the option that is set, if any.
    pub(crate) fn set_option(&self) -> Option<&'static str> {
        let options = [
            (self.format.is_some(), "--format"),
            (self.precision.is_some(), "--precision"),
            (self.scale.is_some(), "--scale"),
        ];
        let option = options.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name);
        option.or_else(|| self.copc_option())
    }

    /// Returns the usual extension of the requested format.
    pub(crate) fn extension(&self) -> Option<&str> {
        self.format.as_ref().map(|format| format.extension.as_str())
    }

    /// Refuses options that a format does not have.
    pub(crate) fn check(&self, format: Format) -> Result<(), String> {
        let las = matches!(format, Format::Las | Format::Laz);
        if let Some(scale) = self.scale {
            let number = scale.in_meters();
            if !(number > 0.0 && number.is_finite()) {
                return Err(format!("--scale {scale}: use a scale above 0, such as 0.001 or 1mm"));
            }
            if !las {
                return Err(format!("--scale is for LAS and LAZ, not {format}; remove it"));
            }
        }
        match self.precision.is_some() {
            true if las => Err(format!("--precision is not for {format}; use --scale")),
            true if format == Format::Raw => {
                Err("--precision is not for raw float32; write NPY, or remove it".into())
            }
            true if format == Format::Text => {
                Err("--precision is not for text, which holds any number; remove it".into())
            }
            _ => Ok(()),
        }
    }
}

/// Options of the report.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Report")]
pub(crate) struct Report {
    /// Print one JSON object instead of a table, or with =FILE write it there.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
        default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
}

impl Report {
    /// Returns whether the object goes to stdout.
    pub(crate) fn prints(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }
}

/// Value of `--input-format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InputFormat(Format);

impl FromStr for InputFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_: Error| {
            let known = extensions(|_| true);
            let hint = did_you_mean(text, known.split(", "));
            format!("formats read: {known}{hint}")
        })
    }
}

/// Returns the extensions of all formats that `fit`.
fn extensions(fit: impl Fn(Format) -> bool) -> String {
    let formats = Format::ALL.into_iter().filter(|format| fit(*format));
    formats.flat_map(Format::extensions).copied().collect::<Vec<_>>().join(", ")
}

/// Value of `--format`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OutputFormat {
    format: Format,
    encoding: Option<Encoding>,
    style: Option<TextStyle>,
    /// Set for LAZ with the levels of COPC.
    copc: bool,
    /// Extension of file names.
    extension: String,
}

/// Encodings by name.
const ENCODINGS: [(&str, Encoding); 4] = [
    ("ascii", Encoding::Ascii),
    ("binary", Encoding::Binary),
    ("binary-big-endian", Encoding::BinaryBigEndian),
    ("compressed", Encoding::BinaryCompressed),
];

/// Returns the names of the encodings of a format.
fn encodings(format: Format) -> &'static [&'static str] {
    match format {
        Format::Ply => &["ascii", "binary", "binary-big-endian"],
        Format::Pcd => &["ascii", "binary", "compressed"],
        _ => &[],
    }
}

impl FromStr for OutputFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, encoding) = match text.split_once(':') {
            Some((name, encoding)) => (name, Some(encoding)),
            None => (text, None),
        };
        let copc = ["copc", "copc.laz"].iter().any(|known| name.eq_ignore_ascii_case(known));
        let format = if copc { Some(Format::Laz) } else { name.parse().ok() };
        let format = format.filter(|format: &Format| format.can_write());
        let format = format.ok_or_else(|| {
            let known = extensions(|format| format.can_write()) + ", copc";
            format!("formats written: {known}{}", did_you_mean(name, known.split(", ")))
        })?;
        let encoding = encoding.map(|encoding| encoding_of(format, encoding)).transpose()?;
        let extension =
            match format.extensions().iter().find(|known| name.eq_ignore_ascii_case(known)) {
                Some(extension) => *extension,
                None if copc => "copc.laz",
                None => format.extensions()[0],
            };
        // A text named by an extension has that layout; by 'text', that of the output's name.
        let style = (format == Format::Text && !name.eq_ignore_ascii_case(format.name()))
            .then(|| TextStyle::of(Path::new(&format!("output.{extension}"))));
        Ok(Self { format, encoding, style, copc, extension: extension.to_owned() })
    }
}

fn encoding_of(format: Format, name: &str) -> Result<Encoding, String> {
    let names = encodings(format);
    let found = ENCODINGS.into_iter().find(|(known, _)| *known == name && names.contains(known));
    found.map(|(_, encoding)| encoding).ok_or_else(|| match names {
        [] => format!("{format} has one encoding; leave out ':{name}'"),
        _ => format!("{format} has the encodings {}", names.join(", ")),
    })
}

/// Value of `--precision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PrecisionName {
    Single,
    Double,
}

impl PrecisionName {
    fn value(self) -> Precision {
        match self {
            Self::Single => Precision::Single,
            Self::Double => Precision::Double,
        }
    }
}

/// Value of `--xyz`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Axes([String; 3]);

impl FromStr for Axes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        let advice = "use three columns, by name or by number from 1, such as \
                      Easting,Northing,Height or 2,3,4";
        match <[String; 3]>::try_from(names) {
            Ok(names) if names.iter().any(|name| name.is_empty() || name == "0") => {
                Err(advice.into())
            }
            Ok([x, y, z]) if x == y || y == z || x == z => {
                Err(format!("a column is named twice; {advice}"))
            }
            Ok(names) => Ok(Self(names)),
            Err(_) => Err(advice.into()),
        }
    }
}

impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_name_and_extension() {
        for (text, format) in [("ply", Format::Ply), ("LAZ", Format::Laz), ("bin", Format::Raw)] {
            assert_eq!(text.parse(), Ok(InputFormat(format)));
        }
        for (text, format) in [("raw", Format::Raw), ("text", Format::Text), ("pts", Format::Text)]
        {
            assert_eq!(text.parse(), Ok(InputFormat(format)));
        }
        assert!("docx".parse::<InputFormat>().unwrap_err().contains("ply, pcd"));
    }

    #[test]
    fn outputs_with_encodings_and_styles() {
        let parsed = |text: &str| text.parse::<OutputFormat>();
        let pcd = parsed("pcd:compressed").unwrap();
        assert_eq!((pcd.format, pcd.encoding), (Format::Pcd, Some(Encoding::BinaryCompressed)));
        let csv = parsed("CSV").unwrap();
        assert_eq!((csv.format, csv.style), (Format::Text, Some(TextStyle::Csv)));
        assert_eq!(parsed("pts").unwrap().style, Some(TextStyle::Pts));
        assert_eq!(parsed("text").unwrap().style, None);
        let copc = parsed("copc").unwrap();
        assert_eq!((copc.format, copc.copc, &*copc.extension), (Format::Laz, true, "copc.laz"));
        assert!(!parsed("laz").unwrap().copc);
        assert_eq!(parsed("xyz").unwrap().extension, "xyz");
        assert!(parsed("ptx").unwrap_err().starts_with("formats written: ply, pcd"));
        assert!(parsed("las:ascii").unwrap_err().contains("leave out ':ascii'"));
        assert!(parsed("ply:compressed").unwrap_err().contains("ascii, binary, binary-big-endian"));
    }

    #[test]
    fn three_columns() {
        let axes = "Easting, Northing,Height".parse::<Axes>().unwrap();
        assert_eq!(axes.0, ["Easting", "Northing", "Height"]);
        for text in ["1,2", "1,2,3,4", "1,,3", "0,1,2", "1,1,2", ""] {
            assert!(text.parse::<Axes>().unwrap_err().contains("2,3,4"), "{text}");
        }
    }
}
