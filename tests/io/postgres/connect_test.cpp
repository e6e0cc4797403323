// connect_test.cpp: how a connection comes about, and with which words it does not.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/postgres/postgres_support.hpp"
#include "loopback_ports.hpp"
#include "plain_sockets.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;
using postgres::connection;
using postgres::errc;
using tandem::as_result;
using tandem::task;

class postgres_connect : public with_postgres {};

task<std::string> user_of(connection& c) {
  const auto got = co_await c.query<std::string>("select current_user");
  co_return got.at(0);
}

TEST_F(postgres_connect, by_address_name_url_and_folder) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const std::string port = std::to_string(server().port());
    const std::string rest = " user=tandem dbname=postgres sslmode=disable gssencmode=disable";
    const std::vector<std::string> all = {
        "host=127.0.0.1 port=" + port + rest,
        "hostaddr=127.0.0.1 port=" + port + rest,
        "host=localhost port=" + port + rest,
        "postgresql://tandem@localhost:" + port + "/postgres?gssencmode=disable",
        "host=" + server().folder() + " port=" + port + rest,
        "host=no-such-host.invalid,127.0.0.1 port=" + port + rest,
        "host=127.0.0.1,127.0.0.1 port=1," + port + rest,
        "host=" + server().folder() + ",127.0.0.1 port=1," + port + rest};
    for (const std::string& each : all) {
      connection c = co_await connection::open(each);
      EXPECT_TRUE(c.is_usable()) << each;
      EXPECT_EQ(co_await user_of(c), "tandem") << each;
      EXPECT_GT(c.server_version(), 90000);
      EXPECT_GT(c.server_process(), 0);
      EXPECT_EQ(c.server_parameter("client_encoding"), "UTF8");
      EXPECT_FALSE(c.is_encrypted());
    }
  }());
}

TEST_F(postgres_connect, the_environment_and_a_service_file_say_what_the_text_leaves_out) {
  const std::string file = server().folder() + "/../service.conf";
  std::ofstream(file) << "[shop]\nhost=localhost\nport=" << server().port()
                      << "\nuser=tandem\ndbname=postgres\ngssencmode=disable\n";
  setenv("PGSERVICEFILE", file.c_str(), 1);
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection c = co_await connection::open("service=shop");
    EXPECT_EQ(co_await user_of(c), "tandem");
  }());
  setenv("PGHOST", "localhost", 1);
  setenv("PGPORT", std::to_string(server().port()).c_str(), 1);
  setenv("PGUSER", "tandem", 1);
  setenv("PGDATABASE", "postgres", 1);
  rt.run([]() -> task<void> {
    connection c = co_await connection::open();
    EXPECT_EQ(co_await user_of(c), "tandem");
  }());
  for (const char* each : {"PGSERVICEFILE", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE"})
    unsetenv(each);
}

TEST_F(postgres_connect, a_failure_says_where_and_why) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const std::string at = "host=127.0.0.1 gssencmode=disable sslmode=disable user=tandem port=";
    const std::string port = std::to_string(server().port());
    std::string text = co_await failure_text(connection::open(at + "1"), errc::cannot_connect);
    EXPECT_TRUE(contains(text, "127.0.0.1:1") && contains(text, "refused")) << text;
    EXPECT_EQ(text.find_first_of("\n\t"), std::string::npos) << text;
    EXPECT_FALSE(contains(text, "Is the server running")) << text;
    EXPECT_TRUE(contains(text, "cannot connect: is the server up")) << text;
    text = co_await failure_text(connection::open(at + port + " dbname=nowhere"),
                                 errc::no_such_database);
    EXPECT_TRUE(contains(text, "nowhere") && contains(text, "correct dbname")) << text;
    text = co_await failure_text(
        connection::open("host=127.0.0.1 gssencmode=disable dbname=postgres user=nobody port=" +
                         port),
        errc::wrong_credentials);
    EXPECT_TRUE(contains(text, "nobody")) << text;
    text =
        co_await failure_text(connection::open("host=no-such-host.invalid"), errc::cannot_connect);
    EXPECT_TRUE(contains(text, "no-such-host.invalid")) << text;
    text = co_await failure_text(connection::open("hots=here"), errc::bad_option);
    EXPECT_TRUE(contains(text, "hots")) << text;
    text = co_await failure_text(connection::open(at + port + " sslmode=require"),
                                 errc::cannot_connect);
    EXPECT_TRUE(contains(text, "SSL")) << text;
  }());
}

