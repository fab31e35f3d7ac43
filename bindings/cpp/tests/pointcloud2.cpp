// PointCloud2 messages: every layout, in the class of ROS 1 (with FARPOINT_ROS1) or one of ROS 2's shape.
#if defined(FARPOINT_ROS1)
#include <sensor_msgs/PointCloud2.h>
using Message = sensor_msgs::PointCloud2;
#else
#include <sensor_msgs/msg/point_cloud2.hpp>
using Message = sensor_msgs::msg::PointCloud2;
#endif
#include "check.hpp"
#include "clouds.hpp"
#include "messages.hpp"

#include <farpoint.hpp>
#include <farpoint/pointcloud2.hpp>

#include <cmath>
#include <limits>

using farpoint::sample_message;
using farpoint::Zeros;
using messages::Driver;

// As the sensors of the field send them: Velodyne, Ouster (records larger than their last field), Livox (float64 at
// 18 of 26 bytes), big endian, organized, organized with padding of rows.
static const std::vector<Driver>& drivers() {
    static const std::vector<Driver> all = {
        {},
        {22, {0, 4, 8}, false, false, 1, 0},
        {48, {0, 4, 8}, false, false, 20, 0},
        {26, {2, 10, 18}, true, false, 1, 0},
        {33, {9, 1, 17}, true, true, 20, 0},
        {16, {8, 0, 4}, false, true, 20, 0},
        {16, {0, 4, 8}, false, false, 20, 48},
        {26, {2, 10, 18}, true, false, 20, 7},
    };
    return all;
}

/// The record of point `i`.
static std::string record_of(const Message& message, std::size_t i, std::size_t row_step) {
    const std::size_t at = i / message.width * row_step + i % message.width * message.point_step;
    return std::string(reinterpret_cast<const char*>(message.data.data()) + at, message.point_step);
}

/// The points as the driver's precision holds them.
static clouds::Cloud<double> stored(clouds::Cloud<double> cloud, const Driver& driver) {
    for (auto& point : cloud) {
        for (double& value : point) {
            value = driver.is_double ? value : static_cast<double>(static_cast<float>(value));
        }
    }
    return cloud;
}

static std::vector<std::size_t> expected(const clouds::Cloud<double>& cloud, const std::vector<std::size_t>& rows,
                                         std::size_t count, const Driver& driver) {
    if (driver.is_double) {
        return clouds::reference(cloud, rows, count, 0);
    }
    clouds::Cloud<float> single;
    for (const auto& [x, y, z] : cloud) {
        single.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)});
    }
    return clouds::reference(single, rows, count, 0);
}

TEST(every_layout) {
    for (const Driver& driver : drivers()) {
        auto cloud = stored(clouds::lattice<double>(600, 1), driver);
        cloud[0] = {std::numeric_limits<double>::quiet_NaN(), 0.0, 1.0};
        cloud[78][2] = -std::numeric_limits<double>::infinity();
        for (std::size_t i = 5; i < 600; i += 9) {
            cloud[i] = {0.0, -0.0, 0.0};
        }
        for (const Zeros zeros : {Zeros::keep, Zeros::drop}) {
            std::vector<std::size_t> rows;
            for (std::size_t i = 0; i < 600; ++i) {
                const auto& [x, y, z] = cloud[i];
                const bool zero = x == 0.0 && y == 0.0 && z == 0.0;
                if (std::isfinite(x) && std::isfinite(z) && (zeros == Zeros::keep || !zero)) {
                    rows.push_back(i);
                }
            }
            const auto in = messages::make<Message>(cloud, driver);
            Message out;
            const auto report = sample_message(in, 120, out, {}, zeros);
            CHECK(report.points == 600 && report.bad == 2 && report.chosen == 120);
            CHECK(report.zeros == 598 - rows.size());
            CHECK(out.height == 1 && out.width == 120 && out.row_step == 120 * driver.point_step && out.is_dense);
            CHECK(out.header.frame_id == "lidar" && out.fields.size() == 3 && out.point_step == in.point_step);
            CHECK(static_cast<bool>(out.is_bigendian) == driver.is_bigendian);
            const auto chosen = expected(cloud, rows, 120, driver);
            for (std::size_t k = 0; k < 120; ++k) {
                CHECK(record_of(out, k, 0) == record_of(in, chosen[k], in.row_step));
            }
        }
    }
}

