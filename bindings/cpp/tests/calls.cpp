// Every call, its options and its errors.
#include "check.hpp"
#include "clouds.hpp"

#include <farpoint.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <thread>
#include <type_traits>
#include <utility>

using farpoint::sample;
using farpoint::SampleOptions;

TEST(exact_samples) {
    for (const std::size_t points : {1U, 2U, 9U, 500U, 3000U}) {
        for (const bool tied : {false, true}) {
            const auto cloud = tied ? clouds::lattice<float>(points, 1) : clouds::random<float>(points, 2);
            for (const std::size_t count : {(points + 3) / 4, points}) {
                const auto expected = clouds::reference(cloud, count);
                for (const std::size_t threads : {0U, 1U, 5U}) {
                    SampleOptions options;
                    options.threads = threads;
                    CHECK(clouds::equal(sample(cloud, count, options).indices(), expected));
                }
            }
        }
    }
}

TEST(algorithms_and_instruction_sets) {
    const auto cloud = clouds::lattice<double>(2000, 3);
    const auto expected = clouds::reference(cloud, 600, 17);
    for (const char* algorithm : {"", "reference", "naive", "radius:nvox=8", "tree", "peak"}) {
        SampleOptions options;
        options.algorithm = algorithm;
        options.starts = {17};
        options.instruction_set = farpoint::InstructionSet::portable;
        const auto found = sample(cloud, 600, options);
        CHECK(clouds::equal(found.indices(), expected));
        CHECK(found.algorithm().rfind(std::string(algorithm).substr(0, 4), 0) == 0);
    }
}

TEST(amounts) {
    const auto cloud = clouds::random<float>(1001, 4);
    CHECK_THROWS(invalid_argument, "count is 0", sample(cloud, 0));
    CHECK(sample(cloud, farpoint::ratio(0.25)).size() == 251);
    const auto even = sample(cloud, farpoint::spacing(0.2));
    CHECK(even.covering_radius() <= 0.2 && even.distance(even.size() - 1) > 0.2);
    const auto all = farpoint::order(cloud);
    CHECK(all.size() == 1001 && all.covering_radius() == 0.0);
    CHECK(clouds::equal(all.indices().first(100), clouds::reference(cloud, 100)));
    const auto squares = all.squared_distances<float>();
    CHECK(std::isinf(squares[0]) && std::is_sorted(squares.begin(), squares.end(), std::greater<>()));
    CHECK(all.distance(50) == static_cast<double>(std::sqrt(squares[50])));
    CHECK(sample(cloud, 50).covering_radius() == all.distance(50));
    CHECK_THROWS(invalid_argument, "ask for <float>", (void)all.squared_distances<double>());
}

TEST(levels) {
    const auto cloud = clouds::random<double>(400, 4);
    const auto all = sample(cloud, 100);
    const auto levels = all.levels({100, 100, 20, 1});
    CHECK(levels.size() == 4 && levels[3].size() == 1 && levels[2].data() == all.indices().data());
    std::vector<std::array<double, 3>> level;
    const auto fine = all.levels({50});
    for (const std::size_t row : fine[0]) {
        level.push_back(cloud[row]);
    }
    const auto again = sample(level, 20);
    for (std::size_t k = 0; k < 20; k++) {
        CHECK(again.indices()[k] == k);
    }
    CHECK_THROWS(invalid_argument, "level 1 has 51 points; request 1 to 50", (void)all.levels({50, 51}));
    CHECK_THROWS(invalid_argument, "level 0 has 0 points", (void)all.levels({0}));
    CHECK(all.levels({}).empty());
    SampleOptions options;
    options.starts = {3, 7};
    const auto from_two = sample(cloud, 20, options);
    CHECK_THROWS(invalid_argument, "this one has 2", (void)from_two.levels({10}));
}

TEST(starts) {
    const auto cloud = clouds::random<float>(400, 5);
    SampleOptions options;
    options.starts = {7, 300};
    const auto found = sample(cloud, 20, options);
    CHECK(found.indices()[0] == 7 && found.indices()[1] == 300);
    options.starts = {};
    options.random_start = 5;
    const auto random = sample(cloud, 20, options);
    CHECK(clouds::equal(random.indices(), clouds::reference(cloud, 20, random.indices()[0])));
    options.starts = {400};
    options.random_start.reset();
    CHECK_THROWS(invalid_argument, "400", sample(cloud, 20, options));
}

