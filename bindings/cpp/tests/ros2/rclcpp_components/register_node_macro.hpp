#ifndef FARPOINT_TESTS_REGISTER_NODE_MACRO_HPP
#define FARPOINT_TESTS_REGISTER_NODE_MACRO_HPP

#include <rclcpp/rclcpp.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace rclcpp_components {
using Factory = std::function<std::shared_ptr<rclcpp::Node>(const rclcpp::NodeOptions&)>;

/// Components by the names of their classes, as a container finds them in libraries.
inline std::map<std::string, Factory>& components() {
    static std::map<std::string, Factory> all;
    return all;
}

template <typename Component>
bool add(const char* name) {
    return components()
        .emplace(name, [](const rclcpp::NodeOptions& options) { return std::make_shared<Component>(options); })
        .second;
}
}  // namespace rclcpp_components

#define RCLCPP_COMPONENTS_REGISTER_NODE(component) \
    static const bool component_is_listed = rclcpp_components::add<component>(#component);

#endif
