// test_runtime.hpp: a runtime for a test, which shows itself when the test hangs.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/runtime.hpp>
#include <tandem/sync_wait.hpp>
#include <utility>

#include "watchdog.hpp"

namespace tandem::test {

/// So many workers, whatever happens: by default another one comes when those that are there get no CPU for half a
/// second, or when the pool tries whether more would do more. 0: none, it is driven.
inline runtime_options with_threads(unsigned threads) {
  runtime_options options;
  options.min_threads = threads;
  if (threads != 0) options.max_threads = threads;
  return options;
}

class test_runtime {
 public:
  explicit test_runtime(unsigned threads = 2) : test_runtime(with_threads(threads)) {}
  explicit test_runtime(runtime_options options)
      : runtime_(std::move(options)), report_([this](std::FILE* out) {
          std::fprintf(out, "%s\n%s", runtime_.workers().describe().c_str(),
                       runtime_.dump().c_str());
        }) {}

  runtime& operator*() noexcept { return runtime_; }
  runtime* operator->() noexcept { return &runtime_; }
  worker_pool& workers() noexcept { return runtime_.workers(); }

  template <class T>
  T run(task<T> body) {
    return sync_wait(runtime_.workers(), std::move(body));
  }

 private:
  runtime runtime_;
  hang_report report_;
};

}  // namespace tandem::test
