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

/// Returns whether a text has none of the words of C.
inline bool speaks_cpp(const std::string& text) {
    const auto has = [&text](const char* word) { return text.find(word) != std::string::npos; };
    return !has("FARPOINT_") && !has("farpoint_") && !has("NULL");
}

/// Returns whether `what` throws an error of this code whose text contains `part`, and no words of C.
template <typename What>
bool throws(farpoint::ErrorCode code, const std::string& part, What&& what) {
    try {
        what();
    } catch (const farpoint::Error& error) {
        const std::string text = error.what();
        const bool as_expected = error.code() == code && text.find(part) != std::string::npos && speaks_cpp(text);
        if (!as_expected) {
            std::fprintf(stderr, "code %d: %s\n", static_cast<int>(error.code()), error.what());
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
#define CHECK_THROWS(kind, part, ...) CHECK(check::throws(farpoint::ErrorCode::kind, part, [&] { __VA_ARGS__; }))

#endif
