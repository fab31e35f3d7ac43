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

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

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
            CHECK(report.points == 600 && report.dropped == 2 && report.chosen == 120);
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
        for (const std::uint32_t row_step : {0U, 7U, 479U, 481U, 100000U, 4294967295U}) {
            Message wrong = right;
            wrong.row_step = row_step;
            Message out;
            if (height == 1 || row_step == 0) {
                sample_message(wrong, 50, out);
                CHECK(out.data == expected_out.data);
            } else {
                CHECK_THROWS(invalid_argument, "row_step of " + std::to_string(row_step) + " bytes, holds 9600 bytes",
                             sample_message(wrong, 50, out));
            }
        }
    }
}

// A message in time is the beginning of the complete one.
TEST(a_deadline) {
    const Driver driver = {16, {0, 4, 8}, false, false, 1, 0};
    const auto message = messages::make<Message>(stored(clouds::random<double>(30000, 4), driver), driver);
    Message complete;
    CHECK(sample_message(message, 20000, complete).complete);
    farpoint::MessageOptions options;
    options.deadline = std::chrono::microseconds(100);
    Message out;
    const auto report = sample_message(message, 20000, out, options);
    CHECK(!report.complete && report.chosen >= 1 && report.chosen < 20000 && out.width == report.chosen);
    CHECK(report.covering_radius > 0.0 && out.data.size() == 16 * report.chosen);
    CHECK(std::equal(out.data.begin(), out.data.end(), complete.data.begin()));
}

// 20 rows of 30 points of 16 bytes, with 48 bytes between the rows: the data ends with the last point.
TEST(the_last_row_without_its_padding) {
    const Driver driver = {16, {0, 4, 8}, false, false, 20, 48};
    const auto cloud = stored(clouds::random<double>(600, 8), driver);
    auto message = messages::make<Message>(cloud, driver);
    Message expected_out;
    sample_message(message, 400, expected_out);
    message.data.resize(message.data.size() - 48);
    Message out;
    CHECK(sample_message(message, 400, out).chosen == 400 && out.data == expected_out.data);
    message.data.pop_back();
    CHECK_THROWS(invalid_argument, "20 x 30 points of 16 bytes, with a row_step of 528 bytes, holds 10511 bytes",
                 sample_message(message, 400, out));
    CHECK(out.data == expected_out.data);
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
        CHECK_THROWS(invalid_argument, "start index 600 is outside the cloud of 600 points",
                     sample_message(in, 10, out, options));
        options.starts = {599, 599};
        CHECK_THROWS(invalid_argument, "start index 599 is given twice", sample_message(in, 10, out, options));
        auto holed = in;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        std::memcpy(holed.data.data() + 19 * in.row_step + 29 * 16, &nan, 4);
        options.starts = {599};
        CHECK_THROWS(invalid_argument, "start index 599 is not one of", sample_message(holed, 10, out, options));
        static_assert(!std::is_convertible_v<farpoint::SampleOptions, farpoint::MessageOptions>, "no rows, no mask");
        static_assert(!std::is_base_of_v<farpoint::NonFiniteOptions, farpoint::MessageOptions>, "always dropped");
        static_assert(!std::is_base_of_v<farpoint::NonFiniteOptions, farpoint::MessageVoxelOptions>);
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

/// Adds fields to a driver's records of at least 40 bytes, each with a value of its own kind, from byte 12 on.
static Message with_fields(const clouds::Cloud<double>& cloud, bool is_bigendian, std::uint32_t padding) {
    auto message = messages::make<Message>(cloud, {48, {0, 4, 8}, false, is_bigendian, 20, padding});
    const auto add = [&](const char* name, std::uint32_t offset, std::uint8_t type, std::uint32_t count) {
        auto field = message.fields[0];
        field.name = name, field.offset = offset, field.datatype = type, field.count = count;
        message.fields.push_back(field);
    };
    add("intensity", 12, 7, 0);
    add("rgb", 16, 7, 1);
    add("t", 20, 6, 1);
    add("pair", 25, 3, 2);
    add("range", 30, 8, 1);
    add("level", 38, 1, 1);
    for (std::size_t i = 0; i < cloud.size(); ++i) {
        std::uint8_t* record = message.data.data() + i / message.width * message.row_step + i % message.width * 48;
        messages::store(record + 12, static_cast<double>(i) / 3.0, {48, {}, false, is_bigendian, 20, 0});
        messages::store(record + 30, static_cast<double>(i) / 7.0, {48, {}, true, is_bigendian, 20, 0});
    }
    return message;
}

static std::uint64_t whole(const std::uint8_t* at, std::size_t size, bool is_bigendian) {
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < size; ++k) {
        value = value * 256 + at[is_bigendian ? k : size - 1 - k];
    }
    return value;
}

