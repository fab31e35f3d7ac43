#ifndef FARPOINT_POINTCLOUD2_HPP
#define FARPOINT_POINTCLOUD2_HPP

/// PointCloud2 messages of ROS 1 and ROS 2: templates over the message class, which need no ROS
/// header.
///
/// @code
/// void callback(const sensor_msgs::msg::PointCloud2& scan) {
///     sensor_msgs::msg::PointCloud2 thin;
///     farpoint::sample_message(scan, 4096, thin, {}, farpoint::Zeros::drop);
///     publisher->publish(thin);
/// }
/// @endcode
///
/// Supports messages as sent by drivers: x, y and z as float32 or float64 at any offset and alignment,
/// records of any size, big-endian data, padded rows with or without the padding of the last one.

#include <farpoint/sample.hpp>
#include <farpoint/voxels.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace farpoint {

/// Report of the points of a message.
struct MessageReport {
    /// Number of points of the message, with or without a return.
    std::size_t points = 0;
    /// Number of non-finite points that were skipped.
    std::size_t dropped = 0;
    /// Number of points at (0, 0, 0) that were skipped.
    std::size_t zeros = 0;
    /// Number of points of the new message.
    std::size_t chosen = 0;
    /// False if a deadline or the progress callback ended the call before the sample was complete.
    bool complete = true;
    /// Largest distance of a point that was not skipped to its nearest sample, in the unit of the
    /// coordinates; infinite if none was chosen, or if voxels were.
    double covering_radius = std::numeric_limits<double>::infinity();
};

/// Options of `sample_message`.
struct MessageOptions : RunOptions, StartOptions, ExactOptions, EarlyOptions {};

/// Options of `voxel_message`.
struct MessageVoxelOptions : CpuOptions, ProgressOptions, GridOptions {};

/// Handling of points at (0, 0, 0), which many drivers send for missing returns.
enum class Zeros : std::uint8_t {
    /// Keep them as regular points.
    keep,
    /// Skip and count them.
    drop,
};

namespace detail {

constexpr bool big_endian_machine() noexcept {
#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
#else
    return false;
#endif
}

/// Records of a message: their positions and coordinates, checked to lie within the data. Padded rows are copied
/// without the padding, so that row `i` of the cloud is point `i`.
class Records {
public:
    template <typename Message>
    explicit Records(const Message& message)
        : data_(message.data.data()),
          bytes_(message.data.size()),
          width_(message.width),
          height_(message.height),
          point_step_(message.point_step),
          swapped_((message.is_bigendian != 0) != big_endian_machine()) {
        find_axes(message);
        check_extent(message.row_step);
    }
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;

    [[nodiscard]] std::size_t count() const noexcept { return width_ * height_; }
    /// Returns whether the records are copies.
    [[nodiscard]] bool was_padded() const noexcept { return !unpadded_.empty(); }
    /// Returns the record of point `index`.
    [[nodiscard]] const std::uint8_t* record(std::size_t index) const noexcept { return data_ + index * point_step_; }

    /// Returns the coordinates of point `index`.
    [[nodiscard]] std::array<double, 3> coordinates(std::size_t index) const noexcept {
        std::array<double, 3> xyz{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::uint8_t* at = record(index) + axes_[axis];
            xyz[axis] = is_double_ ? load<double>(at) : static_cast<double>(load<float>(at));
        }
        return xyz;
    }

    /// Returns a number of the message.
    template <typename T>
    [[nodiscard]] T load(const std::uint8_t* at) const noexcept {
        std::array<std::uint8_t, sizeof(T)> bytes{};
        std::memcpy(bytes.data(), at, sizeof(T));
        if (swapped_) {
            std::reverse(bytes.begin(), bytes.end());
        }
        T value{};
        std::memcpy(&value, bytes.data(), sizeof(T));
        return value;
    }
    /// Writes a number as the message has them.
    template <typename T>
    void store(std::uint8_t* at, T value) const noexcept {
        std::memcpy(at, &value, sizeof(T));
        if (swapped_) {
            std::reverse(at, at + sizeof(T));
        }
    }

    /// Returns the cloud for the library.
    [[nodiscard]] Points points() const noexcept {
        const farpoint_scalar scalar = is_double_ ? FARPOINT_FLOAT64 : FARPOINT_FLOAT32;
        std::array<std::ptrdiff_t, 3> offsets{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            offsets[axis] = static_cast<std::ptrdiff_t>(axes_[axis]);
        }
        const Points view = Points::axes(data_, scalar, count(), static_cast<std::ptrdiff_t>(point_step_), offsets)
                                .inside(data_, bytes_);
        return swapped_ ? view.byte_swapped() : view;
    }

private:
    /// Codes of sensor_msgs/PointField.
    static constexpr int float32 = 7;
    static constexpr int float64 = 8;

