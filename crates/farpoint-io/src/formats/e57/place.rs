//! Places of points: from the values in a file to the file's coordinate system, and back.

use super::attributes::joined;
use ::e57::{PointCloud, RecordDataType, RecordName, Transform};

const CARTESIAN: [RecordName; 3] =
    [RecordName::CartesianX, RecordName::CartesianY, RecordName::CartesianZ];
const SPHERICAL: [RecordName; 3] =
    [RecordName::SphericalRange, RecordName::SphericalAzimuth, RecordName::SphericalElevation];

/// Position and direction of a scan.
pub(super) struct Pose {
    rotation: [[f64; 3]; 3],
    translation: [f64; 3],
}

impl Pose {
    pub(super) fn new(transform: &Transform) -> Pose {
        let (q, t) = (&transform.rotation, &transform.translation);
        Pose {
            rotation: [
                [
                    q.w * q.w + q.x * q.x - q.y * q.y - q.z * q.z,
                    2.0 * (q.x * q.y - q.w * q.z),
                    2.0 * (q.x * q.z + q.w * q.y),
                ],
                [
                    2.0 * (q.x * q.y + q.w * q.z),
                    q.w * q.w + q.y * q.y - q.x * q.x - q.z * q.z,
                    2.0 * (q.y * q.z - q.w * q.x),
                ],
                [
                    2.0 * (q.x * q.z - q.w * q.y),
                    2.0 * (q.y * q.z + q.w * q.x),
                    q.w * q.w + q.z * q.z - q.x * q.x - q.y * q.y,
                ],
            ],
            translation: [t.x, t.y, t.z],
        }
    }

    /// Moves a point of the scan to its place in the file.
    pub(super) fn moved(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let r = &self.rotation;
        [0, 1, 2].map(|i| r[i][0] * x + r[i][1] * y + r[i][2] * z + self.translation[i])
    }

    /// Moves a point back, if the rotation is one.
    pub(super) fn moved_back(&self, point: [f64; 3]) -> [f64; 3] {
        let r = &self.rotation;
        let [x, y, z] = [0, 1, 2].map(|i| point[i] - self.translation[i]);
        [0, 1, 2].map(|i| r[0][i] * x + r[1][i] * y + r[2][i] * z)
    }
}

/// Indices of the values of a point that say where it is.
pub(super) struct Place {
    cartesian: Option<[usize; 3]>,
    cartesian_state: Option<usize>,
    spherical: Option<[usize; 3]>,
    spherical_state: Option<usize>,
    pose: Option<Pose>,
}

impl Place {
    pub(super) fn of(scan: &PointCloud) -> Place {
        let at = |name: &RecordName| scan.prototype.iter().position(|record| record.name == *name);
        let three = |names: &[RecordName; 3]| {
            let [a, b, c] = names.each_ref().map(at);
            Some([a?, b?, c?])
        };
        Place {
            cartesian: three(&CARTESIAN),
            cartesian_state: at(&RecordName::CartesianInvalidState),
            spherical: three(&SPHERICAL),
            spherical_state: at(&RecordName::SphericalInvalidState),
            pose: scan.transform.as_ref().map(Pose::new),
        }
    }

    /// Returns the place of a point; `None` if it is marked invalid.
    pub(super) fn point(&self, values: &[f64]) -> Option<[f64; 3]> {
        let valid = |state: Option<usize>| state.is_none_or(|i| values[i] as i64 == 0);
        let cartesian = self.cartesian.filter(|_| valid(self.cartesian_state));
        let spherical = self.spherical.filter(|_| valid(self.spherical_state));
        let point = match (cartesian, spherical) {
            (Some(axes), _) => axes.map(|i| values[i]),
            (None, Some(axes)) => {
                let [range, azimuth, elevation] = axes.map(|i| values[i]);
                let level = range * elevation.cos();
                [level * azimuth.cos(), level * azimuth.sin(), range * elevation.sin()]
            }
            (None, None) => return None,
        };
        Some(self.pose.as_ref().map_or(point, |pose| pose.moved(point)))
    }
}

/// Returns the number types of x, y and z for all scans; `None` for spherical scans, and for several with poses.
pub(super) fn axes(scans: &[PointCloud]) -> Option<[RecordDataType; 3]> {
    let of_scan = |scan: &PointCloud| {
        let kind = |name| Some(scan.prototype.iter().find(|r| r.name == name)?.data_type.clone());
        let [x, y, z] = CARTESIAN.map(kind);
        Some([x?, y?, z?]).filter(|_| scans.len() == 1 || scan.transform.is_none())
    };
    let all: Option<Vec<_>> = scans.iter().map(of_scan).collect();
    all?.into_iter().reduce(|a, b| std::array::from_fn(|axis| joined(&a[axis], &b[axis])))
}
