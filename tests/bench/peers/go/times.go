// times.go: goroutines that sleep, and contexts with a deadline that is not reached.
// SPDX-License-Identifier: MIT
package main

import (
	"context"
	"math/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const sleepers = 1_000_000

// User and system time of the process in nanoseconds.
func cpuTime() int64 {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return used.Utime.Nano() + used.Stime.Nano()
}

func sleep(n int) {
	random := rand.New(rand.NewSource(1))
	var all sync.WaitGroup
	all.Add(n)
	for i := 0; i < n; i++ {
		limit := time.Duration(random.Int63n(int64(time.Second)))
		go func() {
			time.Sleep(limit)
			all.Done()
		}()
	}
	all.Wait()
}

func sleepCPU() float64 {
	sleep(1000)
	before := cpuTime()
	sleep(sleepers)
	return float64(cpuTime()-before) / sleepers
}

func sleepMemory() float64 {
	var asleep int64
	for i := 0; i < sleepers; i++ {
		go func() {
			atomic.AddInt64(&asleep, 1)
			time.Sleep(time.Hour)
		}()
	}
	for atomic.LoadInt64(&asleep) < sleepers {
		runtime.Gosched()
	}
	return float64(memory("VmRSS")) * 1024 / 1e6
}

// Runs `body` under a deadline that it does not reach; it looks at the context as a callee would.
func limited(body func()) func(n int) {
	return func(n int) {
		for i := 0; i < n; i++ {
			limit, done := context.WithTimeout(context.Background(), time.Hour)
			body()
			if limit.Err() != nil {
				panic("the limit was reached")
			}
			done()
		}
	}
}

func timeCases() []benchCase {
	one := []int{1}
	measured := func(by meter, n int, loop func(n int)) func() float64 {
		return func() float64 { return by(n, loop) }
	}
	return []benchCase{
		{"sleep_1m", "CPU ns/task", "1,000,000 tasks, each sleeps a random time of up to 1 s", nil, sleepCPU},
		{"sleep_1m_memory", "MB", "resident while 1,000,000 tasks sleep", one, sleepMemory},
		{"timeout_ready", "ns/op", "a limit of 1 h around a task that does not wait, 1,000,000 times", one,
			measured(nanoseconds, 1_000_000, limited(func() {}))},
		{"timeout_yield", "ns/op", "a limit of 1 h around a task that yields once, 500,000 times", one,
			measured(nanoseconds, 500_000, limited(runtime.Gosched))},
		{"allocs_timeout", "allocations/op", "as timeout_yield", one,
			measured(allocations, 500_000, limited(runtime.Gosched))},
	}
}
