// How clouds are handed over, and what the compiler refuses.
#include "check.hpp"
#include "clouds.hpp"

#include <farpoint.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <type_traits>
#if __cplusplus >= 202002L
#include <span>
#endif

using farpoint::Points;
using farpoint::sample;

// Temporaries that own their points are refused, views and lvalues are not.
using Vector = std::vector<std::array<float, 3>>;
static_assert(std::is_constructible_v<Points, const Vector&> && std::is_constructible_v<Points, Vector&>);
static_assert(!std::is_constructible_v<Points, Vector> && !std::is_constructible_v<Points, const Vector>);
static_assert(!std::is_constructible_v<Points, std::vector<std::array<int, 3>>&>);
static_assert(!std::is_constructible_v<Points, std::vector<float>&>);
static_assert(!std::is_constructible_v<farpoint::Span<float>, std::vector<float>>);
static_assert(std::is_constructible_v<Points, float (&)[4][3]>);
// Results move, but do not copy.
template <typename T>
constexpr bool moves_only =
    std::is_nothrow_move_constructible_v<T>&& std::is_nothrow_move_assignable_v<T> && !std::is_copy_constructible_v<T>;
static_assert(moves_only<farpoint::SampleResult> && moves_only<farpoint::ApproximateResult> &&
              moves_only<farpoint::CentroidsResult>);
static_assert(moves_only<farpoint::NearestResult> && moves_only<farpoint::ChamferResult> &&
              moves_only<farpoint::GradientsResult> && moves_only<farpoint::Index>);
static_assert(moves_only<farpoint::NeighborsResult> && moves_only<farpoint::WithinResult>);
// A share is not a number of points.
static_assert(std::is_convertible_v<int, farpoint::Amount> && !std::is_convertible_v<double, farpoint::Amount>);
static_assert(!std::is_convertible_v<bool, farpoint::Amount>);

struct Odd {
    char kind;
    double time;
    float z, x, y;
};
static_assert(!std::is_constructible_v<Points, std::vector<Odd>, float Odd::*>);
static_assert(std::is_constructible_v<Points, std::vector<Odd>&, float Odd::*>);

#pragma pack(push, 1)
struct Packed {
    char before[3];
    double x, y, z;
    char after[2];
};
#pragma pack(pop)

template <typename T>
static void every_layout() {
    const auto cloud = clouds::lattice<T>(700, 3);
    const auto expected = clouds::reference(cloud, 300);
    CHECK(clouds::equal(sample(cloud, 300).indices(), expected));

    // A pointer, an array of arrays, one array per axis, columns.
    const T* flat = cloud.front().data();
    CHECK(clouds::equal(sample(Points(flat, cloud.size()), 300).indices(), expected));
    std::vector<T> columns(3 * cloud.size());
    T array[700][3];
    for (std::size_t i = 0; i < cloud.size(); ++i) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            columns[axis * cloud.size() + i] = cloud[i][axis];
            array[i][axis] = cloud[i][axis];
        }
    }
    CHECK(clouds::equal(sample(array, 300).indices(), expected));
    const T* x = columns.data();
    CHECK(clouds::equal(sample(Points::axes(x, x + 700, x + 1400, 700), 300).indices(), expected));
    const auto axis_stride = static_cast<std::ptrdiff_t>(700 * sizeof(T));
    const auto by_column = Points::strided(x, 700, 3, static_cast<std::ptrdiff_t>(sizeof(T)), axis_stride);
    CHECK(clouds::equal(sample(by_column, 300).indices(), expected));

    // From the last point to the first.
    auto backwards = cloud;
    std::reverse(backwards.begin(), backwards.end());
    const auto reversed =
        Points::strided(backwards.back().data(), 700, 3, -static_cast<std::ptrdiff_t>(sizeof(backwards[0])));
    CHECK(clouds::equal(sample(reversed, 300).indices(), expected));

    // Bytes in the other order.
    auto swapped = cloud;
    for (auto& point : swapped) {
        for (T& value : point) {
            std::array<unsigned char, sizeof(T)> bytes{};
            std::memcpy(bytes.data(), &value, sizeof(T));
            std::reverse(bytes.begin(), bytes.end());
            std::memcpy(&value, bytes.data(), sizeof(T));
        }
    }
    CHECK(clouds::equal(sample(Points(swapped).byte_swapped(), 300).indices(), expected));
}

