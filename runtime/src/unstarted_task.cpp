// unstarted_task.cpp: a frame that nobody has taken is destroyed.
// SPDX-License-Identifier: MIT
#include <tandem/unstarted_task.hpp>

namespace tandem::inline v0 {

unstarted_task::~unstarted_task() {
  if (frame_ != nullptr) frame_->handle().destroy();
}

void unstarted_task::throw_other_type() {
  throw std::logic_error(
      "unstarted_task::take: it holds a task with another result, or was taken before");
}

}  // namespace tandem::inline v0
