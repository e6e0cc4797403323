// unix_stream_test.cpp: connections between processes of one machine, their names and credentials.
// SPDX-License-Identifier: MIT
#include <tandem/io/unix_datagram.hpp>
#include <tandem/io/unix_listener.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "refusal_text.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::peer_credentials;
using tandem::io::unix_endpoint;
using tandem::io::unix_listen_options;
using tandem::io::unix_listener;
using tandem::io::unix_stream;
using tandem::test::bytes_of;
using tandem::test::has;
using tandem::test::on_every_home;
using tandem::test::refusal_code;
using tandem::test::refusal_of;

std::string text_of(std::span<const std::byte> bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes.data()), count};
}

task<void> greet_each_other(unix_stream& one, unix_stream& other) {
  std::array<std::byte, 16> room;
  co_await one.write_all(bytes_of("hello"));
  EXPECT_EQ(text_of(room, co_await other.read(room)), "hello");
  co_await other.write_all(bytes_of("you"));
  EXPECT_EQ(text_of(room, co_await one.read(room)), "you");
  one.shutdown();
  EXPECT_EQ(co_await other.read(room), 0U);
}

TEST(unix_stream, a_pair_speaks_in_both_directions) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_stream::pair();
    EXPECT_TRUE(one.local_endpoint().is_unnamed());
    co_await greet_each_other(one, other);
  });
}

TEST(unix_stream, a_listener_is_found_by_its_path_and_by_its_abstract_name) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string own = "tandem-" + std::to_string(::getpid());
    for (const unix_endpoint& name :
         {unix_endpoint::path(folder / "socket"), unix_endpoint::abstract(own)}) {
      unix_listener listener = unix_listener::bind(name);
      EXPECT_EQ(listener.local_endpoint(), name);
      unix_stream client = co_await unix_stream::connect(name);
      unix_stream server = co_await listener.accept();
      EXPECT_EQ(client.remote_endpoint(), name);
      co_await greet_each_other(client, server);
    }
  });
}

TEST(unix_stream, each_end_knows_whose_the_other_is) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_stream::pair();
    const peer_credentials told = one.credentials();
    EXPECT_EQ(told.process, ::getpid());
    EXPECT_EQ(told.user, ::geteuid());
    EXPECT_EQ(told.group, ::getegid());
    EXPECT_EQ(told, other.credentials());
    co_return;
  });
}

TEST(unix_stream, who_connects_waits_until_the_listener_has_room_or_it_is_stopped) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const auto name = unix_endpoint::path(folder / "socket");
    unix_listen_options options;
    options.backlog = 1;
    unix_listener listener = unix_listener::bind(name, options);
    std::vector<unix_stream> clients;
    while (true) {  // until its queue is full
      auto client = co_await as_result(tandem::with_timeout(200ms, unix_stream::connect(name)));
      if (!client) {
        EXPECT_EQ(client.error(), std::errc::timed_out);
        break;
      }
      clients.push_back(std::move(client).value());
      EXPECT_LT(clients.size(), 100U) << "a queue of one is never full";
    }
    unix_stream last;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](unix_endpoint to, unix_stream& made) -> task<void> {
        made = co_await unix_stream::connect(to);
      }(name, last));
      for (std::size_t i = 0; i != clients.size() + 1; ++i) (void)co_await listener.accept();
      co_return;
    });
    EXPECT_TRUE(last.is_open());
  });
}

TEST(unix_stream, nobody_listens_is_told_by_name) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string path = folder / "nobody";
    try {
      (void)co_await unix_stream::connect(unix_endpoint::path(path));
      ADD_FAILURE() << "it is connected to nobody";
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), std::errc::no_such_file_or_directory);
      EXPECT_NE(std::string(failure.what()).find("unix_stream::connect to " + path),
                std::string::npos)
          << failure.what();
    }
  });
}

TEST(unix_stream, failures_name_the_calls_of_a_unix_stream) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_stream::pair();
    other.close();
    try {
      co_await one.write_all(bytes_of("gone"));
      ADD_FAILURE() << "it was written to nobody";
    } catch (const std::system_error& failure) {
      EXPECT_TRUE(std::string(failure.what()).starts_with("unix_stream::write_all"))
          << failure.what();
    }
  });
}

TEST(unix_listener, its_path_goes_with_it_unless_it_is_anothers) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string path = folder / "socket";
    const auto name = unix_endpoint::path(path);
    {
      const unix_listener listener = unix_listener::bind(name);
      EXPECT_EQ(::access(path.c_str(), F_OK), 0);
    }
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
    unix_listener first = unix_listener::bind(name);
    EXPECT_EQ(::unlink(path.c_str()), 0);
    const unix_listener second = unix_listener::bind(name);
    first.close();
    EXPECT_EQ(::access(path.c_str(), F_OK), 0) << "it has removed another one's";
    unix_listen_options stays;
    stays.removes_at_close = false;
    const std::string other = path + "-2";
    (void)unix_listener::bind(unix_endpoint::path(other), stays);
    EXPECT_EQ(::access(other.c_str(), F_OK), 0);
    co_return;
  });
}

