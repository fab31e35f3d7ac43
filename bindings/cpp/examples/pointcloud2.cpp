// A callback that thins PointCloud2 messages, as a ROS node has it. Here main() plays the sensor.
//
// In a ROS 2 node, include <sensor_msgs/msg/point_cloud2.hpp>; in a ROS 1 node <sensor_msgs/PointCloud2.h>. A whole ROS 2
// node: ros2/src/thin.cpp.
#if defined(FARPOINT_ROS1)
#include <sensor_msgs/PointCloud2.h>
using PointCloud2 = sensor_msgs::PointCloud2;
using PointField = sensor_msgs::PointField;
#else
#include <sensor_msgs/msg/point_cloud2.hpp>
using PointCloud2 = sensor_msgs::msg::PointCloud2;
using PointField = sensor_msgs::msg::PointField;
#endif

#include <farpoint/pointcloud2.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

// Every record that is kept is kept whole: intensity, ring, time, padding.
static PointCloud2 callback(const PointCloud2& scan) {
    PointCloud2 thin;
    try {
        farpoint::MessageOptions options;
        options.threads = 1;
        const farpoint::MessageReport report =
            farpoint::sample_message(scan, 4096, thin, options, farpoint::Zeros::drop);
        std::printf("%zu of %zu points, within %.3f m; without a return: %zu\n", report.chosen, report.points,
                    report.covering_radius, report.dropped + report.zeros);
    } catch (const farpoint::Error& error) {
        std::fprintf(stderr, "message left out: %s\n", error.what());
    }
    return thin;
}

// 64 rows of 1,024 points with x, y, z and intensity, as a spinning LiDAR sends them: every seventh pulse is lost.
static PointCloud2 turn() {
    PointCloud2 message;
    message.header.frame_id = "lidar";
    message.height = 64;
    message.width = 1024;
    message.point_step = 16;
    message.row_step = message.width * message.point_step;
    for (const char* name : {"x", "y", "z", "intensity"}) {
        PointField field;
        field.name = name;
        field.offset = static_cast<std::uint32_t>(4 * message.fields.size());
        field.datatype = PointField::FLOAT32;
        field.count = 1;
        message.fields.push_back(field);
    }
    message.data.resize(static_cast<std::size_t>(message.row_step) * message.height);
    for (std::size_t i = 0; i < static_cast<std::size_t>(message.width) * message.height; ++i) {
        const float angle = static_cast<float>(i % 1024) * 6.2831853F / 1024.0F;
        const float range = i % 7 == 0 ? 0.0F : 10.0F + 5.0F * std::sin(3.0F * angle);
        const float values[4] = {range * std::cos(angle), range * std::sin(angle),
                                 range * 0.02F * static_cast<float>(i / 1024), static_cast<float>(i)};
        std::memcpy(message.data.data() + 16 * i, values, 16);
    }
    return message;
}

int main() {
    const PointCloud2 thin = callback(turn());
    return thin.width == 4096 && thin.height == 1 && thin.data.size() == 4096 * 16 && thin.fields.size() == 4 ? 0 : 1;
}
