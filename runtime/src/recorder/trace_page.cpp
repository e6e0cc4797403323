// trace_page.cpp: events as JSON.
// SPDX-License-Identifier: MIT
#include "recorder/trace_page.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "recorder/utf8_text.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr std::size_t piece = std::size_t{64} * 1024;

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    std::size_t length = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 0xF];
    } else {
      length = append_character(out, text);
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void trace_page::arguments::begin(std::string_view name) {
  if (!text_.empty()) text_ += ',';
  append_json_text(text_, name);
  text_ += ':';
}

trace_page::arguments& trace_page::arguments::add(std::string_view name, std::string_view text) {
  begin(name);
  append_json_text(text_, text);
  return *this;
}

trace_page::arguments& trace_page::arguments::add(std::string_view name, std::uint64_t number) {
  begin(name);
  append_number(text_, number);
  return *this;
}

void trace_page::open() { line_ += "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"; }

void trace_page::close() {
  line_ += "\n]}\n";
  into_.write(line_);
  line_.clear();
}

void trace_page::append_us(std::int64_t ns) {
  // Nothing is before the begin.
  const auto since = static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns));
  append_number(line_, since / 1000);
  const std::uint64_t rest = since % 1000;
  if (rest == 0) return;
  line_ += '.';
  line_ += static_cast<char>('0' + rest / 100);
  line_ += static_cast<char>('0' + rest / 10 % 10);
  line_ += static_cast<char>('0' + rest % 10);
}

void trace_page::begin(char phase, std::uint32_t track, std::int64_t ns, std::string_view name,
                       std::string_view category) {
  if (!is_first_) line_ += ",\n";
  is_first_ = false;
  line_ += "{\"ph\":\"";
  line_ += phase;
  line_ += "\",\"pid\":1,\"tid\":";
  append_number(line_, track);
  line_ += ",\"ts\":";
  append_us(ns - begin_ns_);
  line_ += ",\"name\":";
  append_json_text(line_, name);
  if (category.empty()) return;
  line_ += ",\"cat\":\"";
  line_ += category;
  line_ += '"';
}

void trace_page::add_id(std::uint64_t id) {
  line_ += ",\"id\":\"";
  append_number(line_, id);
  line_ += '"';
}

void trace_page::end(const arguments* more) {
  if (more != nullptr && !more->text().empty()) {
    line_ += ",\"args\":{";
    line_ += more->text();
    line_ += '}';
  }
  line_ += '}';
  if (line_.size() < piece) return;
  into_.write(line_);
  line_.clear();
}

void trace_page::process(std::string_view name) {
  arguments named;
  named.add("name", name);
  begin('M', 0, begin_ns_, "process_name", "");
  end(&named);
}

void trace_page::track(std::uint32_t track, std::string_view name, std::uint32_t order) {
  arguments named;
  named.add("name", name);
  begin('M', track, begin_ns_, "thread_name", "");
  end(&named);
  arguments sorted;
  sorted.add("sort_index", order);
  begin('M', track, begin_ns_, "thread_sort_index", "");
  end(&sorted);
}

void trace_page::slice(std::uint32_t track, std::int64_t from_ns, std::int64_t to_ns,
                       std::string_view name, const arguments& more) {
  begin('X', track, from_ns, name, "thread");
  line_ += ",\"dur\":";
  append_us(to_ns - from_ns);
  end(&more);
}

void trace_page::instant(std::uint32_t track, std::int64_t ns, std::string_view name,
                         const arguments& more) {
  begin('i', track, ns, name, "thread");
  line_ += ",\"s\":\"t\"";
  end(&more);
}

void trace_page::span_begin(std::uint64_t task, std::uint32_t track, std::int64_t ns,
                            std::string_view name, const arguments& more) {
  begin('b', track, ns, name, "task");
  add_id(task);
  end(&more);
}

void trace_page::span_end(std::uint64_t task, std::uint32_t track, std::int64_t ns,
                          std::string_view name, const arguments& more) {
  begin('e', track, ns, name, "task");
  add_id(task);
  end(&more);
}

void trace_page::flow_begin(std::uint64_t flow, std::uint32_t track, std::int64_t ns,
                            std::string_view name) {
  begin('s', track, ns, name, "wake");
  add_id(flow);
  end(nullptr);
}

void trace_page::flow_end(std::uint64_t flow, std::uint32_t track, std::int64_t ns,
                          std::string_view name, bool to_next) {
  begin('f', track, ns, name, "wake");
  add_id(flow);
  if (!to_next) line_ += ",\"bp\":\"e\"";
  end(nullptr);
}

}  // namespace tandem::inline v0::detail
