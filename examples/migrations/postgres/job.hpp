// job.hpp: the job of both programs: orders for the things of a shop, by several clients at once.
// SPDX-License-Identifier: MIT
//
// Order n is for n % 5 + 1 of thing n % 8. It takes them from the stock and notes itself, both or
// neither: a rule of the table refuses an empty stock. Client k has the orders of the things with
// thing % clients == k, in turn, so the answer does not depend on who is faster.
#pragma once

#include <string>

namespace shop {

constexpr int things = 8;
constexpr int clients = 4;

inline const char* const set_up =
    "drop table if exists orders; drop table if exists stock; "
    "create table stock (thing int primary key, amount int not null check (amount >= 0)); "
    "create table orders (number int primary key, thing int not null, amount int not null); "
    "insert into stock select i, 100 from generate_series(0, 7) i";
inline const char* const take = "update stock set amount = amount - $1 where thing = $2";
inline const char* const note = "insert into orders values ($1, $2, $3)";
inline const char* const report =
    "select s.thing, s.amount, count(o.number), coalesce(sum(o.amount), 0) from stock s left join "
    "orders o on o.thing = s.thing group by s.thing order by s.thing";

/// What the server says if the stock is too small.
inline const char* const too_few = "23514";

class order {
 public:
  explicit order(int of) : number(of), thing(of % things), amount(of % 5 + 1) {}
  int number;
  int thing;
  int amount;
};

/// The client's first order, and the one after that.
inline int next_order(int client, int number) {
  do ++number;
  while (number % things % clients != client);
  return number;
}

}  // namespace shop
