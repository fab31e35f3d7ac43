#ifndef FARPOINT_OPTIONS_HPP
#define FARPOINT_OPTIONS_HPP

/// How calls are run: a structure per kind of call, in which every member has a default.

#include <farpoint/error.hpp>
#include <farpoint/farpoint.h>
#include <farpoint/span.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace farpoint {

/// Where the work is done.
enum class Device : std::int32_t { cpu = FARPOINT_CPU, cuda = FARPOINT_CUDA };

/// The vector instructions that are used. Never changes a result.
enum class InstructionSet : std::int32_t {
    best = FARPOINT_INSTRUCTIONS_BEST,
    portable = FARPOINT_INSTRUCTIONS_PORTABLE,
    avx2 = FARPOINT_INSTRUCTIONS_AVX2,
    avx512 = FARPOINT_INSTRUCTIONS_AVX512,
};

/// What happens to rows with NaN or infinity.
enum class BadRows : std::int32_t {
    /// They are an error, `Status::bad_rows`.
    error = FARPOINT_BAD_ROWS_ERROR,
    /// They are left out and counted; indices still count all rows.
    skip = FARPOINT_BAD_ROWS_SKIP,
};

/// How distances are measured.
enum class Norm : std::int32_t {
    /// Sums of absolute differences.
    l1 = 1,
    /// Euclidean; computed and compared as squares.
    l2 = 2,
};

/// How neighbors are found. Never changes a result.
enum class SearchMethod : std::int32_t {
    automatic = FARPOINT_SEARCH_AUTO,
    /// The obvious loop that everything is compared with. CPU only.
    reference = FARPOINT_SEARCH_REFERENCE,
    /// All pairs, each measured by the rule alone. CUDA only.
    plain = FARPOINT_SEARCH_PLAIN,
    brute = FARPOINT_SEARCH_BRUTE,
    tree = FARPOINT_SEARCH_TREE,
};

/// How far a call has come.
struct Progress {
    /// Samples chosen so far, or points whose neighbors were found; of all clouds of a batch together.
    std::size_t done = 0;
    /// How many there will be, at most.
    std::size_t wanted = 0;
    /// The largest distance of a point to its nearest sample so far; infinite while it is not known.
    double covering_radius = 0.0;
};

/// How a call is run.
struct RunOptions {
    /// Threads to work on. 0: those of one pool for the whole process, one per core. 1: the calling
    /// thread alone; no thread is ever started.
    std::size_t threads = 0;
    Device device = Device::cpu;
    /// Which GPU, from 0.
    std::int32_t device_number = 0;
    InstructionSet instruction_set = InstructionSet::best;
    BadRows bad_rows = BadRows::error;
    /// Called now and then, one call at a time, not always on the calling thread. Returns whether to go
    /// on; if not, the call throws `Error` with `Status::canceled`. What it throws comes out of the call.
    std::function<bool(const Progress&)> progress;
};

/// Where a sampler starts, and by which algorithm it works.
struct StartOptions : RunOptions {
    /// Rows that come first, in this order. None: the first usable row.
    std::vector<std::size_t> starts;
    /// Starts at a random point instead, drawn by this seed, the same on every machine.
    std::optional<std::uint64_t> random_start;
    /// The exact algorithm with its options: `"peak"`, `"radius:nvox=24"`. Empty: the fastest. All give
    /// the same samples.
    std::string algorithm;
};

/// How a cloud is sampled, or some rows of it.
struct SampleOptions : StartOptions {
    /// Rows that are to be sampled, each once; not owned. Ties go to the row that is listed first, and
    /// the first listed row is the start unless set. Indices and starts are rows of the whole cloud.
    std::optional<Span<std::size_t>> rows;
    /// One byte per row: those that are not 0 are sampled, as if listed in `rows` from the first to the
    /// last; not owned. Not together with `rows`.
    std::optional<Span<std::uint8_t>> mask;
};

/// How nearest points are found.
struct MatchOptions : RunOptions {
    Norm norm = Norm::l2;
    SearchMethod method = SearchMethod::automatic;
};

/// How several neighbors are found.
struct SearchOptions : MatchOptions {
    /// The row of the same number is no neighbor: for a cloud that is searched for its own neighbors.
    bool exclude_self = false;
};

namespace detail {

/// How a call is run, as C takes it. Keeps what the callback throws, cancels the call, and throws that again
/// after it.
class Run {
public:
    explicit Run(const RunOptions& options) noexcept : call_(&options.progress) {
        c_.size = sizeof c_;
        c_.threads = options.threads;
        c_.device = static_cast<farpoint_device>(options.device);
        c_.device_number = options.device_number;
        c_.instruction_set = static_cast<farpoint_instruction_set>(options.instruction_set);
        c_.bad_rows = static_cast<farpoint_bad_rows>(options.bad_rows);
        c_.progress = options.progress ? &Run::report : nullptr;
        c_.user = this;
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    /// What the C interface takes; valid while this object is.
    [[nodiscard]] const farpoint_run_options* c() const noexcept { return &c_; }

    /// Throws what the callback threw, or the error of the call that returned `status`.
    void finish(farpoint_status status) const {
        if (thrown_) {
            std::rethrow_exception(thrown_);
        }
        check(status);
    }

private:
    static std::int32_t report(void* user, const farpoint_progress* progress) noexcept {
        auto& self = *static_cast<Run*>(user);
        try {
            return (*self.call_)({progress->done, progress->wanted, progress->covering_radius}) ? 0 : 1;
        } catch (...) {
            self.thrown_ = std::current_exception();
            return 1;
        }
    }

    farpoint_run_options c_{};
    const std::function<bool(const Progress&)>* call_;
    std::exception_ptr thrown_;
};

/// An options structure of the C interface, of which all is zero but its size.
template <typename COptions>
COptions sized() noexcept {
    COptions c{};
    c.size = sizeof c;
    return c;
}

/// What exact and approximate samplers are told alike: starts, the algorithm, and which rows are sampled.
template <typename COptions>
COptions sampling_options(const SampleOptions& options, const Run& run, std::size_t points) {
    auto c = sized<COptions>();
    c.run = run.c();
    c.starts = options.starts.empty() ? nullptr : options.starts.data();
    c.start_count = options.starts.size();
    c.random_start = options.random_start.has_value();
    c.seed = options.random_start.value_or(0);
    c.algorithm = options.algorithm.empty() ? nullptr : options.algorithm.c_str();
    if (options.rows) {
        // No row at all is not the same as all of them, which a null pointer means.
        static const std::size_t none = 0;
        c.rows = options.rows->empty() ? &none : options.rows->data();
        c.row_count = options.rows->size();
    }
    if (options.mask) {
        if (options.mask->size() != points) {
            invalid("a mask of " + std::to_string(options.mask->size()) + " bytes for " + std::to_string(points) +
                    " points");
        }
        static const std::uint8_t none = 0;
        c.mask = options.mask->empty() ? &none : options.mask->data();
    }
    return c;
}

}  // namespace detail
}  // namespace farpoint

#endif