TEST(subsets) {
    const auto cloud = clouds::lattice<float>(600, 6);
    std::vector<std::size_t> rows;
    std::vector<std::uint8_t> mask(600, 0);
    for (std::size_t row = 1; row < 600; row += 3) {
        rows.push_back(row);
        mask[row] = 1;
    }
    SampleOptions by_mask;
    by_mask.mask = mask;
    CHECK(clouds::equal(sample(cloud, 80, by_mask).indices(), clouds::reference(cloud, rows, 80, 0)));
    std::reverse(rows.begin(), rows.end());
    SampleOptions by_rows;
    by_rows.rows = rows;
    CHECK(clouds::equal(sample(cloud, 80, by_rows).indices(), clouds::reference(cloud, rows, 80, 0)));
    CHECK_THROWS(invalid_argument, "201", sample(cloud, 201, by_rows));

    // No row at all is not all of them.
    const std::vector<std::size_t> nothing;
    by_rows.rows = nothing;
    CHECK(sample(cloud, farpoint::ratio(0.5), by_rows).size() == 0);
    mask.resize(599);
    by_mask.mask = mask;
    CHECK_THROWS(invalid_argument, "599", sample(cloud, 10, by_mask));
    rows.front() = 600;
    by_rows.rows = rows;
    CHECK_THROWS(invalid_argument, "600", sample(cloud, 10, by_rows));
}

TEST(non_finite) {
    auto cloud = clouds::random<double>(100, 7);
    cloud[3][1] = std::numeric_limits<double>::quiet_NaN();
    cloud[50][2] = std::numeric_limits<double>::infinity();
    CHECK_THROWS(non_finite, "3", sample(cloud, 10));
    SampleOptions options;
    options.non_finite = farpoint::NonFinite::skip;
    const auto all = sample(cloud, farpoint::all(), options);
    CHECK(all.size() == 98 && all.dropped() == 2);
    CHECK(std::find(all.indices().begin(), all.indices().end(), 50) == all.indices().end());
}

TEST(wrong_arguments) {
    const auto cloud = clouds::random<float>(50, 8);
    CHECK_THROWS(invalid_argument, "51", sample(cloud, 51));
    CHECK_THROWS(invalid_argument, "-1", sample(cloud, -1));
    CHECK_THROWS(invalid_argument, "", sample(cloud, farpoint::ratio(1.5)));
    CHECK_THROWS(invalid_argument, "", sample(cloud, farpoint::spacing(-1.0)));
    CHECK_THROWS(invalid_argument, "", sample(farpoint::Points(static_cast<const float*>(nullptr), 5), 1));
    SampleOptions options;
    options.algorithm = "no such algorithm";
    CHECK_THROWS(invalid_argument, "no such algorithm", sample(cloud, 5, options));
    options = {};
    options = {};
    options.device = farpoint::Device::cuda;
    options.device_number = 1000;
    CHECK_THROWS(unavailable, "", sample(cloud, 5, options));
    options.device = farpoint::Device::cpu;
    CHECK_THROWS(invalid_argument, "device_number", sample(cloud, 5, options));
    const auto one_place = farpoint::Points::strided(cloud.front().data(), 50, 3, 0);
    CHECK_THROWS(invalid_argument, "point_stride is 0", sample(one_place, 5));
    const auto one_number = farpoint::Points::strided(cloud.front().data(), 50, 3, 12, 0);
    CHECK_THROWS(invalid_argument, "axis_stride is 0", sample(one_number, 5));
    CHECK_THROWS(invalid_argument, "dimensions is 0", sample(farpoint::Points(cloud.front().data(), 5, 0), 1));
    CHECK_THROWS(invalid_argument, "voxels of 1e-12 from 0 along", farpoint::voxel_downsample(cloud, 1e-12));
}

TEST(progress_and_canceling) {
    const auto cloud = clouds::random<float>(30000, 9);
    for (const std::size_t threads : {1U, 4U}) {
        SampleOptions options;
        options.threads = threads;
        std::atomic<int> calls{0};
        options.progress = [&calls](const farpoint::Progress& progress) {
            CHECK(progress.done <= progress.total && progress.total == 20000);
            ++calls;
            return true;
        };
        const auto whole = sample(cloud, 20000, options);
        CHECK(whole.size() == 20000 && calls > 1);
        options.progress = [](const farpoint::Progress&) { return false; };
        CHECK_THROWS(canceled, "", sample(cloud, 20000, options));
    }
}

