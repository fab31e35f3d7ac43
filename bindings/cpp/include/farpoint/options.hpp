#ifndef FARPOINT_OPTIONS_HPP
#define FARPOINT_OPTIONS_HPP

/// Options of calls: one structure per kind of call, with defaults for all members.

#include <farpoint/error.hpp>
#include <farpoint/farpoint.h>
#include <farpoint/span.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace farpoint {

/// Device of a call.
enum class Device : std::int32_t { cpu = FARPOINT_CPU, cuda = FARPOINT_CUDA };

/// Vector instruction set. Does not affect results.
enum class InstructionSet : std::int32_t {
    best = FARPOINT_INSTRUCTIONS_BEST,
    portable = FARPOINT_INSTRUCTIONS_PORTABLE,
    avx2 = FARPOINT_INSTRUCTIONS_AVX2,
    avx512 = FARPOINT_INSTRUCTIONS_AVX512,
    neon = FARPOINT_INSTRUCTIONS_NEON,
};

/// Handling of non-finite rows.
enum class NonFinite : std::int32_t {
    /// Fail with `ErrorCode::non_finite`.
    error = FARPOINT_NON_FINITE_ERROR,
    /// Skip and count them; indices still count all rows.
    skip = FARPOINT_NON_FINITE_SKIP,
};

/// Scheduling of the threads of the pool by the system.
enum class Scheduling : std::int32_t {
    /// Scheduling of the thread that starts the pool.
    inherited = FARPOINT_SCHEDULING_INHERITED,
    /// SCHED_FIFO: a thread runs until it waits.
    fifo = FARPOINT_SCHEDULING_FIFO,
    /// SCHED_RR: threads of equal priority take turns.
    round_robin = FARPOINT_SCHEDULING_ROUND_ROBIN,
};

/// Options of the threads of the pool, for `start_threads`.
struct ThreadOptions {
    /// Number of threads. 0: one per entry of `cpus` or, without any, per core.
    std::size_t threads = 0;
    /// Thread `k` is named `name-k`; Linux cuts names to 15 bytes.
    std::string name = "farpoint";
    /// Processors, from 0: thread `k` runs on `cpus[k % cpus.size()]` alone. Empty: on any. Linux only.
    std::vector<std::int32_t> cpus;
    /// Linux only.
    Scheduling scheduling = Scheduling::inherited;
    /// Priority, 1 to 99, of `fifo` and `round_robin`; 0 without them.
    std::int32_t priority = 0;
};

/// Norm of distances.
enum class Norm : std::int32_t {
    /// Sum of absolute differences.
    l1 = 1,
    /// Euclidean norm; computed and compared as squares.
    l2 = 2,
};

/// Search algorithm. Does not affect results.
enum class SearchMethod : std::int32_t {
    automatic = FARPOINT_SEARCH_AUTO,
    /// Reference loop for comparisons. CPU only.
    reference = FARPOINT_SEARCH_REFERENCE,
    /// All pairs, without shortcuts. CUDA only.
    plain = FARPOINT_SEARCH_PLAIN,
    brute = FARPOINT_SEARCH_BRUTE,
    tree = FARPOINT_SEARCH_TREE,
};

/// Progress of a call.
struct Progress {
    /// Number of samples chosen so far, or points searched; summed over a batch.
    std::size_t done = 0;
    /// Maximum of `done`.
    std::size_t total = 0;
    /// Current covering radius; infinite while unknown.
    double covering_radius = 0.0;
};

/// Options of the CPU, of all calls. They do not affect results.
struct CpuOptions {
    /// Number of threads. 0: a pool for the whole process, one thread per core. 1: only the calling
    /// thread; no thread is started.
    std::size_t threads = 0;
    InstructionSet instruction_set = InstructionSet::best;
};

/// Device of a call.
struct DeviceOptions {
    Device device = Device::cpu;
    /// GPU number, from 0.
    std::int32_t device_number = 0;
};

/// Option of calls that read clouds which may have non-finite rows.
struct NonFiniteOptions {
    NonFinite non_finite = NonFinite::error;
};

/// Option of calls that report progress.
struct ProgressOptions {
    /// Progress callback, called repeatedly but never concurrently, not always on the calling thread. Return false
    /// to cancel: the call then throws `Error` with `ErrorCode::canceled`. Its exceptions are rethrown by the call.
    std::function<bool(const Progress&)> progress;
};

/// Start of a sampler.
struct StartOptions {
    /// Start rows, in this order. Empty: the first usable row.
    std::vector<std::size_t> starts;
    /// Seed of a random start instead, the same on every machine.
    std::optional<std::uint64_t> random_start;
};

/// Algorithm of exact sampling.
struct ExactOptions {
    /// Exact algorithm with its options: `"peak"`, `"radius:nvox=24"`. Empty: the fastest. All give
    /// the same samples.
    std::string algorithm;
};

/// Ends of exact sampling before the sample is complete.
struct EarlyOptions {
    /// Time after which the call returns the samples chosen so far: the beginning of the complete sample, with its
    /// covering radius, and `complete()` false. There is at least the start. On the CPU.
    std::optional<std::chrono::duration<double>> deadline;
    /// True if a call that `progress` cancels returns the samples chosen so far, as after a deadline, instead of
    /// throwing `Error`.
    bool partial = false;
};

