// fair_scheduler.cpp: the public face of a scheduler of queues.
// SPDX-License-Identifier: MIT
#include <tandem/fair_scheduler.hpp>

#include <stdexcept>
#include <utility>

#include <tandem/detail/forked.hpp>

#include "executors/fair_queue_impl.hpp"
#include "executors/fair_scheduler_impl.hpp"

namespace tandem::inline v0 {

fair_scheduler::fair_scheduler(tandem::executor& below)
    : impl_(new impl(below), [](impl* shared) { shared->release(); }) {}

fair_queue fair_scheduler::add_queue(unsigned weight, std::string name) {
  if (weight == 0 || weight > most_weight) {
    throw std::invalid_argument("fair_scheduler::add_queue: the weight is " +
                                std::to_string(weight) + ": it has to be between 1 and " +
                                std::to_string(most_weight));
  }
  detail::refuse_if_forked(impl_->below(), "fair_scheduler::add_queue");
  auto* const made = new fair_queue::impl(*impl_, weight, std::move(name));
  return fair_queue(
      std::shared_ptr<fair_queue::impl>(made, [](fair_queue::impl* each) { each->drop_handle(); }));
}

std::size_t fair_scheduler::queue_count() const noexcept { return impl_->queue_count(); }
std::size_t fair_scheduler::waiting() const noexcept { return impl_->waiting(); }

}  // namespace tandem::inline v0