    template <typename Message>
    void find_axes(const Message& message) {
        static constexpr std::array<const char*, 3> names = {"x", "y", "z"};
        std::array<int, 3> types{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const auto field = std::find_if(message.fields.begin(), message.fields.end(),
                                            [axis](const auto& candidate) { return candidate.name == names[axis]; });
            const std::string name = std::string("the field '") + names[axis] + "' of the message";
            if (field == message.fields.end()) {
                invalid(name + " is missing");
            }
            types[axis] = static_cast<int>(field->datatype);
            if ((types[axis] != float32 && types[axis] != float64) || field->count > 1) {
                invalid(name + " is neither one float32 nor one float64");
            }
            axes_[axis] = field->offset;
            const std::size_t size = types[axis] == float64 ? 8 : 4;
            if (point_step_ < size || axes_[axis] > point_step_ - size) {
                invalid(name + " ends beyond the record of " + std::to_string(point_step_) + " bytes");
            }
        }
        if (types[1] != types[0] || types[2] != types[0]) {
            invalid("x, y and z of the message are not all float32 or all float64");
        }
        is_double_ = types[0] == float64;
    }

    /// Checks that all rows lie within the data; the last one may lack its padding. Many drivers leave `row_step` at
    /// 0, or at any value if there is one row: rows are then without padding.
    void check_extent(std::size_t row_step) {
        if (count() == 0) {
            return;
        }
        const bool fits = width_ <= bytes_ / point_step_;
        const std::size_t row = fits ? width_ * point_step_ : 0;
        const std::size_t step = height_ == 1 || row_step == 0 ? row : row_step;
        if (!fits || step < row || height_ - 1 > (bytes_ - row) / step) {
            invalid("a message of " + std::to_string(height_) + " x " + std::to_string(width_) + " points of " +
                    std::to_string(point_step_) + " bytes, with a row_step of " + std::to_string(row_step) +
                    " bytes, holds " + std::to_string(bytes_) + " bytes");
        }
        if (step > row) {
            unpadded_.reserve(height_ * row);
            for (std::size_t line = 0; line < height_; ++line) {
                unpadded_.insert(unpadded_.end(), data_ + line * step, data_ + line * step + row);
            }
            data_ = unpadded_.data();
            bytes_ = unpadded_.size();
        }
    }

    std::vector<std::uint8_t> unpadded_;
    const std::uint8_t* data_;
    std::size_t bytes_;
    std::size_t width_;
    std::size_t height_;
    std::size_t point_step_;
    std::array<std::size_t, 3> axes_{};
    bool is_double_ = false;
    bool swapped_;
};

/// Returns the points to choose from; counts the others.
inline std::vector<std::size_t> usable_rows(const Records& records, Zeros zeros, MessageReport& report) {
    report.points = records.count();
    std::vector<std::size_t> rows;
    rows.reserve(records.count());
    for (std::size_t index = 0; index < records.count(); ++index) {
        const auto [x, y, z] = records.coordinates(index);
        if (!(std::isfinite(x) && std::isfinite(y) && std::isfinite(z))) {
            ++report.dropped;
        } else if (zeros == Zeros::drop && x == 0.0 && y == 0.0 && z == 0.0) {
            ++report.zeros;
        } else {
            rows.push_back(index);
        }
    }
    return rows;
}

/// Options of a call with the rows to use.
template <typename Options>
struct Selected : Options, RowOptions {};

/// Copies the chosen records of `in` to `out`, which may be the same message.
template <typename Message>
void write_message(const Message& in, const Records& records, Span<std::size_t> chosen, Message& out) {
    const std::size_t step = in.point_step;
    if (chosen.size() > (std::numeric_limits<std::uint32_t>::max)() / step) {
        invalid("a message can't hold " + std::to_string(chosen.size()) + " points of " + std::to_string(step) +
                " bytes");
    }
    decltype(out.data) data(chosen.size() * step);
    std::uint8_t* to = data.data();
    for (const std::size_t row : chosen) {
        std::memcpy(to, records.record(row), step);
        to += step;
    }
    if (&in != &out) {
        out.header = in.header;
        out.fields = in.fields;
        out.is_bigendian = in.is_bigendian;
        out.point_step = in.point_step;
    }
    out.height = 1;
    out.width = static_cast<std::uint32_t>(chosen.size());
    out.row_step = static_cast<std::uint32_t>(chosen.size() * step);
    out.is_dense = true;
    out.data = std::move(data);
}

/// Means of the fields of a message over the records of each voxel.
class FieldMeans {
public:
    /// Lists the numbers of a record.
    ///
    /// @throws Error if a field has an unknown type, or ends beyond the record
    template <typename Message>
    FieldMeans(const Message& message, const Records& records) : records_(records) {
        static constexpr std::array<std::size_t, 9> sizes = {0, 1, 1, 2, 2, 4, 4, 4, 8};
        for (const auto& field : message.fields) {
            const std::string name = "the field '" + std::string(field.name) + "' of the message";
            const auto type = static_cast<std::size_t>(field.datatype);
            if (type == 0 || type >= sizes.size()) {
                invalid(name + " has the unknown datatype " + std::to_string(type) + ", of which there is no mean");
            }
            // Some drivers leave the count at 0.
            const std::size_t count = (std::max<std::size_t>)(field.count, 1);
            const std::size_t offset = field.offset;
            if (offset > message.point_step || count > (message.point_step - offset) / sizes[type]) {
                invalid(name + " ends beyond the record of " + std::to_string(message.point_step) + " bytes");
            }
            // Colors are averaged by channel, whatever number they are packed in.
            const bool is_color = (field.name == "rgb" || field.name == "rgba") && sizes[type] == 4;
            const std::size_t size = is_color ? 1 : sizes[type];
            for (std::size_t k = 0; k < count * (sizes[type] / size); ++k) {
                numbers_.push_back({offset + k * size, is_color ? uint8 : static_cast<int>(type)});
            }
        }
    }

