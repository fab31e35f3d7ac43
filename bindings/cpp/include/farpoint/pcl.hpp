#ifndef FARPOINT_PCL_HPP
#define FARPOINT_PCL_HPP

/// PCL support: clouds in place, `PclFarthestPointSampling` as a replacement of `pcl::FarthestPointSampling`, and
/// `PclVoxelGrid` as one of `pcl::VoxelGrid`.

#include <farpoint/sample.hpp>

#include <Eigen/Core>
#include <boost/mpl/size.hpp>
#include <pcl/common/centroid.h>
#include <pcl/exceptions.h>
#include <pcl/filters/filter.h>
#include <pcl/filters/filter_indices.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
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

namespace detail {

template <typename PointT>
bool is_finite(const PointT& point) {
    return std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.z);
}

/// Returns those of the indices whose points are finite.
template <typename PointT>
std::vector<std::size_t> finite_rows(const pcl::PointCloud<PointT>& cloud, const pcl::Indices& indices) {
    std::vector<std::size_t> rows;
    rows.reserve(indices.size());
    for (const pcl::index_t row : indices) {
        if (row < 0 || static_cast<std::size_t>(row) >= cloud.size()) {
            PCL_THROW_EXCEPTION(pcl::BadArgumentException,
                                "farpoint: index " << row << " of " << cloud.size() << " points");
        }
        if (is_finite(cloud[static_cast<std::size_t>(row)])) {
            rows.push_back(static_cast<std::size_t>(row));
        }
    }
    return rows;
}

}  // namespace detail

/// Faster replacement of `pcl::FarthestPointSampling`: the same setters, the same first point per seed, and
/// the samples of PCL's rule (docs/cpp.md has the table of differences):
///
/// - `setIndices` is honored, as in PCL from 1.15.1 on; a repeated index is an error;
/// - non-finite points are skipped; they count as removed. `getDropped()` returns their number;
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
    [[nodiscard]] std::size_t getDropped() const { return dropped_; }

    /// Returns the covering radius after `filter`, over the points that were not skipped.
    [[nodiscard]] double getCoveringRadius() const { return covering_radius_; }

protected:
    using pcl::PCLBase<PointT>::input_;
    using pcl::PCLBase<PointT>::indices_;
    using pcl::PCLBase<PointT>::fake_indices_;
    using pcl::Filter<PointT>::filter_name_;
    using pcl::Filter<PointT>::removed_indices_;
    using pcl::FilterIndices<PointT>::negative_;
    using pcl::FilterIndices<PointT>::keep_organized_;
    using pcl::FilterIndices<PointT>::extract_removed_indices_;

    /// Returns a cloud of the chosen points, which is dense unless the removed ones are kept as NaN.
    void applyFilter(PointCloud& output) override {
        pcl::FilterIndices<PointT>::applyFilter(output);
        if (!keep_organized_) {
            output.is_dense = true;
        }
    }

    /// Returns the chosen points, farthest first; or, if negative, the others.
    void applyFilter(pcl::Indices& indices) override {
        if (sample_size_ > indices_->size()) {
            PCL_THROW_EXCEPTION(pcl::BadArgumentException,
                                "farpoint: " << sample_size_ << " samples of " << indices_->size() << " points");
        }
        const std::vector<std::size_t> usable = detail::finite_rows(*input_, *indices_);
        dropped_ = indices_->size() - usable.size();
        const std::vector<std::size_t> chosen = choose(usable);
        divide(usable, chosen, indices);
    }

private:
    [[nodiscard]] bool is_finite(pcl::index_t row) const {
        return detail::is_finite((*input_)[static_cast<std::size_t>(row)]);
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
        const std::size_t count = (std::min)(sample_size_, usable.size());
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

    std::size_t sample_size_ = static_cast<std::size_t>((std::numeric_limits<int>::max)());
    unsigned int seed_ = std::random_device()();
    std::size_t threads_ = 0;
    std::size_t dropped_ = 0;
    double covering_radius_ = std::numeric_limits<double>::infinity();
};

/// Replacement of `pcl::VoxelGrid`: the same cells in the same order, and the mean of the points of each
/// (docs/cpp.md has the table of differences):
///
/// - coordinates are summed in double precision in the order of the indices, so that a mean depends on its points
///   alone; other fields are averaged by `pcl::CentroidPoint`, as in PCL;
/// - small leaves in large clouds work, up to cell numbers of 64 bits; PCL returns the input beyond 31;
/// - non-finite points are skipped also in clouds whose `is_dense` is wrong;
/// - there is no leaf layout, and no filter by a field.
template <typename PointT>
class PclVoxelGrid : public pcl::Filter<PointT> {
public:
    using Ptr = pcl::shared_ptr<PclVoxelGrid<PointT>>;
    using ConstPtr = pcl::shared_ptr<const PclVoxelGrid<PointT>>;
    using typename pcl::Filter<PointT>::PointCloud;

