#ifndef FARPOINT_INDEX_HPP
#define FARPOINT_INDEX_HPP

/// Spatial index of a cloud for repeated searches.

#include <farpoint/handle.hpp>
#include <farpoint/options.hpp>
#include <farpoint/points.hpp>

#include <cstddef>

namespace farpoint {

/// Cloud with its search tree for the CPU, built once. Every function that accepts a cloud accepts
/// an index, as the searched cloud, the queries, or both, with the same results.
///
/// @code
/// const farpoint::Index map(cloud);
/// for (const auto& scan : scans) {
///     const auto near = farpoint::knn(scan, map, 8);
/// }
/// @endcode
///
/// Owns a copy of the points. Move-only. Any number of threads may search it concurrently.
class Index {
public:
    /// @param options  rows skipped by `non_finite` are skipped in every search; indices still count all rows
    /// @throws Error   non-finite rows, an empty cloud, ...
    explicit Index(const Points& cloud, const IndexOptions& options = {}) {
        detail::Run run(options);
        farpoint_index* index = nullptr;
        run.finish(farpoint_index_build(cloud.c(), run.c(), &index));
        index_.reset(index);
    }

    /// Number of non-finite rows that were skipped.
    [[nodiscard]] std::size_t dropped() const noexcept { return farpoint_index_dropped(index_.get()); }

private:
    friend struct Layout<Index>;
    detail::Handle<farpoint_index, farpoint_index_free> index_;
};

template <>
struct Layout<Index> {
    static Points view(const Index& index) { return Points(farpoint_index_points(index.index_.get())); }
};

}  // namespace farpoint

#endif
