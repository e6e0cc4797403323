// completion_pool.cpp: the threads together: set-up, growing, retiring, the end.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <tandem/cpu_count.hpp>
#include <tandem/detail/decision_log.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/machine_watch.hpp>
#include <tandem/errors.hpp>
#include <tandem/io/completion_pool.hpp>
#include <utility>
#include <vector>

#include "direct/direct_port.hpp"
#include "engine/completion_engine.hpp"
#include "engine/completion_thread.hpp"
#include "engine/moves.hpp"
#include "engine/thread_loads.hpp"
#include "growth/growth_control.hpp"
#include "growth/growth_target.hpp"
#include "growth/stall_watch.hpp"
#include "pool/completion_metrics.hpp"
#include "pool/option_check.hpp"
#include "ready/stealable_executor.hpp"

namespace tandem::inline v0::io {

class completion_pool::impl final : public growth_target, public resident_listener {
 public:
  impl(runtime& owner, completion_pool& pool, const completion_options& options)
      : owner_(owner),
        options_(validated(options)),
        follows_(options.max_threads == 0 && options_.adaptive.enabled),
        cpus_(usable_cpus()),
        most_(follows_ ? most_on(cpus_) : options_.max_threads),
        drives_timers_(!tandem::detail::timers_of(owner).is_driven_for_good()),
        shared_(owner, options_.max_threads),
        loads_(std::make_shared<thread_loads>(options_.max_threads, *this)),
        watch_(owner, owner.options().name + "-io-watch", options_.stall_threshold,
               options_.on_stall) {
    completion_options one = options_;
    if (one.backend == io_backend::automatic) one.backend = first_backend();
    make_threads(pool, one);
    const bool watched = prepare_watch();
    try {
      start_threads();
    } catch (const std::system_error& refused) {
      // choice/refused: all threads have the same backend, so the first refusal decides for all.
      // Any other failure: choice/failed.
      if (options.backend != io_backend::automatic || !is_refusal(refused.code()) ||
          one.backend == io_backend::asio || !has_backend(io_backend::asio)) {
        throw;
      }
      say_refused(refused);
      for (const auto& each : engines_) each->ring().choose_backend(io_backend::asio);
      start_threads();
    }
    try {
      if (watched) watch_.start();
    } catch (...) {
      stop();
      throw;
    }
    if (direct_ != nullptr) tandem::detail::use_port(owner_.workers(), direct_);
    tandem::detail::timers_of(owner_).set_driver(&engines_.front()->sleeping());
  }

  void stop() noexcept {
    {
      const std::lock_guard guard(resizing_);
      ended_ = true;
    }
    watch_.stop();  // without the lock: on_stall may be about to resize
    close_port();
    const std::lock_guard guard(resizing_);
    tandem::detail::timers_of(owner_).set_driver(nullptr);
    moves_.settle();
    stop_threads();
    for (const auto& each : threads_) {
      each->implementation().sources().leave();
      each->implementation().wait_for_posts();
    }
    shared_.wait_for_posts();
  }

  void resize(unsigned wanted) {
    if (completion_engine::current() != nullptr) {
      throw std::logic_error(
          "completion_pool::resize: called on a completion thread, which it may have to wait for. "
          "Call it by blocking(), or from a thread outside");
    }
    if (wanted < options_.min_threads || wanted > most()) {
      throw std::invalid_argument("completion_pool::resize: " + std::to_string(wanted) +
                                  " is not between min_threads (" +
                                  std::to_string(options_.min_threads) + ") and max_threads (" +
                                  std::to_string(most()) + ")");
    }
    tandem::detail::refuse_if_forked(owner_, "completion_pool::resize");
    const std::lock_guard guard(resizing_);
    if (ended_) throw runtime_stopped("completion_pool::resize");
    const unsigned before = size();
    try {
      while (size() < wanted) add_thread();
    } catch (...) {
      log_resize(before);
      throw;
    }
    while (size() > wanted) retire_thread((size() - 1) % wanted);  // given to the others in turn
    log_resize(before);
  }

  // growth_target
  bool try_lock() noexcept override { return resizing_.try_lock(); }
  void lock() override { resizing_.lock(); }
  void unlock() noexcept override { resizing_.unlock(); }
  unsigned threads() const noexcept override { return size(); }
  bool has_room() const noexcept override {
    return size() < most() && !engines_[size()]->pulse().is_running();
  }
  void add_thread() override {
    const unsigned index = size();
    shared_.open(index + 1);
    engines_[index]->start();  // waits for its end first, if it is still retiring
    moves_.level(threads_[index]->implementation(), *engines_[index], index + 1);
    size_.store(index + 1, std::memory_order_release);
  }
  void retire_thread(unsigned survivor) noexcept override {
    const unsigned index = size() - 1;
    size_.store(index, std::memory_order_release);
    moves_.retire(*engines_[index], *engines_[survivor]);
  }

  std::uint32_t residents() const noexcept override { return loads_->residents(); }
  unsigned most_threads(std::chrono::steady_clock::time_point now) noexcept override {
    if (!follows_) return most();
    if (const auto cpus = machine_.look(now)) {                // growth/follow
      most_.store(most_on(*cpus), std::memory_order_relaxed);  // a number
    }
    return most();
  }

