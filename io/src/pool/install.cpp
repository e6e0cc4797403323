// install.cpp: the completion pool as a service of its runtime.
// SPDX-License-Identifier: MIT
#include <tandem/io/install.hpp>

namespace tandem::inline v0::io {

completion_pool& install(runtime& owner, const completion_options& options) {
  return owner.use_service<completion_pool>(options);
}

}  // namespace tandem::inline v0::io