// The pool is started once.
TEST(threads_of_the_pool) {
    farpoint::ThreadOptions options;
    options.cpus = {-1};
    CHECK_THROWS(invalid_argument, "cpus has -1", farpoint::start_threads(options));
    options = {};
    options.priority = 50;
    CHECK_THROWS(invalid_argument, "priority is set, which inherited scheduling", farpoint::start_threads(options));
    const auto cloud = clouds::random<float>(30000, 9);
    CHECK(sample(cloud, 2000).size() == 2000);
    CHECK_THROWS(invalid_argument, "has been started", farpoint::start_threads({}));
}

// A deadline and a canceled call return the beginning of the complete sample.
TEST(early_ends) {
    const auto cloud = clouds::random<float>(30000, 9);
    const auto complete = sample(cloud, 20000);
    CHECK(complete.complete());
    SampleOptions options;
    options.deadline = std::chrono::microseconds(100);
    const auto in_time = sample(cloud, 20000, options);
    options.deadline.reset();
    options.partial = true;
    options.progress = [](const farpoint::Progress& progress) { return progress.done < 2000; };
    const auto canceled = sample(cloud, 20000, options);
    for (const auto* early : {&in_time, &canceled}) {
        CHECK(!early->complete() && early->size() >= 1 && early->size() < 20000);
        CHECK(std::equal(early->indices().begin(), early->indices().end(), complete.indices().begin()));
        CHECK(early->covering_radius() == complete.distance(early->size()));
    }
    options.deadline = std::chrono::seconds(-1);
    CHECK_THROWS(invalid_argument, "deadline", sample(cloud, 20000, options));
}

struct Mine {
    int value;
};

/// Whether a call rethrows what its callback throws, at the first or at a later report.
template <typename Options, typename Call>
static bool rethrows(Options options, Call call) {
    for (const std::size_t threads : {1U, 4U}) {
        for (const int calls : {1, 3}) {
            std::atomic<int> called{0};
            options.threads = threads;
            options.progress = [&](const farpoint::Progress&) -> bool {
                return ++called >= calls ? throw Mine{42} : true;
            };
            try {
                call(options);
                if (called >= calls) {
                    return false;
                }
            } catch (const Mine& mine) {
                if (mine.value != 42) {
                    return false;
                }
            }
        }
    }
    return true;
}

// What a callback throws comes out of the call, and never crosses the C interface. AddressSanitizer and valgrind see
// that what was found until then is freed.
TEST(a_callback_that_throws) {
    const auto cloud = clouds::random<float>(30000, 10);
    SampleOptions partial;
    partial.partial = true;
    for (const SampleOptions& some : {SampleOptions{}, partial}) {
        CHECK(rethrows(some, [&](const auto& options) { sample(cloud, 20000, options); }));
    }
    CHECK(rethrows(farpoint::BatchOptions{}, [&](const auto& options) {
        farpoint::sample_batch({cloud, cloud}, 2000, options);
    }));
    CHECK(rethrows(farpoint::ApproximateOptions{},
                   [&](const auto& options) { farpoint::sample_approximate(cloud, farpoint::Grid{}, 2000, options); }));
    CHECK(
        rethrows(farpoint::CentroidOptions{}, [&](const auto& options) { farpoint::centroids(cloud, 200, options); }));
    CHECK(rethrows(farpoint::VoxelOptions{},
                   [&](const auto& options) { farpoint::voxel_downsample(cloud, 0.1, options); }));
    CHECK(rethrows(farpoint::MatchOptions{}, [&](const auto& options) { farpoint::nearest(cloud, cloud, options); }));
    CHECK(rethrows(farpoint::MatchOptions{}, [&](const auto& options) { farpoint::chamfer(cloud, cloud, options); }));
    CHECK(rethrows(farpoint::SearchOptions{}, [&](const auto& options) { farpoint::knn(cloud, cloud, 2, options); }));
    CHECK(rethrows(farpoint::SearchOptions{},
                   [&](const auto& options) { farpoint::within(cloud, cloud, {0.01}, options); }));
    CHECK(sample(cloud, 10).size() == 10);
}

