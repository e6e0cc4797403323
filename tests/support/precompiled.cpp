// precompiled.cpp: the source that CMake needs in order to precompile precompiled.hpp.
// SPDX-License-Identifier: MIT
