// await_executor.hpp: the strand that is made for one await of an operation of Asio.
// SPDX-License-Identifier: MIT
//
// Steps of the operation and the emission of a stop take turns (protocol turns,
// runtime/src/foreign/README.md). It may be copied, and used when the await is over: then it still
// runs what it gets.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tandem/asio/detail/operation_executor.hpp>
#include <tandem/detail/await_turns.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/promise_base.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::detail {

/// The turns, and memory for what the operation allocates: one thing at a time, which is what
/// operations want, since each step of a composed one gives its own back before the next takes its.
/// More comes from the lists of frames. It outlives the await if a copy of the executor does, or
/// what was allocated.
class await_strand : public await_turns, public frame_allocated {
 public:
  /// Whose strand it is.
  class user {
   public:
    /// A step of the operation is over. With the turn.
    virtual void step_is_over() noexcept = 0;

   protected:
    ~user() = default;
  };

  await_strand(bool is_serial, user& of) noexcept : is_serial_(is_serial), user_(&of) {}

  /// Any thread. @throws std::bad_alloc
  void* allocate(std::size_t size) {
    if (size > sizeof bytes_) return allocate_frame(size);
    std::uint32_t seen = holds_.load(std::memory_order_relaxed);  // the exchange looks again
    do {
      if ((seen & taken_bit) != 0) return allocate_frame(size);
      // acquire: pairs with deallocate(). The memory is a hold.
    } while (!holds_.compare_exchange_weak(seen, (seen | taken_bit) + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed));
    return bytes_;
  }
  void deallocate(void* block, std::size_t size) noexcept {
    if (block == static_cast<void*>(bytes_)) {
      give_up(taken_bit + 1);
    } else {
      free_frame(block, size);
    }
  }

  /// The executor below runs one at a time by itself: nobody takes turns.
  bool is_serial() const noexcept { return is_serial_; }

  // With the turn:
  void step_is_over() noexcept {
    // Relaxed: under the turn.
    if (user* const of = user_.load(std::memory_order_relaxed)) of->step_is_over();
  }
  /// The await is over. Also by whoever destroys the operation, when no step runs.
  void forget_user() noexcept { user_.store(nullptr, std::memory_order_relaxed); }

  void hold() noexcept { holds_.fetch_add(1, std::memory_order_relaxed); }  // by a holder
  void release() noexcept { give_up(1); }

 private:
  static constexpr std::uint32_t taken_bit = std::uint32_t{1} << 31;

  void give_up(std::uint32_t what) noexcept {
    // acq_rel: the end comes after all that the others have done.
    if (holds_.fetch_sub(what, std::memory_order_acq_rel) == what) delete this;
  }

  std::atomic<std::uint32_t> holds_{1};  // and whether the memory is taken
  const bool is_serial_;
  std::atomic<user*> user_;
  // A read of a socket takes some 250 bytes, a step of a TLS stream twice that.
  alignas(16) std::byte bytes_[368];
};

/// While it lives the strand does.
class strand_hold {
 public:
  explicit strand_hold(await_strand& strand) noexcept : strand_(&strand) { strand_->hold(); }
  strand_hold(const strand_hold& other) noexcept : strand_hold(*other.strand_) {}
  strand_hold(strand_hold&& other) noexcept : strand_(std::exchange(other.strand_, nullptr)) {}
  strand_hold& operator=(strand_hold other) noexcept {
    std::swap(strand_, other.strand_);
    return *this;
  }
  ~strand_hold() {
    if (strand_ != nullptr) strand_->release();
  }
  await_strand& get() const noexcept { return *strand_; }

 private:
  await_strand* strand_;
};

/// @tparam Inner  the executor of the I/O object, whose threads do the work
template <class Flavour, class Inner>
class await_executor {
  using blocking = typename Flavour::blocking;

 public:
  await_executor(const strand_hold& strand, const Inner& inner, bool later = false) noexcept
      : strand_(strand), inner_(inner), later_(later) {}

  await_executor require(typename blocking::possibly_t /*how*/) const noexcept {
    return await_executor(strand_, inner_, false);
  }
  await_executor require(typename blocking::never_t /*how*/) const noexcept {
    return await_executor(strand_, inner_, true);
  }
  blocking query(blocking /*which*/) const noexcept {
    if (later_) return blocking::never;
    return blocking::possibly;
  }
  typename Flavour::execution_context& query(typename Flavour::context /*which*/) const noexcept {
    return Flavour::context_of(inner_);
  }

  const Inner& below() const noexcept { return inner_; }