/// Selected rows of a cloud.
struct RowOptions {
    /// Rows to use, each listed once; not owned. In sampling, ties go to the row listed first, and the first listed
    /// row is the start unless set. Indices and starts are rows of the whole cloud.
    std::optional<Span<std::size_t>> rows;
    /// One byte per row: nonzero rows are used, as if listed in `rows` in ascending order; not owned.
    /// Excludes `rows`.
    std::optional<Span<std::uint8_t>> mask;
};

/// Options of searches.
struct MetricOptions {
    Norm norm = Norm::l2;
    SearchMethod method = SearchMethod::automatic;
};

/// Options of calls that GPUs can do, too.
struct RunOptions : CpuOptions, DeviceOptions, ProgressOptions {};

// The structures of calls follow. They have the options that the call uses, and none derives from another, so that
// options of one call are not those of another.

/// Options of `sample` and `order`.
struct SampleOptions : RunOptions, NonFiniteOptions, StartOptions, ExactOptions, EarlyOptions, RowOptions {};

/// Options of `sample_batch`.
struct BatchOptions : RunOptions, NonFiniteOptions, StartOptions, ExactOptions, RowOptions {};

/// Options of `sample_approximate`.
struct ApproximateOptions : CpuOptions, NonFiniteOptions, ProgressOptions, RowOptions {};

/// Options of `centroids`.
struct CentroidOptions : CpuOptions, NonFiniteOptions, ProgressOptions, RowOptions {};

/// Options of `Index`.
struct IndexOptions : CpuOptions, NonFiniteOptions {};

/// Options of measures, and of gradients of several neighbors.
struct MeasureOptions : CpuOptions {};

/// Options of the gradients of the Chamfer distance.
struct GradientOptions : CpuOptions, DeviceOptions {};

/// Options of `nearest` and `chamfer`.
struct MatchOptions : RunOptions, NonFiniteOptions, MetricOptions {};

/// Options of `knn`, `ball_query` and `within`.
struct SearchOptions : RunOptions, NonFiniteOptions, MetricOptions {
    /// Exclude the row with the same number: for neighbors of a cloud in itself.
    bool exclude_self = false;
};

namespace detail {

/// Run options of the C interface. Stores an exception of the callback, cancels the call, and rethrows it
/// afterwards.
class Run {
public:
    template <typename Options>
    explicit Run(const Options& options) noexcept {
        c_.size = sizeof c_;
        c_.threads = options.threads;
        c_.instruction_set = static_cast<farpoint_instruction_set>(options.instruction_set);
        if constexpr (std::is_base_of_v<DeviceOptions, Options>) {
            c_.device = static_cast<farpoint_device>(options.device);
            c_.device_number = options.device_number;
        }
        if constexpr (std::is_base_of_v<NonFiniteOptions, Options>) {
            c_.non_finite = static_cast<farpoint_non_finite>(options.non_finite);
        }
        if constexpr (std::is_base_of_v<ProgressOptions, Options>) {
            call_ = &options.progress;
            c_.progress = options.progress ? &Run::report : nullptr;
            c_.user = this;
        }
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    /// Options of the C interface; valid for the lifetime of this object.
    [[nodiscard]] const farpoint_run_options* c() const noexcept { return &c_; }

    /// Throws the exception of the callback, or the error of the call that returned `status`.
    void finish(farpoint_status status) const {
        if (thrown_) {
            std::rethrow_exception(thrown_);
        }
        check(status);
    }

    /// Returns the result of the call that returned `status`; or frees it and throws.
    template <typename Result>
    Result finish(farpoint_status status, Result result) const {
        finish(status);
        return result;
    }

private:
    static std::int32_t report(void* user, const farpoint_progress* progress) noexcept {
        auto& self = *static_cast<Run*>(user);
        try {
            return (*self.call_)({progress->done, progress->total, progress->covering_radius}) ? 0 : 1;
        } catch (...) {
            self.thrown_ = std::current_exception();
            return 1;
        }
    }

    farpoint_run_options c_{};
    const std::function<bool(const Progress&)>* call_ = nullptr;
    std::exception_ptr thrown_;
};

/// Returns a zero-initialized options structure of the C interface with its size set.
template <typename COptions>
COptions sized() noexcept {
    COptions c{};
    c.size = sizeof c;
    return c;
}

/// Sets the selected rows of a cloud of `points` points.
template <typename COptions>
void set_rows(COptions& c, const RowOptions& options, std::size_t points) {
    const auto& [rows, mask] = options;
    if (rows) {
        // An empty selection needs a non-null pointer, since null selects all rows.
        static const std::size_t none = 0;
        c.rows = rows->empty() ? &none : rows->data();
        c.row_count = rows->size();
    }
    if (mask) {
        if (mask->size() != points) {
            invalid("a mask of " + std::to_string(mask->size()) + " bytes for " + std::to_string(points) + " points");
        }
        static const std::uint8_t none = 0;
        c.mask = mask->empty() ? &none : mask->data();
    }
}

}  // namespace detail
}  // namespace farpoint

#endif