    PclVoxelGrid() { filter_name_ = "PclVoxelGrid"; }

    /// Sets the edge lengths of a voxel. If one is not positive, `filter` throws `pcl::BadArgumentException`.
    void setLeafSize(float lx, float ly, float lz) { leaf_size_ = {lx, ly, lz}; }
    void setLeafSize(const Eigen::Vector4f& leaf_size) { leaf_size_ = leaf_size.head<3>(); }
    [[nodiscard]] Eigen::Vector3f getLeafSize() const { return leaf_size_; }

    /// Sets whether all fields are averaged (the default), or only x, y and z.
    void setDownsampleAllData(bool downsample) { downsample_all_data_ = downsample; }
    [[nodiscard]] bool getDownsampleAllData() const { return downsample_all_data_; }

    /// Sets the number of points below which a voxel is left out.
    void setMinimumPointsNumberPerVoxel(unsigned int min_points_per_voxel) { min_points_ = min_points_per_voxel; }
    [[nodiscard]] unsigned int getMinimumPointsNumberPerVoxel() const { return min_points_; }

protected:
    using pcl::PCLBase<PointT>::input_;
    using pcl::PCLBase<PointT>::indices_;
    using pcl::Filter<PointT>::filter_name_;

    void applyFilter(PointCloud& output) override {
        if (!(leaf_size_.minCoeff() > 0.0F) || !leaf_size_.allFinite()) {
            PCL_THROW_EXCEPTION(pcl::BadArgumentException, "farpoint: a leaf of " << leaf_size_.transpose());
        }
        output.clear();
        output.height = 1;
        output.is_dense = true;
        const Box box = bounds();
        if (box.bits <= 32) {
            append_means<std::uint32_t>(box, output);
        } else {
            append_means<std::uint64_t>(box, output);
        }
        output.width = static_cast<std::uint32_t>(output.size());
    }

private:
    /// True if the points have fields besides x, y and z.
    static constexpr bool has_fields = boost::mpl::size<typename pcl::traits::fieldList<PointT>::type>::value > 3;

    /// The cells of a cloud are numbered within their box: z counts most, as in PCL.
    struct Box {
        /// PCL multiplies by the inverse of the leaf size, and so do we: quotients differ on the faces of voxels.
        std::array<float, 3> inverse{};
        /// Lowest cell of each axis.
        std::array<std::int64_t, 3> low{};
        /// Lowest bit of each axis in the number of a cell.
        std::array<unsigned, 3> shift{};
        /// Bits of the number of a cell.
        unsigned bits = 0;
        /// Number of finite points.
        std::size_t points = 0;
    };

    /// Largest digit of a sort; its counters fill the first cache.
    static constexpr unsigned digit_bits = 13;

    template <typename Cell>
    struct Entry {
        Cell cell;
        pcl::index_t row;
    };

    static std::int64_t floor_of(float value) {
        const auto whole = static_cast<std::int64_t>(value);
        return static_cast<float>(whole) > value ? whole - 1 : whole;
    }

    /// Returns the point of an index, or NULL if it is not finite.
    [[nodiscard]] const PointT* finite_point(pcl::index_t row) const {
        if (row < 0 || static_cast<std::size_t>(row) >= input_->size()) {
            PCL_THROW_EXCEPTION(pcl::BadArgumentException,
                                "farpoint: index " << row << " of " << input_->size() << " points");
        }
        const PointT& point = (*input_)[static_cast<std::size_t>(row)];
        return detail::is_finite(point) ? &point : nullptr;
    }

