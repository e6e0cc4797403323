// completion_options.cpp: what the environment says.
// SPDX-License-Identifier: MIT
#include <tandem/io/completion_options.hpp>

#include <tandem/detail/environment_options.hpp>

#include "backend/backend.hpp"

namespace tandem::inline v0::io {

completion_options::completion_options()
    : min_threads(tandem::detail::count_from_environment("TANDEM_IO_THREADS", 1)),
      adaptive(tandem::detail::switch_from_environment("TANDEM_IO_ADAPTIVE", true)),
      backend(detail::backend_from_environment()) {}

}  // namespace tandem::inline v0::io
