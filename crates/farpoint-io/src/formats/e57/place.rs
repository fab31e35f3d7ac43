//! Places of points: from the values in a file to the file's coordinate system, and back.

use super::{attributes::joined, filled};
use crate::cloud::pose::Pose;
use ::e57::{PointCloud, Quaternion, RecordDataType, RecordName, Transform};

const CARTESIAN: [RecordName; 3] =
    [RecordName::CartesianX, RecordName::CartesianY, RecordName::CartesianZ];
const SPHERICAL: [RecordName; 3] =
    [RecordName::SphericalRange, RecordName::SphericalAzimuth, RecordName::SphericalElevation];

/// Returns the pose of a scan, if it has one.
pub(super) fn pose(scan: &PointCloud) -> Option<Pose> {
    let Transform { rotation: q, translation: t } = scan.transform.as_ref()?;
    let rotation = [
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
    ];
    Some(Pose { rotation, translation: [t.x, t.y, t.z] })
}

/// Gives a quaternion length 1, as it must have in a copy too; returns false if it had none and means no rotation now.
pub(super) fn normalize(q: &mut Quaternion) -> bool {
    let square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if !square.is_normal() {
        *q = Quaternion::default();
    } else if (square - 1.0).abs() > 1e-15 {
        let length = square.sqrt();
        *q = Quaternion { w: q.w / length, x: q.x / length, y: q.y / length, z: q.z / length };
    }
    square.is_normal()
}

/// Indices of the values of a point that say where it is.
pub(super) struct Place {
    cartesian: Option<[usize; 3]>,
    cartesian_state: Option<usize>,
    spherical: Option<[usize; 3]>,
    spherical_state: Option<usize>,
    pub(super) pose: Option<Pose>,
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
            pose: pose(scan),
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
    let all: Option<Vec<_>> = filled(scans).map(of_scan).collect();
    all?.into_iter().reduce(|a, b| std::array::from_fn(|axis| joined(&a[axis], &b[axis])))
}
