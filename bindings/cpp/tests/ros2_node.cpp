// The node of examples/ros2, compiled against the shapes in ros2/ and loaded as a component container does.
#include "check.hpp"
#include "clouds.hpp"
#include "messages.hpp"

#include <farpoint/pointcloud2.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <sensor_msgs/msg/point_cloud2.hpp>

#include <limits>
#include <stdexcept>

using Message = sensor_msgs::msg::PointCloud2;
using rclcpp::NodeOptions;

static std::shared_ptr<rclcpp::Node> start(const NodeOptions& options) {
    rclcpp::log().clear();
    return rclcpp_components::components().at("farpoint_ros::Thin")(options);
}

/// Sends a message to the node, and returns what it published since it started.
static const std::vector<std::unique_ptr<Message>>& through(const Message& message) {
    rclcpp::topics<Message>().at("points").callback(std::make_shared<const Message>(message));
    return rclcpp::topics<Message>().at("thinned").published;
}

/// A turn with points that are not finite, and with some at the origin.
static Message turn() {
    auto cloud = clouds::random<double>(600, 1);
    cloud[3][1] = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < 600; i += 5) {
        cloud[i] = {0.0, 0.0, 0.0};
    }
    return messages::make<Message>(cloud, {22, {0, 4, 8}, false, false, 20, 0});
}

TEST(publishes_samples) {
    const Message message = turn();
    for (const bool drop : {true, false}) {
        Message expected;
        farpoint::sample_message(message, 64, expected, {}, drop ? farpoint::Zeros::drop : farpoint::Zeros::keep);
        for (const char* algorithm : {"auto", "peak", "tree"}) {
            for (const int threads : {0, 1, 2}) {
                NodeOptions options;
                options.append_parameter_override("count", 64).append_parameter_override("threads", threads);
                options.append_parameter_override("algorithm", std::string(algorithm));
                const auto node = start(options.append_parameter_override("drop_zeros", drop));
                through(message);
                const auto& published = through(message);
                CHECK(published.size() == 2 && published[0]->data == expected.data);
                CHECK(published[1]->data == expected.data && published[1]->header.frame_id == "lidar");
                CHECK(published[1]->width == 64 && published[1]->fields.size() == 3);
                CHECK(rclcpp::log().empty());
            }
        }
    }
}

TEST(defaults) {
    const auto node = start({});
    const auto& published = through(messages::make<Message>(clouds::random<double>(5000, 2), {}));
    CHECK(published.size() == 1 && published[0]->width == 4096);
    CHECK(!rclcpp::topics<Message>().at("points").is_reliable && !rclcpp::topics<Message>().at("thinned").is_reliable);
}

TEST(short_messages) {
    for (const bool skip : {false, true}) {
        NodeOptions options;
        const auto node = start(options.append_parameter_override("skip_short", skip));
        CHECK(through(turn()).size() == (skip ? 0 : 1));
        const std::string expected = "WARN: 479 of 600 points are usable (not finite: 1, at the origin: 120), count is 4096";
        CHECK(rclcpp::log().size() == 1 && rclcpp::log()[0] == expected + (skip ? "; message left out" : ""));
    }
}

TEST(messages_that_are_wrong) {
    const auto node = start({});
    Message wrong = turn();
    wrong.fields[0].name = "range";
    CHECK(through(wrong).empty());
    CHECK(rclcpp::log().size() == 1 && rclcpp::log()[0].find("ERROR: message left out: the field 'x'") == 0);
    CHECK(through(turn()).size() == 1);
}

TEST(parameters_that_are_wrong) {
    NodeOptions unknown;
    unknown.append_parameter_override("algorithm", std::string("fast"));
    CHECK_THROWS(invalid_argument, "unknown algorithm 'fast'", start(unknown));
    for (const char* name : {"count", "threads"}) {
        NodeOptions negative;
        negative.append_parameter_override(name, -1);
        std::string text;
        try {
            start(negative);
        } catch (const std::invalid_argument& error) {
            text = error.what();
        }
        CHECK(text.find(std::string(name) + " is -1") != std::string::npos);
    }
}

int main() { return check::run_all(); }
