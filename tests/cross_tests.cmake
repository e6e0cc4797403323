# cross_tests.cmake: tests that are built for Windows here, and run under wine.
# SPDX-License-Identifier: MIT

# GoogleTest from its sources: the system's own library is for the system.
set(TANDEM_GOOGLETEST_SOURCE /usr/src/googletest CACHE PATH "GoogleTest's sources (Debian: googletest), for a cross build")
function(tandem_cross_googletest)
  if(NOT EXISTS ${TANDEM_GOOGLETEST_SOURCE}/CMakeLists.txt)
    message(FATAL_ERROR "no GoogleTest in ${TANDEM_GOOGLETEST_SOURCE} (Debian: googletest): see TANDEM_GOOGLETEST_SOURCE")
  endif()
  set(BUILD_GMOCK OFF CACHE INTERNAL "")
  set(INSTALL_GTEST OFF CACHE INTERNAL "")
  add_subdirectory(${TANDEM_GOOGLETEST_SOURCE} ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
endfunction()

# Standalone Asio is headers alone, of which the system's serve: as links in a folder of their own, since the others are not for
# Windows.
find_file(TANDEM_CROSS_ASIO asio.hpp PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH DOC "Standalone Asio's asio.hpp, for a cross build")
if(TANDEM_CROSS_ASIO)
  get_filename_component(asio_folder ${TANDEM_CROSS_ASIO} DIRECTORY)
  set(TANDEM_ASIO_INCLUDE_DIR ${CMAKE_BINARY_DIR}/asio)
  file(MAKE_DIRECTORY ${TANDEM_ASIO_INCLUDE_DIR})
  foreach(each asio asio.hpp)
    file(CREATE_LINK ${asio_folder}/${each} ${TANDEM_ASIO_INCLUDE_DIR}/${each} SYMBOLIC)
  endforeach()
endif()

# What wine itself does wrong: support/wine_skips.txt has the causes, each with the laws that it takes.
set(tandem_wine_skips ${CMAKE_CURRENT_LIST_DIR}/support/wine_skips.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tandem_wine_skips})

# tandem_add_cross_test(NAME SECONDS LABEL): one ctest for the executable. SECONDS is the watchdog's limit of a law; its
# report of laws lies in laws/NAME.xml, which run.sh counts.
function(tandem_add_cross_test name limit label)
  file(STRINGS ${tandem_wine_skips} lines REGEX "^  ${name} ")
  set(filter "*")
  if(lines)
    list(TRANSFORM lines REPLACE "^  ${name} +" "")
    list(JOIN lines ":" laws)
    set(filter "*-${laws}")
  endif()
  math(EXPR limit_of_all "${limit} * 3 + 60")
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/laws)
  add_test(NAME ${name} COMMAND ${name} --gtest_filter=${filter} --gtest_output=xml:laws/${name}.xml
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit_of_all}
    ENVIRONMENT "TANDEM_TEST_LIMIT_SECONDS=${limit};TANDEM_WINE_SECONDS=${limit_of_all}")
  if(label)
    set_tests_properties(${name} PROPERTIES LABELS ${label})
  endif()
endfunction()
