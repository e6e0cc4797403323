// trace_lines.hpp: the events of a written trace, one a line, as values.
// SPDX-License-Identifier: MIT
//
// It relies on how trace_page.cpp writes: one event a line, the members in one order.
// tests/support/check_trace.py reads the same text as JSON.
#pragma once

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <tandem/runtime.hpp>
#include <vector>

namespace tandem::test {

struct trace_line {
  std::string phase;
  std::string track;  // its name
  std::string name;
  std::string category;
  std::string id;
  std::string arguments;  // JSON
  double ts = 0;
  double dur = 0;
};

/// What follows `"key":` in the line, up to the end of the text or number; empty if it is not there.
inline std::string member_of(const std::string& line, const std::string& key) {
  const std::string mark = "\"" + key + "\":";
  const auto at = line.find(mark);
  if (at == std::string::npos) return "";
  std::size_t begin = at + mark.size();
  if (line[begin] != '"') return line.substr(begin, line.find_first_of(",}", begin) - begin);
  std::size_t end = ++begin;
  while (line[end] != '"') end += line[end] == '\\' ? 2 : 1;
  return line.substr(begin, end - begin);
}

/// All but the lines about tracks, whose names are in each.
inline std::vector<trace_line> trace_lines(const std::string& text) {
  std::vector<trace_line> out;
  std::map<std::string, std::string> tracks;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("{\"ph\"", 0) != 0) continue;
    const std::string name = member_of(line, "name");
    const std::string track = member_of(line, "tid");
    const auto args = line.find("\"args\":{");
    std::string arguments;
    if (args != std::string::npos) {
      arguments = line.substr(args + 8, line.rfind("}}") - args - 8);
    }
    if (member_of(line, "ph") == "M") {
      if (name == "thread_name") tracks[track] = member_of(arguments, "name");
      continue;
    }
    trace_line made;
    made.phase = member_of(line, "ph");
    made.track = tracks[track];
    made.name = name;
    made.category = member_of(line, "cat");
    made.id = member_of(line, "id");
    made.arguments = arguments;
    made.ts = std::atof(member_of(line, "ts").c_str());
    made.dur = std::atof(member_of(line, "dur").c_str());
    out.push_back(made);
  }
  return out;
}

inline std::string trace_of(runtime& rt) {
  std::ostringstream out;
  rt.write_trace(out);
  return out.str();
}

/// What is wrong with it: flows that end and have not begun, or twice; spans that do not nest.
inline std::vector<std::string> offences(const std::vector<trace_line>& lines) {
  std::vector<std::string> out;
  const auto offend = [&out](std::string what, const std::string& id) {
    what += id;
    out.push_back(what);
  };
  std::map<std::string, int> flows;
  std::map<std::string, std::vector<std::string>> spans;
  for (const trace_line& each : lines) {
    if (each.phase == "s" && flows[each.id]++ != 0) offend("begins twice: flow ", each.id);
    if (each.phase == "f" && flows[each.id]++ != 1) offend("ends wrongly: flow ", each.id);
    if (each.phase == "b") spans[each.id].push_back(each.name);
    if (each.phase == "e") {
      if (spans[each.id].empty()) {
        offend("has not begun: a span of ", each.id);
      } else {
        spans[each.id].pop_back();
      }
    }
    if (each.phase == "X" && (each.dur < 0 || each.ts < 0)) offend("is negative: ", each.name);
  }
  for (const auto& [id, open] : spans) {
    if (!open.empty()) offend("does not end: a span of ", id);
  }
  return out;
}

}  // namespace tandem::test
