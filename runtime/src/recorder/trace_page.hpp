// trace_page.hpp: the lines of a trace file: Chrome's trace event format, in JSON.
// SPDX-License-Identifier: MIT
//
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU ("Trace Event
// Format"), JSON object format; what Perfetto reads of it. Times are microseconds since the begin
// of the trace. One event a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "recorder/trace_sink.hpp"

namespace tandem::inline v0::detail {

/// In quotation marks; what is no UTF-8 becomes U+FFFD.
void append_json_text(std::string& out, std::string_view text);

class trace_page {
 public:
  /// The members of an event's "args": an object's inside, as JSON.
  class arguments {
   public:
    arguments& add(std::string_view name, std::string_view text);
    arguments& add(std::string_view name, std::uint64_t number);
    const std::string& text() const noexcept { return text_; }

   private:
    void begin(std::string_view name);
    std::string text_;
  };

  trace_page(trace_sink& into, std::int64_t begin_ns) noexcept : into_(into), begin_ns_(begin_ns) {}
  trace_page(const trace_page&) = delete;
  trace_page& operator=(const trace_page&) = delete;

  void open();
  void close();
  void process(std::string_view name);
  /// @param order  of the tracks, from above
  void track(std::uint32_t track, std::string_view name, std::uint32_t order);
  void slice(std::uint32_t track, std::int64_t from_ns, std::int64_t to_ns, std::string_view name,
             const arguments& more);
  void instant(std::uint32_t track, std::int64_t ns, std::string_view name, const arguments& more);
  /// Of a task: on a track of its own; they nest.
  void span_begin(std::uint64_t task, std::uint32_t track, std::int64_t ns, std::string_view name,
                  const arguments& more);
  void span_end(std::uint64_t task, std::uint32_t track, std::int64_t ns, std::string_view name,
                const arguments& more);
  void flow_begin(std::uint64_t flow, std::uint32_t track, std::int64_t ns, std::string_view name);
  /// @param to_next  to the next slice of the track; else to the one that is there
  void flow_end(std::uint64_t flow, std::uint32_t track, std::int64_t ns, std::string_view name,
                bool to_next);

 private:
  /// An event's line up to its time.
  void begin(char phase, std::uint32_t track, std::int64_t ns, std::string_view name,
             std::string_view category);
  void add_id(std::uint64_t id);
  void end(const arguments* more);
  void append_us(std::int64_t ns);

  trace_sink& into_;
  const std::int64_t begin_ns_;
  std::string line_;  // what was not handed over yet
  bool is_first_ = true;
};

}  // namespace tandem::inline v0::detail
