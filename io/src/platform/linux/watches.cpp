// watches.cpp: inotify.
// SPDX-License-Identifier: MIT
#include "platform/watches.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "platform/error_number.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// Which bit of an event is which change. Most events have one of them.
struct meaning {
  std::uint32_t bit;
  change_kind kind;
};
constexpr meaning meanings[] = {
    {IN_Q_OVERFLOW, change_kind::overflow}, {IN_IGNORED, change_kind::ended},
    {IN_UNMOUNT, change_kind::unmounted},   {IN_CREATE, change_kind::created},
    {IN_DELETE, change_kind::removed},      {IN_MOVED_FROM, change_kind::moved_from},
    {IN_MOVED_TO, change_kind::moved_to},   {IN_MOVE_SELF, change_kind::moved_itself},
    {IN_MODIFY, change_kind::contents},     {IN_CLOSE_WRITE, change_kind::closed_by_writer},
    {IN_ATTRIB, change_kind::attributes},
};

std::uint32_t mask_of(watch_for what) noexcept {
  std::uint32_t mask = IN_MOVE_SELF;
  if (has(what, watch_for::names)) mask |= IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
  if (has(what, watch_for::contents)) mask |= IN_MODIFY;
  if (has(what, watch_for::writers)) mask |= IN_CLOSE_WRITE;
  if (has(what, watch_for::attributes)) mask |= IN_ATTRIB;
  return mask;
}

class inotify_watches final : public watch_set {
 public:
  explicit inotify_watches(native_descriptor reads) noexcept : reads_(reads) {}

  result<int> add(const char* path, watch_for what, bool follows_link) noexcept override {
    const std::uint32_t links = follows_link ? 0U : static_cast<std::uint32_t>(IN_DONT_FOLLOW);
    const int watch = ::inotify_add_watch(reads_, path, mask_of(what) | links);
    if (watch < 0) return error_of(errno);
    return watch;
  }

  void remove(int watch) noexcept override { (void)::inotify_rm_watch(reads_, watch); }

  std::size_t next_change(std::span<const std::byte> read, file_change& out) override {
    inotify_event event{};
    std::memcpy(&event, read.data(), sizeof event);
    out = file_change();
    out.watch = event.wd;
    out.cookie = event.cookie;
    out.is_directory = (event.mask & IN_ISDIR) != 0;
    for (const meaning& each : meanings) {
      if ((event.mask & each.bit) == 0) continue;
      out.kind = each.kind;
      break;
    }
    // Filled up with zeros.
    const auto* const name = reinterpret_cast<const char*>(read.data()) + sizeof event;  // NOLINT
    out.name.assign(name, ::strnlen(name, event.len));
    return sizeof event + event.len;
  }

 private:
  const native_descriptor reads_;
};

}  // namespace

result<opened_watches> open_watches(const file_port* /*port*/) noexcept {
  // It blocks: a ring takes that for "wait until something comes".
  const int made = ::inotify_init1(IN_CLOEXEC);
  if (made < 0) return error_of(errno);
  opened_watches opened;
  opened.reads = made;
  opened.set.reset(new (std::nothrow) inotify_watches(made));
  if (opened.set != nullptr) return opened;
  ::close(made);
  return error_of(ENOMEM);
}

}  // namespace tandem::inline v0::io::platform
