# cross_libraries.cmake: the header-only libraries of the examples, for programs that are built for another system.
# SPDX-License-Identifier: MIT
#
# Debian has no CLI11, fmt, JSON or Boost for Windows, but its own headers of them are not for one system. A folder with links to
# these four alone is what the compiler sees of /usr/include: the rest of it is Linux's.
set(tandem_cross_include ${CMAKE_BINARY_DIR}/cross_include)

# tandem_cross_library(TARGET HEADER DEFINITION...): TARGET brings the folder of HEADER, and the definitions.
function(tandem_cross_library target header)
  cmake_path(GET header PARENT_PATH folder)
  find_path(TANDEM_CROSS_${folder} ${header} PATHS /usr/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
    DOC "the folder that has ${header} in it")
  if(NOT TANDEM_CROSS_${folder})
    message(FATAL_ERROR "the examples need ${target}: set TANDEM_CROSS_${folder} to the folder that has ${header} in it")
  endif()
  file(MAKE_DIRECTORY ${tandem_cross_include})
  file(CREATE_LINK ${TANDEM_CROSS_${folder}}/${folder} ${tandem_cross_include}/${folder} SYMBOLIC)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${tandem_cross_include} INTERFACE_COMPILE_DEFINITIONS "${ARGN}")
endfunction()

tandem_cross_library(CLI11::CLI11 CLI/CLI.hpp)
tandem_cross_library(fmt::fmt fmt/format.h FMT_HEADER_ONLY=1)
tandem_cross_library(nlohmann_json::nlohmann_json nlohmann/json.hpp)
tandem_cross_library(Boost::headers boost/version.hpp)
