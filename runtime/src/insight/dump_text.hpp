// dump_text.hpp: a snapshot for people.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::inline v0::detail {

class code_names;
struct seen_frame;
struct seen_node;
struct seen_wait;
struct snapshot;
struct thread_note;

/// "1.5 s", "20 ms", "3 min 2 s": no more digits than people read.
std::string span_text(std::int64_t ns);
/// "waits for a mutex 0x7ffe held by task 12 "transfer" (spawned at bank.cpp:7), for at least 1.5 s"
std::string wait_text(const snapshot& in, const seen_wait& wait);
/// "task 12 "transfer""; without a name "task 12"
std::string task_text(std::uint64_t id, const char* name);
/// "task 12 "transfer", spawned at bank.cpp:7 in main()"
std::string task_text(const seen_node& task);
/// Likewise, of one that is like that.
std::string task_text(std::uint64_t id, const seen_node& like);

/// "load(int) at load.cpp:12"
std::string frame_text(const seen_frame& frame, code_names& names);
/// "worker 3 (thread 4711)"
std::string thread_text(const thread_note& of);

/// @throws std::bad_alloc
std::string dump_as_text(const snapshot& of, code_names& names);
std::string dump_as_json(const snapshot& of, code_names& names);
/// A member "advice" more of a dump as JSON.
void add_advice(std::string& dump, const std::vector<std::string>& advice);

}  // namespace tandem::inline v0::detail
