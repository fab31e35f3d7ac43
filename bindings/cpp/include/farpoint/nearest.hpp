#ifndef FARPOINT_NEAREST_HPP
#define FARPOINT_NEAREST_HPP

/// Nearest points of one cloud in another, and the Chamfer distance with its gradients.

#include <farpoint/handle.hpp>
#include <farpoint/options.hpp>
#include <farpoint/points.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace farpoint {

/// The index where there is no neighbor.
constexpr std::uint32_t none = FARPOINT_NONE;

/// Precision, recall and F-score at a threshold: members `precision`, `recall`, `f_score`.
using FScore = farpoint_f_score;

/// For each point of a cloud its nearest of another. Moves, but does not copy; or one direction that a
/// `ChamferResult` lends, valid while that is.
class NearestResult {
public:
    /// Number of rows, those left out among them.
    [[nodiscard]] std::size_t size() const noexcept { return view().rows; }
    /// The nearest point of each row, the lowest among those equally near; `none` for rows left out.
    [[nodiscard]] Span<std::uint32_t> indices() const noexcept { return {view().indices, size()}; }
    /// The distance of each row to its nearest point as it is computed: squared with `Norm::l2`. NaN for
    /// rows left out. `T` is that of the clouds.
    template <typename T>
    [[nodiscard]] Span<T> raw_distances() const {
        return detail::of_scalar<T>(view().raw_distances_f32, view().raw_distances_f64, size());
    }
    /// Mean of the raw distances: squared with `Norm::l2`.
    [[nodiscard]] double mean() const noexcept { return farpoint_nearest_result_mean(result_.get()); }
    /// Mean of the distances, not squared.
    [[nodiscard]] double mean_distance() const noexcept { return farpoint_nearest_result_mean_distance(result_.get()); }
    /// Largest distance, not squared.
    [[nodiscard]] double max_distance() const noexcept { return farpoint_nearest_result_max_distance(result_.get()); }
    /// Share of the rows, 0 to 1, whose nearest point is within a threshold in the unit of the coordinates.
    [[nodiscard]] double share_within(double threshold) const noexcept {
        return farpoint_nearest_result_share_within(result_.get(), threshold);
    }
    /// Rows that were left out because they hold NaN or infinity.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// All of it, as the C interface has it; valid as long as the result is.
    [[nodiscard]] farpoint_nearest_view view() const noexcept { return farpoint_nearest_result_view(result_.get()); }

    /// Takes over a result of the C interface, which it frees.
    explicit NearestResult(farpoint_nearest_result* result) noexcept : result_(result, &free) {}

private:
    friend class ChamferResult;
    using Release = void (*)(const farpoint_nearest_result*);
    NearestResult(const farpoint_nearest_result* result, Release release) noexcept : result_(result, release) {}
    static void free(const farpoint_nearest_result* result) {
        farpoint_nearest_result_free(const_cast<farpoint_nearest_result*>(result));
    }
    static void leave(const farpoint_nearest_result*) {}

    std::unique_ptr<const farpoint_nearest_result, Release> result_;
};

/// Gradients of the coordinates of two clouds. Moves, but does not copy.
class GradientsResult {
public:
    /// Those of the first cloud, a number per coordinate, without gaps. `T` is that of the clouds.
    template <typename T>
    [[nodiscard]] Span<T> first() const {
        return detail::of_scalar<T>(view().a_f32, view().a_f64, view().a_count);
    }
    /// Those of the second cloud.
    template <typename T>
    [[nodiscard]] Span<T> second() const {
        return detail::of_scalar<T>(view().b_f32, view().b_f64, view().b_count);
    }
    /// All of it, as the C interface has it; valid as long as the gradients are.
    [[nodiscard]] farpoint_gradients_view view() const noexcept {
        return farpoint_gradients_result_view(result_.get());
    }

    /// Takes over a result of the C interface, which it frees.
    explicit GradientsResult(farpoint_gradients_result* result) noexcept : result_(result) {}

private:
    detail::Handle<farpoint_gradients_result, farpoint_gradients_result_free> result_;
};

