# What is installed: libraries, headers, the CMake package, farpoint.pc, and package.xml for ROS workspaces.

include(CMakePackageConfigHelpers)

install(FILES ${farpoint_files} DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder ${farpoint_include})
    install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
endforeach()
install(FILES LICENSE-MIT LICENSE-APACHE THIRD-PARTY.txt DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES package.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/farpoint)

# Where find_package does not look: a build folder holds nothing that is installed.
set(farpoint_made_package ${PROJECT_BINARY_DIR}/to_install)
set(farpoint_package ${CMAKE_INSTALL_LIBDIR}/cmake/farpoint)
configure_package_config_file(bindings/cpp/cmake/farpointConfig.cmake.in ${farpoint_made_package}/farpointConfig.cmake
    INSTALL_DESTINATION ${farpoint_package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${farpoint_made_package}/farpointConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${farpoint_made_package}/farpointConfig.cmake ${farpoint_made_package}/farpointConfigVersion.cmake
        DESTINATION ${farpoint_package})

# Folders relative to the prefix, so that what is installed can be moved.
file(RELATIVE_PATH farpoint_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" farpoint_to_prefix "${farpoint_to_prefix}")
configure_file(bindings/cpp/cmake/farpoint.pc.in ${PROJECT_BINARY_DIR}/farpoint.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/farpoint.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
