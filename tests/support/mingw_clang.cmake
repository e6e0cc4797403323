# mingw_clang.cmake: clang for Windows, on the headers of MinGW: a second opinion on what MSVC would have to understand.
# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/mingw.cmake)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET x86_64-w64-mingw32)
set(CMAKE_CXX_COMPILER_TARGET x86_64-w64-mingw32)
