// advice.hpp: what a snapshot says to whoever asks why it hangs, or is slow.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <tandem/deadlock_report.hpp>

namespace tandem::inline v0::detail {

class code_names;
struct snapshot;

/// The worst first. @throws std::bad_alloc
std::vector<std::string> advice_of(const snapshot& in, code_names& names);
/// A part of a dump; "" without any.
std::string advice_as_text(const std::vector<std::string>& advice);
/// Circles, and whether nothing can go on any more. Sure only if an earlier look has seen the same
/// waits.
std::vector<deadlock_report> deadlocks_of(const snapshot& in, code_names& names);
/// A line for each wait, alike ones together; not more than 32.
std::string waits_of(const snapshot& in, code_names& names);
/// Whether all tasks wait, and nothing is out that could wake one.
bool stands_still(const snapshot& in);

}  // namespace tandem::inline v0::detail
