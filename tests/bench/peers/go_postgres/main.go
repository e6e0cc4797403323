// main.go: suite postgres by lib/pq. postgres_go CONNINFO single CONNECTIONS SECONDS; postgres_go --version
// SPDX-License-Identifier: MIT
//
// As its documentation has it: database/sql, a goroutine and a connection of the pool for each task. It has no pipelines.
package main

import (
	"database/sql"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"

	_ "github.com/lib/pq"
)

func cpu() (user, system int64) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return used.Utime.Nano(), used.Stime.Nano()
}

type counter struct {
	lock               sync.Mutex
	countsFrom, ends   time.Time
	first, last        time.Time
	user, system       int64
	samples            []int64
}

func (c *counter) add(began time.Time) {
	now := time.Now()
	if now.Before(c.countsFrom) {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if len(c.samples) == 0 {
		c.first = now
		c.user, c.system = cpu()
	}
	c.last = now
	c.samples = append(c.samples, now.Sub(began).Nanoseconds())
}

func (c *counter) print() {
	user, system := cpu()
	count := float64(len(c.samples) - 1)
	sort.Slice(c.samples, func(i, j int) bool { return c.samples[i] < c.samples[j] })
	quantile := func(q float64) float64 { return float64(c.samples[int(q*count)]) / 1e3 }
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	fmt.Printf("{\"rate\": %.1f, \"p50\": %.2f, \"p99\": %.2f, \"cpu\": %.0f, \"user\": %.0f, \"rss\": %d}\n",
		count/c.last.Sub(c.first).Seconds(), quantile(0.5), quantile(0.99), float64(user-c.user+system-c.system)/count,
		float64(user-c.user)/count, used.Maxrss)
}

func ask(statement *sql.Stmt, counts *counter) {
	for number := 0; time.Now().Before(counts.ends); number++ {
		began := time.Now()
		var got int
		if err := statement.QueryRow(number).Scan(&got); err != nil || got != number {
			panic(err)
		}
		counts.add(began)
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("lib/pq of Debian; " + runtime.Version())
		return
	}
	runtime.GOMAXPROCS(1)
	connections, _ := strconv.Atoi(os.Args[3])
	seconds, _ := strconv.ParseFloat(os.Args[4], 64)
	db, err := sql.Open("postgres", os.Args[1])
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	statement, err := db.Prepare("select $1::int")
	if err != nil {
		panic(err)
	}
	counts := &counter{samples: make([]int64, 0, 1<<20)}
	counts.countsFrom = time.Now().Add(time.Duration(seconds / 3 * 1e9))
	counts.ends = counts.countsFrom.Add(time.Duration(seconds * 1e9))
	var all sync.WaitGroup
	for i := 0; i < connections; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			ask(statement, counts)
		}()
	}
	all.Wait()
	counts.print()
}
