#ifndef FARPOINT_MEASURE_HPP
#define FARPOINT_MEASURE_HPP

/// Quality measures of samples by any sampler, on the CPU.

#include <farpoint/options.hpp>
#include <farpoint/points.hpp>

#include <cstddef>

namespace farpoint {

/// Members `mean`, `min` and `max` of the distances from each sample to its nearest other sample, in the unit
/// of the coordinates.
using SampleSpacing = farpoint_spacing;

/// All measures of a sample: `points`, `samples`, `unique`, `coverage_mean`, `coverage_p99`,
/// `covering_radius`, `spacing`, `chamfer` (defined at `farpoint_quality` in `farpoint/farpoint.h`).
using Quality = farpoint_quality;

/// Computes the largest distance of any point of the cloud to its nearest sample, in the unit of the coordinates.
///
/// @param rows    the sample: rows of the cloud, at least 1
/// @throws Error  NaN or infinity in a row, rows outside the cloud, ...
inline double covering_radius(const Points& cloud, Span<std::size_t> rows, const MeasureOptions& options = {}) {
    detail::Run run(options);
    double radius = 0.0;
    run.finish(farpoint_covering_radius(cloud.c(), rows.data(), rows.size(), run.c(), &radius));
    return radius;
}

/// Computes the spacing of the samples.
///
/// @param rows    the sample: rows of the cloud, at least 2
/// @throws Error
inline SampleSpacing spacing_of(const Points& cloud, Span<std::size_t> rows, const MeasureOptions& options = {}) {
    detail::Run run(options);
    SampleSpacing found{};
    run.finish(farpoint_spacing_of(cloud.c(), rows.data(), rows.size(), run.c(), &found));
    return found;
}

/// Computes all measures of a sample.
///
/// @param rows    the sample: rows of the cloud, at least 1
/// @throws Error
inline Quality quality_of(const Points& cloud, Span<std::size_t> rows, const MeasureOptions& options = {}) {
    detail::Run run(options);
    Quality found{};
    found.size = sizeof found;
    run.finish(farpoint_quality_of(cloud.c(), rows.data(), rows.size(), run.c(), &found));
    return found;
}

/// Computes all measures of a sample by coordinates, which need not be points of the cloud.
///
/// @throws Error
inline Quality quality_of(const Points& cloud, const Points& samples, const MeasureOptions& options = {}) {
    detail::Run run(options);
    Quality found{};
    found.size = sizeof found;
    run.finish(farpoint_quality_of_points(cloud.c(), samples.c(), run.c(), &found));
    return found;
}

}  // namespace farpoint

#endif
