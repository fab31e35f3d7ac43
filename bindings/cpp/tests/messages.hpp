#ifndef FARPOINT_TESTS_MESSAGES_HPP
#define FARPOINT_TESTS_MESSAGES_HPP

/// PointCloud2 messages in the layouts that drivers send, of any message class.

#include "clouds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

namespace messages {

/// How a driver lays its points out.
struct Driver {
    std::uint32_t point_step = 16;
    /// Where x, y and z are.
    std::array<std::uint32_t, 3> offsets = {0, 4, 8};
    bool is_double = false;
    bool is_bigendian = false;
    std::uint32_t height = 1;
    /// Bytes between the rows.
    std::uint32_t padding = 0;
};

inline void store(std::uint8_t* at, double value, const Driver& driver) {
    std::array<std::uint8_t, 8> bytes{};
    const std::size_t size = driver.is_double ? 8 : 4;
    if (driver.is_double) {
        std::memcpy(bytes.data(), &value, 8);
    } else {
        const float single = static_cast<float>(value);
        std::memcpy(bytes.data(), &single, 4);
    }
    if (driver.is_bigendian) {
        std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    }
    std::memcpy(at, bytes.data(), size);
}

/// A message of these points; what else is in its records tells them apart.
template <typename Message>
Message make(const clouds::Cloud<double>& cloud, const Driver& driver) {
    Message message;
    message.header.frame_id = "lidar";
    message.height = driver.height;
    message.width = static_cast<std::uint32_t>(cloud.size()) / driver.height;
    message.is_bigendian = driver.is_bigendian;
    message.point_step = driver.point_step;
    message.row_step = message.width * driver.point_step + driver.padding;
    message.is_dense = false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        typename std::decay_t<decltype(message.fields)>::value_type field;
        field.name = std::string(1, static_cast<char>('x' + static_cast<char>(axis)));
        field.offset = driver.offsets[axis];
        field.datatype = driver.is_double ? 8 : 7;
        field.count = 1;
        message.fields.push_back(field);
    }
    message.data.resize(static_cast<std::size_t>(message.row_step) * message.height);
    for (std::size_t i = 0; i < message.data.size(); ++i) {
        message.data[i] = static_cast<std::uint8_t>(i * 37 + i / 251);
    }
    for (std::size_t i = 0; i < cloud.size(); ++i) {
        std::uint8_t* record =
            message.data.data() + i / message.width * message.row_step + i % message.width * driver.point_step;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            store(record + driver.offsets[axis], cloud[i][axis], driver);
        }
    }
    return message;
}

}  // namespace messages

#endif
