// machine_watch.cpp: how long an answer is good.
// SPDX-License-Identifier: MIT
#include <tandem/detail/machine_watch.hpp>

namespace tandem::inline v0::detail {

std::atomic<std::int64_t> machine_look_ns{
    std::chrono::nanoseconds(std::chrono::seconds(5)).count()};

}  // namespace tandem::inline v0::detail
