// exposition_parser.hpp: a strict reader of Prometheus' text format 0.0.4, written apart from what writes it.
// SPDX-License-Identifier: MIT
//
// Refuses whatever the format's page does not allow, and what only lenient readers take: samples
// without TYPE, a metric in two places, a sample twice, buckets that do not grow or do not end at
// +Inf, a _count that differs from it.
#pragma once

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::test {

class exposition {
 public:
  using labels = std::map<std::string, std::string>;

  /// @throws  std::runtime_error naming the line that is wrong
  explicit exposition(std::string_view text) {
    if (!text.empty() && text.back() != '\n') fail("the last line does not end");
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      line_ = text.substr(0, end);
      read_line();
      text.remove_prefix(end + 1);
    }
    end_family();
  }

  /// @throws  std::out_of_range
  double value(const std::string& name, const labels& of = {}) const {
    return samples_.at(name).at(of);
  }
  bool has(const std::string& name) const { return types_.contains(name); }
  const std::string& type(const std::string& name) const { return types_.at(name); }
  const std::string& help(const std::string& name) const { return helps_.at(name); }
  /// Of all samples of that name.
  double sum(const std::string& name) const {
    double all = 0;
    for (const auto& [of, each] : samples_.at(name)) all += each;
    return all;
  }
  std::size_t families() const { return types_.size(); }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + ", in \"" + std::string(line_) + "\"");
  }
  void read_line() {
    rest_ = line_;
    if (rest_.empty()) fail("an empty line");
    if (rest_.starts_with("# HELP ")) {
      rest_.remove_prefix(7);
      end_family();
      family_ = take_name(true);
      take(' ');
      if (helps_.contains(family_)) fail("a metric in two places");
      helps_[family_] = unescaped(rest_, false);
    } else if (rest_.starts_with("# TYPE ")) {
      rest_.remove_prefix(7);
      if (take_name(true) != family_) fail("TYPE of another metric than HELP");
      take(' ');
      if (rest_ != "counter" && rest_ != "gauge" && rest_ != "histogram") fail("an unknown type");
      if (types_.contains(family_)) fail("a second TYPE");
      types_[family_] = std::string(rest_);
    } else {
      read_sample();
    }
  }
  void read_sample() {
    const std::string name = take_name(true);
    labels of;
    if (!rest_.empty() && rest_.front() == '{') of = take_labels();
    take(' ');
    const double value = take_value();
    if (!types_.contains(family_)) fail("a sample without a type");
    const bool in_histogram = types_.at(family_) == "histogram";
    if (!in_histogram && name != family_) fail("a sample of another metric");
    if (in_histogram) {
      if (name != family_ + "_bucket" && name != family_ + "_sum" && name != family_ + "_count") {
        fail("no part of the histogram");
      }
      if ((name == family_ + "_bucket") != of.contains("le"))
        fail("a label le where it is not due");
      if (name == family_ + "_bucket") read_bucket(of, value);
    }
    if (types_.at(family_) == "counter" && !(value >= 0)) fail("a counter below zero");
    if (!samples_[name].emplace(of, value).second) fail("a sample twice");
  }
  void read_bucket(labels of, double value) {
    const std::string bound = of.at("le");
    of.erase("le");
    const double number = bound == "+Inf" ? INFINITY : number_of(bound);
    auto& last = buckets_[of];
    if (!last.empty() && number <= last.back().first) fail("bounds that do not grow");
    if (!last.empty() && value < last.back().second) fail("buckets that are not cumulative");
    last.emplace_back(number, value);
  }
  void end_family() {
    for (const auto& [of, all] : buckets_) {
      if (!std::isinf(all.back().first)) fail("a histogram without +Inf before");
      const auto& counts = samples_[family_ + "_count"];
      if (!counts.contains(of) || !samples_[family_ + "_sum"].contains(of)) {
        fail("a histogram without sum or count before");
      }
      if (counts.at(of) != all.back().second) fail("a count that is not that of +Inf before");
    }
    buckets_.clear();
    if (!family_.empty() && !types_.contains(family_)) fail("a HELP without a TYPE before");
  }
  void take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) fail(std::string("no '") + wanted + "'");
    rest_.remove_prefix(1);
  }
  std::string take_name(bool may_have_colons) {
    std::size_t size = 0;
    while (size < rest_.size()) {
      const auto each = static_cast<unsigned char>(rest_[size]);
      const bool is_letter =
          std::isalpha(each) != 0 || each == '_' || (may_have_colons && each == ':');
      if (!is_letter && (size == 0 || std::isdigit(each) == 0)) break;
      ++size;
    }
    if (size == 0) fail("no name");
    std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }
  labels take_labels() {
    labels found;
    char separator = '{';
    while (true) {
      take(separator);
      separator = ',';
      const std::string name = take_name(false);
      take('=');
      take('"');
      std::size_t end = 0;
      while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
      if (end >= rest_.size()) fail("a label without an end");
      if (!found.emplace(name, unescaped(rest_.substr(0, end), true)).second) fail("a label twice");
      rest_.remove_prefix(end + 1);
      if (!rest_.empty() && rest_.front() == '}') break;
    }
    take('}');
    return found;
  }
  double take_value() {
    if (rest_ == "+Inf") return INFINITY;
    if (rest_ == "-Inf") return -INFINITY;
    if (rest_ == "NaN") return NAN;
    return number_of(std::string(rest_));
  }
  double number_of(const std::string& text) const {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const auto first = static_cast<unsigned char>(text.empty() ? ' ' : text.front());
    if (std::isdigit(first) == 0 && first != '-' && first != '+') fail("no number");
    if (*end != '\0') fail("more than a number");
    return value;
  }
  std::string unescaped(std::string_view text, bool is_quoted) const {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        out += text[i];
        continue;
      }
      if (++i == text.size()) fail("half an escape");
      if (text[i] == 'n') {
        out += '\n';
      } else if (text[i] == '\\' || (is_quoted && text[i] == '"')) {
        out += text[i];
      } else {
        fail("an unknown escape");
      }
    }
    return out;
  }

  std::string_view line_;
  std::string_view rest_;
  std::string family_;
  std::map<std::string, std::string> helps_;
  std::map<std::string, std::string> types_;
  std::map<std::string, std::map<labels, double>> samples_;
  std::map<labels, std::vector<std::pair<double, double>>> buckets_;  // of the family that is read
};

}  // namespace tandem::test
