// completion_pool.cpp: the threads together, and the executor that stands for any of them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <stdexcept>
#include <string>
#include <tandem/cpu_count.hpp>
#include <tandem/detail/environment_options.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>

#include "completion_thread.hpp"

namespace tandem::inline v0::io {

completion_options::completion_options()
    : min_threads(tandem::detail::count_from_environment("TANDEM_IO_THREADS",
                                                         std::max(1U, usable_cpus() / 4))) {}

class completion_pool::impl final : public tandem::executor {
 public:
  impl(runtime& owner, completion_pool& pool, const completion_options& options)
      : owner_(owner), name_(owner.options().name + "-io") {
    if (options.min_threads == 0 || options.min_threads > 1024) {
      throw std::invalid_argument("completion_options::min_threads is " +
                                  std::to_string(options.min_threads) +
                                  ": it has to be between 1 and 1024");
    }
    for (unsigned i = 0; i < options.min_threads; ++i) {
      threads_.push_back(std::make_unique<completion_thread>(
          std::make_unique<completion_thread::impl>(owner, pool, *this, i, options)));
    }
    threads_.front()->implementation().drive_timers(true);
    try {
      for (const auto& each : threads_) each->implementation().start();
    } catch (...) {
      stop_threads();
      throw;
    }
    tandem::detail::timers_of(owner_).set_driver(&threads_.front()->implementation());
  }

  void stop() noexcept {
    tandem::detail::timers_of(owner_).set_driver(nullptr);
    stop_threads();
  }

  void post(job* item, post_kind kind) noexcept override { target().post(item, kind); }
  void post_batch(job_list items, post_kind kind) noexcept override {
    target().post_batch(items, kind);
  }
  bool is_current() const noexcept override {
    const auto* const here = completion_thread::impl::current();
    return here != nullptr && &here->pool().executor() == this;
  }
  runtime* owner() const noexcept override { return &owner_; }
  std::string_view name() const noexcept override { return name_; }

  completion_thread& next() noexcept {
    // Relaxed: a turn is enough, no order.
    return *threads_[turn_.fetch_add(1, std::memory_order_relaxed) % threads_.size()];
  }
  const std::vector<std::unique_ptr<completion_thread>>& threads() const noexcept {
    return threads_;
  }

 private:
  tandem::executor& target() noexcept {
    auto* const here = completion_thread::impl::current();
    if (here != nullptr && &here->pool().executor() == this) return *here;
    return next().executor();
  }
  void stop_threads() noexcept {
    for (const auto& each : threads_) each->implementation().stop();
  }

  runtime& owner_;
  const std::string name_;
  std::vector<std::unique_ptr<completion_thread>> threads_;
  std::atomic<std::size_t> turn_{0};
};

completion_pool::completion_pool(runtime& owner, const completion_options& options)
    : impl_(std::make_unique<impl>(owner, *this, options)) {}
completion_pool::~completion_pool() { impl_->stop(); }

tandem::executor& completion_pool::executor() noexcept { return *impl_; }
unsigned completion_pool::size() const noexcept {
  return static_cast<unsigned>(impl_->threads().size());
}
completion_thread& completion_pool::thread(unsigned index) noexcept {
  return *impl_->threads().at(index);
}
completion_thread& completion_pool::next_thread() noexcept { return impl_->next(); }
std::string_view completion_pool::service_name() const noexcept { return "completion pool"; }
void completion_pool::stop() noexcept { impl_->stop(); }

completion_pool_stats completion_pool::stats() const noexcept {
  completion_pool_stats out;
  out.threads = size();
  for (const auto& each : impl_->threads()) each->implementation().add_stats(out);
  return out;
}

completion_pool& install(runtime& owner, const completion_options& options) {
  return owner.use_service<completion_pool>(options);
}

completion_pool& current_completion_pool(const char* what) {
  return tandem::detail::current_runtime(what).use_service<completion_pool>();
}

int current_completion_index() noexcept {
  const auto* const here = completion_thread::impl::current();
  return here != nullptr ? static_cast<int>(here->index()) : -1;
}

}  // namespace tandem::inline v0::io
