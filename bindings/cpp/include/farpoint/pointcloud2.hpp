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
/// records of any size, big-endian data, padded rows, a wrong `row_step`.

#include <farpoint/sample.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
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
    std::size_t bad = 0;
    /// Number of points at (0, 0, 0) that were skipped.
    std::size_t zeros = 0;
    /// Number of points that were chosen.
    std::size_t chosen = 0;
    /// Largest distance of a point that was not skipped to its nearest sample, in the unit of the
    /// coordinates; infinite if none was chosen.
    double covering_radius = std::numeric_limits<double>::infinity();
};

/// Options for sampling a message, always over all usable points.
struct MessageOptions : StartOptions {};

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

/// Records of a message: their positions and coordinates, checked to lie within the data.
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
        // Records start at multiples of this number of bytes; the multiple is the row number.
        unit_ = is_tight() ? point_step_ : std::gcd(point_step_, row_step_);
    }

    [[nodiscard]] std::size_t count() const noexcept { return width_ * height_; }
    /// Returns whether rows are contiguous.
    [[nodiscard]] bool is_tight() const noexcept { return height_ <= 1 || row_step_ == width_ * point_step_; }
    /// Returns the row of `points()` of point `index`.
    [[nodiscard]] std::size_t row_of(std::size_t index) const noexcept {
        return is_tight() ? index : offset_of(index) / unit_;
    }
    /// Returns the record of a row of `points()`.
    [[nodiscard]] const std::uint8_t* record(std::size_t row) const noexcept { return data_ + row * unit_; }

    /// Returns the coordinates of point `index`.
    [[nodiscard]] std::array<double, 3> coordinates(std::size_t index) const noexcept {
        const std::uint8_t* record = data_ + offset_of(index);
        std::array<double, 3> xyz{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::uint8_t* at = record + axes_[axis];
            xyz[axis] = is_double_ ? load<double>(at) : static_cast<double>(load<float>(at));
        }
        return xyz;
    }

    /// Returns the cloud for the library. If rows are padded, only its rows `row_of(index)` are points.
    [[nodiscard]] Points points() const noexcept {
        const std::size_t rows = count() == 0 ? 0 : row_of(count() - 1) + 1;
        const farpoint_scalar scalar = is_double_ ? FARPOINT_FLOAT64 : FARPOINT_FLOAT32;
        std::array<std::ptrdiff_t, 3> offsets{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            offsets[axis] = static_cast<std::ptrdiff_t>(axes_[axis]);
        }
        const Points view =
            Points::axes(data_, scalar, rows, static_cast<std::ptrdiff_t>(unit_), offsets).inside(data_, bytes_);
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

    /// Uses `row_step` only if it is plausible: drivers send 0, or the value of another message.
    void check_extent(std::size_t row_step) {
        const std::size_t places = bytes_ / point_step_;
        const bool fits = width_ == 0 || height_ <= places / width_;
        const std::size_t row = fits ? width_ * point_step_ : 0;
        if (count() != 0 && !fits) {
            invalid("a message of " + std::to_string(height_) + " x " + std::to_string(width_) + " points of " +
                    std::to_string(point_step_) + " bytes holds " + std::to_string(bytes_) + " bytes");
        }
        const bool usable = height_ > 1 && row_step >= row && row_step <= bytes_ / height_;
        row_step_ = usable ? row_step : row;
    }

    [[nodiscard]] std::size_t offset_of(std::size_t index) const noexcept {
        return is_tight() ? index * point_step_ : index / width_ * row_step_ + index % width_ * point_step_;
    }

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

    const std::uint8_t* data_;
    std::size_t bytes_;
    std::size_t width_;
    std::size_t height_;
    std::size_t point_step_;
    std::size_t row_step_ = 0;
    std::size_t unit_ = 1;
    std::array<std::size_t, 3> axes_{};
    bool is_double_ = false;
    bool swapped_;
};

/// Returns the rows of `records.points()` to choose from; counts the others.
inline std::vector<std::size_t> usable_rows(const Records& records, Zeros zeros, MessageReport& report) {
    report.points = records.count();
    std::vector<std::size_t> rows;
    rows.reserve(records.count());
    for (std::size_t index = 0; index < records.count(); ++index) {
        const auto [x, y, z] = records.coordinates(index);
        if (!(std::isfinite(x) && std::isfinite(y) && std::isfinite(z))) {
            ++report.bad;
        } else if (zeros == Zeros::drop && x == 0.0 && y == 0.0 && z == 0.0) {
            ++report.zeros;
        } else {
            rows.push_back(records.row_of(index));
        }
    }
    return rows;
}

/// Copies the chosen records of `in` to `out`, which may be the same message.
template <typename Message>
void write_message(const Message& in, const Records& records, Span<std::size_t> chosen, Message& out) {
    const std::size_t step = in.point_step;
    if (chosen.size() > std::numeric_limits<std::uint32_t>::max() / step) {
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
/// @param options  sampling options; `starts` are points of `in`. `non_finite` is ignored
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
    SampleOptions sampling;
    static_cast<StartOptions&>(sampling) = options;
    sampling.rows = usable;
    for (std::size_t& start : sampling.starts) {
        if (start >= records.count()) {
            detail::invalid("start " + std::to_string(start) + " of " + std::to_string(records.count()) + " points");
        }
        start = records.row_of(start);
    }
    const SampleResult chosen = sample(records.points(), samples, sampling);
    detail::write_message(in, records, chosen.indices(), out);
    report.chosen = chosen.size();
    report.covering_radius = chosen.covering_radius();
    return report;
}

/// Returns a view of the points of a message, for every function that accepts clouds: row `i` is point `i`,
/// including NaN and zeros. Messages with padded rows are not supported; `sample_message` accepts them.
template <typename Message>
struct Layout<Message, std::enable_if_t<detail::is_message<Message>>> {
    static Points view(const Message& message) {
        const detail::Records records(message);
        if (!records.is_tight()) {
            detail::invalid("the rows of the message are padded: use farpoint::sample_message");
        }
        return records.points();
    }
};

}  // namespace farpoint

#endif