TEST(a_wrong_row_step) {
    for (const std::uint32_t height : {1U, 20U}) {
        const Driver driver = {16, {0, 4, 8}, false, false, height, 0};
        const auto cloud = stored(clouds::random<double>(600, 2), driver);
        const auto right = messages::make<Message>(cloud, driver);
        Message expected_out;
        sample_message(right, 50, expected_out);
        for (const std::uint32_t row_step : {0U, 7U, 100000U, 4294967295U}) {
            Message wrong = right;
            wrong.row_step = row_step;
            Message out;
            sample_message(wrong, 50, out);
            CHECK(out.data == expected_out.data);
        }
    }
}

TEST(fewer_points_than_wanted) {
    const auto in = messages::make<Message>(clouds::random<double>(30, 3), {});
    Message out;
    CHECK(sample_message(in, 31, out).chosen == 30 && out.width == 30);
    CHECK(sample_message(in, farpoint::ratio(0.5), out).chosen == 15);
    auto none = messages::make<Message>(clouds::Cloud<double>(30), {});
    const auto report = sample_message(none, 10, out, {}, Zeros::drop);
    CHECK(report.zeros == 30 && report.chosen == 0 && out.width == 0 && out.data.empty() && out.fields.size() == 3);
    none.width = 0;
    none.data.clear();
    CHECK(sample_message(none, 10, out).points == 0);
}

TEST(in_place) {
    auto message = messages::make<Message>(clouds::random<double>(100, 4), {});
    Message out;
    sample_message(message, 10, out);
    sample_message(message, 10, message);
    CHECK(message.data == out.data && message.width == 10 && message.fields.size() == 3);
}

TEST(starts) {
    for (const std::uint32_t padding : {0U, 48U}) {
        const auto in =
            messages::make<Message>(clouds::random<double>(600, 5), {16, {0, 4, 8}, false, false, 20, padding});
        farpoint::MessageOptions options;
        options.starts = {599, 31};
        Message out;
        sample_message(in, 10, out, options);
        CHECK(record_of(out, 0, 0) == record_of(in, 599, in.row_step) &&
              record_of(out, 1, 0) == record_of(in, 31, in.row_step));
        options.starts = {600};
        CHECK_THROWS(invalid_argument, "600", sample_message(in, 10, out, options));
        static_assert(!std::is_convertible_v<farpoint::SampleOptions, farpoint::MessageOptions>, "no rows, no mask");
    }
}

TEST(as_a_cloud) {
    const auto cloud = stored(clouds::random<double>(300, 6), {});
    const auto message = messages::make<Message>(cloud, {});
    CHECK(clouds::equal(farpoint::sample(message, 100).indices(), expected(cloud, clouds::all_rows(300), 100, {})));
    CHECK(farpoint::chamfer(message, message).sum() == 0.0);
    const auto padded = messages::make<Message>(cloud, {16, {0, 4, 8}, false, false, 20, 8});
    CHECK_THROWS(invalid_argument, "padded", farpoint::sample(padded, 10));
}

TEST(messages_that_are_wrong) {
    const auto good = messages::make<Message>(clouds::random<double>(100, 7), {});
    const auto refused = [&](const char* part, void (*change)(Message&)) {
        Message wrong = good;
        change(wrong);
        Message out;
        out.width = 77;
        CHECK_THROWS(invalid_argument, part, sample_message(wrong, 10, out));
        CHECK(out.width == 77);
    };
    refused("'y' of the message is missing", [](Message& m) { m.fields[1].name = "intensity"; });
    refused("'x'", [](Message& m) { m.fields.clear(); });
    refused("'z'", [](Message& m) { m.fields[2].datatype = 2; });
    refused("'z'", [](Message& m) { m.fields[2].count = 3; });
    refused("not all float32", [](Message& m) { m.fields[0].offset = 8, m.fields[0].datatype = 8; });
    refused("beyond", [](Message& m) { m.fields[2].offset = 13; });
    refused("beyond", [](Message& m) { m.fields[2].offset = 4294967295U; });
    refused("beyond", [](Message& m) { m.point_step = 0; });
    refused("1599", [](Message& m) { m.data.pop_back(); });
    refused("holds", [](Message& m) { m.width = 4294967295U, m.height = 4294967295U; });
    refused("holds 0", [](Message& m) { m.data.clear(); });
}

int main() { return check::run_all(); }
