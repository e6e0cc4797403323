// buffer_register.cpp: the register of buffers in flight, and who asks it.
// SPDX-License-Identifier: MIT
//
// An ordered map by address, under one lock, and before it a count for each page (by a hash), so
// that whoever frees a frame mostly finds a zero and takes no lock. What races with the operation's
// own thread is found by chance; what is in flight for longer is found for sure.
#include "ring/buffer_register.hpp"

#include <tandem/io/detail/datagram.hpp>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/io/detail/local_message.hpp>
#include <tandem/io/native_descriptor.hpp>

#include <tandem/io/buffers_in_flight.hpp>

#if !defined(NDEBUG)
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory_resource>
#include <mutex>
#include <new>
#include <source_location>
#include <span>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/environment.hpp>
#include <thread>
#include <utility>

#if !defined(TANDEM_IO_SEES_POISON) && defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TANDEM_IO_SEES_POISON 1
#endif
#endif
#if !defined(TANDEM_IO_SEES_POISON) && defined(__SANITIZE_ADDRESS__)
#define TANDEM_IO_SEES_POISON 1
#endif
#if defined(TANDEM_IO_SEES_POISON)
#include <sanitizer/asan_interface.h>
#endif
#endif

namespace tandem::inline v0::io {

#if defined(NDEBUG)

bool are_buffers_checked() noexcept { return false; }
void check_no_buffer_in_flight(const void*, std::size_t) noexcept {}

#else

namespace {

using detail::buffer_form;
using detail::operation;

/// Calls use(address, bytes) for each buffer.
template <class Use>
void for_each_buffer(operation& each, Use use) {
  const auto use_all = [&](std::span<const detail::segment> parts) {
    for (const detail::segment& part : parts) use(part.data, part.bytes);
  };
  switch (each.row().buffer) {
    case buffer_form::bytes:
      if (each.bytes() != 0) use(each.buffer(), each.bytes());
      break;
    case buffer_form::window: use_all(each.window().segments()); break;
    case buffer_form::datagram:
      if (each.of_datagram().bytes != 0) use(each.of_datagram().data, each.of_datagram().bytes);
      break;
    case buffer_form::train:
      if (each.of_train().bytes != 0) {
        use(const_cast<std::byte*>(each.of_train().data),
            each.of_train().bytes);  // NOLINT: an address
      }
      break;
    case buffer_form::list:
      for (const outgoing_datagram& one : each.of_datagrams().all) {
        void* const bytes = const_cast<std::byte*>(one.bytes().data());  // NOLINT: an address
        if (!one.bytes().empty()) use(bytes, one.bytes().size());
      }
      break;
    case buffer_form::message:
      if (each.of_message().bytes != 0) use(each.of_message().data, each.of_message().bytes);
      break;
    case buffer_form::file:
      if (each.of_file().is_transfer()) use_all(each.of_file().segments());
      break;
    case buffer_form::none:
    case buffer_form::other:        // the system's own memory
    case buffer_form::batch:        // memory of the library's own
    case buffer_form::peer: break;  // nothing, or a part of the frame
  }
}

struct entry {
  const char* name;
  native_descriptor descriptor;
  bool is_the_operation;  // else one of its buffers
  std::size_t bytes;
  std::uint64_t task;
  std::source_location spawned_at;
};

[[noreturn]] void report(const entry& found, std::uintptr_t at, const char* what) noexcept {
  std::fprintf(
      stderr,
      "tandem::io: %s while %s on descriptor %lld was in flight: its %s, %zu bytes at %p, lies "
      "in there\n  the operation belongs to task %llu, spawned at %s:%u; stop and await it "
      "before what it uses goes\n",
      what, found.name, static_cast<long long>(found.descriptor),
      found.is_the_operation ? "operation" : "buffer", found.bytes,
      reinterpret_cast<void*>(at),  // NOLINT: to be printed
      static_cast<unsigned long long>(found.task), found.spawned_at.file_name(),
      static_cast<unsigned>(found.spawned_at.line()));
  std::abort();
}

class buffer_register {
 public:
  /// Never destroyed: threads may outlive main's statics.
  static buffer_register& instance() noexcept {
    alignas(buffer_register) static std::byte room[sizeof(buffer_register)];
    static buffer_register& only = *::new (room) buffer_register;  // which allocates nothing
    return only;
  }

