// groups.go: goroutines that are started together and awaited together, by a WaitGroup; cancelled by a context.
// SPDX-License-Identifier: MIT
package main

import (
	"context"
	"runtime"
	"sync"
	"time"
)

const groupSize = 1000 // children of a scope, and tasks of a group that is cancelled

func join(children int, child func()) {
	var all sync.WaitGroup
	all.Add(children)
	for i := 0; i < children; i++ {
		go func() {
			defer all.Done()
			child()
		}()
	}
	all.Wait()
}

func joins(children int, child func()) func(n int) {
	return func(n int) {
		for i := 0; i < n; i++ {
			join(children, child)
		}
	}
}

func scopes(n int) { joins(groupSize, func() {})(n / groupSize) }

// Groups of tasks that wait for the end of their group's context, which is derived from the root's: nanoseconds a task
// from the request until all have ended.
func cancel(total, passes int) float64 {
	taken := time.Duration(0)
	for pass := 0; pass <= passes; pass++ {
		root, stop := context.WithCancel(context.Background())
		var all, ready sync.WaitGroup
		all.Add(total)
		ready.Add(total)
		for g := 0; g < total/groupSize; g++ {
			go func() {
				group, stopGroup := context.WithCancel(root)
				defer stopGroup()
				join(groupSize, func() {
					ready.Done()
					select {
					case <-group.Done():
					case <-time.After(time.Hour):
					}
					all.Done()
				})
			}()
		}
		ready.Wait()
		for i := 0; i < 100; i++ { // the last ones are between ready and their wait
			runtime.Gosched()
		}
		start := time.Now()
		stop()
		all.Wait()
		if pass > 0 {
			taken += time.Since(start)
		}
	}
	return float64(taken.Nanoseconds()) / float64(total*passes)
}

func groupCases() []benchCase {
	one := []int{1}
	measured := func(by meter, n int, loop func(n int)) func() float64 {
		return func() float64 { return by(n, loop) }
	}
	const text = "groups of 1,000 tasks that sleep; from the request until all have ended"
	return []benchCase{
		{"when_all_8_ready", "ns/group", "8 children that do not wait, 100,000 groups", nil,
			measured(nanoseconds, 100_000, joins(8, func() {}))},
		{"when_all_8_yield", "ns/group", "8 children that yield once, 100,000 groups", nil,
			measured(nanoseconds, 100_000, joins(8, runtime.Gosched))},
		{"scope_1000", "ns/child", "1,000 children spawned and joined, 500 times", nil,
			measured(nanoseconds, 500*groupSize, scopes)},
		{"cancel_10k", "ns/task", text, nil, func() float64 { return cancel(10_000, 20) }},
		{"cancel_100k", "ns/task", text, nil, func() float64 { return cancel(100_000, 3) }},
		{"allocs_when_all", "allocations/op", "as when_all_8_yield", one,
			measured(allocations, 100_000, joins(8, runtime.Gosched))},
		{"allocs_scope", "allocations/op", "as scope_1000, a child", one, measured(allocations, 500*groupSize, scopes)},
	}
}
