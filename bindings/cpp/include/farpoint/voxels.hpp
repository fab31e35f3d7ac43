#ifndef FARPOINT_VOXELS_HPP
#define FARPOINT_VOXELS_HPP

/// Voxel downsampling: one point for the points of each occupied cell of a grid.

#include <farpoint/handle.hpp>
#include <farpoint/options.hpp>
#include <farpoint/points.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farpoint {

/// Point that represents a voxel.
enum class Reduce : std::int32_t {
    /// Mean of its points.
    mean = FARPOINT_REDUCE_MEAN,
    /// Point of lowest index.
    first = FARPOINT_REDUCE_FIRST,
    /// Point nearest to the center, of lowest index among equals.
    center = FARPOINT_REDUCE_CENTER,
    /// Random point, drawn by `seed` and the cell.
    random = FARPOINT_REDUCE_RANDOM,
};

/// Voxel grid.
struct GridOptions {
    /// A corner of a voxel. Empty: 0 on every axis, so that clouds share their voxels.
    std::vector<double> origin;
    /// Origin at the smallest coordinate of each axis instead.
    bool min_origin = false;
    Reduce reduce = Reduce::mean;
    /// Seed for `Reduce::random`.
    std::uint64_t seed = 0;
    /// Order voxels by cell, the first axis counting most. Otherwise they are in the order of their first points.
    bool sorted = false;
    /// Voxels of fewer points are left out.
    std::uint32_t min_points = 1;
};

/// Options of `voxel_downsample`.
struct VoxelOptions : CpuOptions, NonFiniteOptions, ProgressOptions, GridOptions, RowOptions {};

/// Occupied voxels of a cloud. Move-only.
class VoxelsResult {
public:
    [[nodiscard]] std::size_t size() const noexcept { return view().count; }
    /// Contiguous coordinates of the point that represents each voxel, `size()` times the cloud's dimensions. `T` is
    /// the scalar type of the cloud.
    template <typename T>
    [[nodiscard]] Span<T> coordinates() const {
        return detail::of_scalar<T>(view().coordinates_f32, view().coordinates_f64, size() * view().dims);
    }
    /// Row of the point that represents each voxel; with `Reduce::mean` the first one in the voxel.
    [[nodiscard]] Span<std::uint32_t> rows() const noexcept { return {view().rows, size()}; }
    /// Number of points of each voxel.
    [[nodiscard]] Span<std::uint32_t> point_counts() const noexcept { return {view().point_counts, size()}; }
    /// Cell of each voxel, one number per axis: `floor((p - origin) / edge)`.
    [[nodiscard]] Span<std::int32_t> cells() const noexcept { return {view().cells, size() * view().dims}; }
    /// Voxel of each point, or of each selected row; `none` for those in no voxel.
    [[nodiscard]] Span<std::uint32_t> inverse() const noexcept { return {view().inverse, view().inverse_count}; }
    /// Number of non-finite rows that were skipped.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// View of the C interface; valid for the lifetime of this object.
    [[nodiscard]] farpoint_voxels_view view() const noexcept { return farpoint_voxels_result_view(result_.get()); }

    /// Takes ownership of a result of the C interface.
    explicit VoxelsResult(farpoint_voxels_result* result) noexcept : result_(result) {}

private:
    detail::Handle<farpoint_voxels_result, farpoint_voxels_result_free> result_;
};

namespace detail {

template <typename Options>
VoxelsResult downsample_by(const Points& cloud, const std::vector<double>& edges, const Options& options) {
    Run run(options);
    auto c = sized<farpoint_voxel_options>();
    c.run = run.c();
    // No edges at all are an error, not the edge 0 of a null pointer.
    c.edge = 0.0;
    c.edges = edges.empty() ? &c.edge : edges.data();
    c.edge_count = edges.size();
    c.origin = options.origin.empty() ? nullptr : options.origin.data();
    c.origin_count = options.origin.size();
    c.min_origin = options.min_origin ? 1 : 0;
    c.reduce = static_cast<farpoint_reduce>(options.reduce);
    c.seed = options.seed;
    c.sorted = options.sorted ? 1 : 0;
    c.min_points = options.min_points;
    set_rows(c, options, cloud.size());
    farpoint_voxels_result* result = nullptr;
    const farpoint_status status = farpoint_voxels(cloud.c(), &c, &result);
    return run.finish(status, VoxelsResult(result));
}

}  // namespace detail

/// Replaces the points of each occupied voxel by one; the result is the same for every run and number of threads.
///
/// @param edges  edge length of a voxel on each axis
/// @throws Error edges that are not positive, a cell beyond 32 bits, non-finite rows, ...
inline VoxelsResult voxel_downsample(const Points& cloud, const std::vector<double>& edges,
                                     const VoxelOptions& options = {}) {
    return detail::downsample_by(cloud, edges, options);
}

/// Replaces the points of each occupied cubic voxel by one.
inline VoxelsResult voxel_downsample(const Points& cloud, double edge, const VoxelOptions& options = {}) {
    return voxel_downsample(cloud, std::vector<double>(cloud.dimensions(), edge), options);
}

}  // namespace farpoint

#endif