TEST_F(postgres_connect, a_wrong_password_is_told_apart) {
  with_connection([](connection& c) -> task<void> {
    (void)co_await c.execute("drop role if exists ann; create role ann login password 'right'");
    // All that is not tandem has to say a password from here on.
    const std::string file = server().folder() + "/data/pg_hba.conf";
    std::ofstream(file) << "host all tandem 127.0.0.1/32 trust\nlocal all all trust\n"
                           "host all all 127.0.0.1/32 scram-sha-256\n";
    (void)co_await c.query("select pg_reload_conf()");
    const std::string at = "host=127.0.0.1 gssencmode=disable dbname=postgres user=ann port=" +
                           std::to_string(server().port());
    while (true) {  // until the server has read it
      const auto got = co_await as_result(connection::open(at));
      if (!got.has_value() && got.error() == errc::wrong_credentials) break;
    }
    const std::string text =
        co_await failure_text(connection::open(at + " password=wrong"), errc::wrong_credentials);
    EXPECT_FALSE(contains(text, "wrong\"")) << text;
    connection ann = co_await connection::open(at + " password=right");
    EXPECT_EQ(co_await user_of(ann), "ann");
  });
}

TEST_F(postgres_connect, a_server_that_says_nothing_costs_the_limit_and_no_more) {
  std::uint16_t port = 0;
  const plain_socket silent = listening_plain(port);
  test_runtime rt;
  rt.run([](std::uint16_t at) -> task<void> {
    postgres::connect_options options;
    options.connect_limit = 50ms;
    const std::string info = "host=127.0.0.1 user=x dbname=x port=" + std::to_string(at);
    std::string text = co_await failure_text(connection::open(info, options), errc::cannot_connect);
    EXPECT_TRUE(contains(text, "no answer within 50 ms")) << text;
    const auto stopped = co_await as_result(tandem::with_timeout(20ms, connection::open(info)));
    EXPECT_TRUE(stopped.is_cancelled());
  }(port));
  close_plain(silent);
}

TEST_F(postgres_connect, what_was_never_opened_or_is_closed_says_so) {
  with_connection([](connection& c) -> task<void> {
    connection never;
    EXPECT_FALSE(never.is_usable());
    try {
      (void)co_await never.query("select 1");
      ADD_FAILURE();
    } catch (const postgres::error& told) {
      EXPECT_EQ(told.code(), errc::closed);
    }
    connection moved = std::move(c);
    EXPECT_FALSE(c.is_usable());  // NOLINT: that is what is asked
    EXPECT_TRUE(moved.is_usable());
    moved.close();
    EXPECT_FALSE(moved.is_usable());
    (void)co_await failure_text(moved.query("select 1"), errc::closed);
  });
}

TEST_F(postgres_connect, tls_is_checked_against_the_certificate_and_the_name) {
  test_server encrypted("postgres+tls");
  test_runtime rt;
  rt.run([](test_server& at) -> task<void> {
    const std::string info = "host=localhost user=tandem dbname=postgres gssencmode=disable port=" +
                             std::to_string(at.port());
    connection c =
        co_await connection::open(info + " sslmode=verify-full sslrootcert=" + at.certificate());
    EXPECT_TRUE(c.is_encrypted());
    EXPECT_EQ(co_await user_of(c), "tandem");
    // A large answer, so that records of TLS lie in libpq's buffers.
    const auto got = co_await c.query<std::string>("select repeat('x', 1000000)");
    EXPECT_EQ(got.at(0).size(), 1000000U);
    const std::string text =
        co_await failure_text(connection::open(info + " sslmode=verify-full sslrootcert=/dev/null"),
                              errc::cannot_connect);
    EXPECT_TRUE(contains(text, "ertificate")) << text;
  }(encrypted));
}

}  // namespace
