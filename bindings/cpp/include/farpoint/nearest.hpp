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

/// Index for no neighbor.
constexpr std::uint32_t none = FARPOINT_NONE;

/// Precision, recall and F-score at a threshold: members `precision`, `recall`, `f_score`.
using FScore = farpoint_f_score;

/// Nearest point in another cloud for each point of a cloud. Move-only; or a view of one direction of a
/// `ChamferResult`, valid for its lifetime.
class NearestResult {
public:
    /// Number of rows, including skipped ones.
    [[nodiscard]] std::size_t size() const noexcept { return view().rows; }
    /// Nearest point of each row, the lowest index among equals; `none` for skipped rows.
    [[nodiscard]] Span<std::uint32_t> indices() const noexcept { return {view().indices, size()}; }
    /// Raw distance of each row to its nearest point: squared with `Norm::l2`. NaN for
    /// skipped rows. `T` is the scalar type of the clouds.
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
    /// Fraction of the rows, 0 to 1, whose nearest point is within a threshold in the unit of the coordinates.
    [[nodiscard]] double share_within(double threshold) const noexcept {
        return farpoint_nearest_result_share_within(result_.get(), threshold);
    }
    /// Number of non-finite rows that were skipped.
    [[nodiscard]] std::size_t dropped() const noexcept { return view().dropped; }
    /// View of the C interface; valid for the lifetime of this object.
    [[nodiscard]] farpoint_nearest_view view() const noexcept { return farpoint_nearest_result_view(result_.get()); }

    /// Takes ownership of a result of the C interface.
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

/// Gradients of the coordinates of two clouds. Move-only.
class GradientsResult {
public:
    /// Gradients of the first cloud, one contiguous number per coordinate. `T` is the scalar type of the clouds.
    template <typename T>
    [[nodiscard]] Span<T> first() const {
        return detail::of_scalar<T>(view().a_f32, view().a_f64, view().a_count);
    }
    /// Gradients of the second cloud.
    template <typename T>
    [[nodiscard]] Span<T> second() const {
        return detail::of_scalar<T>(view().b_f32, view().b_f64, view().b_count);
    }
    /// View of the C interface; valid for the lifetime of this object.
    [[nodiscard]] farpoint_gradients_view view() const noexcept {
        return farpoint_gradients_result_view(result_.get());
    }

    /// Takes ownership of a result of the C interface.
    explicit GradientsResult(farpoint_gradients_result* result) noexcept : result_(result) {}

private:
    detail::Handle<farpoint_gradients_result, farpoint_gradients_result_free> result_;
};

namespace detail {

/// Returns the gradients of `rows` distances in the clouds' type; null for none, which means 0.
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

/// Nearest points in both directions between two clouds. Move-only.
class ChamferResult {
public:
    /// Nearest points of the second cloud for the first: a view, valid for the lifetime of this result.
    [[nodiscard]] NearestResult a_to_b() const noexcept { return direction(0); }
    /// Nearest points of the first cloud for the second, likewise.
    [[nodiscard]] NearestResult b_to_a() const noexcept { return direction(1); }
    /// Chamfer distance: the weighted sum of the means of both directions. Squared with `Norm::l2`.
    [[nodiscard]] double sum(double weight_a = 1.0, double weight_b = 1.0) const noexcept {
        return farpoint_chamfer_result_sum(result_.get(), weight_a, weight_b);
    }
    /// Chamfer distance with distances that are not squared.
    [[nodiscard]] double sum_of_distances() const noexcept {
        return farpoint_chamfer_result_sum_of_distances(result_.get());
    }
    /// Hausdorff distance: the largest distance of either direction, not squared.
    [[nodiscard]] double hausdorff() const noexcept { return farpoint_chamfer_result_hausdorff(result_.get()); }
    /// Precision, recall and F-score at a threshold in the unit of the coordinates.
    [[nodiscard]] FScore f_score(double threshold) const noexcept {
        return farpoint_chamfer_result_f_score(result_.get(), threshold);
    }
    /// Computes the gradients of the coordinates of both clouds from those of the raw distances, one number per row
    /// of `a` and of `b`; empty: all 0. For `sum()` they are 1 / a.size() and 1 / b.size(). The result has the same
    /// bits on every run.
    ///
    /// @param a  the first cloud, as passed to `chamfer`
    /// @param b  the second cloud, as passed to `chamfer`
    /// @throws Error
    template <typename T>
    [[nodiscard]] GradientsResult backward(const Points& a, const Points& b, Span<T> grad_a, Span<T> grad_b,
                                           const GradientOptions& options = {}) const {
        detail::Run run(options);
        const void* from_a = detail::gradients_of(grad_a, a.size(), a);
        const void* from_b = detail::gradients_of(grad_b, b.size(), b);
        farpoint_gradients_result* result = nullptr;
        const farpoint_status status =
            farpoint_chamfer_backward(result_.get(), a.c(), b.c(), from_a, from_b, run.c(), &result);
        return run.finish(status, GradientsResult(result));
    }

    /// Takes ownership of a result of the C interface.
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

/// Finds the nearest point of `b` for each point of `a`; both must have the same scalar type and dimensions.
///
/// @throws Error
inline NearestResult nearest(const Points& a, const Points& b, const MatchOptions& options = {}) {
    detail::Run run(options);
    const auto c = detail::match_options(options, run);
    farpoint_nearest_result* result = nullptr;
    const farpoint_status status = farpoint_nearest(a.c(), b.c(), &c, &result);
    return run.finish(status, NearestResult(result));
}

/// Finds nearest points in both directions, for the Chamfer distance and related measures.
///
/// @throws Error
inline ChamferResult chamfer(const Points& a, const Points& b, const MatchOptions& options = {}) {
    detail::Run run(options);
    const auto c = detail::match_options(options, run);
    farpoint_chamfer_result* result = nullptr;
    const farpoint_status status = farpoint_chamfer(a.c(), b.c(), &c, &result);
    return run.finish(status, ChamferResult(result));
}

}  // namespace farpoint

#endif