static double single(const std::uint8_t* at, bool is_bigendian) {
    const auto bits = static_cast<std::uint32_t>(whole(at, 4, is_bigendian));
    float value = 0;
    std::memcpy(&value, &bits, 4);
    return static_cast<double>(value);
}

static double twice(const std::uint8_t* at, bool is_bigendian) {
    const std::uint64_t bits = whole(at, 8, is_bigendian);
    double value = 0;
    std::memcpy(&value, &bits, 8);
    return value;
}

// Half to even by its definition, of a sum of whole numbers.
static std::int64_t rounded_mean(std::int64_t sum, std::int64_t count) {
    std::int64_t below = sum / count - (sum % count < 0 ? 1 : 0);
    const std::int64_t twice_rest = 2 * (sum - below * count);
    return below + (twice_rest > count || (twice_rest == count && below % 2 != 0) ? 1 : 0);
}

TEST(voxels_of_a_message) {
    for (const bool big : {false, true}) {
        for (const std::uint32_t padding : {0U, 29U}) {
            auto cloud = stored(clouds::lattice<double>(600, 9), {});
            cloud[3] = {0.0, 0.0, 0.0};
            cloud[4][1] = std::numeric_limits<double>::quiet_NaN();
            const auto in = with_fields(cloud, big, padding);
            // Voxels of 2 x 2 x 1 points, in the order of their first records.
            std::vector<std::vector<std::size_t>> voxels;
            std::vector<std::array<int, 3>> cells;
            for (std::size_t i = 0; i < 600; ++i) {
                if (i == 3 || i == 4 || (cloud[i] == std::array<double, 3>{})) {
                    continue;
                }
                const std::array<int, 3> cell = {static_cast<int>(cloud[i][0]) / 2, static_cast<int>(cloud[i][1]) / 2,
                                                 static_cast<int>(cloud[i][2])};
                const auto known = std::find(cells.begin(), cells.end(), cell);
                const auto voxel = static_cast<std::size_t>(known - cells.begin());
                if (known == cells.end()) {
                    cells.push_back(cell);
                    voxels.emplace_back();
                }
                voxels[voxel].push_back(i);
            }
            Message out;
            const auto report = farpoint::voxel_message(in, {2.0, 2.0, 1.0}, out, {}, Zeros::drop);
            CHECK(report.points == 600 && report.dropped == 1 && report.chosen == voxels.size() && report.zeros >= 1);
            CHECK(out.width == voxels.size() && out.height == 1 && out.is_dense && out.row_step == 48 * out.width);
            CHECK(out.fields.size() == 9 && static_cast<bool>(out.is_bigendian) == big);
            CHECK(out.header.frame_id == "lidar");
            for (std::size_t v = 0; v < voxels.size(); ++v) {
                const auto count = static_cast<double>(voxels[v].size());
                const std::uint8_t* found = out.data.data() + 48 * v;
                const auto record = [&](std::size_t i) {
                    return in.data.data() + i / in.width * in.row_step + i % in.width * 48;
                };
                const auto mean_of = [&](auto value) {
                    double sum = 0.0;
                    for (const std::size_t i : voxels[v]) {
                        sum += value(record(i));
                    }
                    return sum / count;
                };
                for (const std::size_t at : {0U, 4U, 8U, 12U}) {
                    const double mean = mean_of([&](const std::uint8_t* r) { return single(r + at, big); });
                    CHECK(single(found + at, big) == static_cast<double>(static_cast<float>(mean)));
                }
                CHECK(twice(found + 30, big) == mean_of([&](const std::uint8_t* r) { return twice(r + 30, big); }));
                const auto whole_mean = [&](auto value) {
                    std::int64_t sum = 0;
                    for (const std::size_t i : voxels[v]) {
                        sum += value(record(i));
                    }
                    return rounded_mean(sum, static_cast<std::int64_t>(voxels[v].size()));
                };
                const auto check_whole = [&](auto value) { CHECK(value(found) == whole_mean(value)); };
                for (const std::size_t at : {16U, 17U, 18U, 19U}) {
                    check_whole([&](const std::uint8_t* r) { return std::int64_t{r[at]}; });
                }
                check_whole([&](const std::uint8_t* r) { return static_cast<std::int64_t>(whole(r + 20, 4, big)); });
                for (const std::size_t at : {25U, 27U}) {
                    check_whole([&](const std::uint8_t* r) {
                        return std::int64_t{static_cast<std::int16_t>(whole(r + at, 2, big))};
                    });
                }
                check_whole([&](const std::uint8_t* r) { return std::int64_t{static_cast<std::int8_t>(r[38])}; });
                // Bytes of no field are those of the first record.
                for (const std::size_t at : {24U, 29U, 39U, 47U}) {
                    CHECK(found[at] == record(voxels[v].front())[at]);
                }
            }
        }
    }
}

