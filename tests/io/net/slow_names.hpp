// slow_names.hpp: name servers that hang, or answer when they are told to. Linked instead of the system's.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace tandem::test {

/// From now on calls are answered so, one after the other; then all as the last one.
enum class name_answer : unsigned char { found, try_again, hangs };
void answer_names(std::vector<name_answer> answers);
/// Lets those that hang go on: they find something.
void release_names();
/// Since the last answer_names().
int name_calls();
/// Which have begun and not ended.
int hanging_name_calls();

}  // namespace tandem::test
