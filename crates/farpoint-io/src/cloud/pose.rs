//! Position and direction of a scanner: they move its points, and turn their normals, into the frame of the file.

const UNTURNED: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Position and direction of a scan.
pub(crate) struct Pose {
    pub(crate) rotation: [[f64; 3]; 3],
    /// The place of the scanner.
    pub(crate) translation: [f64; 3],
}

impl Pose {
    /// Creates the pose of a scan from a matrix for rows in front of it; and a warning if that would put all points into
    /// a plane, a line or one place, or nowhere, and its rotation is left out.
    pub(crate) fn of_rows(
        [a, b, c, translation]: [[f64; 3]; 4],
        scan: usize,
    ) -> (Pose, Option<String>) {
        let rotation = [0, 1, 2].map(|i| [a[i], b[i], c[i]]);
        let cross =
            [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
        let volume = a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2];
        match volume.is_finite() && volume != 0.0 {
            true => (Pose { rotation, translation }, None),
            false => (Pose { rotation: UNTURNED, translation }, Some(without_rotation(scan))),
        }
    }

    /// Returns whether directions change.
    pub(crate) fn turns(&self) -> bool {
        self.rotation != UNTURNED
    }

    /// Moves a point of the scan to its place in the file.
    pub(crate) fn moved(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let r = &self.rotation;
        [0, 1, 2].map(|i| r[i][0] * x + r[i][1] * y + r[i][2] * z + self.translation[i])
    }

    /// Moves a point back, if the rotation keeps lengths.
    pub(crate) fn moved_back(&self, point: [f64; 3]) -> [f64; 3] {
        self.turned_back([0, 1, 2].map(|i| point[i] - self.translation[i]))
    }

    /// Turns a direction, which has no place.
    pub(crate) fn turned(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let r = &self.rotation;
        [0, 1, 2].map(|i| r[i][0] * x + r[i][1] * y + r[i][2] * z)
    }

    /// Turns a direction back.
    pub(crate) fn turned_back(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let r = &self.rotation;
        [0, 1, 2].map(|i| r[0][i] * x + r[1][i] * y + r[2][i] * z)
    }
}

/// Returns the warning that the points of a scan are not turned.
pub(crate) fn without_rotation(scan: usize) -> String {
    let what = "zero, singular or not finite, so its points are moved and not turned";
    format!("the rotation in the pose of scan {scan} is {what}")
}
