// ROS 2 component that thins the messages of `points` to a fixed number of points and publishes them on `thinned`.
#include <farpoint/pointcloud2.hpp>
#include <rcl_interfaces/msg/parameter_descriptor.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <sensor_msgs/msg/point_cloud2.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace farpoint_ros {

using sensor_msgs::msg::PointCloud2;

class Thin : public rclcpp::Node {
public:
    /// @throws std::invalid_argument, farpoint::Error  a parameter that is out of range; nothing is subscribed then
    explicit Thin(const rclcpp::NodeOptions& options) : rclcpp::Node("thin", options) {
        const auto count = parameter<std::int64_t>("count", 4096, "Number of points of a published message");
        const auto threads = parameter<std::int64_t>("threads", 1, "1: the thread of the executor; 0: all cores");
        if (count < 1 || threads < 0) {
            throw std::invalid_argument("count is " + std::to_string(count) + " and threads is " +
                                        std::to_string(threads) + "; set at least 1 and 0");
        }
        count_ = static_cast<std::size_t>(count);
        options_.threads = static_cast<std::size_t>(threads);
        options_.algorithm = parameter<std::string>("algorithm", "auto", "Exact algorithm; all give the same points");
        zeros_ = parameter("drop_zeros", true, "Skip points at (0, 0, 0), which many drivers send for missing returns")
                     ? farpoint::Zeros::drop
                     : farpoint::Zeros::keep;
        skip_short_ = parameter("skip_short", false, "Publish no message with fewer usable points than count");
        check_options();
        publisher_ = create_publisher<PointCloud2>("thinned", rclcpp::SensorDataQoS());
        subscription_ = create_subscription<PointCloud2>(
            "points", rclcpp::SensorDataQoS(), [this](PointCloud2::ConstSharedPtr message) { receive(*message); });
    }

private:
    /// Declares a parameter that is set at the start only.
    template <typename T>
    T parameter(const std::string& name, const T& value, const std::string& description) {
        rcl_interfaces::msg::ParameterDescriptor descriptor;
        descriptor.description = description;
        descriptor.read_only = true;
        return declare_parameter<T>(name, value, descriptor);
    }

    /// Samples one point, so that an unknown algorithm is reported at the start and not with every message.
    void check_options() const {
        const std::array<std::array<float, 3>, 1> point{};
        farpoint::SampleOptions options;
        options.threads = options_.threads;
        options.algorithm = options_.algorithm;
        farpoint::sample(point, 1, options);
    }

    void receive(const PointCloud2& message) {
        auto thinned = std::make_unique<PointCloud2>();
        farpoint::MessageReport report;
        try {
            report = farpoint::sample_message(message, count_, *thinned, options_, zeros_);
        } catch (const farpoint::Error& error) {
            RCLCPP_ERROR(get_logger(), "message left out: %s", error.what());
            return;
        }
        if (report.chosen < count_) {
            RCLCPP_WARN_THROTTLE(get_logger(), *get_clock(), 5000,
                                 "%zu of %zu points are usable (not finite: %zu, at the origin: %zu), count is %zu%s",
                                 report.chosen, report.points, report.dropped, report.zeros, count_,
                                 skip_short_ ? "; message left out" : "");
            if (skip_short_) {
                return;
            }
        }
        publisher_->publish(std::move(thinned));
    }

    std::size_t count_ = 0;
    farpoint::MessageOptions options_;
    farpoint::Zeros zeros_ = farpoint::Zeros::drop;
    bool skip_short_ = false;
    rclcpp::Publisher<PointCloud2>::SharedPtr publisher_;
    rclcpp::Subscription<PointCloud2>::SharedPtr subscription_;
};

}  // namespace farpoint_ros

RCLCPP_COMPONENTS_REGISTER_NODE(farpoint_ros::Thin)
