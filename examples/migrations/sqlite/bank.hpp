// bank.hpp: what both programs share: the command line, the statements, and which transfers there are.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bank {

class settings {
 public:
  settings(int argc, char** argv) {
    if (argc != 4) {
      std::fprintf(stderr, "%s: FILE CLIENTS TRANSFERS\n", argv[0]);
      std::exit(2);
    }
    file = argv[1];
    clients = std::atoi(argv[2]);
    transfers = std::atoi(argv[3]);
  }
  std::string file;
  int clients;
  int transfers;  ///< of each client
};

inline constexpr const char* schema =
    "CREATE TABLE account (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL CHECK (cents >= 0))";
inline constexpr const char* deposit = "INSERT INTO account VALUES (?, 100000)";
inline constexpr const char* take = "UPDATE account SET cents = cents - ? WHERE id = ?";
inline constexpr const char* give = "UPDATE account SET cents = cents + ? WHERE id = ?";
inline constexpr const char* balance = "SELECT cents FROM account WHERE id = ?";
inline constexpr const char* all = "SELECT id, cents FROM account ORDER BY id";

class transfer {
 public:
  transfer(int client, int number, int clients)
      : from(client),
        to((client + 1 + number % 5) % clients),
        cents(number % 10 == 9 ? 100000000 : 1 + number % 7) {}
  int from;
  int to;
  int cents;  ///< each tenth is more than there is: it is refused, and nothing of it may stay
};

inline void report(long long id, long long cents) {
  std::printf("account %lld: %lld\n", id, cents);
}
inline void report_end(int done, int refused, int wrong) {
  std::printf("%d done, %d refused, %d looks at a balance below 0\n", done, refused, wrong);
}

}  // namespace bank
