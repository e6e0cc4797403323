// redis.hpp: commands, pipelines, transactions and messages of a Redis server, by hiredis. Component tandem::io_redis.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/redis/argument.hpp>
#include <tandem/io/redis/batch.hpp>
#include <tandem/io/redis/client.hpp>
#include <tandem/io/redis/errors.hpp>
#include <tandem/io/redis/export.hpp>
#include <tandem/io/redis/message.hpp>
#include <tandem/io/redis/options.hpp>
#include <tandem/io/redis/reply.hpp>
#include <tandem/io/redis/subscriber.hpp>
#include <tandem/io/redis/transactions.hpp>
