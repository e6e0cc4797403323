// asio_home.hpp: tasks of tandem that live in a context of Asio's.
// SPDX-License-Identifier: MIT
//
// Protocol foreign_homes: runtime/src/executors/README.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <tandem/asio/detail/home_link.hpp>
#include <tandem/asio/detail/operation_executor.hpp>
#include <tandem/detail/foreign_home.hpp>
#include <tandem/spawn.hpp>
#include <utility>
#include <vector>

namespace tandem::inline v0::detail {

/// foreign_homes/end. On its way to a context that is being destroyed, over and over, until its
/// tasks have ended: meanwhile the context destroys whatever else is on its way, and so ends what
/// the tasks wait for.
template <class Flavour, class Executor>
class loop_sweep {
 public:
  using links = std::vector<std::shared_ptr<home_link>>;
  loop_sweep(Executor executor, links waited_for) noexcept
      : executor_(std::move(executor)), waited_for_(std::move(waited_for)) {}
  loop_sweep(loop_sweep&& other) noexcept = default;
  loop_sweep& operator=(loop_sweep&&) = delete;
  ~loop_sweep() { sweep(); }
  void operator()() { sweep(); }

 private:
  void sweep() noexcept {
    while (!waited_for_.empty()) {
      bool ran = true;
      while (std::exchange(ran, false)) {
        for (const auto& each : waited_for_) ran = each->run_called() || ran;
        std::erase_if(waited_for_, [](const auto& each) { return each->is_cut(); });
      }
      if (waited_for_.empty()) return;
      waited_for_.front()->wait_a_moment();
      try {
        const Executor executor = executor_;
        Flavour::execute_later(executor, loop_sweep(executor, std::move(waited_for_)));
        waited_for_.clear();
      } catch (...) {  // no memory: once more in place
      }
    }
  }

  Executor executor_;
  links waited_for_;
};

/// Calls `use` with the executor below all strands.
template <class Flavour, class Executor, class Use>
void with_innermost(const Executor& executor, Use use) {
  with_held_executor<Flavour>(executor, [&](const auto& held) {
    if constexpr (requires { held.get_inner_executor(); }) {
      with_innermost<Flavour>(held.get_inner_executor(), use);
    } else {
      use(executor);
    }
  });
}

/// Tells homes of the end of their context.
template <class Flavour>
class asio_homes final : public Flavour::service {
 public:
  static inline typename Flavour::service_id id;

  explicit asio_homes(typename Flavour::execution_context& context) : Flavour::service(context) {}

  /// @param executor  of this context
  /// @throws          std::bad_alloc
  template <class Executor>
  void add(const std::shared_ptr<home_link>& home, const Executor& executor) {
    const std::lock_guard hold(lock_);
    if (homes_.size() >= next_sweep_) {
      std::erase_if(homes_, [](const auto& each) { return each->is_cut(); });
      next_sweep_ = std::max<std::size_t>(16, 2 * homes_.size());
    }
    homes_.push_back(home);
    // The last one will do; a strand would be gone too early.
    send_ = [executor](links&& waited_for) {
      with_innermost<Flavour>(executor, [&](const auto& innermost) {
        using sweep = loop_sweep<Flavour, std::decay_t<decltype(innermost)>>;
        Flavour::execute_later(innermost, sweep(innermost, std::move(waited_for)));
      });
    };
  }

 private:
  using links = std::vector<std::shared_ptr<home_link>>;

  void shutdown() noexcept override {
    links homes;
    std::function<void(links&&)> send;
    {
      const std::lock_guard hold(lock_);
      homes.swap(homes_);
      send.swap(send_);
    }
    std::erase_if(homes, [](const auto& each) { return each->is_cut(); });
    for (const auto& each : homes) each->end_loop();
    if (!homes.empty()) send(std::move(homes));
  }

