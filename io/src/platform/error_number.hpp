// error_number.hpp: what the numbers of failures mean.
// SPDX-License-Identifier: MIT
//
// An outcome that is negative holds the number of a failure. What this library itself says or looks
// at is an errno everywhere: ECANCELED, EBADF, ENOMEM, ENOBUFS, EINTR, ECONNABORTED and the like.
// So is what Linux and other systems of POSIX say. Windows has codes of its own, more than errno has
// names for, and texts for them: there they are passed on as they are, above all numbers of errno
// (windows/error_number.cpp), and come out as codes that compare to std::errc.
#pragma once

#include <system_error>

namespace tandem::inline v0::io::platform {

/// Any thread; nothing fails. pre: `number` is 0, or of a failure and positive
std::error_code error_of(int number) noexcept;

}  // namespace tandem::inline v0::io::platform
