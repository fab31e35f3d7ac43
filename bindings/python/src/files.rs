//! Reading and writing point cloud files.

use crate::error::{file as failed, passed_on, spelled};
use crate::watch::without_gil;
use farpoint_io::{
    Cloud, Column, Coordinates, Encoding, Format, Precision, ReadOptions, TextStyle, WriteOptions,
};
use numpy::ndarray::Array2;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<File>()?;
    module.add_function(wrap_pyfunction!(read, module)?)?;
    module.add_function(wrap_pyfunction!(read_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(restore, module)?)?;
    module.add_function(wrap_pyfunction!(from_points, module)?)
}

/// A cloud that was read: all rows with all attributes.
#[pyclass(frozen, module = "farpoint._native")]
struct File {
    cloud: Cloud,
    /// Description and warnings of the file that was read, if this is a copy of it by [`restore`].
    description_and_warnings: Option<(String, Vec<String>)>,
    /// Options for reading its rows again.
    reading: TextReading,
}

/// Options with which a text was read.
#[derive(Clone, Default)]
struct TextReading {
    /// Extension of the file's name, which identifies a PTS file.
    extension: Option<String>,
    xyz: Option<[String; 3]>,
}

impl TextReading {
    fn of(name: &Path, xyz: Option<[String; 3]>) -> TextReading {
        let extension = name.extension().and_then(|e| e.to_str()).map(str::to_owned);
        TextReading { extension, xyz }
    }

    /// Returns the extension under which a text is read as it was.
    fn text(&self) -> &str {
        let extension = self.extension.as_deref().unwrap_or_default();
        let is_text = matches!(extension.parse(), Ok(Format::Text));
        if is_text { extension } else { Format::Text.extensions()[0] }
    }
}

pub(crate) fn options(
    format: Option<&str>,
    columns: Option<usize>,
    xyz: Option<[String; 3]>,
) -> PyResult<ReadOptions> {
    let format = format.map(format_of).transpose()?;
    Ok(ReadOptions::default().format(format).columns(columns).xyz(xyz))
}

pub(crate) fn writing(
    format: Option<&str>,
    encoding: Option<&str>,
    precision: Option<&str>,
) -> PyResult<WriteOptions> {
    Ok(WriteOptions::default()
        .format(format.map(format_of).transpose()?)
        .style(format.and_then(style_of))
        .encoding(encoding.map(encoding_of).transpose()?)
        .precision(precision.map(precision_of).transpose()?))
}

/// Parses a format by its name or one of its extensions.
pub(crate) fn format_of(name: &str) -> PyResult<Format> {
    name.parse().map_err(failed)
}

#[pyfunction]
fn read(
    py: Python<'_>,
    path: PathBuf,
    format: Option<&str>,
    columns: Option<usize>,
    xyz: Option<[String; 3]>,
) -> PyResult<File> {
    let reading = TextReading::of(&path, xyz.clone());
    let options = options(format, columns, xyz)?;
    let cloud = without_gil(py, || farpoint_io::read(&path, &options)).map_err(failed)?;
    File::read(py, &path, cloud, reading)
}

/// Like `read`, from the bytes of a file of this name.
#[pyfunction]
fn read_bytes(
    py: Python<'_>,
    bytes: &[u8],
    name: &str,
    format: Option<&str>,
    columns: Option<usize>,
    xyz: Option<[String; 3]>,
) -> PyResult<File> {
    let reading = TextReading::of(name.as_ref(), xyz.clone());
    let options = options(format, columns, xyz)?;
    let cloud =
        without_gil(py, || farpoint_io::read_bytes(bytes, name, &options)).map_err(failed)?;
    File::read(py, name.as_ref(), cloud, reading)
}