  template <class F>
  void execute(F&& f) const {
    await_strand& strand = strand_.get();
    if (strand.is_serial()) {
      step<std::decay_t<F>> one(strand_, std::forward<F>(f));
      if (later_) return Flavour::execute_later(inner_, std::move(one));
      return Flavour::execute(inner_, std::move(one));
    }
    // In place only where the object's executor would run it, too.
    if (!later_ && nature_of<Flavour>(inner_).is_here && strand.try_enter()) {
      const strand_hold held(strand_);  // what runs may be the last to know of it
      const held_turn turn(strand);
      std::decay_t<F> now(std::forward<F>(f));
      run_step(strand, now);
      return;
    }
    auto made = std::make_unique<queued<std::decay_t<F>>>(strand_, inner_, std::forward<F>(f));
    const Inner inner = inner_;
    if (later_) {
      Flavour::execute_later(inner, arrival<std::decay_t<F>>(std::move(made)));
    } else {
      Flavour::execute(inner, arrival<std::decay_t<F>>(std::move(made)));
    }
  }

  friend bool operator==(const await_executor& a, const await_executor& b) noexcept {
    return &a.strand_.get() == &b.strand_.get() && a.inner_ == b.inner_ && a.later_ == b.later_;
  }

 private:
  template <class F>
  static void run_step(await_strand& strand, F& f) {
    f();
    strand.step_is_over();
  }
  /// On its way to an executor that is serial itself.
  template <class F>
  class step {
   public:
    template <class G>
    step(const strand_hold& strand, G&& f) : strand_(strand), f_(std::forward<G>(f)) {}
    void operator()() {
      F now(std::move(f_));
      run_step(strand_.get(), now);
    }

   private:
    strand_hold strand_;
    F f_;
  };

  // What waits for its turn holds the inner executor at work.
  using working = std::decay_t<decltype(Flavour::prefer(std::declval<const Inner&>(),
                                                        Flavour::outstanding_work::tracked))>;

  template <class F>
  class queued final : public await_turns::item, public frame_allocated {
   public:
    template <class G>
    queued(const strand_hold& strand, const Inner& inner, G&& f)
        : item(&queued::go),
          strand_(strand),
          inner_(Flavour::prefer(inner, Flavour::outstanding_work::tracked)),
          f_(std::forward<G>(f)) {}

    const strand_hold& strand() const noexcept { return strand_; }
    /// With the turn, which ends with it.
    static void run(std::unique_ptr<queued> self) {
      const strand_hold held(self->strand_);
      const held_turn turn(held.get());
      F now(std::move(self->f_));
      self.reset();
      run_step(held.get(), now);
    }

   private:
    /// turns/go
    static void go(item& self) noexcept {
      std::unique_ptr<queued> owned(&static_cast<queued&>(self));
      const working inner = owned->inner_;
      try {
        Flavour::execute_later(inner, turn_of(std::move(owned)));
      } catch (...) {  // no memory: it was destroyed, and the await hears of that
      }
    }

    strand_hold strand_;
    const working inner_;
    F f_;

   public:
    /// Posted with the turn. Destroyed without a call it gives the turn back.
    class turn_of {
     public:
      explicit turn_of(std::unique_ptr<queued> item) noexcept : item_(std::move(item)) {}
      turn_of(turn_of&&) noexcept = default;
      turn_of& operator=(turn_of&&) = delete;
      ~turn_of() {
        if (item_ == nullptr) return;
        const strand_hold held(item_->strand());
        const held_turn turn(held.get());
        item_.reset();
      }
      void operator()() { run(std::move(item_)); }

     private:
      std::unique_ptr<queued> item_;
    };
  };

  template <class F>
  static void enter(std::unique_ptr<queued<F>> item) {
    const strand_hold held(item->strand());
    queued<F>* const waiting = item.release();
    if (held.get().enter(*waiting)) queued<F>::run(std::unique_ptr<queued<F>>(waiting));
  }

  /// Comes to the inner executor, and asks for a turn there.
  template <class F>
  class arrival {
   public:
    explicit arrival(std::unique_ptr<queued<F>> item) noexcept : item_(std::move(item)) {}
    void operator()() { enter(std::move(item_)); }

   private:
    std::unique_ptr<queued<F>> item_;
  };

  strand_hold strand_;
  Inner inner_;
  bool later_;
};

/// The type of the strand over an executor; there is one strand, and it is over no other.
template <class Flavour, class Executor>
struct await_executor_over {
  using type = await_executor<Flavour, Executor>;
};
template <class Flavour, class Inner>
struct await_executor_over<Flavour, await_executor<Flavour, Inner>> {
  using type = await_executor<Flavour, Inner>;
};

}  // namespace tandem::inline v0::detail
