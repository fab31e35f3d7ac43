//! A camera, and what of a cloud it sees: hidden points are found through a depth image of the
//! whole cloud, and that image is shaded where depth jumps, so that forms are seen.

/// A perspective camera and its image size.
#[derive(Clone)]
pub(super) struct View {
    eye: [f32; 3],
    right: [f32; 3],
    up: [f32; 3],
    forward: [f32; 3],
    focal: f32,
    pub(super) width: usize,
    pub(super) height: usize,
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn normalized(a: [f32; 3]) -> [f32; 3] {
    let length = dot(a, a).sqrt();
    a.map(|value| value / length)
}

impl View {
    /// Looks from `eye` to `target`; `focal` pixels make one unit at distance one.
    pub(super) fn new(eye: [f32; 3], target: [f32; 3], focal: f32, size: [usize; 2]) -> Self {
        let forward = normalized(std::array::from_fn(|k| target[k] - eye[k]));
        let right = normalized(cross(forward, [0.0, 0.0, 1.0]));
        let up = cross(right, forward);
        Self { eye, right, up, forward, focal, width: size[0], height: size[1] }
    }

    /// Pixel and depth of a point, if it is in the image.
    pub(super) fn project(&self, point: [f32; 3]) -> Option<Pixel> {
        let from: [f32; 3] = std::array::from_fn(|k| point[k] - self.eye[k]);
        let depth = dot(from, self.forward);
        if depth <= 0.05 {
            return None;
        }
        let x = self.width as f32 / 2.0 + dot(from, self.right) / depth * self.focal;
        let y = self.height as f32 / 2.0 - dot(from, self.up) / depth * self.focal;
        let inside = x >= 0.0 && y >= 0.0 && x < self.width as f32 && y < self.height as f32;
        inside.then_some(Pixel { x, y, depth })
    }

    /// Pixels that a length spans at this depth.
    pub(super) fn pixels(&self, length: f32, depth: f32) -> f32 {
        length / depth * self.focal
    }
}

/// Where a point is seen.
#[derive(Clone, Copy)]
pub(super) struct Pixel {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) depth: f32,
}

/// The nearest depth at every pixel, and which point it belongs to.
pub(super) struct Depths {
    width: usize,
    nearest: Vec<(f32, u32)>,
}

impl Depths {
    /// Draws every point as a square of `size` (in the unit of the cloud, at least a pixel).
    pub(super) fn new(view: &View, points: &[[f32; 3]], size: f32) -> Self {
        let mut nearest = vec![(f32::INFINITY, u32::MAX); view.width * view.height];
        for (index, point) in points.iter().enumerate() {
            let Some(pixel) = view.project(*point) else { continue };
            let reach = (view.pixels(size, pixel.depth) / 2.0).max(0.5);
            let range = |at: f32, end: usize| {
                let first = (at - reach).max(0.0) as usize;
                first..=((at + reach) as usize).min(end - 1)
            };
            for y in range(pixel.y, view.height) {
                for x in range(pixel.x, view.width) {
                    let at = &mut nearest[y * view.width + x];
                    if pixel.depth < at.0 {
                        *at = (pixel.depth, index as u32);
                    }
                }
            }
        }
        Self { width: view.width, nearest }
    }

    /// The point seen at a pixel.
    pub(super) fn point(&self, x: usize, y: usize) -> Option<usize> {
        let (depth, index) = self.nearest[y * self.width + x];
        depth.is_finite().then_some(index as usize)
    }

    /// Whether a projected point is not behind something.
    pub(super) fn sees(&self, pixel: Pixel, slack: f32) -> bool {
        let at = pixel.y as usize * self.width + pixel.x as usize;
        pixel.depth <= self.nearest[at].0 + slack
    }

    /// Light at a pixel, 1 on flat ground, less where nearer things stand around it
    /// (eye-dome lighting, after C. Boucheny). Jumps below `rough` cast no shade.
    pub(super) fn light(&self, x: usize, y: usize, rough: f32) -> f32 {
        let height = self.nearest.len() / self.width;
        let here = self.nearest[y * self.width + x].0;
        let mut shade = 0.0;
        for (dx, dy) in [(-2, 0), (2, 0), (0, -2), (0, 2), (-1, -1), (1, 1), (1, -1), (-1, 1)] {
            let (Some(x), Some(y)) = (x.checked_add_signed(dx), y.checked_add_signed(dy)) else {
                continue;
            };
            if x < self.width && y < height {
                let there = self.nearest[y * self.width + x].0;
                shade += ((here / there).ln() - rough).clamp(0.0, 0.05);
            }
        }
        (-14.0 * shade).exp()
    }
}