/// Restores the file of a `dump`.
#[pyfunction]
fn restore(
    py: Python<'_>,
    bytes: &[u8],
    format: &str,
    description: String,
    warnings: Vec<String>,
    columns: Option<usize>,
    xyz: Option<[String; 3]>,
) -> PyResult<File> {
    let name = format!("pickle.{format}");
    let reading = TextReading::of(name.as_ref(), xyz.clone());
    let options = options(Some(format), columns, xyz)?;
    let cloud =
        without_gil(py, || farpoint_io::read_bytes(bytes, &name, &options)).map_err(failed)?;
    Ok(File { cloud, description_and_warnings: Some((description, warnings)), reading })
}

/// Returns a cloud of an array `(n, 3)`.
#[pyfunction]
fn from_points(points: &Bound<'_, PyUntypedArray>) -> PyResult<File> {
    let coordinates = if let Ok(array) = points.cast::<PyArray2<f32>>() {
        triples(&array.readonly()).map(Coordinates::F32)
    } else if let Ok(array) = points.cast::<PyArray2<f64>>() {
        triples(&array.readonly()).map(Coordinates::F64)
    } else {
        let about = crate::arrays::about(points);
        let text =
            format!("points to write must be a float32 or float64 array of shape (N, 3) ({about})");
        return Err(PyTypeError::new_err(text));
    };
    coordinates.map(|coordinates| File::of(Cloud::new(coordinates)))
}

fn triples<T: numpy::Element + Copy>(array: &PyReadonlyArray2<'_, T>) -> PyResult<Vec<[T; 3]>> {
    if array.shape()[1] != 3 {
        let about = crate::arrays::about(array.as_untyped());
        let text = format!("points to write must be of shape (N, 3) ({about})");
        return Err(PyValueError::new_err(text));
    }
    Ok(array.as_array().rows().into_iter().map(|row| [row[0], row[1], row[2]]).collect())
}

#[pymethods]
impl File {
    fn __len__(&self) -> usize {
        self.cloud.len()
    }

    #[getter]
    fn description(&self) -> String {
        self.description_and_warnings().0
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.description_and_warnings().1
    }

    /// Returns the coordinate reference system: its EPSG code, well-known text or name.
    #[getter]
    fn crs(&self) -> Option<String> {
        let crs = self.cloud.crs()?;
        let code = crs.epsg.map(|code| format!("EPSG:{code}"));
        Some(code.or_else(|| crs.wkt.clone()).unwrap_or_else(|| crs.name.clone()))
    }

    /// Returns the scale of the stored coordinates of each axis.
    #[getter]
    fn scale(&self) -> Option<(f64, f64, f64)> {
        self.cloud.scale().map(|[x, y, z]| (x, y, z))
    }

    /// Returns name, type and numbers per point of each attribute.
    #[getter]
    fn fields(&self) -> Vec<(String, &'static str, usize)> {
        self.cloud.fields().into_iter().map(|f| (f.name, f.kind.name(), f.count)).collect()
    }