    /// Sums the rows of each voxel, ascending, in double precision.
    void sum(const std::vector<std::size_t>& rows, const VoxelsResult& voxels) {
        sums_.assign(voxels.size() * numbers_.size(), 0.0);
        const Span<std::uint32_t> inverse = voxels.inverse();
        for (std::size_t k = 0; k < rows.size(); ++k) {
            if (inverse[k] == FARPOINT_NONE) {
                continue;
            }
            const std::uint8_t* record = records_.record(rows[k]);
            double* sums = sums_.data() + inverse[k] * numbers_.size();
            for (std::size_t j = 0; j < numbers_.size(); ++j) {
                sums[j] += value(record + numbers_[j].offset, numbers_[j].type);
            }
        }
        const Span<std::uint32_t> counts = voxels.point_counts();
        for (std::size_t k = 0; k < sums_.size(); ++k) {
            sums_[k] /= static_cast<double>(counts[k / numbers_.size()]);
        }
    }

    /// Writes the means over the fields of the records of the voxels.
    void write(std::uint8_t* record, std::size_t point_step) const {
        for (std::size_t k = 0; k < sums_.size(); k += numbers_.size(), record += point_step) {
            for (std::size_t j = 0; j < numbers_.size(); ++j) {
                put(record + numbers_[j].offset, numbers_[j].type, sums_[k + j]);
            }
        }
    }

private:
    /// Codes of sensor_msgs/PointField, from 1 on.
    enum : int { int8 = 1, uint8, int16, uint16, int32, uint32, float32, float64 };
    struct Number {
        std::size_t offset;
        int type;
    };

    [[nodiscard]] double value(const std::uint8_t* at, int type) const noexcept {
        switch (type) {
            case int8: return records_.load<std::int8_t>(at);
            case uint8: return records_.load<std::uint8_t>(at);
            case int16: return records_.load<std::int16_t>(at);
            case uint16: return records_.load<std::uint16_t>(at);
            case int32: return records_.load<std::int32_t>(at);
            case uint32: return records_.load<std::uint32_t>(at);
            case float32: return static_cast<double>(records_.load<float>(at));
            default: return records_.load<double>(at);
        }
    }

    /// Rounds whole numbers to the nearest one, halves to the even one.
    void put(std::uint8_t* at, int type, double mean) const noexcept {
        switch (type) {
            case int8: return records_.store(at, static_cast<std::int8_t>(std::nearbyint(mean)));
            case uint8: return records_.store(at, static_cast<std::uint8_t>(std::nearbyint(mean)));
            case int16: return records_.store(at, static_cast<std::int16_t>(std::nearbyint(mean)));
            case uint16: return records_.store(at, static_cast<std::uint16_t>(std::nearbyint(mean)));
            case int32: return records_.store(at, static_cast<std::int32_t>(std::nearbyint(mean)));
            case uint32: return records_.store(at, static_cast<std::uint32_t>(std::nearbyint(mean)));
            case float32: return records_.store(at, static_cast<float>(mean));
            default: return records_.store(at, mean);
        }
    }

    const Records& records_;
    std::vector<Number> numbers_;
    /// Sums, then means: those of all numbers of a voxel after each other.
    std::vector<double> sums_;
};

template <typename T, typename = void>
constexpr bool is_message = false;
template <typename T>
constexpr bool is_message<
    T, std::void_t<decltype(std::declval<const T&>().fields.begin()), decltype(std::declval<const T&>().data.data()),
                   decltype(std::declval<const T&>().point_step), decltype(std::declval<const T&>().row_step),
                   decltype(std::declval<const T&>().is_bigendian)>> = true;

}  // namespace detail

