//! Options of a search for several neighbors.

use crate::arguments::{lookup, number};
use crate::constants::*;
use crate::options::farpoint_run_options;
use crate::status::Failure;
use farpoint::{NonFinite, Order, Searcher};
use std::mem::MaybeUninit;

/// Options of a search for several neighbors. `k` must be set, except for farpoint_within().
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_search_options {
    /// `sizeof(farpoint_search_options)`: gives the library the caller's version.
    pub size: usize,
    /// Device, threads and more. NULL: on all threads of the CPU, with the defaults.
    pub run: *const farpoint_run_options,
    /// Most neighbors of a point. Ignored by farpoint_within().
    pub k: usize,
    /// 2: Euclidean distances; 1: sums of absolute differences; 0: the default, 2.
    pub norm: i32,
    /// FARPOINT_SEARCH_AUTO or another. Never changes a result.
    pub method: MaybeUninit<farpoint_search_method>,
    /// Kind of neighbors: FARPOINT_NEAREST, FARPOINT_BALL or FARPOINT_RAW_BALL.
    pub kind: MaybeUninit<farpoint_search_kind>,
    /// Neighbors of a ball that are kept, and their order: FARPOINT_BY_INDEX or
    /// FARPOINT_BY_DISTANCE.
    pub order: MaybeUninit<farpoint_ball_order>,
    /// Not 0: points at exactly `radius` are neighbors, too.
    pub inclusive: i32,
    /// Not 0: excludes the row of the same number, for a cloud searched for its own neighbors.
    pub exclude_self: i32,
    /// Points nearer than this are neighbors. For balls.
    pub radius: f64,
    /// Points nearer than this are none, unless they are within `near_radius`. For balls.
    pub min_radius: f64,
    /// Points up to this far away are neighbors whatever `min_radius` is; 0: those at the same position.
    /// For balls.
    pub near_radius: f64,
}

super::options!(farpoint_search_options, last: near_radius);

impl farpoint_search_options {
    /// Returns the searcher.
    ///
    /// # Errors
    /// If a number is unknown, or what only balls have is set for another kind.
    pub(crate) fn job(&self, non_finite: NonFinite) -> Result<Searcher, Failure> {
        let kinds = [
            (FARPOINT_NEAREST, Searcher::nearest as fn(usize) -> Searcher),
            (FARPOINT_BALL, |k| Searcher::ball(0.0, k)),
            (FARPOINT_RAW_BALL, |k| Searcher::raw_ball(0.0, k)),
        ];
        let orders = [(FARPOINT_BY_INDEX, Order::Index), (FARPOINT_BY_DISTANCE, Order::Nearest)];
        if number(self.kind) == FARPOINT_NEAREST as i32 {
            let of_balls = [
                ("radius", self.radius != 0.0),
                ("min_radius", self.min_radius != 0.0),
                ("near_radius", self.near_radius != 0.0),
                ("inclusive", self.inclusive != 0),
            ];
            super::refuse_unused("a search of the kind FARPOINT_NEAREST", &[], &of_balls)?;
        }
        let mut job = lookup(self.kind, "kind", &kinds)?(self.k)
            .min_radius(self.min_radius)
            .near(self.near_radius)
            .inclusive(self.inclusive != 0)
            .order(lookup(self.order, "order", &orders)?)
            .exclude_self(self.exclude_self != 0)
            .norm(super::norm(self.norm)?)
            .method(super::method(self.method)?)
            .non_finite(non_finite);
        if let Some(ball) = &mut job.ball {
            ball.radius = self.radius;
        }
        Ok(job)
    }
}
