// admission.cpp: spawning where nothing is taken any more.
// SPDX-License-Identifier: MIT
#include <tandem/detail/admission.hpp>
#include <tandem/errors.hpp>

namespace tandem::inline v0 {

void detail::admission::refuse(const executor& home) { throw executor_closed(home.name()); }

}  // namespace tandem::inline v0
