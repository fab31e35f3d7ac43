#ifndef FARPOINT_TESTS_CHECK_HPP
#define FARPOINT_TESTS_CHECK_HPP

/// A few lines in place of a test framework: a test is a function in a list, a check that fails says where.

#include <farpoint/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace check {

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

struct Add {
    Add(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

[[noreturn]] inline void failed(const char* file, int line, const char* what) {
    std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    std::exit(1);
}

/// Runs all tests; 1 if one throws, or if there is none.
inline int run_all() {
    for (const Test& test : tests()) {
        try {
            test.run();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s: threw: %s\n", test.name, error.what());
            return 1;
        }
        std::printf("ok %s\n", test.name);
    }
    std::printf("%zu tests passed\n", tests().size());
    return tests().empty() ? 1 : 0;
}

/// Whether `what` throws an error of this status whose text contains `part`.
template <typename What>
bool throws(farpoint::Status status, const std::string& part, What&& what) {
    try {
        what();
    } catch (const farpoint::Error& error) {
        const bool as_expected = error.status() == status && std::string(error.what()).find(part) != std::string::npos;
        if (!as_expected) {
            std::fprintf(stderr, "status %d: %s\n", static_cast<int>(error.status()), error.what());
        }
        return as_expected;
    }
    return false;
}

}  // namespace check

#define TEST(name)                                          \
    static void name();                                     \
    static const check::Add name##_is_listed(#name, &name); \
    static void name()
#define CHECK(...) ((__VA_ARGS__) ? void() : check::failed(__FILE__, __LINE__, #__VA_ARGS__))
#define CHECK_THROWS(kind, part, ...) CHECK(check::throws(farpoint::Status::kind, part, [&] { __VA_ARGS__; }))

#endif