TEST(voxels_of_a_message_that_pick_a_record) {
    const auto cloud = stored(clouds::random<double>(600, 10), {});
    const auto in = with_fields(cloud, true, 29);
    clouds::Cloud<float> places;
    for (const auto& [x, y, z] : cloud) {
        places.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)});
    }
    for (const auto reduce : {farpoint::Reduce::first, farpoint::Reduce::center, farpoint::Reduce::random}) {
        farpoint::MessageVoxelOptions options;
        options.reduce = reduce;
        options.seed = 3;
        options.sorted = true;
        options.min_points = 2;
        farpoint::VoxelOptions same;
        static_cast<farpoint::GridOptions&>(same) = options;
        const auto expected_rows = farpoint::voxel_downsample(places, 0.25, same);
        Message out = in;
        CHECK(farpoint::voxel_message(out, 0.25, out, options).chosen == expected_rows.size() && out.width > 10);
        for (std::size_t k = 0; k < out.width; ++k) {
            CHECK(record_of(out, k, 0) == record_of(in, expected_rows.rows()[k], in.row_step));
        }
    }
}

TEST(voxels_of_a_message_that_is_wrong) {
    const auto good = messages::make<Message>(clouds::random<double>(100, 11), {});
    Message out;
    out.width = 77;
    auto unknown = good;
    unknown.fields.push_back(good.fields[0]);
    unknown.fields[3].name = "ring";
    unknown.fields[3].datatype = 9;
    CHECK_THROWS(invalid_argument, "'ring' of the message has the unknown datatype 9",
                 farpoint::voxel_message(unknown, 0.5, out));
    unknown.fields[3].datatype = 4;
    unknown.fields[3].offset = 15;
    CHECK_THROWS(invalid_argument, "'ring' of the message ends beyond", farpoint::voxel_message(unknown, 0.5, out));
    unknown.fields[3].offset = 8;
    unknown.fields[3].count = 4294967295U;
    CHECK_THROWS(invalid_argument, "'ring' of the message ends beyond", farpoint::voxel_message(unknown, 0.5, out));
    // The bytes of a picked record are not looked at.
    farpoint::MessageVoxelOptions first;
    first.reduce = farpoint::Reduce::first;
    CHECK(farpoint::voxel_message(unknown, 0.5, unknown, first).chosen > 0);
    CHECK_THROWS(invalid_argument, "", farpoint::voxel_message(good, 0.0, out));
    CHECK_THROWS(invalid_argument, "", farpoint::voxel_message(good, std::vector<double>{}, out));
    CHECK_THROWS(invalid_argument, "", farpoint::voxel_message(good, {1.0, 1.0}, out));
    CHECK(out.width == 77);
    auto none = messages::make<Message>(clouds::Cloud<double>(30), {});
    const auto report = farpoint::voxel_message(none, 0.5, out, {}, Zeros::drop);
    CHECK(report.zeros == 30 && report.chosen == 0 && out.width == 0 && out.fields.size() == 3);
}

int main() { return check::run_all(); }