  void enter(operation& each) noexcept {
    const environment* const env = each.has_waiting() ? each.waiting().env : nullptr;
    entry made{each.name(),
               each.descriptor(),
               true,
               sizeof(operation),
               env != nullptr ? env->id() : 0,
               env != nullptr ? env->spawned_at() : std::source_location()};
    const std::lock_guard guard(lock_);
    try {
      add(&each, each, made);
      made.is_the_operation = false;
      for_each_buffer(each, [&](void* buffer, std::size_t bytes) {
        made.bytes = bytes;
        add(buffer, each, made);
      });
    } catch (const std::bad_alloc&) {
      // A check less: what is not registered is not found, and the operation goes on.
    }
  }

  void leave(operation& each) noexcept {
    const std::lock_guard guard(lock_);
    remove(&each, each);
    for_each_buffer(each, [&](void* buffer, [[maybe_unused]] std::size_t bytes) {
      const auto found = in_flight_.find({address(buffer), address(&each)});
      if (found == in_flight_.end()) return;
#if defined(TANDEM_IO_SEES_POISON)
      if (__asan_region_is_poisoned(buffer, bytes) != nullptr) {
        report(found->second, found->first.first, "memory was freed");
      }
#endif
      remove(buffer, each);
    });
  }

  void check(const void* memory, std::size_t bytes, const char* what) noexcept {
    if (bytes == 0) return;
    const std::uintptr_t first = address(memory);
    const std::uintptr_t last = first + bytes - 1;
    bool any = last - first > pages_.size() * page_bytes;
    for (std::uintptr_t page = first / page_bytes; !any && page <= last / page_bytes; ++page) {
      any = pages_[page % pages_.size()].load(std::memory_order_relaxed) != 0;  // a hint
    }
    if (!any) return;
    std::unique_lock guard(lock_, std::defer_lock);
    // A child of fork() may find the lock held for ever.
    for (int i = 0; !guard.try_lock(); ++i) {
      if (i == 10'000) return;
      std::this_thread::yield();
    }
    const auto found = in_flight_.lower_bound({first, 0});
    if (found != in_flight_.end() && found->first.first <= last) {
      report(found->second, found->first.first, what);
    }
  }

 private:
  static constexpr std::uintptr_t page_bytes = 4096;

  static std::uintptr_t address(const void* of) noexcept {
    return reinterpret_cast<std::uintptr_t>(of);  // NOLINT: to be compared
  }
  std::atomic<std::uint32_t>& page_of(const void* place) noexcept {
    return pages_[address(place) / page_bytes % pages_.size()];
  }
  void add(const void* place, const operation& of, const entry& what) {
    if (!in_flight_.emplace(std::pair(address(place), address(&of)), what).second) return;
    page_of(place).fetch_add(1, std::memory_order_relaxed);
  }
  void remove(const void* place, const operation& of) noexcept {
    if (in_flight_.erase({address(place), address(&of)}) == 0) return;
    page_of(place).fetch_sub(1, std::memory_order_relaxed);
  }

  std::mutex lock_;
  std::pmr::unsynchronized_pool_resource memory_;  // keeps what it has: no allocation per operation
  // By address, and by operation: two may send from one buffer.
  std::pmr::map<std::pair<std::uintptr_t, std::uintptr_t>, entry> in_flight_{&memory_};
  std::array<std::atomic<std::uint32_t>, 4096> pages_{};  // how many of in_flight_ begin there
};

void check_frame(const void* frame, std::size_t bytes) noexcept {
  buffer_register::instance().check(frame, bytes, "a coroutine's frame was freed");
}

}  // namespace

void enter_buffers(operation& each) noexcept {
  // From the first operation on.
  tandem::detail::check_freed_frame.store(&check_frame, std::memory_order_relaxed);  // stateless
  buffer_register::instance().enter(each);
}

void leave_buffers(operation& each) noexcept { buffer_register::instance().leave(each); }

bool are_buffers_checked() noexcept { return true; }

void check_no_buffer_in_flight(const void* memory, std::size_t bytes) noexcept {
  buffer_register::instance().check(memory, bytes, "memory was given up");
}

#endif

}  // namespace tandem::inline v0::io
