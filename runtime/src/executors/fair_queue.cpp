// fair_queue.cpp: the public face of a queue.
// SPDX-License-Identifier: MIT
#include <tandem/fair_queue.hpp>

#include "executors/fair_queue_impl.hpp"

namespace tandem::inline v0 {

tandem::executor& fair_queue::executor() const noexcept {
  TANDEM_ASSERT(impl_ != nullptr, "an empty fair_queue was used: assign one of add_queue() first");
  return *impl_;
}
void fair_queue::close() noexcept { impl_->close(); }
bool fair_queue::is_closed() const noexcept { return impl_->is_closed(); }
unsigned fair_queue::weight() const noexcept { return impl_->weight(); }
std::size_t fair_queue::waiting() const noexcept { return impl_->waiting(); }

}  // namespace tandem::inline v0
