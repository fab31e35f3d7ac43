//! The paper's own numbers, as data: Z. Yu, X. Li, Q. Chang, J. Miyazaki, "RadiusFPS: Efficient
//! Farthest Point Sampling on CPUs and GPUs via Spherical Voxel Pruning", arXiv:2606.06255v1,
//! 4 June 2026. Figures give only the values that the text names.

/// Source of the numbers, for the page.
pub(super) const SOURCE: &str = "Z. Yu, X. Li, Q. Chang, J. Miyazaki: RadiusFPS: Efficient \
    Farthest Point Sampling on CPUs and GPUs via Spherical Voxel Pruning. arXiv:2606.06255v1, \
    4 June 2026";

/// Table 1.
pub(super) const MACHINE: &str = "Intel Core i7-12700KF, NVIDIA RTX 6000 Ada";

/// The three workloads of sections 5.5.2 and 5.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Workload {
    Dragon,
    Turn,
    Room,
}

/// Maximum factor between the sizes of a cloud and of a workload that it is like.
const LIKE: f64 = 1.5;

impl Workload {
    /// Returns its name in a rule.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Dragon => "dragon and objects of its size",
            Self::Turn => "LiDAR turns of 120,000 points",
            Self::Room => "rooms of a million points",
        }
    }

    /// Describes it with the paper's size.
    pub(super) fn described(self) -> &'static str {
        match self {
            Self::Dragon => "dragon (over 40,000 points)",
            Self::Turn => "LiDAR turn (over 120,000 points)",
            Self::Room => "conference room (over a million points)",
        }
    }

    /// Returns whether a cloud of this name and size is like it: of the same kind and about its size.
    pub(super) fn is_like(self, cloud: &str, points: f64) -> bool {
        let (names, size) = match self {
            Self::Dragon => (["object-", "stanford/dragon"], 40_000.0),
            Self::Turn => (["lidar-", "kitti/"], 120_000.0),
            Self::Room => (["room-", "s3dis/"], 1_000_000.0),
        };
        let alike = names.iter().any(|name| cloud.starts_with(name));
        alike && (size / LIKE..=size * LIKE).contains(&points)
    }
}

/// Table 4, S3DIS: radius pruning, point skip, mIoU in percent, total speed-up over FPS on a GPU.
/// The switches are from the text of section 5.4; the marks of the table were not legible.
pub(super) const PRUNINGS: [(bool, bool, f64, f64); 3] =
    [(true, true, 67.90, 2.58), (true, false, 67.90, 2.42), (false, true, 19.73, 3.68)];

/// Table 4, S3DIS: fusion kernel 1 (selection), 2 (update), mIoU, total speed-up.
pub(super) const FUSIONS: [(bool, bool, f64, f64); 4] = [
    (true, true, 68.28, 2.68),
    (true, false, 68.28, 2.24),
    (false, true, 68.28, 2.11),
    (false, false, 68.28, 1.87),
];

/// Figure 14, section 5.6.1: milliseconds of RadiusFPS-G for 100,000 samples of the KITTI turn, and the
/// paper's lower bound for FPS on the GPU.
pub(super) const TURN_RADIUS_MS: f64 = 455.9;
pub(super) const TURN_FPS_MS: f64 = 2000.0;
/// Megabytes for the room: upper bound for QuickFPS, approximate for RadiusFPS-G.
pub(super) const ROOM_QUICK_MB: f64 = 80.0;
pub(super) const ROOM_RADIUS_MB: f64 = 40.0;

/// Figure 15, section 5.6.2, CPU: workload, voxels, speed-up over FPS.
pub(super) const VOXELS_CPU: [(Workload, u32, f64); 3] =
    [(Workload::Room, 24, 186.56), (Workload::Room, 32, 145.83), (Workload::Turn, 32, 46.57)];
/// FPS+NPDU over FPS, the best on the CPU.
pub(super) const NPDU_CPU: f64 = 5.8;
/// GPU: workload, smallest and largest speed-up over FPS in the text.
pub(super) const VOXELS_GPU: [(Workload, f64, f64); 2] =
    [(Workload::Dragon, 1.5, 1.6), (Workload::Room, 50.0, 52.4)];

/// Table 5, the samplers.
pub(super) const SAMPLERS: [&str; 8] = [
    "FPS (GPU)",
    "Random",
    "Grid",
    "EdgePC",
    "FPS + NPDU",
    "FastPoint",
    "RadiusFPS",
    "RadiusFPS-G",
];

/// Table 5: mIoU in percent by model, data set and sampler. (FPS + NPDU on ScanNet with
/// PointMetaBase is 55.72 in the paper's table 2.)
pub(super) const SEGMENTATION: [(&str, &str, [f64; 8]); 6] = [
    ("PointMetaBase", "S3DIS", [67.90, 65.28, 66.81, 67.16, 61.43, 68.21, 67.90, 68.28]),
    ("PointMetaBase", "ScanNet", [70.80, 64.45, 69.95, 70.31, 50.22, 70.87, 70.80, 71.21]),
    ("PointMetaBase", "SemanticKITTI", [49.72, 40.90, 49.26, 47.45, 33.97, 49.26, 49.71, 49.26]),
    ("PointVector", "S3DIS", [70.03, 59.76, 67.89, 68.21, 36.32, 69.54, 70.03, 69.54]),
    ("PointVector", "ScanNet", [70.21, 54.65, 68.90, 69.02, 35.11, 70.04, 70.11, 70.04]),
    ("PointVector", "SemanticKITTI", [48.38, 33.35, 47.30, 45.42, 26.64, 47.78, 48.38, 48.28]),
];