TEST(unix_listener, a_stale_path_is_replaced_and_nothing_else_is) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string path = folder / "socket";
    const auto name = unix_endpoint::path(path);
    unix_listen_options stays;
    stays.removes_at_close = false;
    (void)unix_listener::bind(name, stays);
    unix_listen_options careful;
    careful.replaces_stale = false;
    const auto bind_carefully = [&] { (void)unix_listener::bind(name, careful); };
    EXPECT_EQ(refusal_code(bind_carefully), std::errc::address_in_use);
    unix_listener again = unix_listener::bind(name);
    const auto bind_again = [&] { (void)unix_listener::bind(name); };
    const std::string text = refusal_of<std::system_error>(bind_again);
    EXPECT_TRUE(has(text, path)) << "somebody listens there, but: " << text;
    EXPECT_EQ(::access(path.c_str(), F_OK), 0);
    const std::string file = path + "-file";
    std::ofstream(file) << "text";
    const auto bind_to_file = [&] { (void)unix_listener::bind(unix_endpoint::path(file)); };
    EXPECT_EQ(refusal_code(bind_to_file), std::errc::address_in_use);
    EXPECT_EQ(::access(file.c_str(), F_OK), 0);
    co_return;
  });
}

TEST(unix_listener, a_refusal_says_what_is_in_the_way_and_what_to_do) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string path = folder / "socket";
    const auto name = unix_endpoint::path(path);
    const auto says = [](const std::string& refusal, const std::string& words) {
      EXPECT_TRUE(has(refusal, words)) << refusal;
    };
    const auto bound = [](const unix_endpoint& where, const unix_listen_options& options = {}) {
      return refusal_of<std::system_error>([&] { (void)unix_listener::bind(where, options); });
    };
    says(bound(unix_endpoint::path(folder / "no/socket")), "its directory does not exist");
    const unix_listener listener = unix_listener::bind(name);
    says(bound(name), path + " (a socket is there that is in use");
    unix_listen_options careful;
    careful.replaces_stale = false;
    says(bound(name, careful), path + " (a socket is there, which replaces_stale = false");
    std::ofstream(path + "-file") << "text";
    says(bound(unix_endpoint::path(path + "-file")), "(what is there is no socket");
    says(refusal_of<std::system_error>([&] { (void)tandem::io::unix_datagram::bind(name); }),
         "unix_datagram::bind to " + path + " (a socket is there");
    co_return;
  });
}

TEST(unix_listener, permissions_are_those_of_the_path) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string path = folder / "socket";
    unix_listen_options options;
    options.permissions = 0606;
    const unix_listener listener = unix_listener::bind(unix_endpoint::path(path), options);
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0606U);
    co_return;
  });
}

TEST(unix_listener, serve_serves_it) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const auto name = unix_endpoint::path(folder / "socket");
    unix_listener listener = unix_listener::bind(name);
    const auto echo = [](unix_stream client) -> task<void> {
      std::array<std::byte, 64> room;
      while (const std::size_t got = co_await client.read(room)) {
        co_await client.write_all(std::span(room).first(got));
      }
    };
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(tandem::io::serve(std::move(listener), echo));
      for (int i = 0; i < 5; ++i) {
        // An any_stream holds it as it holds a tcp_stream.
        tandem::io::any_stream client(co_await unix_stream::connect(name));
        std::array<std::byte, 16> room;
        co_await client.write_all(bytes_of("again"));
        EXPECT_EQ(text_of(room, co_await client.read(room)), "again");
      }
      scope.request_stop();
    });
  });
}

TEST(unix_endpoint, is_a_key_of_unordered_containers) {
  std::unordered_set<unix_endpoint> seen{unix_endpoint::path("x"), unix_endpoint::abstract("x"),
                                         unix_endpoint()};
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_FALSE(seen.insert(unix_endpoint::parse("x")).second);
  EXPECT_FALSE(seen.insert(unix_endpoint::parse("@x")).second);
  const std::hash<unix_endpoint> hash;
  EXPECT_NE(hash(unix_endpoint::path("x")), hash(unix_endpoint::abstract("x")));
  EXPECT_NE(hash(unix_endpoint::path("x")), hash(unix_endpoint::path("y")));
}

TEST(unix_endpoint, names_are_checked_and_read_back) {
  const auto code_of = [](auto make) {
    try {
      (void)make();
    } catch (const std::system_error& failure) {
      return failure.code();
    }
    return std::error_code();
  };
  EXPECT_EQ(unix_endpoint::parse("/run/x").to_string(), "/run/x");
  EXPECT_TRUE(unix_endpoint::parse("@x").is_abstract());
  EXPECT_EQ(unix_endpoint::parse("@x").to_string(), "@x");
  EXPECT_EQ(unix_endpoint().to_string(), "an unnamed socket");
  EXPECT_NE(unix_endpoint::path("x"), unix_endpoint::abstract("x"));
  EXPECT_EQ(unix_endpoint::path(std::string(107, 'x')).name().size(), 107U);
  EXPECT_EQ(code_of([] { return unix_endpoint::path(std::string(108, 'x')); }),
            std::errc::filename_too_long);
  EXPECT_EQ(code_of([] { return unix_endpoint::abstract(std::string(108, 'x')); }),
            std::errc::filename_too_long);
  EXPECT_EQ(code_of([] { return unix_endpoint::path(""); }), std::errc::invalid_argument);
  EXPECT_EQ(code_of([] { return unix_endpoint::path(std::string("a\0b", 3)); }),
            std::errc::invalid_argument);
}

}  // namespace
