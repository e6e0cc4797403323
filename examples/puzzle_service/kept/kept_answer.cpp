// kept_answer.cpp: what of a kept answer can be searched for.
// SPDX-License-Identifier: MIT
#include "kept_answer.hpp"

namespace service {

std::string words_of(const kept_entry& entry) {
  std::string words = entry.puzzle + ' ' + entry.title + ' ' + entry.result;
  for (char& each : words) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return words;
}

}  // namespace service
