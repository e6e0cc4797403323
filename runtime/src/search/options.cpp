// options.cpp: limits are refused where nothing could be visited.
// SPDX-License-Identifier: MIT
#include <tandem/search/options.hpp>

#include <stdexcept>

namespace tandem::inline v0 {

search_options& search_options::with_node_limit(std::uint64_t nodes) {
  node_limit = nodes;
  validate();
  return *this;
}

search_options& search_options::with_time_limit(std::chrono::nanoseconds limit) {
  time_limit = limit;
  validate();
  return *this;
}

search_options& search_options::with_memory_limit(std::size_t bytes) {
  memory_limit = bytes;
  validate();
  return *this;
}

void search_options::validate() const {
  const char* zero = nullptr;
  if (node_limit && *node_limit == 0) {
    zero = "tandem search: a node limit of 0 lets no position be visited; unset, there is none";
  } else if (time_limit && time_limit->count() <= 0) {
    zero =
        "tandem search: a time limit that is not above 0 lets no position be visited; unset, "
        "there is none";
  } else if (memory_limit && *memory_limit == 0) {
    zero = "tandem search: a memory limit of 0 lets no position be kept; unset, there is none";
  }
  if (zero != nullptr) throw std::invalid_argument(zero);
}

}  // namespace tandem::inline v0