TEST(batches) {
    const auto a = clouds::random<float>(300, 11);
    const auto b = clouds::lattice<float>(500, 12);
    const auto samples = farpoint::sample_batch({a, b}, 100);
    CHECK(samples.size() == 2);
    CHECK(clouds::equal(samples[0].indices(), clouds::reference(a, 100)));
    CHECK(clouds::equal(samples[1].indices(), clouds::reference(b, 100)));
    CHECK(farpoint::sample_batch({}, 100).empty());
    CHECK_THROWS(invalid_argument, "301", farpoint::sample_batch({b, a}, 301));
}

TEST(results_move) {
    const auto cloud = clouds::random<float>(100, 13);
    farpoint::SampleResult first = sample(cloud, 10);
    farpoint::SampleResult second = std::move(first);
    CHECK(second.size() == 10 && first.size() == 0 && first.algorithm().empty());
    first = sample(cloud, 20);
    second = std::move(first);
    CHECK(second.size() == 20);
}

TEST(approximate_samplers) {
    const auto cloud = clouds::random<float>(2000, 14);
    const std::vector<farpoint::ApproximateMethod> methods = {farpoint::Random{3}, farpoint::Grid{}};
    for (const auto& method : methods) {
        const auto found = farpoint::sample_approximate(cloud, method, 200);
        CHECK(found.size() == 200);
        auto indices = found.indices().to_vector();
        std::sort(indices.begin(), indices.end());
        CHECK(std::unique(indices.begin(), indices.end()) == indices.end() && indices.back() < 2000);
        CHECK(farpoint::covering_radius(cloud, found.indices()) > 0.0);
    }
    const auto grid = farpoint::sample_approximate(cloud, farpoint::Grid{}, farpoint::cell(0.25));
    const auto means = farpoint::centroids(cloud, farpoint::cell(0.25));
    CHECK(grid.size() == 64 && means.size() == 64 && grid.cell() == 0.25 && means.cell() == 0.25);
    CHECK(means.coordinates<float>().size() == 192);
    std::size_t counted = 0;
    for (const std::size_t count : means.point_counts()) {
        counted += count;
    }
    CHECK(counted == 2000);
    farpoint::ApproximateOptions options;
    const std::vector<std::size_t> rows = {5, 9};
    options.rows = rows;
    CHECK(farpoint::sample_approximate(cloud, farpoint::Random{}, farpoint::all(), options).size() == 2);
}

// No queries have no results; what has no value for an empty cloud says so.
TEST(no_queries) {
    const auto cloud = clouds::random<float>(500, 15);
    const clouds::Cloud<float> none;
    const farpoint::Index index(cloud);
    for (const farpoint::Points& searched :
         {farpoint::Points(cloud), farpoint::Points(index), farpoint::Points(none)}) {
        CHECK(farpoint::nearest(none, searched).size() == 0);
        CHECK(farpoint::knn(none, searched, 4).indices().empty());
        CHECK(farpoint::ball_query(none, searched, {0.5}, 4).counts().empty());
        const auto within = farpoint::within(none, searched, {0.5});
        CHECK(within.size() == 0 && within.offsets()[0] == 0 && within.indices().empty());
    }
    const auto near = farpoint::knn(none, cloud, 4);
    CHECK(near.backward<float>(none, cloud, {}).second<float>().size() == 1500);
    CHECK_THROWS(invalid_argument, "the first cloud: the cloud has no", farpoint::chamfer(none, cloud));
    CHECK_THROWS(invalid_argument, "the second cloud: the cloud has no", farpoint::knn(cloud, none, 4));
    CHECK(farpoint::voxel_downsample(none, 0.1).size() == 0 && farpoint::order(none).size() == 0);
}

