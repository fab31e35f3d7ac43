#ifndef FARPOINT_ERROR_HPP
#define FARPOINT_ERROR_HPP

/// Errors of the library as exceptions.

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "farpoint needs C++17: set CMAKE_CXX_STANDARD to 17 or 20, or compile with -std=c++17"
#endif

#include <farpoint/farpoint.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace farpoint {

/// Error codes; the values are those of the C interface.
enum class ErrorCode : std::int32_t {
    ok = FARPOINT_OK,
    /// Invalid argument, option, or size of a cloud; nothing was done.
    invalid_argument = FARPOINT_INVALID_ARGUMENT,
    /// Non-finite rows: remove them, or set `non_finite` to `NonFinite::skip`.
    non_finite = FARPOINT_NON_FINITE,
    /// `progress` returned false.
    canceled = FARPOINT_CANCELED,
    out_of_memory = FARPOINT_OUT_OF_MEMORY,
    /// GPU, driver or instruction set not available, or a library built without CUDA.
    unavailable = FARPOINT_UNAVAILABLE,
    /// A GPU failed during the call.
    device_failed = FARPOINT_DEVICE_FAILED,
    /// Internal error of farpoint; please report the message.
    internal = FARPOINT_INTERNAL,
};

/// Exception thrown by every function on failure. `what()` names the invalid values.
class Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}

    [[nodiscard]] ErrorCode code() const noexcept { return code_; }

private:
    ErrorCode code_;
};

namespace detail {

/// Throws the error of the call on this thread that returned `status`.
inline void check(farpoint_status status) {
    if (status != FARPOINT_OK) {
        throw Error(static_cast<ErrorCode>(status), farpoint_last_error());
    }
}

[[noreturn]] inline void invalid(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

}  // namespace detail
}  // namespace farpoint

#endif
