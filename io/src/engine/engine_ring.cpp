// engine_ring.cpp: opening a backend, and counting what goes through it.
// SPDX-License-Identifier: MIT
#include "engine/engine_ring.hpp"

#include <algorithm>
#include <bit>

namespace tandem::inline v0::io {

void engine_ring::open(ring_sleep& sleep) {
  backend_ = make_backend(options_);
  try {
    backend_name_ = backend_->name();
    file_actions_.store(backend_->file_actions(), std::memory_order_relaxed);
    lends_memory_.store(backend_->lends_memory(), std::memory_order_relaxed);
    port_of_files_.store(backend_->port_of_files(), std::memory_order_relaxed);
    has_swept_ = false;
    sleep.use(*backend_);
    stock_.open(*backend_, options_);
  } catch (...) {
    backend_.reset();
    throw;
  }
}

void engine_ring::close() noexcept { backend_.reset(); }

bool engine_ring::submit(detail::operation& operation) noexcept {
  submitted_.add();
  if (backend_->submit(operation) == submit_answer::pending) return true;
  completed_.add();
  return false;
}

void engine_ring::sweep() noexcept {
  has_swept_ = true;
  backend_->cancel_all();
}

unsigned engine_ring::reap(backend::completion_function ended, void* context) noexcept {
  const unsigned count = backend_->reap(ended, context);
  if (count == 0) return 0;
  completed_.add(count);
  batches_.add();
  reaped_.add(count);
  const auto exponent = static_cast<std::size_t>(std::bit_width(count - 1));
  batch_sizes_[std::min(exponent, batch_sizes_.size() - 1)].add();
  return count;
}

void engine_ring::add_stats(completion_pool_stats& out) const noexcept {
  const std::uint64_t completed = completed_.read();
  const std::uint64_t submitted = submitted_.read();
  out.submitted += submitted;
  out.completed += completed;
  out.in_flight += submitted > completed ? submitted - completed : 0;
  out.batches += batches_.read();
  out.reaped += reaped_.read();
  for (std::size_t i = 0; i < batch_sizes_.size(); ++i)
    out.batch_sizes[i] += batch_sizes_[i].read();
}

}  // namespace tandem::inline v0::io
