# The library: made by cargo (rust.cmake says which), then given the names under which it is installed. Sets farpoint_files, what is
# installed as libraries, and defines farpoint::farpoint and farpoint::static.

if(DEFINED ENV{CARGO_TARGET_DIR})
    set(farpoint_target "$ENV{CARGO_TARGET_DIR}")
else()
    set(farpoint_target "${PROJECT_BINARY_DIR}/cargo")
endif()
set(FARPOINT_CARGO_TARGET "${farpoint_target}" CACHE PATH "Where cargo puts what it compiles")
set(FARPOINT_CARGO_FLAGS "" CACHE STRING "More arguments for cargo, such as --offline;--locked")

# The names under which cargo and the system know the libraries.
set(farpoint_lib "${PROJECT_BINARY_DIR}/lib")
set(farpoint_soversion "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(farpoint_implib "")
if(WIN32)
    set(farpoint_made farpoint_capi.dll farpoint_capi.lib)
    set(farpoint_shared farpoint_capi.dll)
    set(farpoint_archive farpoint_static.lib)
    set(farpoint_implib farpoint_capi.dll.lib)
    list(APPEND farpoint_made ${farpoint_implib})
elseif(APPLE)
    set(farpoint_made libfarpoint_capi.dylib libfarpoint_capi.a)
    set(farpoint_shared libfarpoint.${farpoint_soversion}.dylib)
    set(farpoint_link libfarpoint.dylib)
    set(farpoint_archive libfarpoint.a)
else()
    set(farpoint_made libfarpoint_capi.so libfarpoint_capi.a)
    set(farpoint_shared libfarpoint.so.${PROJECT_VERSION})
    set(farpoint_soname libfarpoint.so.${farpoint_soversion})
    set(farpoint_link libfarpoint.so)
    set(farpoint_archive libfarpoint.a)
endif()
list(GET farpoint_made 0 farpoint_made_shared)
list(GET farpoint_made 1 farpoint_made_archive)

# cargo knows best what is out of date, so it is asked each time.
set(farpoint_release "${FARPOINT_CARGO_TARGET}/${farpoint_triple}/release")
set(farpoint_features "")
if(FARPOINT_CUDA)
    set(farpoint_features --features cuda)
endif()
set(farpoint_commands
    COMMAND ${CMAKE_COMMAND} -E make_directory ${farpoint_lib}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${farpoint_release}/${farpoint_made_shared} ${farpoint_lib}/${farpoint_shared}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${farpoint_release}/${farpoint_made_archive} ${farpoint_lib}/${farpoint_archive})
set(farpoint_files ${farpoint_lib}/${farpoint_shared} ${farpoint_lib}/${farpoint_archive})
if(farpoint_implib)
    list(APPEND farpoint_commands COMMAND ${CMAKE_COMMAND} -E copy_if_different
         ${farpoint_release}/${farpoint_implib} ${farpoint_lib}/${farpoint_implib})
    list(APPEND farpoint_files ${farpoint_lib}/${farpoint_implib})
endif()
foreach(link IN ITEMS ${farpoint_soname} ${farpoint_link})
    list(APPEND farpoint_commands COMMAND ${CMAKE_COMMAND} -E create_symlink ${farpoint_shared} ${farpoint_lib}/${link})
    list(APPEND farpoint_files ${farpoint_lib}/${link})
endforeach()
add_custom_target(farpoint_cargo ALL
    COMMAND ${CMAKE_COMMAND} -E env "CARGO_TARGET_DIR=${FARPOINT_CARGO_TARGET}" ${farpoint_target_variables}
            ${FARPOINT_CARGO} rustc --release --package farpoint-capi --lib --crate-type cdylib --crate-type staticlib
            ${farpoint_target_flags} ${farpoint_features} ${FARPOINT_CARGO_FLAGS}
    ${farpoint_commands}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    BYPRODUCTS ${farpoint_files}
    COMMENT "libfarpoint, by cargo"
    VERBATIM)

# What a program needs besides farpoint::static: what Rust's standard library needs.
set(farpoint_probe "${CMAKE_CURRENT_BINARY_DIR}/native.rs")
file(WRITE ${farpoint_probe} "")
execute_process(
    COMMAND ${FARPOINT_RUSTC} --crate-type staticlib --print native-static-libs ${farpoint_target_flags}
            -o ${farpoint_probe}.a ${farpoint_probe}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} ERROR_VARIABLE farpoint_native OUTPUT_QUIET)
if(NOT farpoint_native MATCHES "native-static-libs: ([^\n\r]*)")
    message(FATAL_ERROR "rustc does not tell which system libraries a static library needs: ${farpoint_native}")
endif()
string(STRIP "${CMAKE_MATCH_1}" farpoint_native)
if(NOT WIN32 AND NOT APPLE)
    # A plug-in exports its own symbols, not those of the archive.
    string(APPEND farpoint_native " -Wl,--exclude-libs,${farpoint_archive}")
endif()
separate_arguments(farpoint_native_list UNIX_COMMAND "${farpoint_native}")

# Two Rust static libraries in one program collide: farpoint::farpoint is the one to take unless set.
set(farpoint_include ${PROJECT_SOURCE_DIR}/bindings/cpp/include ${PROJECT_SOURCE_DIR}/crates/farpoint-capi/include)
add_library(farpoint::farpoint SHARED IMPORTED GLOBAL)
add_library(farpoint::static STATIC IMPORTED GLOBAL)
set_target_properties(farpoint::farpoint PROPERTIES IMPORTED_LOCATION ${farpoint_lib}/${farpoint_shared})
if(farpoint_soname)
    set_target_properties(farpoint::farpoint PROPERTIES IMPORTED_SONAME ${farpoint_soname})
endif()
if(farpoint_implib)
    set_target_properties(farpoint::farpoint PROPERTIES IMPORTED_IMPLIB ${farpoint_lib}/${farpoint_implib})
endif()
set_target_properties(farpoint::static PROPERTIES IMPORTED_LOCATION ${farpoint_lib}/${farpoint_archive}
                      INTERFACE_LINK_LIBRARIES "${farpoint_native_list}")
foreach(target farpoint::farpoint farpoint::static)
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${farpoint_include}")
    add_dependencies(${target} farpoint_cargo)
    if("${farpoint_languages}" MATCHES "CXX")
        set_target_properties(${target} PROPERTIES INTERFACE_COMPILE_FEATURES cxx_std_17)
    endif()
endforeach()
