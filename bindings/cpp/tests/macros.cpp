// Every header after macros that X11 and windows.h define; the headers of others come first, as users include them.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
#if __cplusplus >= 202002L
#include <ranges>
#endif
#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#endif
#if __has_include(<pcl/point_cloud.h>)
#include <boost/mpl/size.hpp>
#include <pcl/common/centroid.h>
#include <pcl/exceptions.h>
#include <pcl/filters/filter.h>
#include <pcl/filters/filter_indices.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>
#endif

// X11/X.h and X11/Xlib.h
#define None 0L
#define Success 0
#define Status int
#define Bool int
#define True 1
#define False 0
#define Always 2
#define Never 0
#define Above 0
#define Below 1
#define Complex 0
#define Unsorted 0
#define Nonlinear 3
#define CurrentTime 0L
// windef.h, wingdi.h, winbase.h
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#define hyper long
#define interface struct
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define TRUE 1
#define FALSE 0
#define ERROR 0
#define NO_ERROR 0
#define DELETE 0x00010000L
#define IGNORE 0
#define OVERFLOW 3
#define DOMAIN 1
#define ABSOLUTE 1
#define RELATIVE 2
#define OPAQUE 2
#define TRANSPARENT 1

#include <farpoint.hpp>
#include <farpoint/pointcloud2.hpp>
#if __has_include(<Eigen/Core>)
#include <farpoint/eigen.hpp>
#endif
#if __has_include(<pcl/point_cloud.h>)
#include <farpoint/pcl.hpp>
#endif
#include <sensor_msgs/msg/point_cloud2.hpp>

int main() {
    const std::vector<std::array<float, 3>> cloud(5);
    sensor_msgs::msg::PointCloud2 message;
    try {
        farpoint::sample_message(message, 1, message);
    } catch (const farpoint::Error& error) {
        return error.code() == farpoint::ErrorCode::invalid_argument && farpoint::knn(cloud, cloud, 2).k() == 2 ? 0 : 1;
    }
    return 1;
}