    /// Returns the coordinates, in the precision of the file.
    fn points<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        fn dense<T: numpy::Element + Copy>(rows: &[[T; 3]], py: Python<'_>) -> Py<PyAny> {
            let flat = rows.as_flattened().to_vec();
            let array = Array2::from_shape_vec([rows.len(), 3], flat).expect("three a row");
            array.into_pyarray(py).into_any().unbind()
        }
        match self.cloud.coordinates() {
            Coordinates::F32(rows) => dense(rows, py).into_bound(py),
            Coordinates::F64(rows) => dense(rows, py).into_bound(py),
        }
    }

    /// Returns the file with one more attribute.
    fn with_column(&self, name: &str, values: &Bound<'_, PyUntypedArray>) -> PyResult<File> {
        let column = column(values)?;
        if column.len() != self.cloud.len() {
            let (values_len, rows) = (column.len(), self.cloud.len());
            let text = format!("{values_len} values of '{name}' for a cloud of {rows} points");
            return Err(PyValueError::new_err(text));
        }
        let mut cloud = self.cloud.clone();
        cloud.add_column(name, column);
        Ok(File {
            cloud,
            description_and_warnings: self.description_and_warnings.clone(),
            reading: self.reading.clone(),
        })
    }

    /// Writes rows to a file; returns warnings.
    // The arguments of the function in Python.
    #[allow(clippy::too_many_arguments)]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        rows: Option<PyReadonlyArray1<'_, i64>>,
        format: Option<&str>,
        encoding: Option<&str>,
        precision: Option<&str>,
        scale: Option<f64>,
    ) -> PyResult<Vec<String>> {
        let rows = self.rows(rows)?;
        let options = writing(format, encoding, precision)?.scale(scale);
        let write = || farpoint_io::write(&path, &self.cloud, &rows, &options);
        passed_on(py, &path, without_gil(py, write).map_err(failed)?)
    }

    /// Returns rows with all that [`restore`] needs, and the columns that were added.
    fn dump<'py>(
        &self,
        py: Python<'py>,
        rows: Option<PyReadonlyArray1<'_, i64>>,
    ) -> PyResult<(Dumped<'py>, Vec<Added<'py>>)> {
        let rows = self.rows(rows)?;
        if let Some(row) = rows.iter().find(|row| **row >= self.cloud.len()) {
            let points = self.cloud.len();
            return Err(PyIndexError::new_err(format!("row {row} of a cloud of {points} points")));
        }
        let (bytes, format) = without_gil(py, || self.written(&rows)).map_err(failed)?;
        let (description, warnings) = self.description_and_warnings();
        let added = self.cloud.added_columns(&rows);
        let added = added.into_iter().map(|(name, column)| (name, numbers(py, column))).collect();
        let (extension, xyz) = match format {
            Format::Text => (self.reading.text(), self.reading.xyz.clone()),
            other => (other.extensions()[0], None),
        };
        // Raw rows do not state their width.
        let columns = (format == Format::Raw).then(|| bytes.len() / (4 * rows.len()));
        let bytes = PyBytes::new(py, &bytes);
        Ok(((bytes, extension.to_owned(), description, warnings, columns, xyz), added))
    }

    /// Returns rows with all attributes as the bytes of an NPY file.
    fn npy<'py>(
        &self,
        py: Python<'py>,
        rows: Option<PyReadonlyArray1<'_, i64>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rows = self.rows(rows)?;
        let options = WriteOptions::default().format(Format::Npy);
        let written = without_gil(py, || farpoint_io::write_bytes(&self.cloud, &rows, &options));
        Ok(PyBytes::new(py, &written.map_err(failed)?.0))
    }
}

/// Input of [`restore`]: bytes of a file, its extension, description and warnings, its number of
/// columns if it does not state it, and which of them are x, y and z.
type Dumped<'py> =
    (Bound<'py, PyBytes>, String, String, Vec<String>, Option<usize>, Option<[String; 3]>);

/// A column that was added: its name and numbers.
type Added<'py> = (String, Bound<'py, PyAny>);

impl File {
    fn of(cloud: Cloud) -> Self {
        Self { cloud, description_and_warnings: None, reading: TextReading::default() }
    }

    /// Wraps a cloud from a file, for whose format the options make sense, and passes its warnings on.
    fn read(py: Python<'_>, path: &Path, cloud: Cloud, reading: TextReading) -> PyResult<Self> {
        let format = cloud.format().filter(|f| !matches!(f, Format::Text | Format::Raw));
        match (format, &reading.xyz) {
            (Some(format), Some(_)) => Err(PyValueError::new_err(format!(
                "xyz is not for {format}, which names x, y and z itself; remove it"
            ))),
            _ => {
                passed_on(py, path, cloud.warnings())?;
                Ok(Self { cloud, description_and_warnings: None, reading })
            }
        }
    }

