//! The parts of a file that a filter can use rows of: the COPC nodes that its boxes meet.

use super::{Content, Reader};
use crate::cloud::Cloud;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::{Header, LasHeader};
use crate::cloud::layout::Storage;
use crate::cloud::statistics::Unread;
use crate::cloud::table::{Store, Table};
use crate::error::{Error, ParseError};
use crate::files::filter::Filter;
use crate::{bytes::memory, bytes::parallel, cloud::degrees, formats::las};
use std::ops::Range;
use std::sync::Arc;

impl Reader {
    /// Returns a cloud of all rows, reading only the parts that the filter may use rows of: other rows have NaN for
    /// coordinates. `None` if nothing can be left out; an error if the octree is damaged.
    ///
    /// # Errors
    /// Same as [`Reader::load`]; [`Error::Field`] if a field of the filter does not exist.
    pub(crate) fn read_filtered(
        self,
        filter: &Filter,
    ) -> Result<Result<Option<Cloud>, ParseError>, Error> {
        filter.check(self.head(), &self.name)?;
        let Header::Las(header) = self.head().header.clone() else { return Ok(Ok(None)) };
        let cubes = match self.cubes(&header) {
            Ok(Some(cubes)) => cubes,
            Ok(None) => return Ok(Ok(None)),
            Err(error) => return Ok(Err(error)),
        };
        let used: Vec<bool> = cubes.iter().map(|cube| filter.may_use(*cube)).collect();
        if !used.contains(&false) {
            return Ok(Ok(None));
        }
        let read: Vec<Range<usize>> = (0..self.parts())
            .filter(|&part| used[part])
            .map(|part| self.rows(part).start as usize..self.rows(part).end as usize)
            .collect();
        let (stored, points) = self.read_some(&header, &used, &read)?;
        if let Err(error) = self.check(&header, &cubes, &used, &points) {
            return Ok(Err(error));
        }
        let mut cloud = self.head().clone();
        let stride = usize::from(header.raw.point_data_record_length);
        cloud.table = cloud
            .table
            .take()
            .map(|table| Table { store: Store::Records { bytes: stored.into(), stride }, ..table });
        cloud.coordinates = Coordinates::F64(points);
        self.warn_of_degrees(&mut cloud);
        let nodes = used.len();
        let find = move || self.statistics(rayon::current_num_threads());
        cloud.unread = Some(Arc::new(Unread::new(read, nodes, Box::new(find))));
        Ok(Ok(Some(cloud)))
    }

    /// Returns the cube of each part; `None` if they are not known.
    fn cubes(&self, header: &LasHeader) -> Result<Option<Vec<las::Cube>>, ParseError> {
        let Content::Parts { file, layout, .. } = &self.content else { return Ok(None) };
        let Storage::Chunks(chunks) = &layout.rows else { return Ok(None) };
        let read = |at: u64, length: usize| {
            let mut bytes = vec![0; length];
            let failed = |error| ParseError::new(format!("a page of the octree: {error}"));
            file.read_at(&mut bytes, at).map_err(failed).map(|()| bytes)
        };
        las::cubes(&read, self.length, header, chunks.as_ref())
    }

    /// Refuses an octree that has a point of a part that was read, or the first point of another, in the wrong
    /// cube: the other parts of such a file may hold rows that the filter uses.
    fn check(
        &self,
        header: &LasHeader,
        cubes: &[las::Cube],
        used: &[bool],
        points: &[[f64; 3]],
    ) -> Result<(), ParseError> {
        let Content::Parts { file, layout, .. } = &self.content else { return Ok(()) };
        let Storage::Chunks(chunks) = &layout.rows else { return Ok(()) };
        parallel::try_map(cubes.iter().enumerate(), |(part, cube)| {
            if used[part] {
                let rows = self.rows(part);
                return las::check_places(
                    part,
                    cube,
                    &points[rows.start as usize..rows.end as usize],
                );
            }
            // A chunk starts with an uncompressed point.
            let mut first = [0; 12];
            let failed = |error| ParseError::new(format!("chunk {}: {error}", part + 1));
            file.read_at(&mut first, chunks.place(part).0).map_err(failed)?;
            match las::coordinates(&header.raw, &first, first.len()) {
                Coordinates::F64(place) => las::check_places(part, cube, &place),
                Coordinates::F32(_) => Ok(()),
            }
        })
        .map(drop)
    }

    /// Reads records and coordinates of all rows: zeros and NaN in unused parts.
    fn read_some(
        &self,
        header: &LasHeader,
        used: &[bool],
        read: &[Range<usize>],
    ) -> Result<(Vec<u8>, Vec<[f64; 3]>), Error> {
        let stride = usize::from(header.raw.point_data_record_length);
        let (all, read_rows) = (self.len(), read.iter().map(Range::len).sum::<usize>());
        let places = all.saturating_mul(size_of::<[f64; 3]>() as u64);
        memory::require(&self.name, places.saturating_add((read_rows * stride) as u64))?;
        // The system zeroes pages when they are touched: unread parts take no memory.
        let mut stored = vec![0; all as usize * stride];
        let mut points = vec![[f64::NAN; 3]; all as usize];
        let (mut bytes, mut rows) = (stored.as_mut_slice(), points.as_mut_slice());
        let mut parts = Vec::new();
        for (part, &used) in used.iter().enumerate() {
            let range = self.rows(part);
            let count = (range.end - range.start) as usize;
            let (output, rest) = bytes.split_at_mut(count * stride);
            let (at, others) = rows.split_at_mut(count);
            (bytes, rows) = (rest, others);
            if used {
                parts.push((part, output, at));
            }
        }
        parallel::try_map(parts.into_iter(), |(part, output, at)| {
            output.copy_from_slice(self.read(part)?.records().unwrap_or_default());
            if let Coordinates::F64(places) = las::coordinates(&header.raw, output, stride) {
                at.copy_from_slice(&places);
            }
            Ok::<(), Error>(())
        })?;
        Ok((stored, points))
    }

    /// Warns like [`crate::read`], by the corners that the header states.
    fn warn_of_degrees(&self, cloud: &mut Cloud) {
        let stated = self.bounds().map(|corners| Coordinates::F64(corners.to_vec()));
        let shown = || stated.is_some_and(|corners| degrees::beside_lengths(&corners));
        degrees::warn(cloud.crs.as_ref(), &mut cloud.warnings, shown);
    }
}
