#ifndef FARPOINT_INDEX_HPP
#define FARPOINT_INDEX_HPP

/// A cloud that is searched several times.

#include <farpoint/handle.hpp>
#include <farpoint/options.hpp>
#include <farpoint/points.hpp>

#include <cstddef>

namespace farpoint {

/// A cloud with the tree by which the CPU searches it, built once. Every function that takes a cloud takes
/// it, as the one that is searched, the one that asks, or both; results are the same as without.
///
/// @code
/// const farpoint::Index map(cloud);
/// for (const auto& scan : scans) {
///     const auto near = farpoint::knn(scan, map, 8);
/// }
/// @endcode
///
/// Has a copy of the points. Moves, but does not copy. Any number of threads may search it at a time.
class Index {
public:
    /// @param options  how it is built, on the CPU. Rows that `bad_rows` leaves out remain so in every
    ///                 search; indices still count all rows
    /// @throws Error   bad rows, a cloud without points, ...
    explicit Index(const Points& cloud, const RunOptions& options = {}) {
        detail::Run run(options);
        farpoint_index* index = nullptr;
        run.finish(farpoint_index_build(cloud.c(), run.c(), &index));
        index_.reset(index);
    }

    /// Rows that were left out because they hold NaN or infinity.
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