/// Samples a message: chooses records by exact farthest point sampling and copies them byte for byte,
/// every field and all padding, in order of choice. The result has height 1 and is dense; header, fields
/// and byte order are those of `in`.
///
/// Non-finite points are skipped, and with `Zeros::drop` points at (0, 0, 0). If fewer than `amount`
/// are usable, all of them are chosen; see the report.
///
/// @param in       message of ROS 1 or ROS 2
/// @param amount   a number, `ratio(0.25)` of the usable points, `spacing(0.05)`, `all()`
/// @param out      output message; may be `in`
/// @param options  sampling options; `starts` are points of `in`
/// @throws Error   fields that are missing or of another type, data that is too short, canceled, ...; `out`
///                 is then unchanged
template <typename Message>
MessageReport sample_message(const Message& in, const Amount& amount, Message& out, const MessageOptions& options = {},
                             Zeros zeros = Zeros::keep) {
    const detail::Records records(in);
    MessageReport report;
    const std::vector<std::size_t> usable = detail::usable_rows(records, zeros, report);
    Amount samples = amount;
    if (amount.kind() == FARPOINT_COUNT && amount.count() > usable.size()) {
        samples = usable.size();
    }
    if (usable.empty()) {
        detail::write_message(in, records, {}, out);
        return report;
    }
    const detail::Selected<MessageOptions> selected{options, {usable, {}}};
    const SampleResult chosen = detail::sample_by(records.points(), samples, selected);
    detail::write_message(in, records, chosen.indices(), out);
    report.chosen = chosen.size();
    report.complete = chosen.complete();
    report.covering_radius = chosen.covering_radius();
    return report;
}

/// Downsamples a message by voxels: one record for the records of each occupied cell of a grid, with the edges `edges`
/// on each axis. The result has height 1 and is dense; header, fields and byte order are those of `in`.
///
/// With `Reduce::first`, `center` and `random` records are copied byte for byte. With `Reduce::mean` each number of
/// each field is the mean over the records: summed in double precision in the order of the message, and rounded once,
/// whole numbers to the nearest one, halves to even; the bytes of packed colors (`rgb`, `rgba`) each on its own. Bytes
/// of no field are those of the first record. Means of labels and ring numbers are none: choose another `reduce`.
///
/// Non-finite points are skipped, and with `Zeros::drop` points at (0, 0, 0).
///
/// @param in       message of ROS 1 or ROS 2
/// @param edges    edge length of a voxel on x, y and z
/// @param out      output message; may be `in`
/// @param options  options of the grid
/// @throws Error   fields that are missing or of another type, data that is too short, edges that are not
///                 positive, ...; `out` is then unchanged
template <typename Message>
MessageReport voxel_message(const Message& in, const std::vector<double>& edges, Message& out,
                            const MessageVoxelOptions& options = {}, Zeros zeros = Zeros::keep) {
    const detail::Records records(in);
    MessageReport report;
    const std::vector<std::size_t> usable = detail::usable_rows(records, zeros, report);
    const detail::Selected<MessageVoxelOptions> selected{options, {usable, {}}};
    const VoxelsResult voxels = detail::downsample_by(records.points(), edges, selected);
    const Span<std::uint32_t> rows = voxels.rows();
    const std::vector<std::size_t> chosen(rows.begin(), rows.end());
    if (options.reduce == Reduce::mean) {
        detail::FieldMeans means(in, records);
        means.sum(usable, voxels);
        Message thin;
        detail::write_message(in, records, chosen, thin);
        means.write(thin.data.data(), thin.point_step);
        out = std::move(thin);
    } else {
        detail::write_message(in, records, chosen, out);
    }
    report.chosen = chosen.size();
    return report;
}

/// Downsamples a message by cubic voxels.
template <typename Message>
MessageReport voxel_message(const Message& in, double edge, Message& out, const MessageVoxelOptions& options = {},
                            Zeros zeros = Zeros::keep) {
    return voxel_message(in, std::vector<double>(3, edge), out, options, zeros);
}

/// Returns a view of the points of a message, for every function that accepts clouds: row `i` is point `i`,
/// including NaN and zeros. Messages with padded rows are not supported; `sample_message` accepts them.
template <typename Message>
struct Layout<Message, std::enable_if_t<detail::is_message<Message>>> {
    static Points view(const Message& message) {
        const detail::Records records(message);
        if (records.was_padded()) {
            detail::invalid("the rows of the message are padded: use farpoint::sample_message");
        }
        return records.points();
    }
};

}  // namespace farpoint

#endif
