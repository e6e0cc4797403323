// servers.cpp: speaks with tests/support/servers.py.
// SPDX-License-Identifier: MIT
#include "io/support/servers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "required.hpp"

namespace tandem::test {

namespace {

std::string plain_name(std::string_view name) {
  return std::string(name.substr(0, name.find('+')));
}

std::vector<std::string> words_for(const std::string& name) {
  return {"python3", "-B", TANDEM_TEST_SERVERS_SCRIPT, name};
}

}  // namespace

bool test_server::is_installed(std::string_view name) {
  peer_process asked(
      {"python3", "-B", TANDEM_TEST_SERVERS_SCRIPT, "--installed", std::string(name)});
  const int status = asked.exit_status();
  EXPECT_TRUE(status == 0 || !every_test_is_required()) << asked.output() << asked.errors();
  return status == 0;
}

test_server::test_server(std::string name) : name_(plain_name(name)), process_(words_for(name)) {
  std::istringstream told(process_.rest_of_line(name_ + " "));
  for (std::string word; told >> word;) {
    const std::string value = word.substr(word.find('=') + 1);
    if (word.starts_with("port=")) port_ = static_cast<std::uint16_t>(std::stoi(value));
    if (word.starts_with("folder=")) folder_ = value;
    if (word.starts_with("certificate=")) certificate_ = value;
  }
  process_.prints("ready\n");
}

test_server::~test_server() {
  process_.end_input();
  EXPECT_EQ(process_.exit_status(), 0) << process_.errors();
}

void test_server::order(std::string_view verb) {
  process_.say(std::string(verb) + " " + name_ + "\n");
  process_.prints("done\n", ++orders_);
}

void test_server::kill() { order("kill"); }
void test_server::stop() { order("stop"); }
void test_server::start() { order("start"); }
void test_server::pause() { order("pause"); }
void test_server::resume() { order("resume"); }

test_server& shared_server(std::string_view name) {
  static std::map<std::string, std::unique_ptr<test_server>, std::less<>> all;
  const auto found = all.find(name);
  if (found != all.end()) return *found->second;
  std::string key(name);
  return *all.emplace(key, std::make_unique<test_server>(key)).first->second;
}

}  // namespace tandem::test
