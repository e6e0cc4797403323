// file_watch.cpp: what was read, handed out change by change.
// SPDX-License-Identifier: MIT
#include <tandem/io/file_watch.hpp>

#include <cerrno>
#include <span>
#include <system_error>
#include <tandem/blocking.hpp>
#include <tandem/config.hpp>
#include <utility>

#include "engine/completion_thread.hpp"
#include "net/checked.hpp"
#include "platform/error_number.hpp"
#include "platform/watches.hpp"

namespace tandem::inline v0::io {

namespace {

class in_flight {
 public:
  explicit in_flight(std::atomic<int>& count) noexcept : count_(&count) {
    count_->fetch_add(1, std::memory_order_relaxed);
  }
  in_flight(const in_flight&) = delete;
  in_flight& operator=(const in_flight&) = delete;
  ~in_flight() { count_->fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<int>* count_;
};

}  // namespace

file_watch::file_watch() {
  completion_pool& pool = current_completion_pool("file_watch");
  room_ = std::make_unique<std::byte[]>(platform::change_bytes);
  const platform::file_port* const port = pool.thread(0).implementation().port_of_files();
  platform::opened_watches opened = checked(platform::open_watches(port), "file_watch");
  set_ = std::move(opened.set);
  changes_ = detail::socket(opened.reads, pool.next_thread());
}

file_watch::~file_watch() {
  TANDEM_ASSERT(adds_.load(std::memory_order_relaxed) == 0,
                "a file_watch was destroyed while an add() was in flight on it: await it first");
}

task<int> file_watch::add(std::string path, watch_for what, symlinks links) {
  const std::string tried = "file_watch::add \"" + path + '"';
  if (path.find('\0') != std::string::npos) {
    throw std::system_error(platform::error_of(EINVAL), tried);
  }
  const auto call = [&] { return set_->add(path.c_str(), what, links == symlinks::follow); };
  const in_flight use(adds_);
  co_return checked(co_await blocking(call), tried.c_str());
}

void file_watch::remove(int watch) noexcept { set_->remove(watch); }

file_change file_watch::take() {
  file_change made;
  next_ += set_->next_change(std::span(room_.get() + next_, end_ - next_), made);
  return made;
}

file_change_awaiter::file_change_awaiter(file_watch& watch) noexcept
    : socket_awaiter(detail::operation_kind::read_own, watch.changes_, watch.room_.get(),
                     platform::change_bytes),
      watch_(&watch) {}

bool file_change_awaiter::await_ready() noexcept {
  return is_there_ = watch_->next_ < watch_->end_;
}

file_change file_change_awaiter::await_resume() {
  if (!is_there_) {
    end_operation();
    if (operation_.failed()) operation_.throw_failure("file_watch::next");
    watch_->next_ = 0;
    watch_->end_ = static_cast<std::size_t>(operation_.outcome());
  }
  return watch_->take();
}

result<file_change> file_change_awaiter::await_resume_result() {
  if (!is_there_) {
    end_operation();
    if (operation_.failed()) return operation_.error();
    watch_->next_ = 0;
    watch_->end_ = static_cast<std::size_t>(operation_.outcome());
  }
  return watch_->take();
}

}  // namespace tandem::inline v0::io
