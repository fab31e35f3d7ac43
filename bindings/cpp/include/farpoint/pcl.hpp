#ifndef FARPOINT_PCL_HPP
#define FARPOINT_PCL_HPP

/// PCL support: clouds in place, and `PclFarthestPointSampling` as a replacement of `pcl::FarthestPointSampling`.

#include <farpoint/sample.hpp>

#include <pcl/exceptions.h>
#include <pcl/filters/filter_indices.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace farpoint {

/// Layout of `pcl::PointCloud`: the members x, y and z of its points, of any point type. Organized clouds
/// are read row by row.
template <typename PointT>
struct Layout<pcl::PointCloud<PointT>> {
    static Points view(const pcl::PointCloud<PointT>& cloud) {
        const auto stride = static_cast<std::ptrdiff_t>(sizeof(PointT));
        if (cloud.empty()) {
            return Points::strided(static_cast<const float*>(nullptr), 0, 3, stride);
        }
        const PointT& first = cloud.points.front();
        return Points::axes(&first.x, &first.y, &first.z, cloud.size(), stride);
    }
};

/// Faster replacement of `pcl::FarthestPointSampling`: the same setters, the same first point per seed, and
/// the samples of PCL's rule (docs/cpp.md has the table of differences):
///
/// - `setIndices` is honored, as in PCL from 1.15.1 on; a repeated index is an error;
/// - non-finite points are skipped; they count as removed. `getLeftOut()` returns their number;
/// - when all points are samples, they are ordered farthest first, not in the order of the input;
/// - `setNegative` is honored: it returns the points not chosen, in the order of the input;
/// - ties go to the point that comes first among the indices. PCL compares rounded square roots, which
///   can be equal where the squares differ.
///
/// As with PCL's filters, `filter` returns indices or a cloud, `getRemovedIndices` the rest, and
/// `setKeepOrganized` keeps an organized cloud's shape.
template <typename PointT>
class PclFarthestPointSampling : public pcl::FilterIndices<PointT> {
public:
    using Ptr = pcl::shared_ptr<PclFarthestPointSampling<PointT>>;
    using ConstPtr = pcl::shared_ptr<const PclFarthestPointSampling<PointT>>;
    using typename pcl::FilterIndices<PointT>::PointCloud;

    /// With `extract_removed_indices`, `getRemovedIndices` returns the points not chosen.
    explicit PclFarthestPointSampling(bool extract_removed_indices = false)
        : pcl::FilterIndices<PointT>(extract_removed_indices) {
        filter_name_ = "PclFarthestPointSampling";
    }

    /// Sets the number of points to choose. If it exceeds the cloud, `filter` throws `pcl::BadArgumentException`.
    void setSample(std::size_t sample_size) { sample_size_ = sample_size; }
    [[nodiscard]] std::size_t getSample() const { return sample_size_; }

    /// Sets the seed of the first point; random unless set.
    void setSeed(unsigned int seed) { seed_ = seed; }
    [[nodiscard]] unsigned int getSeed() const { return seed_; }

    /// Sets the number of threads; 0: all cores, 1: only the calling thread. Does not affect the result.
    void setNumberOfThreads(std::size_t threads) { threads_ = threads; }
    [[nodiscard]] std::size_t getNumberOfThreads() const { return threads_; }

    /// Returns the number of non-finite points skipped by the last `filter`.
    [[nodiscard]] std::size_t getLeftOut() const { return left_out_; }

    /// Returns the covering radius after `filter`, over the points that were not skipped.
    [[nodiscard]] double getCoveringRadius() const { return covering_radius_; }

protected:
    using pcl::PCLBase<PointT>::input_;
    using pcl::PCLBase<PointT>::indices_;
    using pcl::PCLBase<PointT>::fake_indices_;
    using pcl::Filter<PointT>::filter_name_;
    using pcl::Filter<PointT>::removed_indices_;
    using pcl::FilterIndices<PointT>::negative_;
    using pcl::FilterIndices<PointT>::extract_removed_indices_;

