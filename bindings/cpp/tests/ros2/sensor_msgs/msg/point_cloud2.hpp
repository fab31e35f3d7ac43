#ifndef FARPOINT_TESTS_POINT_CLOUD2_HPP
#define FARPOINT_TESTS_POINT_CLOUD2_HPP

/// The shape of ROS 2's sensor_msgs::msg::PointCloud2, for machines without ROS 2: the names and types of the
/// members that its generated class has.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace builtin_interfaces::msg {
struct Time {
    std::int32_t sec = 0;
    std::uint32_t nanosec = 0;
};
}  // namespace builtin_interfaces::msg

namespace std_msgs::msg {
struct Header {
    builtin_interfaces::msg::Time stamp;
    std::string frame_id;
};
}  // namespace std_msgs::msg

namespace sensor_msgs::msg {
struct PointField {
    static constexpr std::uint8_t FLOAT32 = 7;
    static constexpr std::uint8_t FLOAT64 = 8;
    std::string name;
    std::uint32_t offset = 0;
    std::uint8_t datatype = 0;
    std::uint32_t count = 0;
};

struct PointCloud2 {
    using ConstSharedPtr = std::shared_ptr<const PointCloud2>;
    std_msgs::msg::Header header;
    std::uint32_t height = 0;
    std::uint32_t width = 0;
    std::vector<PointField> fields;
    bool is_bigendian = false;
    std::uint32_t point_step = 0;
    std::uint32_t row_step = 0;
    std::vector<std::uint8_t> data;
    bool is_dense = false;
};
}  // namespace sensor_msgs::msg

#endif