TEST(nearest_and_chamfer) {
    const auto a = clouds::random<float>(300, 15);
    const auto b = clouds::random<float>(400, 16);
    const auto both = farpoint::chamfer(a, b);
    const auto one = farpoint::nearest(a, b);
    CHECK(clouds::equal(both.a_to_b().indices(), one.indices().to_vector()));
    CHECK(std::abs(both.sum() - (one.mean() + farpoint::nearest(b, a).mean())) < 1e-15);
    CHECK(both.hausdorff() == std::max(both.a_to_b().max_distance(), both.b_to_a().max_distance()));
    CHECK(both.f_score(10.0).f_score == 1.0 && one.share_within(0.0) == 0.0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto& q = b[one.indices()[i]];
        const float dx = a[i][0] - q[0], dy = a[i][1] - q[1], dz = a[i][2] - q[2];
        CHECK(std::abs(one.raw_distances<float>()[i] - (dx * dx + dy * dy + dz * dz)) < 1e-6F);
    }
    // The gradient of the mean from a to b, at a: 2 (p - q) / n.
    const std::vector<float> share(a.size(), 1.0F / 300.0F);
    const auto gradients = both.backward<float>(a, b, share, {});
    const auto& nearest_of_first = b[one.indices()[0]];
    CHECK(gradients.first<float>().size() == 900 && gradients.second<float>().size() == 1200);
    CHECK(std::abs(gradients.first<float>()[0] - 2.0F * (a[0][0] - nearest_of_first[0]) / 300.0F) < 1e-7F);
    const std::vector<float> short_one(7, 1.0F);
    CHECK_THROWS(invalid_argument, "7 gradients", (void)both.backward<float>(a, b, short_one, {}));
    const std::vector<double> other_type(a.size(), 1.0);
    CHECK_THROWS(invalid_argument, "both", (void)both.backward<double>(a, b, other_type, {}));
    const std::vector<std::array<double, 3>> doubles(5);
    CHECK_THROWS(invalid_argument, "", farpoint::chamfer(a, doubles));
    farpoint::MatchOptions manhattan;
    manhattan.norm = farpoint::Norm::l1;
    CHECK(farpoint::nearest(a, b, manhattan).mean() > one.mean());
}

TEST(several_neighbors) {
    const auto cloud = clouds::lattice<float>(500, 17);
    for (const auto method : {farpoint::SearchMethod::reference, farpoint::SearchMethod::tree}) {
        farpoint::SearchOptions options;
        options.method = method;
        options.exclude_self = true;
        const auto near = farpoint::knn(cloud, cloud, 4, options);
        CHECK(near.size() == 500 && near.k() == 4 && near.indices().size() == 2000);
        for (std::size_t row = 0; row < 500; ++row) {
            CHECK(near.of(row).size() == 4);
            for (const std::size_t other : near.of(row)) {
                CHECK(other != row);
            }
        }
        const auto ball = farpoint::ball_query(cloud, cloud, {1.5}, 8);
        const auto every = farpoint::within(cloud, cloud, {1.5});
        for (std::size_t row = 0; row < 500; ++row) {
            const auto some = ball.of(row);
            CHECK(some.size() == std::min<std::size_t>(8, every.of(row).size()));
        }
        CHECK(every.raw_distances<float>().size() == every.indices().size());
    }
    const std::vector<float> ones(2000, 1.0F);
    const auto near = farpoint::knn(cloud, cloud, 4);
    CHECK(near.backward<float>(cloud, cloud, ones).first<float>().size() == 1500);
}

