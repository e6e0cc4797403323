// multishot.hpp: what comes on a descriptor without being asked each time, between two calls of the user.
// SPDX-License-Identifier: MIT
//
// Made by the first receive() or incoming() of a socket, ended by its close. The completion thread
// (owner) puts in what comes, one strand (the user's) takes it out. Protocols
// receiving (README.md beside this) and moving. What is queued, and where, is the derived class's:
// receiver.hpp, acceptor.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/leaf.hpp>

#include "backend/multishot_source.hpp"
#include "engine/completion_thread.hpp"
#include "engine/source_list.hpp"

namespace tandem::inline v0::io {

class buffer_stock;

namespace detail {

class multishot : public multishot_source,
                  public thread_source,
                  public tandem::detail::frame_allocated {
 public:
  /// The descriptor stays the socket's until close().
  multishot(kind what, completion_thread::impl& thread, native_descriptor descriptor) noexcept;
  virtual ~multishot() = default;

  // The user's strand.

  enum class wait_answer : std::uint8_t { waits, ready, stopped };
  /// receiving/wait. The leaf has begun. If it is `ready`, there is something to take.
  wait_answer wait(tandem::detail::leaf& waiter) noexcept;
  /// Any thread, in on_stop. @returns whether the waiter was detached; if it does not wait yet,
  ///                                   wait() finds that it was stopped
  bool remove(tandem::detail::leaf& waiter) noexcept;
  /// After a wait: no stop is under way any more.
  void forget_stop() noexcept;
  /// receiving/hold_back. Has it armed, unless it is. Whoever makes it calls this once; from then on
  /// it does so itself.
  void ask_to_arm() noexcept;
  /// receiving/close. No wait is under way. Takes the descriptor; the object is not to be used any
  /// more.
  void close() noexcept;
  /// In a child of fork(): what it waits for, and its thread, are the parent's.
  bool is_parents() const noexcept;

  // The owner.

  /// receiving/hold_back, moving/cancel. The backend is asked for the end, if it is armed and was
  /// not asked yet.
  void hold_back() noexcept final;
  bool is_armed() const noexcept final { return armed_; }
  void leave() noexcept final { thread_.store(nullptr, std::memory_order_release); }

 protected:
  static constexpr std::int32_t open_ended = 1;

  // What the derived class does.
  /// receiving/wait. The strand: whether something is queued. seq_cst.
  virtual bool has_arrived() const noexcept = 0;
  /// The owner, before it arms. @returns false if it is idle again
  virtual bool prepare_to_arm(buffer_stock& /*here*/) noexcept { return true; }
  /// receiving/close. The owner: neither armed nor asked to be. @returns whether it was waiting for
  /// something else
  virtual bool give_up() noexcept { return false; }
  /// At the close: nobody takes what is queued.
  virtual void drop_queue() noexcept = 0;

  // What it does with what comes; the owner.
  /// @returns  whether it is being closed: then what came is not wanted
  bool begin_received(bool armed) noexcept;
  /// Something is about to be queued.
  void queue_grows() noexcept {
    put_.store(put_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // own word
  }
  /// What came is queued.
  void queue_grew(bool armed) noexcept;
  /// Nothing came. @param ended  nothing will, unless it is armed again
  void nothing_came(std::int32_t outcome, bool armed, bool ended) noexcept;
  void arm() noexcept;

  // The strand.
  /// receiving/hold_back, moving/old_buffers. Something was taken out of the queue.
  void queue_shrank() noexcept;
  /// receiving/end. A failure has been told, and the next call asks again. It is not armed, so
  /// nobody else writes here until then.
  void forget_end() noexcept {
    end_.store(open_ended, std::memory_order_relaxed);
    idle_.store(true, std::memory_order_seq_cst);
  }

  completion_thread::impl* owner() const noexcept {
    return thread_.load(std::memory_order_relaxed);  // the owner's, and after leave() anybody's
  }

  /// The owner. acquire: pairs with queue_shrank().
  std::uint32_t queued() const noexcept {
    return put_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_acquire);
  }

  std::atomic<std::int32_t> end_{open_ended};  // receiving/end: open_ended, 0 or an error number
  std::atomic<bool> idle_{true};               // not armed, and nobody is about to arm it

 private:
  class request : public job {
   public:
    request(function f, multishot& owner) noexcept : job(f), target(&owner) {}
    multishot* target;
  };
  /// How much waits to be taken before the kernel is asked to hold back.
  static constexpr std::uint32_t queue_limit = 8;

  static void run_arm(job* self) noexcept;
  static void run_close(job* self) noexcept;
  void becomes_idle() noexcept;
  void wake_waiter() noexcept;
  void finish_close() noexcept;

  // receiving/hold_back. Two counts, each with one writer, so that neither side needs a locked
  // addition. What is seen late delays a request to hold back, or brings a look at idle_ earlier.
  std::atomic<std::uint32_t> put_{0};             // the owner's
  std::atomic<std::uint32_t> taken_{0};           // the strand's
  std::atomic<completion_thread::impl*> thread_;  // null after the thread's end
  std::atomic<tandem::detail::leaf*> waiter_{nullptr};
  bool armed_ = false;  // owner, as are the rest
  bool holding_back_ = false;
  bool closing_ = false;
  request arm_request_;  // from ask_to_arm() until it has run
  request close_request_;
};

}  // namespace detail

}  // namespace tandem::inline v0::io
