// metrics_text.cpp: metrics in Prometheus' text format 0.0.4.
// SPDX-License-Identifier: MIT
#include <tandem/metric_family.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "recorder/utf8_text.hpp"

namespace tandem::inline v0 {

namespace {

bool is_name(std::string_view text, bool may_have_colons) noexcept {
  bool first = true;
  for (const char each : text) {
    const bool is_letter = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                           each == '_' || (may_have_colons && each == ':');
    if (!is_letter && (first || each < '0' || each > '9')) return false;
    first = false;
  }
  return !text.empty();
}

bool is_sound(const metric_histogram& of) noexcept {
  for (std::size_t i = 0; i < of.bounds.size(); ++i) {
    if (!std::isfinite(of.bounds[i]) || (i > 0 && of.bounds[i] <= of.bounds[i - 1])) return false;
  }
  return of.counts.size() == of.bounds.size() + 1;
}

void check(const metric_family& family) {
  if (!is_name(family.name, true)) {
    throw std::invalid_argument("metrics_text: \"" + family.name + "\" is no name of a metric");
  }
  const bool is_histogram = family.kind == metric_kind::histogram;
  for (const metric_sample& sample : family.samples) {
    if (is_histogram != !sample.histogram.counts.empty()) {
      throw std::invalid_argument("metrics_text: " + family.name + " is a " +
                                  to_string(family.kind) + ", but a sample of it is a " +
                                  (is_histogram ? "number" : "histogram"));
    }
    if (is_histogram && !is_sound(sample.histogram)) {
      throw std::invalid_argument("metrics_text: the bounds of histogram " + family.name +
                                  " do not grow, or do not fit its counts");
    }
    for (const metric_label& label : sample.labels) {
      const bool is_taken = label.name == "le" && is_histogram;
      if (!is_name(label.name, false) || is_taken) {
        throw std::invalid_argument("metrics_text: metric " + family.name +
                                    " has a label named \"" + label.name +
                                    "\", which the format does not allow");
      }
      const auto same_name = [&](const metric_label& other) { return other.name == label.name; };
      if (std::count_if(sample.labels.begin(), sample.labels.end(), same_name) > 1) {
        throw std::invalid_argument("metrics_text: a sample of " + family.name +
                                    " has two labels named \"" + label.name + '"');
      }
    }
  }
}

/// In a help text quotes stay as they are. What is no UTF-8 becomes U+FFFD: whoever reads metrics
/// refuses all of them for one such byte.
void append_escaped(std::string& out, std::string_view text, bool is_quoted) {
  while (!text.empty()) {
    const char each = text.front();
    std::size_t length = 1;
    if (each == '\\') {
      out += "\\\\";
    } else if (each == '\n') {
      out += "\\n";
    } else if (each == '"' && is_quoted) {
      out += "\\\"";
    } else {
      length = detail::append_character(out, text);
    }
    text.remove_prefix(length);
  }
}

std::string text_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), written.ptr);
}

class text_writer {
 public:
  void head(const metric_family& family) {
    out_ += "# HELP " + family.name + " ";
    append_escaped(out_, family.help, false);
    out_ += "\n# TYPE " + family.name + " ";
    out_ += to_string(family.kind);
    out_ += '\n';
  }
  void samples(const metric_family& family) {
    for (const metric_sample& each : family.samples) {
      if (family.kind == metric_kind::histogram) {
        histogram(family.name, each);
      } else {
        line(family.name, each.labels, {}, text_of(each.value));
      }
    }
  }
  std::string take() { return std::move(out_); }

 private:
  void histogram(const std::string& name, const metric_sample& of) {
    const metric_histogram& values = of.histogram;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < values.bounds.size(); ++i) {
      below += values.counts[i];
      line(name + "_bucket", of.labels, text_of(values.bounds[i]), std::to_string(below));
    }
    below += values.counts.back();
    line(name + "_bucket", of.labels, "+Inf", std::to_string(below));
    line(name + "_sum", of.labels, {}, text_of(values.sum));
    line(name + "_count", of.labels, {}, std::to_string(below));
  }
  /// @param bound  empty: no label `le`
  void line(const std::string& name, const std::vector<metric_label>& labels,
            std::string_view bound, std::string_view value) {
    out_ += name;
    char separator = '{';
    for (const metric_label& each : labels) {
      label(separator, each.name, each.value);
    }
    if (!bound.empty()) label(separator, "le", bound);
    if (separator == ',') out_ += '}';
    out_ += ' ';
    out_ += value;
    out_ += '\n';
  }
  void label(char& separator, std::string_view name, std::string_view value) {
    out_ += separator;
    separator = ',';
    out_ += name;
    out_ += "=\"";
    append_escaped(out_, value, true);
    out_ += '"';
  }

  std::string out_;
};

}  // namespace

std::string metrics_text(std::span<const metric_family> families) {
  // The format wants all lines of a metric together; the order is that of the first of each name.
  std::map<std::string_view, std::vector<const metric_family*>> by_name;
  std::vector<std::string_view> order;
  for (const metric_family& each : families) {
    check(each);
    std::vector<const metric_family*>& same = by_name[each.name];
    if (same.empty()) order.push_back(each.name);
    if (!same.empty() && same.front()->kind != each.kind) {
      throw std::invalid_argument("metrics_text: " + each.name + " is a " +
                                  to_string(same.front()->kind) + " and a " + to_string(each.kind));
    }
    same.push_back(&each);
  }
  for (const auto& [name, same] : by_name) {
    if (same.front()->kind != metric_kind::histogram) continue;
    for (const char* const part : {"_bucket", "_sum", "_count"}) {
      if (!by_name.contains(std::string(name) + part)) continue;
      throw std::invalid_argument("metrics_text: " + std::string(name) + part +
                                  " is a metric, and a part of the histogram " + std::string(name));
    }
  }
  text_writer out;
  for (const std::string_view name : order) {
    const std::vector<const metric_family*>& same = by_name[name];
    out.head(*same.front());
    for (const metric_family* each : same) out.samples(*each);
  }
  return out.take();
}

}  // namespace tandem::inline v0
