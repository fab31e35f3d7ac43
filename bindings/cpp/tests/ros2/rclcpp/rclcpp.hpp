#ifndef FARPOINT_TESTS_RCLCPP_HPP
#define FARPOINT_TESTS_RCLCPP_HPP

/// The shape of the part of ROS 2's rclcpp that the example's node uses, for machines without ROS 2. Messages go from
/// a test to the node and back through `topics()`; what is logged is kept.

#include <rcl_interfaces/msg/parameter_descriptor.hpp>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace rclcpp {

struct QoS {
    bool is_reliable = true;
};
struct SensorDataQoS : QoS {
    SensorDataQoS() : QoS{false} {}
};

struct Logger {};
struct Clock {};

/// Lines that nodes logged, each with its level before it.
inline std::vector<std::string>& log() {
    static std::vector<std::string> lines;
    return lines;
}

[[gnu::format(printf, 2, 3)]] inline void add_to_log(const char* level, const char* format, ...) {
    char text[1024];
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    log().push_back(std::string(level) + ": " + text);
}

template <typename Message>
struct Topic {
    std::function<void(std::shared_ptr<const Message>)> callback;
    std::vector<std::unique_ptr<Message>> published;
    bool is_reliable = true;
};

template <typename Message>
std::map<std::string, Topic<Message>>& topics() {
    static std::map<std::string, Topic<Message>> all;
    return all;
}

template <typename Message>
class Publisher {
public:
    using SharedPtr = std::shared_ptr<Publisher>;
    explicit Publisher(std::string topic) : topic_(std::move(topic)) {}
    void publish(std::unique_ptr<Message> message) {
        topics<Message>()[topic_].published.push_back(std::move(message));
    }

private:
    std::string topic_;
};

template <typename Message>
class Subscription {
public:
    using SharedPtr = std::shared_ptr<Subscription>;
};

using ParameterValue = std::variant<bool, std::int64_t, std::string>;

class NodeOptions {
public:
    template <typename T>
    NodeOptions& append_parameter_override(const std::string& name, const T& value) {
        if constexpr (std::is_same_v<T, int>) {
            overrides[name] = std::int64_t{value};
        } else {
            overrides[name] = value;
        }
        return *this;
    }
    std::map<std::string, ParameterValue> overrides;
};

class Node {
public:
    Node(const std::string&, const NodeOptions& options) : overrides_(options.overrides) {}
    virtual ~Node() = default;

    [[nodiscard]] Logger get_logger() const { return {}; }
    [[nodiscard]] std::shared_ptr<Clock> get_clock() { return std::make_shared<Clock>(); }

    template <typename T>
    T declare_parameter(const std::string& name, const T& value, const rcl_interfaces::msg::ParameterDescriptor& about) {
        if (about.description.empty() || !about.read_only) {
            throw std::logic_error("the parameter " + name + " is not described as read at the start");
        }
        const auto found = overrides_.find(name);
        return found == overrides_.end() ? value : std::get<T>(found->second);
    }

    template <typename Message>
    std::shared_ptr<Publisher<Message>> create_publisher(const std::string& topic, const QoS& qos) {
        topics<Message>()[topic] = {nullptr, {}, qos.is_reliable};
        return std::make_shared<Publisher<Message>>(topic);
    }

    template <typename Message, typename Callback>
    std::shared_ptr<Subscription<Message>> create_subscription(const std::string& topic, const QoS& qos,
                                                               Callback&& callback) {
        topics<Message>()[topic] = {std::forward<Callback>(callback), {}, qos.is_reliable};
        return std::make_shared<Subscription<Message>>();
    }

private:
    std::map<std::string, ParameterValue> overrides_;
};

}  // namespace rclcpp

#define RCLCPP_ERROR(logger, ...) (void)(logger), rclcpp::add_to_log("ERROR", __VA_ARGS__)
#define RCLCPP_WARN_THROTTLE(logger, clock, milliseconds, ...) \
    (void)(logger), (void)(clock), (void)(milliseconds), rclcpp::add_to_log("WARN", __VA_ARGS__)

#endif
