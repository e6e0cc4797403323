// metric_family.hpp: a metric with its samples, in the shape that monitoring systems want.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tandem/config.hpp>
#include <tandem/duration_histogram.hpp>

namespace tandem::inline v0 {

enum class metric_kind : std::uint8_t { counter, gauge, histogram };

/// "counter", "gauge", "histogram".
TANDEM_API const char* to_string(metric_kind kind) noexcept;

/// Name and value, in any characters: what has to be escaped in the text is.
class metric_label {
 public:
  metric_label(std::string label_name, std::string label_value)
      : name(std::move(label_name)), value(std::move(label_value)) {}

  std::string name;  ///< [a-zA-Z_][a-zA-Z0-9_]*
  std::string value;
};

/// How often values lay between bounds.
class TANDEM_API metric_histogram {
 public:
  metric_histogram() = default;
  /// @param upper_bounds   growing, finite; what lies above the last one has a count of its own
  /// @param bucket_counts  one more; not cumulative
  metric_histogram(std::vector<double> upper_bounds, std::vector<std::uint64_t> bucket_counts,
                   double sum_of_values)
      : bounds(std::move(upper_bounds)), counts(std::move(bucket_counts)), sum(sum_of_values) {}
  /// In seconds.
  explicit metric_histogram(const duration_histogram& times);

  std::vector<double> bounds;
  std::vector<std::uint64_t> counts;
  double sum = 0;
};

/// A value of a metric, told from its others by its labels.
class metric_sample {
 public:
  metric_sample(double sample_value, std::vector<metric_label> sample_labels)
      : labels(std::move(sample_labels)), value(sample_value) {}
  metric_sample(metric_histogram values, std::vector<metric_label> sample_labels)
      : labels(std::move(sample_labels)), histogram(std::move(values)) {}

  std::vector<metric_label> labels;
  double value = 0;            ///< of a counter or gauge
  metric_histogram histogram;  ///< of a histogram
};

/// All samples of one metric.
///
///     tandem::metric_family family("app_requests_total", "Requests that were answered.",
///                                  tandem::metric_kind::counter);
///     family.add(42, {{"code", "200"}});
///     std::puts(tandem::metrics_text({&family, 1}).c_str());
class TANDEM_API metric_family {
 public:
  /// @param metric_name  [a-zA-Z_:][a-zA-Z0-9_:]*; by custom a counter's ends in _total
  metric_family(std::string metric_name, std::string help_text, metric_kind metric_kind_of_it)
      : name(std::move(metric_name)), help(std::move(help_text)), kind(metric_kind_of_it) {}
  /// With one sample.
  metric_family(std::string metric_name, std::string help_text, metric_kind metric_kind_of_it,
                double value, std::vector<metric_label> labels = {})
      : metric_family(std::move(metric_name), std::move(help_text), metric_kind_of_it) {
    add(value, std::move(labels));
  }

  /// Any number; a count above 2^53 is rounded.
  void add(double value, std::vector<metric_label> labels = {}) {
    samples.emplace_back(value, std::move(labels));
  }
  void add(metric_histogram values, std::vector<metric_label> labels = {}) {
    samples.emplace_back(std::move(values), std::move(labels));
  }

  std::string name;
  std::string help;
  metric_kind kind;
  std::vector<metric_sample> samples;
};

/// The families in Prometheus' text format 0.0.4: `# HELP`, `# TYPE`, then the samples; families of
/// the same name, from several sources, are put together. To be served as "text/plain;
/// version=0.0.4; charset=utf-8".
///
/// @throws  std::invalid_argument naming a metric or label whose name the format does not allow, a
///          name that stands for two kinds, or a histogram whose bounds do not grow or do not fit
///          its counts
/// @source  Prometheus, "Exposition formats", text-based format
TANDEM_API std::string metrics_text(std::span<const metric_family> families);

}  // namespace tandem::inline v0
