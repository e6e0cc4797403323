// runtime_cannot_see_io.cpp: a user of tandem::runtime alone has no include path to io's headers.
// SPDX-License-Identifier: MIT
#include <tandem/version.hpp>
#ifndef TANDEM_CONTROL
#include <tandem/io/export.hpp>
#endif

int use() { return static_cast<int>(tandem::version().size()); }