  // resident_listener
  void resident_arrived(std::uint32_t residents) noexcept override {
    // spreading/arrive
    if (grows() && residents > size() && size() < most() && growth_->wants_arrivals()) {
      watch_.hurry();
    }
  }

  completion_thread& in_turn() noexcept {
    // Relaxed: a turn is enough, no order.
    return *threads_[turn_.fetch_add(1, std::memory_order_relaxed) % size()];
  }
  completion_thread& next() noexcept {
    // spreading/choose
    const unsigned open = count_of_open();
    const unsigned least = loads_->least_loaded(open);
    if (loads_->sockets(least) == 0 || open >= most_places()) return *threads_[least];
    return thread(open);
  }
  completion_thread& thread_for(const tandem::executor& home) noexcept {
    // spreading/own
    for (const auto& each : threads_) {
      if (&each->executor() == &home) return *each;
    }
    return next();
  }
  unsigned most_places() const noexcept { return grows() ? most() : size(); }
  unsigned size() const noexcept {
    return size_.load(std::memory_order_acquire);  // pairs with resize()
  }
  completion_thread& thread(unsigned index) noexcept {
    completion_thread& wanted = *threads_.at(index);
    if (index >= count_of_open() && grows()) open_up_to(index);
    return wanted;
  }
  tandem::executor& executor() noexcept { return shared_; }

  completion_pool_stats stats() const noexcept {
    completion_pool_stats out;
    for (const auto& each : engines_) each->add_stats(out);
    out.min_threads = options_.min_threads;
    out.max_threads = most();
    out.goal = size();
    const decision_counts decided = log_.counts();
    out.injections = decided[static_cast<std::size_t>(pool_action::inject)];
    out.retirements = decided[static_cast<std::size_t>(pool_action::retire)];
    out.backend = backend_name();
    out.stalls = watch_.stalls();
    if (direct_ != nullptr) {
      out.by_workers = direct_->told();
      out.in_flight += direct_->waits();
    }
    return out;
  }
  std::string_view backend_name() const noexcept { return engines_.front()->ring().backend_name(); }
  std::chrono::steady_clock::time_point born() const noexcept { return born_; }
  std::vector<pool_decision> decisions() const {
    tandem::detail::refuse_if_forked(owner_, "completion_pool::decisions");
    return log_.copy();
  }

 private:
  /// growth/look
  bool grows() const noexcept {
    return options_.adaptive.enabled && options_.max_threads > options_.min_threads;
  }
  unsigned most() const noexcept { return most_.load(std::memory_order_relaxed); }
  /// By the machine. pre: follows_
  unsigned most_on(unsigned cpus) const noexcept {
    return std::clamp(cpus, options_.min_threads, options_.max_threads);
  }
  /// The first so many are open: those that have an engine of their own, and guests.
  unsigned count_of_open() const noexcept {
    const unsigned opened = open_.load(std::memory_order_acquire);  // pairs with open_up_to()
    return grows() ? std::min(std::max(size(), opened), std::max(size(), most())) : size();
  }
  /// spreading/open
  void open_up_to(unsigned index) noexcept {
    for (unsigned i = count_of_open(); i <= index; ++i) {
      moves_.open(threads_[i]->implementation(), *engines_.front());
    }
    unsigned seen = open_.load(std::memory_order_relaxed);
    while (seen <= index &&
           !open_.compare_exchange_weak(seen, index + 1, std::memory_order_release)) {}
  }
  /// @returns  whether there is one
  bool prepare_watch() {
    open_port();
    const bool told = options_.stall_threshold.count() > 0;
    if (!told && !grows() && direct_ == nullptr) return false;
    for (const auto& each : engines_) watch_.add(each->pulse());
    if (direct_ != nullptr) watch_.serve(*direct_);
    if (told && drives_timers_) {
      completion_engine& first = *engines_.front();
      watch_.watch_driver(tandem::detail::timers_of(owner_), first.sleeping(), first.pulse());
    }
    if (grows()) {
      growth_.emplace(options_.adaptive, *this, log_, options_.min_threads, options_.max_threads,
                      born_);
      watch_.serve(*growth_);
    }
    shared_.set_watch(&watch_);
    return true;
  }
  /// Where the workers have no threads, or the system refuses, completion threads wait for all.
  void open_port() noexcept {
    worker_pool& workers = owner_.workers();
    if (!tandem::detail::may_use_port(workers)) return;
    try {
      direct_ = std::make_shared<direct_port>(workers, watch_);
    } catch (const std::exception&) {
      return;
    }
    for (const auto& each : threads_) each->implementation().set_direct(direct_.get());
  }
  /// ports/end. pre: no task lives
  void close_port() noexcept {
    if (direct_ == nullptr || std::exchange(port_closed_, true)) return;
    tandem::detail::use_port(owner_.workers(), nullptr);
    direct_->close();
  }
  /// pre: resizing_ is locked
  void log_resize(unsigned before) noexcept {
    const unsigned after = size();
    if (after == before) return;
    watch_.kick();  // growth/rest: it rests for as long as was right for the number before
    log_.add(pool_decision(std::chrono::steady_clock::now() - born_, pool_action::change_goal,
                           decision_reason::outside_change, before, after, after, 0, 0));
  }
  void make_threads(completion_pool& pool, const completion_options& options) {
    const bool fill_cpus = owner_.workers().size() >= cpus_;
    for (unsigned i = 0; i < options.max_threads; ++i) {
      const bool drives_timers = i == 0 && drives_timers_;
      engines_.push_back(std::make_unique<completion_engine>(
          owner_, shared_, moves_, i, options.max_threads, drives_timers, fill_cpus, options));
      threads_.push_back(std::make_unique<completion_thread>(
          std::make_unique<completion_thread::impl>(owner_, pool, i, *engines_.back(), loads_)));
      moves_.add(threads_.back()->implementation());
      shared_.add(engines_.back()->lane());
    }
  }
  void start_threads() {
    shared_.open(options_.min_threads);
    try {
      for (unsigned i = 0; i < options_.min_threads; ++i) {
        engines_[i]->start();
        moves_.send(threads_[i]->implementation(), *engines_[i]);
      }
    } catch (...) {
      stop_threads();
      throw;
    }
    size_.store(options_.min_threads, std::memory_order_release);
  }
  void stop_threads() noexcept {
    for (const auto& each : engines_) each->stop();
  }

