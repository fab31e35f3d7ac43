#ifndef FARPOINT_SPAN_HPP
#define FARPOINT_SPAN_HPP

/// A view of numbers that belong to somebody else: what `std::span<const T>` is in C++20.

#include <cstddef>
#include <vector>

namespace farpoint {

/// `size()` values of type `T`, read-only. Does not own them: valid as long as their owner.
/// In C++20 it converts to `std::span<const T>`.
template <typename T>
class Span {
public:
    using value_type = T;
    using const_iterator = const T*;

    constexpr Span() noexcept = default;
    constexpr Span(const T* data, std::size_t size) noexcept : data_(data), size_(size) {}
    /// The elements of a vector, which must outlive the view.
    template <typename Allocator>
    Span(const std::vector<T, Allocator>& values) noexcept : Span(values.data(), values.size()) {}
    template <typename Allocator>
    Span(const std::vector<T, Allocator>&&) = delete;

    [[nodiscard]] constexpr const T* data() const noexcept { return data_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr const T* begin() const noexcept { return data_; }
    [[nodiscard]] constexpr const T* end() const noexcept { return data_ + size_; }
    /// Element `index`, which must be below `size()`.
    constexpr const T& operator[](std::size_t index) const noexcept { return data_[index]; }
    /// The first `count` elements, which must not be more than `size()`.
    [[nodiscard]] constexpr Span first(std::size_t count) const noexcept { return {data_, count}; }
    /// A copy.
    [[nodiscard]] std::vector<T> to_vector() const { return std::vector<T>(begin(), end()); }

private:
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace farpoint

#endif
