#ifndef FARPOINT_HANDLE_HPP
#define FARPOINT_HANDLE_HPP

/// Owning handles of results of the C interface, used by the result classes.

#include <farpoint/error.hpp>
#include <farpoint/span.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace farpoint {
namespace detail {

template <typename T, void (*release)(T*)>
struct Free {
    void operator()(T* result) const noexcept { release(result); }
};

/// Move-only owner of a result.
template <typename T, void (*release)(T*)>
using Handle = std::unique_ptr<T, Free<T, release>>;

/// Returns the one of two arrays with this scalar type.
///
/// @throws Error if the clouds had the other type
template <typename T>
Span<T> of_scalar(const float* single, const double* twice, std::size_t size) {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "float or double, as the clouds were");
    const T* data = nullptr;
    if constexpr (std::is_same_v<T, float>) {
        data = single;
    } else {
        data = twice;
    }
    if (data == nullptr && size != 0) {
        invalid(std::is_same_v<T, float> ? "the points were double: ask for <double>"
                                         : "the points were float: ask for <float>");
    }
    return {data, size};
}

}  // namespace detail
}  // namespace farpoint

#endif
