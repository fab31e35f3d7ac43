# Which cargo compiles the library, and for which machine: that of CMake's compiler. Sets farpoint_triple, the Rust target, and
# farpoint_target_flags and farpoint_target_variables for it; all empty if cargo's own machine is meant.

find_program(FARPOINT_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin"
             DOC "cargo, which compiles the library")
if(NOT FARPOINT_CARGO)
    message(FATAL_ERROR "farpoint is written in Rust, and there is no cargo: install it from https://rustup.rs, "
                        "or name it with -DFARPOINT_CARGO=/path/to/cargo")
endif()
get_filename_component(farpoint_toolchain ${FARPOINT_CARGO} DIRECTORY)
find_program(FARPOINT_RUSTC rustc HINTS ${farpoint_toolchain} DOC "rustc, which is asked for system libraries")

file(STRINGS ${PROJECT_SOURCE_DIR}/Cargo.toml farpoint_least REGEX "^rust-version = ")
string(REGEX MATCH "[0-9.]+" farpoint_least "${farpoint_least}")
execute_process(COMMAND ${FARPOINT_CARGO} --version --verbose WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                OUTPUT_VARIABLE farpoint_about ERROR_VARIABLE farpoint_error)
if(NOT farpoint_about MATCHES "release: ([0-9.]+)")
    message(FATAL_ERROR "farpoint: ${FARPOINT_CARGO} does not tell its version: ${farpoint_error}")
endif()
set(farpoint_version "${CMAKE_MATCH_1}")
if(farpoint_version VERSION_LESS farpoint_least)
    message(FATAL_ERROR "farpoint needs Rust ${farpoint_least} or later, and ${FARPOINT_CARGO} is of ${farpoint_version}: run "
                        "`rustup update`, or install it from https://rustup.rs and name it with -DFARPOINT_CARGO=/path/to/cargo")
endif()
string(REGEX MATCH "host: ([^\n\r]+)" farpoint_host "${farpoint_about}")
set(farpoint_host "${CMAKE_MATCH_1}")

# The processor, as Rust names it. Without a toolchain file, CMAKE_SYSTEM_PROCESSOR is that of this machine, and the compiler may
# be for another one.
set(farpoint_processor "${CMAKE_SYSTEM_PROCESSOR}")
if(APPLE AND CMAKE_OSX_ARCHITECTURES)
    set(farpoint_processor "${CMAKE_OSX_ARCHITECTURES}")
elseif(NOT CMAKE_CROSSCOMPILING AND CMAKE_CXX_COMPILER_ARCHITECTURE_ID)
    set(farpoint_processor "${CMAKE_CXX_COMPILER_ARCHITECTURE_ID}")
elseif(NOT CMAKE_CROSSCOMPILING AND CMAKE_CXX_LIBRARY_ARCHITECTURE)
    string(REGEX MATCH "^[^-]+" farpoint_processor "${CMAKE_CXX_LIBRARY_ARCHITECTURE}")
endif()
string(TOLOWER "${farpoint_processor}" farpoint_processor)
if(farpoint_processor MATCHES "^(x86_64|amd64|x64)$" AND NOT CMAKE_SIZEOF_VOID_P EQUAL 4)
    set(farpoint_processor x86_64)
elseif(farpoint_processor MATCHES "^(x86_64|amd64|x86|i[3-6]86)$")
    set(farpoint_processor i686)
elseif(farpoint_processor MATCHES "^(aarch64|arm64)$")
    set(farpoint_processor aarch64)
elseif(farpoint_processor MATCHES "^riscv64")
    set(farpoint_processor riscv64gc)
endif()

set(FARPOINT_RUST_TARGET "$ENV{CARGO_BUILD_TARGET}" CACHE STRING "Rust target, where CMake's compiler does not tell it")
set(farpoint_triple "${FARPOINT_RUST_TARGET}")
if(NOT farpoint_triple AND (CMAKE_CROSSCOMPILING OR NOT farpoint_host MATCHES "^${farpoint_processor}-"))
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND farpoint_processor MATCHES "^(x86_64|i686|aarch64|riscv64gc)$")
        set(farpoint_triple ${farpoint_processor}-unknown-linux-gnu)
    elseif(APPLE AND farpoint_processor MATCHES "^(x86_64|aarch64)$" AND NOT IOS)
        set(farpoint_triple ${farpoint_processor}-apple-darwin)
    elseif(MSVC AND farpoint_processor MATCHES "^(x86_64|i686|aarch64)$")
        set(farpoint_triple ${farpoint_processor}-pc-windows-msvc)
    else()
        message(FATAL_ERROR "farpoint: which Rust target is '${CMAKE_SYSTEM_NAME}' on '${farpoint_processor}'? Name it with "
                            "-DFARPOINT_RUST_TARGET=..., one of those that `rustc --print target-list` prints")
    endif()
endif()

set(farpoint_target_flags "")
set(farpoint_target_variables "")
if(farpoint_triple)
    execute_process(COMMAND ${FARPOINT_RUSTC} --print target-libdir --target ${farpoint_triple}
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE farpoint_std ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT farpoint_std OR NOT EXISTS "${farpoint_std}")
        message(FATAL_ERROR "farpoint: this Rust can't compile for ${farpoint_triple}: run `rustup target add ${farpoint_triple}`, "
                            "or name another target with -DFARPOINT_RUST_TARGET=...")
    endif()
    message(STATUS "farpoint: compiled for ${farpoint_triple}")
    set(farpoint_target_flags --target ${farpoint_triple})
    if(NOT MSVC AND NOT farpoint_triple STREQUAL farpoint_host)
        # cargo links with CMake's compiler, as CMake calls it.
        string(TOUPPER "CARGO_TARGET_${farpoint_triple}" farpoint_variable)
        string(REPLACE "-" "_" farpoint_variable "${farpoint_variable}")
        set(farpoint_target_variables "${farpoint_variable}_LINKER=${CMAKE_C_COMPILER}")
        set(farpoint_link_flags "")
        if(CMAKE_C_COMPILER_TARGET)
            string(APPEND farpoint_link_flags " -Clink-arg=--target=${CMAKE_C_COMPILER_TARGET}")
        endif()
        if(CMAKE_SYSROOT)
            string(APPEND farpoint_link_flags " -Clink-arg=--sysroot=${CMAKE_SYSROOT}")
        endif()
        if(farpoint_link_flags)
            list(APPEND farpoint_target_variables "${farpoint_variable}_RUSTFLAGS=${farpoint_link_flags}")
        endif()
    endif()
endif()
