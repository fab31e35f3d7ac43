#ifndef FARPOINT_SPAN_HPP
#define FARPOINT_SPAN_HPP

/// Non-owning view of contiguous numbers, like `std::span<const T>` in C++20.

#include <cstddef>
#include <vector>

namespace farpoint {

/// Read-only view of `size()` values of type `T`, valid for the lifetime of their owner.
/// In C++20 it converts to `std::span<const T>`.
template <typename T>
class Span {
public:
    using value_type = T;
    using const_iterator = const T*;

    constexpr Span() noexcept = default;
    constexpr Span(const T* data, std::size_t size) noexcept : data_(data), size_(size) {}
    /// Views the elements of a vector, which must outlive the view.
    template <typename Allocator>
    Span(const std::vector<T, Allocator>& values) noexcept : Span(values.data(), values.size()) {}
    template <typename Allocator>
    Span(const std::vector<T, Allocator>&&) = delete;

    [[nodiscard]] constexpr const T* data() const noexcept { return data_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr const T* begin() const noexcept { return data_; }
    [[nodiscard]] constexpr const T* end() const noexcept { return data_ + size_; }
    /// Returns element `index`, which must be below `size()`.
    constexpr const T& operator[](std::size_t index) const noexcept { return data_[index]; }
    /// Returns the first `count` elements, at most `size()`.
    [[nodiscard]] constexpr Span first(std::size_t count) const noexcept { return {data_, count}; }
    /// Returns a copy.
    [[nodiscard]] std::vector<T> to_vector() const { return std::vector<T>(begin(), end()); }

private:
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace farpoint

#endif
