// blocking_options.cpp: how many threads may block unless somebody says otherwise.
// SPDX-License-Identifier: MIT
#include <tandem/blocking_options.hpp>

#include <tandem/detail/environment_options.hpp>

namespace tandem::inline v0 {

namespace {
constexpr unsigned default_max_threads = 512;
}

blocking_options::blocking_options()
    : max_threads(detail::count_from_environment("TANDEM_BLOCKING_THREADS", default_max_threads)) {}

}  // namespace tandem::inline v0
