// recorder.cpp: on, off, and into a file.
// SPDX-License-Identifier: MIT
#include "recorder/recorder.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <tandem/detail/thread_exit.hpp>

#include "platform/clocks.hpp"
#include "platform/process.hpp"
#include "process/per_process.hpp"
#include "recorder/trace_json.hpp"
#include "recorder/trace_ring.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr std::size_t least_events = 64;
constexpr std::size_t most_events = std::size_t{1} << 24;

std::int64_t steady_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// recording/give_back
void end_ring() noexcept {
  thread_context& context = this_thread();
  context.ring = nullptr;
  if (trace_ring* const ring = std::exchange(context.own_ring, nullptr)) {
    trace_rings::give_back(*ring);
  }
}

/// A file that is written beside the one it becomes.
class file_sink final : public trace_sink {
 public:
  /// @param writer  two that write the same file at once have different ones
  file_sink(const std::string& path, std::uint64_t writer)
      : path_(path),
        part_(path + "." + std::to_string(platform::process_id()) + "-" + std::to_string(writer) +
              ".part") {
    errno = 0;
    file_ = std::fopen(part_.c_str(), "wb");
    if (file_ == nullptr) fail("cannot be made");
  }
  file_sink(const file_sink&) = delete;
  file_sink& operator=(const file_sink&) = delete;
  ~file_sink() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::remove(part_.c_str());
  }

  void write(std::string_view text) override {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("cannot be written");
  }
  void finish() {
    errno = 0;
    if (std::fclose(std::exchange(file_, nullptr)) != 0) {
      const int why = errno;
      std::remove(part_.c_str());
      errno = why;
      fail("cannot be written");
    }
    // One at a time: on Windows two at once of the same name refuse each other.
    static constinit per_process<std::mutex> renames;
    std::error_code failed;
    {
      const std::lock_guard alone(renames.get());
      std::filesystem::rename(part_, path_, failed);
    }
    if (!failed) return;
    std::remove(part_.c_str());
    throw std::system_error(failed, "runtime::write_trace: '" + part_ + "' cannot become '" +
                                        path_ + "', which the trace goes to");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(),
                            "runtime::write_trace: '" + part_ + "' " + what +
                                " (the folder has to be there, and to have room)");
  }

  const std::string path_;
  const std::string part_;
  std::FILE* file_ = nullptr;
};

}  // namespace

void recorder::start(std::string path, const trace_options& options) {
  const std::size_t wanted = options.events_per_thread;
  if (wanted < least_events || wanted > most_events) {
    throw std::invalid_argument("trace_options::events_per_thread is " + std::to_string(wanted) +
                                ": it has to be between 64 and 16777216");
  }
  const std::lock_guard lock(lock_);
  path_ = std::move(path);
  options_ = options;
  if (is_on()) return;
  if (serial() == 0) {
    static constinit std::atomic<std::uint64_t> serials{0};
    capacity_ = std::bit_ceil(wanted);
    uses_ticks_ = of_.has_real_time() && platform::has_ticks();
    first_ticks_ = uses_ticks_ ? platform::ticks() : 0;
    first_ns_ = of_.clock_ns();
    serial_.store(serials.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  is_on_.store(true, std::memory_order_release);  // pairs with is_on()
  task_watchers.fetch_add(one_recorder, std::memory_order_relaxed);
}

void recorder::stop() noexcept {
  const std::lock_guard lock(lock_);
  if (!is_on_.exchange(false, std::memory_order_relaxed)) return;
  task_watchers.fetch_sub(one_recorder, std::memory_order_relaxed);
}

std::uint64_t recorder::now() const noexcept {
  return uses_ticks_ ? platform::ticks() : static_cast<std::uint64_t>(of_.clock_ns());
}

trace_ring* recorder::adopt(thread_context& context) noexcept {
  if (context.own_ring == nullptr && !at_thread_exit(exit_step::trace_rings, &end_ring)) {
    return nullptr;
  }
  context.own_ring = trace_rings::take(serial(), capacity_, context.own_ring);
  if (context.own_ring == nullptr) return nullptr;
  using source = trace_ring::time_source;
  context.own_ring->by = uses_ticks_           ? source::ticks
                         : of_.has_real_time() ? source::steady
                                               : source::runtime;
  return context.own_ring;
}

void recorder::write(trace_sink& into) {
  const std::lock_guard one_at_a_time(writing_);
  write_alone(into);
}

void recorder::write_alone(trace_sink& into) {
  if (serial() == 0) {
    throw std::logic_error(
        "runtime::write_trace: nothing was recorded: runtime::trace_to comes first");
  }
  trace_clock time(first_ticks_, first_ns_);
  if (uses_ticks_) {
    time.look(platform::ticks(), of_.clock_ns());
  } else {
    time.is_in_ns(of_.clock_ns());
  }
  trace_story story(time);
  of_.add_live_tasks(story.names());
  for (const ring_copy& each : trace_rings::copy(serial())) story.add(each);
  if (of_.has_real_time()) story.add(of_.timed_decisions());
  story.put_in_order();
  write_trace_json(story, of_.series_name(), into);
}

void recorder::write_file() {
  std::string path;
  {
    const std::lock_guard lock(lock_);
    path = path_;
  }
  if (path.empty()) {
    throw std::logic_error(
        "runtime::write_trace: there is no file to write to: runtime::trace_to names it");
  }
  const std::lock_guard one_at_a_time(writing_);
  file_sink file(path, serial());
  write_alone(file);
  file.finish();
}

void recorder::write_asked_file() noexcept {
  {
    const std::lock_guard lock(lock_);
    if (path_.empty()) return;
  }
  try {
    write_file();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tandem: the trace cannot be written: %s\n", failure.what());
  }
}

void recorder::stalled() noexcept {
  if (!is_on()) return;
  {
    const std::lock_guard lock(lock_);
    const std::int64_t now = steady_ns();
    if (!options_.at_stall || path_.empty()) return;
    if (last_stall_ns_ != 0 && now - last_stall_ns_ < options_.between_stalls.count()) return;
    last_stall_ns_ = now;
  }
  try {
    write_file();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tandem: a pool is stuck, and its trace cannot be written: %s\n",
                 failure.what());
  }
}

}  // namespace tandem::inline v0::detail
