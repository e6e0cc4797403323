// socket.cpp: owning, moving and closing a descriptor.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <tandem/detail/place_text.hpp>
#include <tandem/environment.hpp>
#include <tandem/io/detail/socket.hpp>
#include <utility>

#include "direct/direct_port.hpp"
#include "platform/descriptor.hpp"
#include "platform/sockets.hpp"
#include "receive/multishot.hpp"

namespace tandem::inline v0::io {

detail::socket::socket(socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, no_descriptor)),
      kept_(std::exchange(other.kept_, -1)),
      thread_(other.thread_),
      listens_(other.listens_),
      record_(std::move(other.record_)),
      source_(std::exchange(other.source_, nullptr)) {
  TANDEM_ASSERT(other.is_idle(), "a socket was moved while an operation was in flight on it");
}

detail::socket& detail::socket::operator=(socket&& other) noexcept {
  if (this != &other) {
    TANDEM_ASSERT(other.is_idle(), "a socket was moved while an operation was in flight on it");
    close();
    descriptor_ = std::exchange(other.descriptor_, no_descriptor);
    kept_ = std::exchange(other.kept_, -1);
    thread_ = other.thread_;
    listens_ = other.listens_;
    record_ = std::move(other.record_);
    source_ = std::exchange(other.source_, nullptr);
  }
  return *this;
}

void detail::socket::forget() noexcept {
  // Acquire: pairs with direct/watch, by the task of one side.
  if (interest* const known = record_.known.exchange(nullptr, std::memory_order_acquire)) {
    direct_port::forget(*known, descriptor_);
  }
  record_.place.leave();
}

void detail::socket::leave_side(socket_side side) noexcept {
  direct_port::leave_side(record_.known, descriptor_, side);
}

native_descriptor detail::socket::release() noexcept {
  TANDEM_ASSERT(is_idle(), "a socket was released while an operation was in flight on it");
  TANDEM_ASSERT(source_ == nullptr,
                "a socket was released after receive() or incoming(): the runtime reads, or "
                "accepts, ahead on it");
  drop_kept();
  forget();
  if (is_open()) platform::make_blocking(descriptor_);  // a backend may have set it
  return std::exchange(descriptor_, no_descriptor);
}

#if defined(NDEBUG)

std::int32_t detail::socket::refuse_second(side_user*& user, const char*,
                                           const tandem::detail::promise_base&) noexcept {
  static side_user nobodys{nullptr};  // only ever null
  user = &nobodys;
  return -EINPROGRESS;
}

#else

namespace {

void print_task(const char* before, const environment* env) noexcept {
  if (env == nullptr) {
    std::fprintf(stderr, "%sa task that has not begun to wait", before);
    return;
  }
  std::fprintf(stderr, "%stask %llu, spawned at %s%s%s", before,
               static_cast<unsigned long long>(env->id()),
               tandem::detail::place_text(env->spawned_at()).c_str(),
               env->name()[0] != 0 ? ", " : "", env->name());
}

}  // namespace

std::int32_t detail::socket::refuse_second(side_user*& user, const char* name,
                                           const tandem::detail::promise_base& waiting) noexcept {
  const tandem::detail::leaf* const first = user->load(std::memory_order_relaxed);
  const bool waits = first != nullptr && first->has_waiting();
  std::fprintf(stderr, "tandem::io: %s on descriptor %lld while another one is under way:\n", name,
               static_cast<long long>(descriptor_));
  print_task("  ", waits ? first->waiting().env : nullptr);
  print_task(" was first;\n  ", waiting.env);
  std::fprintf(stderr, " came second. A socket takes one of each side at a time\n");
  std::abort();
}

#endif

void detail::socket::drop_kept() noexcept {
  const std::int32_t kept = take_kept();
  if (kept >= 0) platform::close(descriptor_of(kept));
}

void detail::socket::close() noexcept {
  drop_kept();
  if (!is_open()) return;
  TANDEM_ASSERT(
      is_idle(),
      "a socket was closed while an operation was in flight on it: stop and await it first");
  forget();
  const native_descriptor descriptor = std::exchange(descriptor_, no_descriptor);
  multishot* const open = std::exchange(source_, nullptr);
  if (open != nullptr && !open->is_parents()) {
    // receiving/close closes it, in its time
    if (listens_) platform::end_listening(descriptor);
    open->close();
  } else {
    platform::close(descriptor);
  }
}

}  // namespace tandem::inline v0::io