TEST(an_index) {
    const auto cloud = clouds::lattice<double>(900, 19);
    const auto asking = clouds::lattice<double>(70, 20);
    farpoint::Index first(cloud);
    const farpoint::Index index = std::move(first);
    const auto same = [](const auto& a, const auto& b) { return clouds::equal(a.indices(), b.indices().to_vector()); };
    CHECK(same(farpoint::knn(asking, index, 6), farpoint::knn(asking, cloud, 6)));
    CHECK(same(farpoint::ball_query(asking, index, {1.5}, 6), farpoint::ball_query(asking, cloud, {1.5}, 6)));
    CHECK(same(farpoint::within(asking, index, {1.5}), farpoint::within(asking, cloud, {1.5})));
    CHECK(same(farpoint::nearest(asking, index), farpoint::nearest(asking, cloud)));
    CHECK(same(farpoint::nearest(index, index), farpoint::nearest(cloud, cloud)));
    CHECK(same(sample(index, 50), sample(cloud, 50)));
    CHECK(farpoint::chamfer(asking, index).sum() == farpoint::chamfer(asking, cloud).sum());
    CHECK(farpoint::Points(index).size() == 900 && farpoint::Points(index).is_double() && index.dropped() == 0);

    const auto expected = farpoint::knn(asking, cloud, 6).indices().to_vector();
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; ++i) {
        threads.emplace_back([&] {
            for (int turn = 0; turn < 10; ++turn) {
                right += clouds::equal(farpoint::knn(asking, index, 6).indices(), expected);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(right == 50);

    const auto floats = clouds::random<float>(20, 21);
    CHECK_THROWS(invalid_argument, "type double, expected float", farpoint::knn(floats, index, 2));
    CHECK_THROWS(invalid_argument, "an index that is not there", farpoint::knn(asking, first, 2));
    const std::vector<std::array<float, 3>> nothing;
    CHECK_THROWS(invalid_argument, "", (void)farpoint::Index(nothing));
    auto holed = cloud;
    holed[7][0] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS(non_finite, "7", (void)farpoint::Index(holed));
    farpoint::IndexOptions options;
    options.non_finite = farpoint::NonFinite::skip;
    CHECK(farpoint::Index(holed, options).dropped() == 1);
    static_assert(!std::is_convertible_v<farpoint::Index, farpoint::Points>, "temporaries are refused");
    static_assert(std::is_convertible_v<const farpoint::Index&, farpoint::Points>);
}

// A bit for each member that not all structures of options have.
#define MEMBER(name, bit)                  \
    constexpr unsigned name##_ = bit;      \
    template <typename T, typename = void> \
    constexpr unsigned has_##name = 0;     \
    template <typename T>                  \
    constexpr unsigned has_##name<T, std::void_t<decltype(std::declval<T&>().name)>> = name##_;
MEMBER(device, 1U)
MEMBER(non_finite, 2U)
MEMBER(progress, 4U)
MEMBER(starts, 8U)
MEMBER(algorithm, 16U)
MEMBER(deadline, 32U)
MEMBER(rows, 64U)
MEMBER(norm, 128U)
MEMBER(exclude_self, 256U)
MEMBER(reduce, 512U)
template <typename T>
constexpr unsigned members = has_device<T> + has_non_finite<T> + has_progress<T> + has_starts<T> + has_algorithm<T> +
                             has_deadline<T> + has_rows<T> + has_norm<T> + has_exclude_self<T> + has_reduce<T>;
template <typename A, typename... B>
constexpr bool is_no_other = ((std::is_same_v<A, B> || !std::is_convertible_v<const A&, const B&>)&&...);
template <typename... T>
constexpr bool are_unrelated = (is_no_other<T, T...> && ...);

TEST(options_that_do_not_apply) {
    constexpr unsigned run = device_ + non_finite_ + progress_;
    static_assert(members<farpoint::MeasureOptions> == 0 && members<farpoint::GradientOptions> == device_);
    static_assert(members<farpoint::IndexOptions> == non_finite_);
    static_assert(members<farpoint::BatchOptions> == run + starts_ + algorithm_ + rows_);
    static_assert(members<SampleOptions> == members<farpoint::BatchOptions> + deadline_);
    static_assert(members<farpoint::ApproximateOptions> == non_finite_ + progress_ + rows_);
    static_assert(members<farpoint::CentroidOptions> == members<farpoint::ApproximateOptions>);
    static_assert(members<farpoint::VoxelOptions> == non_finite_ + progress_ + rows_ + reduce_);
    static_assert(members<farpoint::MatchOptions> == run + norm_);
    static_assert(members<farpoint::SearchOptions> == run + norm_ + exclude_self_);
    static_assert(
        are_unrelated<farpoint::MeasureOptions, farpoint::GradientOptions, farpoint::IndexOptions,
                      farpoint::BatchOptions, SampleOptions, farpoint::ApproximateOptions, farpoint::CentroidOptions,
                      farpoint::VoxelOptions, farpoint::MatchOptions, farpoint::SearchOptions>);
    static_assert(!std::is_convertible_v<decltype(farpoint::cell(0.1)), farpoint::Amount>);
    static_assert(!std::is_convertible_v<decltype(farpoint::spacing(0.1)), farpoint::ApproximateAmount>);
    static_assert(std::is_convertible_v<decltype(farpoint::all()), farpoint::ApproximateAmount>);
}

TEST(measures) {
    const auto cloud = clouds::random<float>(1000, 18);
    const auto chosen = sample(cloud, 100);
    CHECK(std::abs(farpoint::covering_radius(cloud, chosen.indices()) - chosen.covering_radius()) < 1e-6);
    const farpoint::Quality quality = farpoint::quality_of(cloud, chosen.indices());
    CHECK(quality.points == 1000 && quality.samples == 100 && quality.unique == 1.0);
    CHECK(farpoint::spacing_of(cloud, chosen.indices()).min == quality.spacing.min);
    clouds::Cloud<float> coordinates;
    for (const std::size_t row : chosen.indices()) {
        coordinates.push_back(cloud[row]);
    }
    CHECK(farpoint::quality_of(cloud, coordinates).covering_radius == quality.covering_radius);
    const std::vector<std::size_t> outside = {1000};
    CHECK_THROWS(invalid_argument, "1000", (void)farpoint::covering_radius(cloud, outside));
}

TEST(versions) {
    CHECK(farpoint::version() == std::to_string(FARPOINT_VERSION_MAJOR) + "." + std::to_string(FARPOINT_VERSION_MINOR) +
                                     "." + std::to_string(FARPOINT_VERSION_PATCH));
}

TEST(voxels) {
    const auto cloud = clouds::random<double>(500, 31);
    // Voxels by definition, in the order of their first points.
    std::map<std::array<int, 3>, std::size_t> numbers;
    std::vector<std::vector<std::size_t>> rows;
    for (std::size_t i = 0; i < cloud.size(); ++i) {
        const auto cell = [&](std::size_t axis) {
            return static_cast<int>(std::floor((cloud[i][axis] - 0.1) / (axis == 2 ? 0.5 : 0.25)));
        };
        const auto [at, is_new] = numbers.insert({{cell(0), cell(1), cell(2)}, rows.size()});
        if (is_new) {
            rows.emplace_back();
        }
        rows[at->second].push_back(i);
    }
    farpoint::VoxelOptions options;
    options.origin = {0.1, 0.1, 0.1};
    const farpoint::VoxelsResult found = farpoint::voxel_downsample(cloud, {0.25, 0.25, 0.5}, options);
    CHECK(found.size() == rows.size() && found.inverse().size() == 500 && found.dropped() == 0);
    for (std::size_t v = 0; v < rows.size(); ++v) {
        CHECK(found.point_counts()[v] == rows[v].size() && found.rows()[v] == rows[v].front());
        for (std::size_t axis = 0; axis < 3; ++axis) {
            double sum = 0.0;
            for (const std::size_t row : rows[v]) {
                sum += cloud[row][axis];
                CHECK(found.inverse()[row] == v);
            }
            CHECK(found.coordinates<double>()[3 * v + axis] == sum / static_cast<double>(rows[v].size()));
        }
        const auto cell = found.cells().data() + 3 * v;
        CHECK(numbers.at({cell[0], cell[1], cell[2]}) == v);
    }

    options.sorted = true;
    options.min_points = 3;
    const farpoint::VoxelsResult large = farpoint::voxel_downsample(cloud, {0.25, 0.25, 0.5}, options);
    std::vector<std::size_t> order;
    for (const auto& [cell, v] : numbers) {
        if (rows[v].size() >= 3) {
            order.push_back(rows[v].front());
        }
    }
    CHECK(std::vector<std::size_t>(large.rows().begin(), large.rows().end()) == order && order.size() < rows.size());

    // Some rows; a point of each voxel; an origin at the smallest coordinates.
    const std::vector<std::size_t> some = {400, 3, 77};
    farpoint::VoxelOptions picked;
    picked.rows = some;
    picked.reduce = farpoint::Reduce::first;
    picked.min_origin = true;
    const farpoint::VoxelsResult three = farpoint::voxel_downsample(cloud, 1e-6, picked);
    CHECK(three.size() == 3 && three.inverse().size() == 3);
    for (const std::uint32_t row : three.rows()) {
        CHECK(row == 400 || row == 3 || row == 77);
    }
    for (const auto reduce : {farpoint::Reduce::center, farpoint::Reduce::random}) {
        farpoint::VoxelOptions one;
        one.reduce = reduce;
        one.seed = 5;
        const farpoint::VoxelsResult voxels_of_one = farpoint::voxel_downsample(cloud, 0.25, one);
        for (std::size_t v = 0; v < voxels_of_one.size(); ++v) {
            const std::uint32_t row = voxels_of_one.rows()[v];
            CHECK(voxels_of_one.inverse()[row] == v && voxels_of_one.coordinates<double>()[3 * v] == cloud[row][0]);
        }
    }
    CHECK_THROWS(invalid_argument, "", farpoint::voxel_downsample(cloud, 0.0));
    CHECK_THROWS(invalid_argument, "", farpoint::voxel_downsample(cloud, std::vector<double>{}));
    CHECK_THROWS(invalid_argument, "double", (void)found.coordinates<float>());
}

int main() { return check::run_all(); }