namespace detail {

/// The gradients of `rows` distances in the clouds' type; null if there are none, which means 0.
template <typename T>
const void* gradients_of(Span<T> gradients, std::size_t rows, const Points& cloud) {
    if (gradients.empty()) {
        return nullptr;
    }
    if (cloud.is_double() != std::is_same_v<T, double>) {
        invalid("gradients and points must both be float or both double");
    }
    if (gradients.size() != rows) {
        invalid(std::to_string(gradients.size()) + " gradients for " + std::to_string(rows) + " distances");
    }
    return gradients.data();
}

}  // namespace detail

/// Nearest points in both directions between two clouds. Moves, but does not copy.
class ChamferResult {
public:
    /// For each point of the first cloud its nearest of the second. A view: valid while this result is.
    [[nodiscard]] NearestResult a_to_b() const noexcept { return direction(0); }
    /// For each point of the second cloud its nearest of the first.
    [[nodiscard]] NearestResult b_to_a() const noexcept { return direction(1); }
    /// The Chamfer distance: the means of both directions, weighted and added. Squared with `Norm::l2`.
    [[nodiscard]] double sum(double weight_a = 1.0, double weight_b = 1.0) const noexcept {
        return farpoint_chamfer_result_sum(result_.get(), weight_a, weight_b);
    }
    /// The Chamfer distance of distances that are not squared.
    [[nodiscard]] double sum_of_distances() const noexcept {
        return farpoint_chamfer_result_sum_of_distances(result_.get());
    }
    /// The Hausdorff distance: the largest distance of either direction, not squared.
    [[nodiscard]] double hausdorff() const noexcept { return farpoint_chamfer_result_hausdorff(result_.get()); }
    /// Precision, recall and F-score at a threshold in the unit of the coordinates.
    [[nodiscard]] FScore f_score(double threshold) const noexcept {
        return farpoint_chamfer_result_f_score(result_.get(), threshold);
    }
    /// The gradients of the coordinates of both clouds from those of the raw distances, a number per row of
    /// `a` and of `b`; none: all 0. For `sum()` they are 1 / a.size() and 1 / b.size(). The same bits on
    /// every run.
    ///
    /// @param a  the first cloud, as it was given to `chamfer`
    /// @param b  the second cloud, as it was given to `chamfer`
    /// @throws Error
    template <typename T>
    [[nodiscard]] GradientsResult backward(const Points& a, const Points& b, Span<T> grad_a, Span<T> grad_b,
                                           const RunOptions& options = {}) const {
        detail::Run run(options);
        const void* from_a = detail::gradients_of(grad_a, a.size(), a);
        const void* from_b = detail::gradients_of(grad_b, b.size(), b);
        farpoint_gradients_result* result = nullptr;
        run.finish(farpoint_chamfer_backward(result_.get(), a.c(), b.c(), from_a, from_b, run.c(), &result));
        return GradientsResult(result);
    }

    /// Takes over a result of the C interface, which it frees.
    explicit ChamferResult(farpoint_chamfer_result* result) noexcept : result_(result) {}

private:
    [[nodiscard]] NearestResult direction(std::int32_t which) const noexcept {
        return {farpoint_chamfer_result_direction(result_.get(), which), &NearestResult::leave};
    }

    detail::Handle<farpoint_chamfer_result, farpoint_chamfer_result_free> result_;
};

namespace detail {

inline farpoint_match_options match_options(const MatchOptions& options, const Run& run) noexcept {
    auto c = sized<farpoint_match_options>();
    c.run = run.c();
    c.norm = static_cast<std::int32_t>(options.norm);
    c.method = static_cast<farpoint_search_method>(options.method);
    return c;
}

}  // namespace detail

/// For each point of `a` its nearest of `b`, which must be of the same scalar type and dimensions.
///
/// @throws Error
inline NearestResult nearest(const Points& a, const Points& b, const MatchOptions& options = {}) {
    detail::Run run(options);
    const auto c = detail::match_options(options, run);
    farpoint_nearest_result* result = nullptr;
    run.finish(farpoint_nearest(a.c(), b.c(), &c, &result));
    return NearestResult(result);
}

/// Nearest points in both directions, and the distances that follow from them.
///
/// @throws Error
inline ChamferResult chamfer(const Points& a, const Points& b, const MatchOptions& options = {}) {
    detail::Run run(options);
    const auto c = detail::match_options(options, run);
    farpoint_chamfer_result* result = nullptr;
    run.finish(farpoint_chamfer(a.c(), b.c(), &c, &result));
    return ChamferResult(result);
}

}  // namespace farpoint

#endif