    /// Returns the chosen points, farthest first; or, if negative, the others.
    void applyFilter(pcl::Indices& indices) override {
        if (sample_size_ > indices_->size()) {
            PCL_THROW_EXCEPTION(pcl::BadArgumentException,
                                "farpoint: " << sample_size_ << " samples of " << indices_->size() << " points");
        }
        const std::vector<std::size_t> usable = usable_rows();
        left_out_ = indices_->size() - usable.size();
        const std::vector<std::size_t> chosen = choose(usable);
        divide(usable, chosen, indices);
    }

private:
    [[nodiscard]] bool is_finite(pcl::index_t row) const {
        const PointT& point = (*input_)[static_cast<std::size_t>(row)];
        return std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.z);
    }

    /// Returns the indices to choose from, as rows of the input.
    [[nodiscard]] std::vector<std::size_t> usable_rows() const {
        std::vector<std::size_t> usable;
        usable.reserve(indices_->size());
        for (const pcl::index_t row : *indices_) {
            if (row < 0 || static_cast<std::size_t>(row) >= input_->size()) {
                PCL_THROW_EXCEPTION(pcl::BadArgumentException,
                                    "farpoint: index " << row << " of " << input_->size() << " points");
            }
            if (is_finite(row)) {
                usable.push_back(static_cast<std::size_t>(row));
            }
        }
        return usable;
    }

    /// Draws the first point as PCL does, and again among the others if it is skipped.
    [[nodiscard]] std::size_t first_row(const std::vector<std::size_t>& usable) const {
        std::mt19937 generator(seed_);
        const auto last = [](std::size_t size) { return static_cast<pcl::index_t>(size - 1); };
        std::uniform_int_distribution<pcl::index_t> among_all(0, last(indices_->size()));
        const pcl::index_t drawn = (*indices_)[static_cast<std::size_t>(among_all(generator))];
        if (is_finite(drawn)) {
            return static_cast<std::size_t>(drawn);
        }
        std::uniform_int_distribution<pcl::index_t> among_usable(0, last(usable.size()));
        return usable[static_cast<std::size_t>(among_usable(generator))];
    }

    [[nodiscard]] std::vector<std::size_t> choose(const std::vector<std::size_t>& usable) {
        covering_radius_ = std::numeric_limits<double>::infinity();
        const std::size_t count = std::min(sample_size_, usable.size());
        if (count == 0) {
            return {};
        }
        SampleOptions options;
        options.threads = threads_;
        options.starts = {first_row(usable)};
        if (!fake_indices_ || usable.size() != input_->size()) {
            options.rows = usable;
        }
        const SampleResult sample = farpoint::sample(*input_, count, options);
        covering_radius_ = sample.covering_radius();
        return sample.indices().to_vector();
    }

    /// Splits the points into the result and the removed ones.
    void divide(const std::vector<std::size_t>& usable, const std::vector<std::size_t>& chosen, pcl::Indices& indices) {
        std::vector<bool> is_chosen(input_->size(), false);
        for (const std::size_t row : chosen) {
            is_chosen[row] = true;
        }
        indices.clear();
        removed_indices_->clear();
        const auto index = [](std::size_t row) { return static_cast<pcl::index_t>(row); };
        if (negative_) {
            for (const std::size_t row : usable) {
                if (!is_chosen[row]) {
                    indices.push_back(index(row));
                }
            }
        } else {
            indices.reserve(chosen.size());
            for (const std::size_t row : chosen) {
                indices.push_back(index(row));
            }
        }
        if (extract_removed_indices_) {
            for (const pcl::index_t row : *indices_) {
                if (!is_finite(row) || is_chosen[static_cast<std::size_t>(row)] == negative_) {
                    removed_indices_->push_back(row);
                }
            }
        }
    }

    std::size_t sample_size_ = static_cast<std::size_t>(std::numeric_limits<int>::max());
    unsigned int seed_ = std::random_device()();
    std::size_t threads_ = 0;
    std::size_t left_out_ = 0;
    double covering_radius_ = std::numeric_limits<double>::infinity();
};

}  // namespace farpoint

#endif
