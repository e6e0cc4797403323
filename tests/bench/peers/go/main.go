// main.go: suite sync by Go: goroutines, channels, sync and context; same protocol as bench.hpp.
// SPDX-License-Identifier: MIT
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A row of --list for each number of threads, and one sample of it in its unit.
type benchCase struct {
	name, unit, input string
	threads           []int // none: whatever is asked for
	sample            func() float64
}

// How a loop of n operations is measured: by time or by allocations, warmed up by a tenth of it.
type meter func(n int, loop func(n int)) float64

func nanoseconds(n int, loop func(n int)) float64 {
	loop(n / 10)
	start := time.Now()
	loop(n)
	return float64(time.Since(start).Nanoseconds()) / float64(n)
}

func allocations(n int, loop func(n int)) float64 {
	n /= 10
	loop(n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	loop(n)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n)
}

func expect(got, expected int, what string) {
	if got != expected {
		fmt.Fprintf(os.Stderr, "%s is %d instead of %d\n", what, got, expected)
		os.Exit(1)
	}
}

// A figure of /proc/self/status in kB.
func memory(field string) int {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, field+":") {
			kb, _ := strconv.Atoi(strings.Fields(line)[1])
			return kb
		}
	}
	return 0
}

func list(counts string) {
	for _, c := range append(append(lockCases(), selectCases()...), append(groupCases(), timeCases()...)...) {
		threads := c.threads
		if threads == nil {
			for _, text := range strings.Split(counts, ",") {
				count, _ := strconv.Atoi(text)
				threads = append(threads, count)
			}
		}
		for _, count := range threads {
			fmt.Printf(`{"case":"%s","impl":"go","role":"peer","unit":"%s","better":"lower","input":"%s",`+
				`"version":"%s","compiler":"%s","extra":false,"threads":%d}`+"\n",
				c.name, c.unit, c.input, "Go "+strings.TrimPrefix(runtime.Version(), "go"),
				strings.Replace(runtime.Version(), "go", "go ", 1), count)
		}
	}
}

func main() {
	args := append(os.Args, "", "", "")
	if args[1] == "--list" {
		if args[2] == "" {
			args[2] = "1,2"
		}
		list(args[2])
		return
	}
	threads, _ := strconv.Atoi(args[3])
	for _, c := range append(append(lockCases(), selectCases()...), append(groupCases(), timeCases()...)...) {
		if c.name == args[1] && args[2] == "go" && threads > 0 {
			runtime.GOMAXPROCS(threads)
			value := c.sample()
			fmt.Printf("{\"value\":%.9f,\"rss_kb\":%d}\n", value, memory("VmHWM"))
			return
		}
	}
	fmt.Fprintf(os.Stderr, "usage: %s --list [THREADS,...] | CASE go THREADS\n", args[0])
	os.Exit(2)
}
