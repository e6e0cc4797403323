# components.cmake: what the optional components of tandem::io have in common: each waits for one C library.
# SPDX-License-Identifier: MIT
#
# A component's room, src/NAME, has a CMakeLists.txt of its own. Its public headers, include/tandem/io/NAME.hpp and
# include/tandem/io/NAME/, include none of the library's.

# tandem_io_library(NAME MODULE m VERSION v TITLE t PACKAGE p): looks for the library by pkg-config. TANDEM_IO_<NAME> is on where
# it is found; where it is off, the configuration says so. Not for Windows yet: Debian has none of these libraries for MinGW.
function(tandem_io_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODULE;VERSION;TITLE;PACKAGE" "")
  string(TOUPPER ${name} upper)
  set(option TANDEM_IO_${upper})
  set(found OFF)
  if(PKG_CONFIG_FOUND AND NOT TANDEM_PLATFORM STREQUAL windows)
    pkg_check_modules(${arg_MODULE} QUIET IMPORTED_TARGET GLOBAL "${arg_MODULE} >= ${arg_VERSION}")
    if(${arg_MODULE}_FOUND)
      set(found ON)
    endif()
  endif()
  set(library "${arg_TITLE} >= ${arg_VERSION}")
  # The default is not kept where the library is not there: it may be installed before the next configuration.
  if(found OR DEFINED CACHE{${option}})
    option(${option} "Build tandem::io_${name} (needs ${library}; not for Windows yet)" ON)
  endif()
  if(${option} AND NOT found)
    message(FATAL_ERROR
      "${option} needs ${library} (Debian: apt-get install ${arg_PACKAGE} pkg-config), and is not for Windows yet; or set ${option}=OFF")
  endif()
  if(NOT ${option} AND NOT TANDEM_PLATFORM STREQUAL windows)
    if(found)
      message(STATUS "tandem::io_${name} is left out: ${option} is ${${option}}")
    else()
      message(STATUS "tandem::io_${name} is left out: no ${library} (Debian: apt-get install ${arg_PACKAGE} pkg-config)")
    endif()
  endif()
  set(${option} ${${option}} PARENT_SCOPE)
  set(tandem_component_library ${arg_MODULE} ${arg_VERSION} ${arg_TITLE} ${arg_PACKAGE} PARENT_SCOPE)
endfunction()

# tandem_io_component(NAME DESCRIPTION d SOURCES a.cpp... HEADERS tandem/io/a.hpp...): the library tandem::io_NAME, over the one that
# tandem_io_library(NAME ...) has found.
function(tandem_io_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DESCRIPTION" "SOURCES;HEADERS")
  list(POP_FRONT tandem_component_library module version title package)
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
  target_link_libraries(${target} PUBLIC tandem::io PRIVATE PkgConfig::${module})
  set_property(GLOBAL APPEND PROPERTY tandem_io_components ${name})
  if(TANDEM_INSTALL)
    # For pkg-config the library itself. Not Requires.private: with --static that would add all that a static one needs.
    set(dirs ${${module}_LIBRARY_DIRS})
    set(libs ${${module}_LIBRARIES})
    list(TRANSFORM dirs PREPEND "-L")
    list(TRANSFORM libs PREPEND "-l")
    list(JOIN dirs " " dirs)
    list(JOIN libs " " libs)
    string(STRIP "${dirs} ${libs}" private_libs)
    set(templates ${PROJECT_SOURCE_DIR}/io)
    configure_file(${templates}/component-dependencies.cmake.in tandem-io_${name}-dependencies.cmake @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tandem-io_${name}-dependencies.cmake COMPONENT io_${name} DESTINATION ${tandem_package_dir})
    tandem_install(io_${name} ${templates}/component.pc.in)
  endif()
endfunction()

include(FindPkgConfig OPTIONAL)
foreach(room curl postgres redis sqlite)
  add_subdirectory(src/${room})
endforeach()
