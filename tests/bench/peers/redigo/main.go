// main.go PORT CASE COUNT: suite redis by redigo: one connection, a pool of connections for many, or a pipeline.
// SPDX-License-Identifier: MIT
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"
)

const (
	tasks    = 64
	commands = 100
	key      = "key:000000000042"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func get(to redis.Conn) {
	got, err := redis.Bytes(to.Do("GET", key))
	check(err)
	if len(got) != 64 {
		check(fmt.Errorf("a wrong answer"))
	}
}

func used() float64 {
	var all syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &all))
	of := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)*1e-6 }
	return of(all.Utime) + of(all.Stime)
}

// At most, of this program: what getrusage() says has that of whoever started it.
func kilobytes() (most int64) {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Sscan(after, &most)
	return most
}

func main() {
	if len(os.Args) != 4 {
		check(fmt.Errorf("usage: redis_redigo PORT single|shared|pipeline COUNT"))
	}
	dial := func() (redis.Conn, error) { return redis.Dial("tcp", "127.0.0.1:"+os.Args[1]) }
	count, err := strconv.Atoi(os.Args[3])
	check(err)
	to, err := dial()
	check(err)
	_, err = to.Do("SET", key, strings.Repeat("v", 64))
	check(err)

	times := make([]time.Duration, count)
	perTime := 1
	began := time.Now()
	cpuBefore := used()
	switch os.Args[2] {
	case "single":
		for each := range times {
			start := time.Now()
			get(to)
			times[each] = time.Since(start)
		}
	case "pipeline":
		perTime = commands
		for each := range times {
			start := time.Now()
			for in := 0; in < commands; in++ {
				check(to.Send("GET", key))
			}
			check(to.Flush())
			for in := 0; in < commands; in++ {
				got, err := redis.Bytes(to.Receive())
				check(err)
				if len(got) != 64 {
					check(fmt.Errorf("a wrong answer"))
				}
			}
			times[each] = time.Since(start)
		}
	case "shared":
		// A connection of redigo's is for one caller at a time: its way to share is a pool.
		pool := &redis.Pool{Dial: dial, MaxIdle: tasks, MaxActive: tasks, Wait: true}
		next := int64(-1)
		var all sync.WaitGroup
		for each := 0; each < tasks; each++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for {
					mine := atomic.AddInt64(&next, 1)
					if mine >= int64(count) {
						return
					}
					start := time.Now()
					from := pool.Get()
					get(from)
					from.Close()
					times[mine] = time.Since(start)
				}
			}()
		}
		all.Wait()
	}
	took := time.Since(began).Seconds()
	cpuAfter, memory := used(), kilobytes()
	sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
	at := func(part float64) float64 { return float64(times[int(part*float64(count-1))].Nanoseconds()) / 1000 }
	total := float64(count * perTime)
	fmt.Printf("requests_s=%.0f p50_us=%.2f p99_us=%.2f cpu_us=%.3f count=%.0f rss_kb=%d\n", total/took, at(0.5), at(0.99),
		(cpuAfter-cpuBefore)/total*1e6, total, memory)
}
