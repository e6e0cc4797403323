// memory_store.hpp: keeps answers in the process, until it ends.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "answer_store.hpp"

namespace service {

/// Bounded in number and in bytes; the oldest go.
class memory_store : public answer_store {
 public:
  explicit memory_store(std::size_t most_answers) : most_answers_(most_answers) {}

  tandem::task<void> prepare() override;
  tandem::task<std::optional<kept_answer>> find(std::string key) override;
  tandem::task<void> keep(known_answer answer) override;
  tandem::task<kept_page> list(kept_search wanted) override;
  std::string describe() const override { return "in memory"; }

 private:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;
  void drop(std::map<std::uint64_t, known_answer>::iterator oldest);

  const std::size_t most_answers_;
  std::mutex lock_;  // of all below; never held across an await
  std::map<std::uint64_t, known_answer> by_age_;
  std::map<std::string, std::uint64_t> numbers_;  // by key
  std::uint64_t last_number_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace service
