// partition.cpp: what the parallel algorithms ask the runtime.
// SPDX-License-Identifier: MIT
#include <tandem/detail/partition.hpp>
#include <tandem/runtime.hpp>

namespace tandem::inline v0::detail {

std::size_t workers_for_pieces() noexcept {
  const environment* const env = current_environment();
  if (env == nullptr || env->runtime() == nullptr) return 1;
  const worker_pool& workers = env->runtime()->workers();
  return runs_here(workers) ? workers.size() : 1;
}

bool pieces_go_by_the_clock() noexcept {
  const environment* const env = current_environment();
  return env == nullptr || env->runtime() == nullptr || !env->runtime()->options().clock;
}

}  // namespace tandem::inline v0::detail
