// locks.go: mutexes, semaphores (a channel with as many places as permits), wake-ups and channels.
// SPDX-License-Identifier: MIT
package main

import (
	"runtime"
	"sync"
)

const tasks = 8

func lockUnlock(n int) {
	var mutex sync.Mutex
	count := 0
	for i := 0; i < n; i++ {
		mutex.Lock()
		count++
		mutex.Unlock()
	}
	expect(count, n, "the count")
}

// Runs `body` in 8 goroutines and waits for all.
func inTasks(body func()) {
	var all sync.WaitGroup
	all.Add(tasks)
	for i := 0; i < tasks; i++ {
		go func() {
			defer all.Done()
			body()
		}()
	}
	all.Wait()
}

func lockContended(n int, inside func()) {
	var mutex sync.Mutex
	count := 0
	inTasks(func() {
		for i := 0; i < n/tasks; i++ {
			mutex.Lock()
			count++
			inside()
			mutex.Unlock()
		}
	})
	expect(count, n/tasks*tasks, "the count")
}

func semaphore(n int) {
	permits := make(chan struct{}, 2)
	for i := 0; i < n; i++ {
		permits <- struct{}{}
		<-permits
	}
}

func semaphoreContended(n int) {
	permits := make(chan struct{}, 2)
	inTasks(func() {
		for i := 0; i < n/tasks; i++ {
			permits <- struct{}{}
			runtime.Gosched()
			<-permits
		}
	})
}

func pingPong(n int) {
	ping, pong := make(chan struct{}), make(chan struct{})
	go func() {
		for i := 0; i < n; i++ {
			<-ping
			pong <- struct{}{}
		}
	}()
	for i := 0; i < n; i++ {
		ping <- struct{}{}
		<-pong
	}
}

func channel(n, ends int) {
	items := make(chan int, 128)
	sums := make(chan int)
	var sending sync.WaitGroup
	sending.Add(ends)
	for i := 0; i < ends; i++ {
		go func() {
			defer sending.Done()
			for item := 0; item < n/ends; item++ {
				items <- item
			}
		}()
		go func() {
			sum := 0
			for item := range items {
				sum += item
			}
			sums <- sum
		}()
	}
	sending.Wait()
	close(items)
	sum := 0
	for i := 0; i < ends; i++ {
		sum += <-sums
	}
	each := n / ends
	expect(sum, ends*(each*(each-1)/2), "the sum")
}

func lockCases() []benchCase {
	one, two := []int{1}, []int{2}
	measured := func(by meter, n int, loop func(n int)) func() float64 {
		return func() float64 { return by(n, loop) }
	}
	handover := func(n int) { lockContended(n, runtime.Gosched) }
	channel11 := func(n int) { channel(n, 1) }
	return []benchCase{
		{"lock_unlock", "ns/op", "one task, 10,000,000 times", one, measured(nanoseconds, 10_000_000, lockUnlock)},
		{"lock_contended", "ns/op", "8 tasks, 200,000 times each, an increment inside", two,
			measured(nanoseconds, 1_600_000, func(n int) { lockContended(n, func() {}) })},
		{"lock_handover", "ns/op", "8 tasks, 50,000 times each, a yield inside", nil, measured(nanoseconds, 400_000, handover)},
		{"semaphore", "ns/op", "one task acquires and releases, 10,000,000 times", one,
			measured(nanoseconds, 10_000_000, semaphore)},
		{"semaphore_contended", "ns/op", "2 permits, 8 tasks, 50,000 times each, a yield inside", nil,
			measured(nanoseconds, 400_000, semaphoreContended)},
		{"ping_pong", "ns/round trip", "two tasks wake each other 500,000 times", nil, measured(nanoseconds, 500_000, pingPong)},
		{"channel_1_1", "ns/item", "bounded 128, 1 sender, 1 receiver, 2,000,000 items", nil,
			measured(nanoseconds, 2_000_000, channel11)},
		{"channel_4_4", "ns/item", "bounded 128, 4 senders, 4 receivers, 2,000,000 items", nil,
			measured(nanoseconds, 2_000_000, func(n int) { channel(n, 4) })},
		{"channel_16_16", "ns/item", "bounded 128, 16 senders, 16 receivers, 2,000,000 items", nil,
			measured(nanoseconds, 2_000_000, func(n int) { channel(n, 16) })},
		{"allocs_lock", "allocations/op", "as lock_handover", one, measured(allocations, 400_000, handover)},
		{"allocs_semaphore", "allocations/op", "as semaphore_contended", one, measured(allocations, 400_000, semaphoreContended)},
		{"allocs_ping_pong", "allocations/op", "as ping_pong", one, measured(allocations, 500_000, pingPong)},
		{"allocs_channel", "allocations/op", "as channel_1_1", one, measured(allocations, 2_000_000, channel11)},
	}
}