    /// Returns the box of the cells of all finite points.
    [[nodiscard]] Box bounds() const {
        Box box;
        Eigen::Array4f low = Eigen::Array4f::Constant((std::numeric_limits<float>::max)());
        Eigen::Array4f high = -low;
        for (const pcl::index_t row : *indices_) {
            if (const PointT* point = finite_point(row)) {
                low = (low.min)(point->getArray4fMap());
                high = (high.max)(point->getArray4fMap());
                ++box.points;
            }
        }
        for (std::size_t axis = 0; axis < 3 && box.points > 0; ++axis) {
            const auto k = static_cast<Eigen::Index>(axis);
            box.inverse[axis] = 1.0F / leaf_size_[k];
            const float first = low[k] * box.inverse[axis];
            const float last = high[k] * box.inverse[axis];
            constexpr float limit = 2147483648.0F;
            if (!(first >= -limit && last < limit)) {
                PCL_THROW_EXCEPTION(pcl::BadArgumentException,
                                    "farpoint: coordinates from " << low[k] << " to " << high[k]
                                                                  << " exceed 32 bits in leaves of " << leaf_size_[k]
                                                                  << ": enlarge the leaf");
            }
            box.low[axis] = floor_of(first);
            box.shift[axis] = box.bits;
            for (std::int64_t rest = floor_of(last) - box.low[axis]; rest > 0; rest /= 2) {
                ++box.bits;
            }
        }
        if (box.bits > 64) {
            PCL_THROW_EXCEPTION(pcl::BadArgumentException, "farpoint: numbers of cells of "
                                                               << leaf_size_.transpose() << " have " << box.bits
                                                               << " bits, more than 64: enlarge the leaf");
        }
        return box;
    }

    /// Appends the mean of each voxel, in the order of the cells.
    template <typename Cell>
    void append_means(const Box& box, PointCloud& output) const {
        std::vector<Entry<Cell>> entries(box.points);
        std::size_t count = 0;
        for (const pcl::index_t row : *indices_) {
            if (const PointT* point = finite_point(row)) {
                const auto part = [&box](float value, std::size_t axis) {
                    const std::int64_t cell = floor_of(value * box.inverse[axis]) - box.low[axis];
                    // The shift of an axis of one cell may be that of all bits.
                    return cell == 0 ? Cell{0} : static_cast<Cell>(static_cast<Cell>(cell) << box.shift[axis]);
                };
                entries[count++] = {part(point->x, 0) | part(point->y, 1) | part(point->z, 2), row};
            }
        }
        sort(entries, box.bits);
        for (std::size_t begin = 0; begin < entries.size();) {
            std::size_t end = begin + 1;
            while (end < entries.size() && entries[end].cell == entries[begin].cell) {
                ++end;
            }
            if (end - begin >= min_points_) {
                output.points.push_back(mean(entries.data() + begin, entries.data() + end));
            }
            begin = end;
        }
    }

    /// Sorts by the lowest `bits` bits of the cells, from the lowest digits on: equal cells keep their order.
    template <typename Cell>
    static void sort(std::vector<Entry<Cell>>& entries, unsigned bits) {
        const unsigned passes = (bits + digit_bits - 1) / digit_bits;
        std::vector<Entry<Cell>> sorted(passes == 0 ? 0 : entries.size());
        for (unsigned pass = 0; pass < passes; ++pass) {
            const unsigned from = pass * bits / passes;
            const Cell mask = (Cell{1} << ((pass + 1) * bits / passes - from)) - 1;
            std::array<std::make_unsigned_t<pcl::index_t>, std::size_t{1} << digit_bits> places{};
            for (const Entry<Cell>& entry : entries) {
                ++places[(entry.cell >> from) & mask];
            }
            std::exclusive_scan(places.begin(), places.end(), places.begin(), std::make_unsigned_t<pcl::index_t>{0});
            for (const Entry<Cell>& entry : entries) {
                sorted[places[(entry.cell >> from) & mask]++] = entry;
            }
            entries.swap(sorted);
        }
    }

    /// Returns the mean of the points of a voxel, summed in order.
    template <typename Cell>
    [[nodiscard]] PointT mean(const Entry<Cell>* begin, const Entry<Cell>* end) const {
        const auto point_of = [this](const Entry<Cell>* entry) -> const PointT& {
            return (*input_)[static_cast<std::size_t>(entry->row)];
        };
        PointT mean;
        if (has_fields && downsample_all_data_) {
            pcl::CentroidPoint<PointT> all;
            std::for_each(begin, end, [&](const Entry<Cell>& entry) { all.add(point_of(&entry)); });
            all.get(mean);
        }
        std::array<double, 3> sum{};
        for (const Entry<Cell>* entry = begin; entry != end; ++entry) {
            const PointT& point = point_of(entry);
            sum[0] += static_cast<double>(point.x);
            sum[1] += static_cast<double>(point.y);
            sum[2] += static_cast<double>(point.z);
        }
        const auto count = static_cast<double>(end - begin);
        mean.x = static_cast<float>(sum[0] / count);
        mean.y = static_cast<float>(sum[1] / count);
        mean.z = static_cast<float>(sum[2] / count);
        return mean;
    }

    Eigen::Vector3f leaf_size_ = Eigen::Vector3f::Zero();
    bool downsample_all_data_ = true;
    unsigned int min_points_ = 0;
};

}  // namespace farpoint

#endif