TEST(layouts_of_float) { every_layout<float>(); }
TEST(layouts_of_double) { every_layout<double>(); }

TEST(structs) {
    const auto cloud = clouds::random<float>(500, 5);
    const auto expected = clouds::reference(cloud, 200);
    std::vector<Odd> odd;
    for (const auto& [x, y, z] : cloud) {
        odd.push_back({'a', 1.0, z, x, y});
    }
    CHECK(clouds::equal(sample(Points(odd, &Odd::x, &Odd::y, &Odd::z), 200).indices(), expected));
    const auto turned = sample(Points(odd, &Odd::z), 200);
    CHECK(turned.size() == 200);
    CHECK_THROWS(invalid_argument, "no room", Points(odd, &Odd::y, 3));
    CHECK(Points(odd, &Odd::x, 2).dimensions() == 2);
    CHECK(Points(std::as_const(odd), &Odd::x, 2).size() == 500);
    odd.clear();
    CHECK(sample(Points(odd, &Odd::x, 2), farpoint::ratio(1.0)).size() == 0);
}

TEST(records_without_alignment) {
    const auto cloud = clouds::random<double>(500, 6);
    std::vector<Packed> packed(cloud.size());
    for (std::size_t i = 0; i < cloud.size(); ++i) {
        std::memcpy(reinterpret_cast<char*>(&packed[i]) + 3, cloud[i].data(), 24);
    }
    const char* bytes = reinterpret_cast<const char*>(packed.data());
    const auto view = Points::strided(bytes + 3, FARPOINT_FLOAT64, 500, 3, sizeof(Packed), sizeof(double));
    CHECK(clouds::equal(sample(view, 200).indices(), clouds::reference(cloud, 200)));
    const std::size_t size = sizeof(Packed) * packed.size();
    CHECK(sample(view.inside(bytes, size), 200).size() == 200);
    CHECK_THROWS(invalid_argument, "", sample(view.inside(bytes, size - 3), 200));
}

TEST(dimensions) {
    const auto cloud = clouds::lattice<float>(300, 7);
    std::vector<std::array<float, 2>> flat;
    std::vector<std::array<float, 5>> wide;
    clouds::Cloud<float> plane;
    for (const auto& point : cloud) {
        flat.push_back({point[0], point[1]});
        plane.push_back({point[0], point[1], 0.0F});
        wide.push_back({point[0], point[1], point[2], 0.0F, 0.0F});
    }
    CHECK(clouds::equal(sample(flat, 100).indices(), clouds::reference(plane, 100)));
    CHECK(clouds::equal(sample(wide, 100).indices(), clouds::reference(cloud, 100)));
}

#if __cplusplus >= 202002L
TEST(spans) {
    const auto cloud = clouds::random<float>(300, 8);
    const std::span<const std::array<float, 3>> part(cloud.data(), 100);
    CHECK(sample(part, 10).size() == 10);
    CHECK(sample(std::span(cloud), 10).size() == 10);
    const auto chosen = sample(cloud, 10);
    const std::span<const std::size_t> indices = chosen.indices();
    CHECK(indices.size() == 10);
}
#endif

// A cloud of somebody's own.
namespace theirs {
struct Scan {
    std::unique_ptr<double[]> xy;
    std::size_t count;
};
}  // namespace theirs
template <>
struct farpoint::Layout<theirs::Scan> {
    static Points view(const theirs::Scan& scan) { return Points(scan.xy.get(), scan.count, 2); }
};
static_assert(!std::is_constructible_v<Points, theirs::Scan>);

TEST(a_layout_of_ones_own) {
    theirs::Scan scan{std::make_unique<double[]>(20), 10};
    for (std::size_t i = 0; i < 10; ++i) {
        scan.xy[2 * i] = static_cast<double>(i * i);
    }
    CHECK(clouds::equal(sample(scan, 3).indices(), {0, 9, 6}));
}

int main() { return check::run_all(); }
