#ifndef FARPOINT_HANDLE_HPP
#define FARPOINT_HANDLE_HPP

/// Results of the C interface, owned: what the classes of results are made of.

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

/// A result that is freed with its owner; moves, never copies.
template <typename T, void (*release)(T*)>
using Handle = std::unique_ptr<T, Free<T, release>>;

/// The one of two arrays that is of this scalar type.
///
/// @throws Error if the clouds were of the other one
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