  runtime& owner_;
  const completion_options options_;  // max_threads: how many engines are made
  const bool follows_;
  const unsigned cpus_;  // at the start
  std::atomic<unsigned> most_;
  tandem::detail::machine_watch machine_;  // under the lock of the number
  // A runtime without threads drives its timers itself.
  const bool drives_timers_;
  stealable_executor shared_;
  const std::shared_ptr<thread_loads> loads_;
  moves moves_;
  const std::chrono::steady_clock::time_point born_ = std::chrono::steady_clock::now();
  tandem::detail::decision_log log_;
  std::optional<growth_control> growth_;  // the watch's
  stall_watch watch_;
  std::shared_ptr<direct_port> direct_;  // null: the workers wait for nothing themselves
  std::vector<std::unique_ptr<completion_engine>>
      engines_;  // max_threads of both, made at the start
  std::vector<std::unique_ptr<completion_thread>> threads_;
  bool port_closed_ = false;  // stop()'s
  std::mutex resizing_;       // growth/watch: who changes size_
  bool ended_ = false;        // guarded by resizing_
  std::atomic<unsigned> size_{0};
  std::atomic<unsigned> open_{0};
  std::atomic<unsigned> turn_{0};
};

completion_pool::completion_pool(runtime& owner, const completion_options& options)
    : impl_(std::make_unique<impl>(owner, *this, options)) {}
completion_pool::~completion_pool() { impl_->stop(); }

tandem::executor& completion_pool::executor() noexcept { return impl_->executor(); }
unsigned completion_pool::size() const noexcept { return impl_->size(); }
completion_thread& completion_pool::thread(unsigned index) noexcept { return impl_->thread(index); }
void completion_pool::resize(unsigned threads) { impl_->resize(threads); }
completion_thread& completion_pool::next_thread() noexcept { return impl_->next(); }
completion_thread& completion_pool::thread_for(const tandem::executor& home) noexcept {
  return impl_->thread_for(home);
}
completion_thread& completion_pool::thread_in_turn() noexcept { return impl_->in_turn(); }
unsigned completion_pool::most_places() const noexcept { return impl_->most_places(); }
std::string_view completion_pool::service_name() const noexcept { return "completion pool"; }
void completion_pool::stop() noexcept { impl_->stop(); }
completion_pool_stats completion_pool::stats() const noexcept { return impl_->stats(); }
bool completion_pool::awaits_anything() const noexcept { return impl_->stats().in_flight != 0; }
void completion_pool::append_metrics(std::vector<metric_family>& out) const {
  append_completion_metrics(stats(), out);
}
std::vector<pool_decision> completion_pool::decisions() const { return impl_->decisions(); }

void completion_pool::for_each_decision(
    const std::function<void(std::chrono::steady_clock::time_point, const pool_decision&)>& add)
    const {
  for (const pool_decision& each : impl_->decisions()) add(impl_->born() + each.when, each);
}
std::string_view completion_pool::backend_name() const noexcept { return impl_->backend_name(); }

completion_pool& current_completion_pool(const char* what) {
  return tandem::detail::current_runtime(what, "call it in a task").use_service<completion_pool>();
}

completion_pool& default_completion_pool(const char* what) {
  return tandem::detail::current_runtime(what,
                                         "name a pool as its first argument, "
                                         "tandem::io::install(runtime), or call it in a task")
      .use_service<completion_pool>();
}

int current_completion_index() noexcept {
  const completion_engine* const here = completion_engine::current();
  return here != nullptr ? static_cast<int>(here->index()) : -1;
}

}  // namespace tandem::inline v0::io
