// executor.cpp: what an executor does that says nothing else.
// SPDX-License-Identifier: MIT
#include <tandem/executor.hpp>

namespace tandem::inline v0 {

executor::~executor() = default;

bool executor::begin_task() noexcept { return true; }
void executor::end_task() noexcept {}

void executor::post_batch(job_list items, post_kind kind) noexcept {
  while (job* item = items.pop_front()) post(item, kind);
}

}  // namespace tandem::inline v0
