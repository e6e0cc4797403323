// process_output.cpp: running a program for what it writes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/process.hpp>
#include <tandem/stop.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>

#include "platform/attempt.hpp"

namespace tandem::inline v0::io {

namespace {

task<void> feed(pipe_writer& into, const std::string& input) {
  if (!into.is_open()) co_return;
  const auto written = co_await as_result(into.write_all(bytes_of(input)));
  into.close();
  // That it did not want all of it is its own affair.
  if (!written && written.error() != std::errc::broken_pipe) written.value();
}

/// What one stream brings.
class collector {
 public:
  collector(pipe_reader& from, std::string& all, std::size_t most, const char* name) noexcept
      : from_(&from), all_(&all), most_(most), name_(name), has_ended_(!from.is_open()) {}

  /// Until its end, or a stop, which is no failure.
  task<void> collect() {
    while (!has_ended_) {
      const auto count = co_await as_result(from_->read(room()));
      if (count.is_cancelled()) co_return;
      take(count.value());
    }
  }
  /// What is there, without waiting: all that was written before this. No read is under way.
  void finish() {
    constexpr std::size_t most_in_a_pipe = std::size_t{1} << 20;  // as far as a user may extend it
    const std::size_t before = have_;
    while (!has_ended_ && have_ - before < most_in_a_pipe) {
      const auto into = room();
      detail::operation read(detail::operation_kind::read_pipe, into.data(), into.size());
      read.aim(nullptr, from_->native_handle());
      const std::int32_t count = platform::next_attempt(read);
      if (count < 0) break;
      take(static_cast<std::size_t>(count));
    }
    all_->resize(have_);
  }

 private:
  std::span<std::byte> room() {
    constexpr std::size_t least = 4096;
    if (all_->size() - have_ < least) all_->resize(std::max(have_ + least, have_ * 2));
    return std::as_writable_bytes(std::span(*all_)).subspan(have_);
  }
  void take(std::size_t count) {
    have_ += count;
    has_ended_ = count == 0;
    if (have_ > most_) {
      throw std::system_error(make_error_code(stream_errc::too_long),
                              std::string("process::output: ") + name_ + " has brought more than " +
                                  std::to_string(most_) +
                                  " bytes (process_options::most_output_bytes)");
    }
  }

  pipe_reader* from_;
  std::string* all_;
  std::size_t most_;
  const char* name_;
  std::size_t have_ = 0;
  bool has_ended_;
};

/// processes/output
class conversation {
 public:
  conversation(process& child, const std::string& input, const process_options& options) noexcept
      : child_(&child),
        input_(&input),
        limit_(options.output_time_limit),
        grace_(options.output_grace),
        output_(child.standard_output(), got_.standard_output, options.most_output_bytes,
                "standard output"),
        error_(child.standard_error(), got_.standard_error, options.most_output_bytes,
               "standard error") {}
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;
  ~conversation() = default;

  task<process_output> run() {
    const auto all = [this](task_scope& scope) { return talk(scope); };
    co_await with_scope(all);
    output_.finish();
    error_.finish();
    co_return std::move(got_);
  }

 private:
  task<void> talk(task_scope& scope) {
    scope.spawn(feed(child_->standard_input(), *input_));
    scope.spawn(output_.collect());
    scope.spawn(error_.collect());
    got_.exit = co_await exit();
    // Others may have the pipes open for ever.
    const auto ends =
        co_await as_result(with_timeout(detail::within_a_century(grace_), scope.join()));
    if (!ends && !ends.is_cancelled()) ends.value();
  }

  task<process_exit> exit() {
    if (!limit_) co_return co_await child_->wait();
    const auto ended =
        co_await as_result(with_timeout(detail::within_a_century(*limit_), child_->wait()));
    if (ended || !ended.is_cancelled() || stop_requested()) co_return ended.value();
    got_.timed_out = true;
    co_return co_await child_->end();
  }

  process* child_;
  const std::string* input_;
  std::optional<std::chrono::milliseconds> limit_;
  std::chrono::milliseconds grace_;
  process_output got_;
  collector output_;
  collector error_;
};

task<process_output> talk(process& child, const std::string& input,
                          const process_options& options) {
  conversation all(child, input, options);
  co_return co_await all.run();
}

void choose_pipe(process_stdio& stream, bool is_wanted = true) noexcept {
  if (stream.what() != process_stdio::kind::inherited) return;
  stream = is_wanted ? process_stdio::pipe() : process_stdio::null();
}

}  // namespace

task<process_output> process::output(std::vector<std::string> argv, process_options options,
                                     std::string input) {
  choose_pipe(options.standard_input, !input.empty());
  choose_pipe(options.standard_output);
  choose_pipe(options.standard_error);
  auto body = [&](process& child) { return talk(child, input, options); };
  co_return co_await with_process(std::move(argv), options, body);
}

}  // namespace tandem::inline v0::io
