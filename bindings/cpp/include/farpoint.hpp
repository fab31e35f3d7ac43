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

/// Starts the pool of this process with threads of these names, processors and scheduling: for programs with real-time
/// demands, before any other call of several threads. A call works on the calling thread, too, whose processor and
/// priority are the caller's to set.
///
/// @throws Error  the pool has been started, or the system refuses the options: nothing is started then
inline void start_threads(const ThreadOptions& options) {
    auto c = detail::sized<farpoint_thread_options>();
    c.threads = options.threads;
    c.name = options.name.c_str();
    c.cpus = options.cpus.empty() ? nullptr : options.cpus.data();
    c.cpu_count = options.cpus.size();
    c.scheduling = static_cast<farpoint_scheduling>(options.scheduling);
    c.priority = options.priority;
    detail::check(farpoint_start_threads(&c));
}

}  // namespace farpoint

#endif
