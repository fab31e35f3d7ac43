#ifndef FARPOINT_APPROXIMATE_HPP
#define FARPOINT_APPROXIMATE_HPP

/// Approximate samplers: their result is not the farthest point sample.

#include <farpoint/sample.hpp>

#include <cstddef>
#include <cstdint>
#include <variant>

namespace farpoint {

/// Uniform random points without replacement.
struct Random {
    std::uint64_t seed = 0;
};

/// Point of a cell to keep.
enum class Keep : std::int32_t {
    center = FARPOINT_KEEP_CENTER,
    first = FARPOINT_KEEP_FIRST,
    random = FARPOINT_KEEP_RANDOM,
};

/// One point of each occupied cell of a cubic grid.
struct Grid {
    Keep keep = Keep::center;
    /// Seed for `Keep::random`.
    std::uint64_t seed = 0;
};

using ApproximateMethod = std::variant<Random, Grid>;

/// Result of an approximate sampler. Move-only.
class ApproximateResult {
public:
    [[nodiscard]] std::size_t size() const noexcept { return view().count; }
    /// Rows of the cloud, all distinct: in order of choice, or ascending (`Grid`).
    [[nodiscard]] Span<std::size_t> indices() const noexcept { return {view().indices, size()}; }
    /// Number of non-finite rows that were skipped.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// Cell size of `Grid`; NaN for other methods.
    [[nodiscard]] double cell() const noexcept { return view().cell; }
    /// View of the C interface; valid for the lifetime of this object.
    [[nodiscard]] farpoint_approximate_view view() const noexcept {
        return farpoint_approximate_result_view(result_.get());
    }

    /// Takes ownership of a result of the C interface.
    explicit ApproximateResult(farpoint_approximate_result* result) noexcept : result_(result) {}

private:
    detail::Handle<farpoint_approximate_result, farpoint_approximate_result_free> result_;
};

/// Mean of the points of each occupied cell of a grid. Move-only.
class CentroidsResult {
public:
    [[nodiscard]] std::size_t size() const noexcept { return view().count; }
    /// Contiguous coordinates, `size()` times the cloud's dimensions. `T` is the scalar type of the cloud.
    template <typename T>
    [[nodiscard]] Span<T> coordinates() const {
        return detail::of_scalar<T>(view().coordinates_f32, view().coordinates_f64, size() * dimensions_);
    }
    /// Number of points in each cell.
    [[nodiscard]] Span<std::uint32_t> point_counts() const noexcept { return {view().point_counts, size()}; }
    /// Cell size.
    [[nodiscard]] double cell() const noexcept { return view().cell; }
    /// Number of non-finite rows that were skipped.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// View of the C interface; valid for the lifetime of this object.
    [[nodiscard]] farpoint_centroids_view view() const noexcept {
        return farpoint_centroids_result_view(result_.get());
    }

    /// Takes ownership of a result of the C interface.
    CentroidsResult(farpoint_centroids_result* result, std::size_t dimensions) noexcept
        : result_(result), dimensions_(dimensions) {}

private:
    detail::Handle<farpoint_centroids_result, farpoint_centroids_result_free> result_;
    std::size_t dimensions_;
};

namespace detail {

inline void set_method(farpoint_approximate_options& c, const Random& method) noexcept {
    c.method = FARPOINT_METHOD_RANDOM;
    c.method_seed = method.seed;
}
inline void set_method(farpoint_approximate_options& c, const Grid& method) noexcept {
    c.method = FARPOINT_METHOD_GRID;
    c.keep = static_cast<farpoint_keep>(method.keep);
    c.method_seed = method.seed;
}

inline farpoint_approximate_options approximate_options(const ApproximateAmount& amount, const RowOptions& rows,
                                                        const Run& run, std::size_t points) {
    auto c = sized<farpoint_approximate_options>();
    c.run = run.c();
    set_rows(c, rows, points);
    c.amount = amount.kind();
    c.count = amount.count();
    c.ratio = amount.value();
    c.cell = amount.value();
    return c;
}

}  // namespace detail

/// Samples a cloud by an approximate method; the result is the same for every run and
/// number of threads.
///
/// @param method  `Random{}` or `Grid{}`
/// @param amount  a number, `ratio(0.25)`, `all()`, or `cell(0.1)` for `Grid`
/// @throws Error
inline ApproximateResult sample_approximate(const Points& cloud, const ApproximateMethod& method,
                                            const ApproximateAmount& amount, const ApproximateOptions& options = {}) {
    detail::Run run(options);
    auto c = detail::approximate_options(amount, options, run, cloud.size());
    std::visit([&c](const auto& which) { detail::set_method(c, which); }, method);
    farpoint_approximate_result* result = nullptr;
    const farpoint_status status = farpoint_approximate(cloud.c(), &c, &result);
    return run.finish(status, ApproximateResult(result));
}

/// Computes the mean of the points of each occupied cell of the grid `cell(0.1)`; or, for another amount, of the
/// grid with the most cells up to that number.
///
/// @throws Error
inline CentroidsResult centroids(const Points& cloud, const ApproximateAmount& amount,
                                 const CentroidOptions& options = {}) {
    detail::Run run(options);
    const auto c = detail::approximate_options(amount, options, run, cloud.size());
    farpoint_centroids_result* result = nullptr;
    const farpoint_status status = farpoint_centroids(cloud.c(), &c, &result);
    return run.finish(status, CentroidsResult(result, cloud.dimensions()));
}

}  // namespace farpoint

#endif
