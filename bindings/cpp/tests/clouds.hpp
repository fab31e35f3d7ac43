#ifndef FARPOINT_TESTS_CLOUDS_HPP
#define FARPOINT_TESTS_CLOUDS_HPP

/// Clouds for the tests, and the obvious loop that says what is right.

#include <farpoint/span.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace clouds {

template <typename T>
using Cloud = std::vector<std::array<T, 3>>;

template <typename T>
Cloud<T> random(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    Cloud<T> cloud(count);
    for (auto& point : cloud) {
        for (T& value : point) {
            value = static_cast<T>(generator() % 1000003) / static_cast<T>(1000003);
        }
    }
    return cloud;
}

/// Whole numbers from 0 to 4: ties and duplicates.
template <typename T>
Cloud<T> lattice(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    Cloud<T> cloud(count);
    for (auto& point : cloud) {
        for (T& value : point) {
            value = static_cast<T>(generator() % 5);
        }
    }
    return cloud;
}

/// Farthest point sampling of the listed rows as its rule reads: squares in the cloud's precision, each operation
/// rounded on its own; ties to the row listed first.
template <typename T>
std::vector<std::size_t> reference(const Cloud<T>& cloud, const std::vector<std::size_t>& rows, std::size_t count,
                                   std::size_t start) {
    std::vector<T> distances(rows.size(), std::numeric_limits<T>::infinity());
    std::vector<bool> chosen(rows.size(), false);
    std::vector<std::size_t> sample;
    std::size_t next = start;
    while (sample.size() < count) {
        chosen[next] = true;
        sample.push_back(rows[next]);
        const auto& from = cloud[rows[next]];
        std::size_t farthest = rows.size();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto& point = cloud[rows[i]];
            const volatile T dx = point[0] - from[0];
            const volatile T dy = point[1] - from[1];
            const volatile T dz = point[2] - from[2];
            const volatile T xx = dx * dx;
            const volatile T yy = dy * dy;
            const volatile T zz = dz * dz;
            const volatile T xy = xx + yy;
            const T square = xy + zz;
            distances[i] = square < distances[i] ? square : distances[i];
            if (!chosen[i] && (farthest == rows.size() || distances[i] > distances[farthest])) {
                farthest = i;
            }
        }
        next = farthest;
    }
    return sample;
}

inline std::vector<std::size_t> all_rows(std::size_t count) {
    std::vector<std::size_t> rows(count);
    for (std::size_t i = 0; i < count; ++i) {
        rows[i] = i;
    }
    return rows;
}

template <typename T>
std::vector<std::size_t> reference(const Cloud<T>& cloud, std::size_t count, std::size_t start = 0) {
    return reference(cloud, all_rows(cloud.size()), count, start);
}

template <typename Row>
bool equal(farpoint::Span<Row> found, const std::vector<Row>& expected) {
    return found.to_vector() == expected;
}

}  // namespace clouds

#endif
