# components.cmake: what the optional components of tandem::io have in common: each waits for one C library.
# SPDX-License-Identifier: MIT
#
# A component's room, src/NAME, has a CMakeLists.txt of its own, and beside it NAME's .pc.in and -dependencies.cmake. Its public
# headers, include/tandem/io/NAME.hpp and include/tandem/io/NAME/, include none of the library's.

# tandem_io_option(NAME "LIBRARY >= VERSION" DEBIAN-PACKAGE FOUND): TANDEM_IO_<NAME>, on where the library is found. Where it is
# off the room says so. Not for Windows yet: Debian has none of these libraries for MinGW.
function(tandem_io_option name library package found)
  string(TOUPPER ${name} upper)
  set(option TANDEM_IO_${upper})
  if(TANDEM_PLATFORM STREQUAL windows)
    set(found OFF)
  endif()
  # The default is not kept where the library is not there: it may be installed before the next configuration.
  if(found OR DEFINED CACHE{${option}})
    option(${option} "Build tandem::io_${name} (needs ${library}; not for Windows yet)" ON)
  endif()
  if(${option} AND NOT found)
    message(FATAL_ERROR "${option} needs ${library} (Debian: apt-get install ${package}), and is not for Windows yet; or set ${option}=OFF")
  endif()
  if(NOT ${option} AND NOT TANDEM_PLATFORM STREQUAL windows)
    if(found)
      message(STATUS "tandem::io_${name} is left out: ${option} is ${${option}}")
    else()
      message(STATUS "tandem::io_${name} is left out: no ${library} (Debian: apt-get install ${package})")
    endif()
  endif()
  set(${option} ${${option}} PARENT_SCOPE)
endfunction()

# tandem_io_component(NAME LIBRARY-TARGET SOURCES a.cpp... HEADERS tandem/io/a.hpp...): the library tandem::io_NAME.
function(tandem_io_component name library)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;HEADERS")
  string(TOUPPER ${name} upper)
  set(target tandem_io_${name})
  set(include ${PROJECT_SOURCE_DIR}/io/include)
  list(TRANSFORM arg_HEADERS PREPEND ${include}/)
  add_library(${target} ${arg_SOURCES})
  add_library(tandem::io_${name} ALIAS ${target})
  # The shared library finds those beside it, wherever they were put.
  set_target_properties(${target} PROPERTIES EXPORT_NAME io_${name} INSTALL_RPATH "$<$<PLATFORM_ID:Linux>:$ORIGIN>")
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${include} FILES ${arg_HEADERS})
  tandem_library(${target})
  target_compile_definitions(${target} PRIVATE TANDEM_BUILDING_IO_${upper})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/io/src)
  target_link_libraries(${target} PUBLIC tandem::io PRIVATE ${library})
  set_property(GLOBAL APPEND PROPERTY tandem_io_components ${name})
  if(TANDEM_INSTALL)
    # Its library, shared. Not Requires.private: pkg-config --static would add all that a static one needs.
    string(REPLACE "PkgConfig::" "" module ${library})
    set(dirs ${${module}_LIBRARY_DIRS})
    set(libs ${${module}_LIBRARIES})
    list(TRANSFORM dirs PREPEND "-L")
    list(TRANSFORM libs PREPEND "-l")
    list(JOIN dirs " " dirs)
    list(JOIN libs " " libs)
    string(STRIP "${dirs} ${libs}" tandem_private_libs)
    install(FILES tandem-io_${name}-dependencies.cmake COMPONENT io_${name} DESTINATION ${tandem_package_dir})
    tandem_install(io_${name})
  endif()
endfunction()

include(FindPkgConfig OPTIONAL)
foreach(room curl postgres redis sqlite)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/src/${room}/CMakeLists.txt)
    add_subdirectory(src/${room})
  endif()
endforeach()
