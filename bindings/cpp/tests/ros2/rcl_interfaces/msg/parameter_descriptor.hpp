#ifndef FARPOINT_TESTS_PARAMETER_DESCRIPTOR_HPP
#define FARPOINT_TESTS_PARAMETER_DESCRIPTOR_HPP

#include <string>

namespace rcl_interfaces::msg {
/// The members of ROS 2's class that the node sets.
struct ParameterDescriptor {
    std::string description;
    bool read_only = false;
};
}  // namespace rcl_interfaces::msg

#endif
