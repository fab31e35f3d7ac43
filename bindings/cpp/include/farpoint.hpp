#ifndef FARPOINT_HPP
#define FARPOINT_HPP

/// farpoint for C++17: exact farthest point sampling, neighbors and Chamfer distance of point clouds.
///
/// @code
/// std::vector<std::array<float, 3>> cloud = ...;
/// const farpoint::SampleResult sample = farpoint::sample(cloud, 512);
/// for (std::size_t row : sample.indices()) { ... cloud[row] ... }
/// @endcode
///
/// Clouds are read where they are (`Points`), results move but do not copy, errors are exceptions
/// (`farpoint::Error`). Eigen, PCL and ROS messages have headers of their own: `farpoint/eigen.hpp`,
/// `farpoint/pcl.hpp`, `farpoint/pointcloud2.hpp`. Everything is header only, over the C interface
/// `farpoint/farpoint.h`. docs/cpp.md is the guide.

#include <farpoint/approximate.hpp>
#include <farpoint/error.hpp>
#include <farpoint/index.hpp>
#include <farpoint/measure.hpp>
#include <farpoint/nearest.hpp>
#include <farpoint/options.hpp>
#include <farpoint/points.hpp>
#include <farpoint/sample.hpp>
#include <farpoint/search.hpp>
#include <farpoint/span.hpp>
#include <farpoint/voxels.hpp>

#include <string>

namespace farpoint {

/// The version of the library: "0.1.0".
inline std::string version() { return farpoint_version(); }

}  // namespace farpoint

#endif