  std::mutex lock_;
  links homes_;
  std::function<void(links&&)> send_;
  std::size_t next_sweep_ = 16;
};

/// Memory for the one call of the loop that may be on its way.
class loop_call_memory {
 public:
  void* allocate(std::size_t size) {
    if (size <= sizeof bytes_ && !taken_.exchange(true, std::memory_order_acquire)) return bytes_;
    return ::operator new(size);
  }
  void deallocate(void* block) noexcept {
    if (block == static_cast<void*>(bytes_)) {
      taken_.store(false, std::memory_order_release);  // pairs with allocate()
    } else {
      ::operator delete(block);
    }
  }

 private:
  alignas(16) std::byte bytes_[128];
  std::atomic<bool> taken_{false};
};
template <class T>
class loop_call_allocator {
 public:
  using value_type = T;
  explicit loop_call_allocator(loop_call_memory& memory) noexcept : memory_(&memory) {}
  template <class U>
  loop_call_allocator(const loop_call_allocator<U>& other) noexcept  // NOLINT
      : memory_(other.memory_) {}
  T* allocate(std::size_t count) { return static_cast<T*>(memory_->allocate(count * sizeof(T))); }
  void deallocate(T* block, std::size_t /*count*/) noexcept { memory_->deallocate(block); }
  friend bool operator==(const loop_call_allocator&, const loop_call_allocator&) noexcept = default;

 private:
  template <class U>
  friend class loop_call_allocator;
  loop_call_memory* memory_;
};

template <class Flavour, class Inner>
class asio_home final : public foreign_home {
 public:
  /// @throws  std::bad_alloc
  asio_home(runtime& owner, const Inner& inner, std::shared_ptr<spawned_stop> stop)
      : foreign_home(owner, "asio"),
        link_(*this),
        inner_(inner),
        work_(Flavour::prefer(inner, Flavour::outstanding_work::tracked)),
        stop_(std::move(stop)) {
    Flavour::template use_service<asio_homes<Flavour>>(Flavour::context_of(inner))
        .add(link_.link, inner);
  }

 private:
  using working = std::decay_t<decltype(Flavour::prefer(std::declval<const Inner&>(),
                                                        Flavour::outstanding_work::tracked))>;

  /// On its way to the loop.
  class call {
   public:
    explicit call(asio_home& home) noexcept : home_(&home) { home.hold(); }
    call(call&& other) noexcept : home_(std::exchange(other.home_, nullptr)) {}
    call& operator=(call&&) = delete;
    ~call() {
      if (home_ == nullptr) return;
      home_->call_dropped();
      home_->release();
    }
    void operator()() {
      asio_home* const home = std::exchange(home_, nullptr);
      home->run_some();
      home->release();
    }

   private:
    asio_home* home_;
  };

  /// The end of the context waits for the cut: executors of it are to be gone by then.
  struct cut_last {
    explicit cut_last(foreign_home& home) : link(std::make_shared<home_link>(home)) {}
    cut_last(const cut_last&) = delete;
    cut_last& operator=(const cut_last&) = delete;
    ~cut_last() { link->cut(); }
    const std::shared_ptr<home_link> link;
  };

  void call_loop() noexcept override {
    // Where nothing else was possible an allocation that fails ends the process: noexcept.
    Flavour::execute_later(Flavour::with_allocator(inner_, loop_call_allocator<void>(memory_)),
                           call(*this));
  }
  bool is_in_loop() const noexcept override { return nature_of<Flavour>(inner_).is_here; }
  void call_end() noexcept override { link_.link->call_end(); }
  void let_loop_go() noexcept override { work_.reset(); }
  void stop_tasks() noexcept override { stop_->stop(stop_reason::shutdown); }

  const cut_last link_;  // the first member: it goes last
  const Inner inner_;
  std::optional<working> work_;  // under the home's lock
  const std::shared_ptr<spawned_stop> stop_;
  loop_call_memory memory_;
};

}  // namespace tandem::inline v0::detail