    /// Returns description and warnings.
    fn description_and_warnings(&self) -> (String, Vec<String>) {
        let warnings = || self.cloud.warnings().iter().map(spelled).collect();
        let from_cloud = || (self.cloud.description(), warnings());
        self.description_and_warnings.clone().unwrap_or_else(from_cloud)
    }

    /// Returns the bytes of a file of these rows without added columns, and its format: that of the file,
    /// which keeps all bit for bit; else one that keeps names and types.
    fn written(&self, rows: &[usize]) -> Result<(Vec<u8>, Format), farpoint_io::Error> {
        let cloud = self.cloud.without_added();
        let write = |format| {
            let options = WriteOptions::default().format(format);
            farpoint_io::write_bytes(&cloud, rows, &options)
        };
        // Text without a row has no columns; the others are not read back as they were.
        let is_lossless =
            |format: &Format| format.can_write() && !matches!(format, Format::Npz | Format::E57);
        let own_format = cloud.format().filter(|format| is_lossless(format) && !rows.is_empty());
        if let Some(own_format) = own_format {
            let (bytes, warnings) = write(own_format)?;
            // Lines that are written anew have x, y and z elsewhere.
            if self.reading.xyz.is_none() || warnings.is_empty() {
                return Ok((bytes, own_format));
            }
        }
        let (bytes, warnings) = write(Format::Ply)?;
        match warnings.is_empty() {
            true => Ok((bytes, Format::Ply)),
            false => Ok((write(Format::Npy)?.0, Format::Npy)),
        }
    }

    fn rows(&self, rows: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<Vec<usize>> {
        let Some(rows) = rows else { return Ok((0..self.cloud.len()).collect()) };
        // Negative rows become huge, and are refused as not in the cloud.
        Ok(rows.as_array().iter().map(|&row| row as usize).collect())
    }
}

fn column(values: &Bound<'_, PyUntypedArray>) -> PyResult<Column> {
    macro_rules! of {
        ($($variant:ident $number:ty),*) => { $(
            if let Ok(array) = values.cast::<PyArray1<$number>>() {
                return Ok(Column::$variant(array.readonly().as_array().to_vec()));
            }
        )* };
    }
    of!(F32 f32, F64 f64, I8 i8, U8 u8, I16 i16, U16 u16, I32 i32, U32 u32, I64 i64, U64 u64);
    let text =
        format!("a column must be a 1-D array of numbers ({})", crate::arrays::about(values));
    Err(PyTypeError::new_err(text))
}

fn numbers(py: Python<'_>, column: Column) -> Bound<'_, PyAny> {
    macro_rules! array {
        ($($variant:ident),*) => {
            match column { $( Column::$variant(values) => values.into_pyarray(py).into_any(), )* }
        };
    }
    array!(F32, F64, I8, U8, I16, U16, I32, U32, I64, U64)
}

/// Returns the layout of a format name such as "csv".
pub(crate) fn style_of(format: &str) -> Option<TextStyle> {
    let name = format!("a.{}", format.trim_start_matches('.'));
    matches!(format.parse(), Ok(Format::Text)).then(|| TextStyle::of(name.as_ref()))
}

pub(crate) fn precision_of(name: &str) -> PyResult<Precision> {
    match name {
        "single" => Ok(Precision::Single),
        "double" => Ok(Precision::Double),
        _ => Err(PyValueError::new_err(format!(
            "unknown precision '{name}'; choose one of single, double"
        ))),
    }
}

pub(crate) fn encoding_of(name: &str) -> PyResult<Encoding> {
    match name {
        "ascii" => Ok(Encoding::Ascii),
        "binary" => Ok(Encoding::Binary),
        "binary_big_endian" => Ok(Encoding::BinaryBigEndian),
        "binary_compressed" => Ok(Encoding::BinaryCompressed),
        _ => Err(PyValueError::new_err(format!(
            "unknown encoding '{name}'; choose one of ascii, binary, binary_big_endian, \
             binary_compressed"
        ))),
    }
}
