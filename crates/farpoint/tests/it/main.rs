//! The library's tests that share a process. If one needs a process of its own, its file lies beside
//! this folder and says why. `FARPOINT_THOROUGH=1` runs twice as many cases, `all` five times.

mod approximate;
mod callers;
mod cases;
mod chamfer;
mod chamfer_exact;
mod common;
mod deadline;
mod edge_cases;
mod exact;
mod golden;
mod interface;
mod knn;
mod levels;
mod raw;
mod real;
mod selected;
mod threads;
mod values;
mod values_common;
mod values_errors;
mod values_gradients;
mod values_scatter;
mod voxels;
