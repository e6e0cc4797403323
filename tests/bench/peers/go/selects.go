// selects.go: a select of four channels, and the wait for one channel beside it.
// SPDX-License-Identifier: MIT
package main

// Which of the four has the next value: the same ones in each program.
type nextOfFour uint64

func (state *nextOfFour) next() uint64 {
	s := *state
	s ^= s << 13
	s ^= s >> 7
	s ^= s << 17
	*state = s
	return uint64(s >> 62)
}

const firstOfFour = nextOfFour(88172645463325252)

type fourChannels [4]chan int

func makeFour() fourChannels {
	return fourChannels{make(chan int, 1), make(chan int, 1), make(chan int, 1), make(chan int, 1)}
}

func (from *fourChannels) take() int {
	select {
	case value := <-from[0]:
		return value
	case value := <-from[1]:
		return value
	case value := <-from[2]:
		return value
	case value := <-from[3]:
		return value
	}
}

func selectReady(n int) {
	from, which, sum := makeFour(), firstOfFour, 0
	for i := 0; i < n; i++ {
		from[which.next()] <- i
		sum += from.take()
	}
	expect(sum, n*(n-1)/2, "the sum")
}

func receiveWait(n int) {
	mine, theirs := make(chan int, 1), make(chan int, 1)
	go func() {
		for i := 0; i < n/2; i++ {
			mine <- <-theirs + 1
		}
	}()
	last := 0
	for i := 0; i < n/2; i++ {
		theirs <- last
		last = <-mine + 1
	}
	expect(last, n/2*2, "the last value")
}

func selectWait(n int) {
	mine, theirs := makeFour(), makeFour()
	go func() {
		which := firstOfFour
		for i := 0; i < n/2; i++ {
			value := theirs.take() + 1
			mine[which.next()] <- value
		}
	}()
	last, which := 0, firstOfFour
	for i := 0; i < n/2; i++ {
		theirs[which.next()] <- last
		last = mine.take() + 1
	}
	expect(last, n/2*2, "the last value")
}

func selectCases() []benchCase {
	one := []int{1}
	measured := func(by meter, n int, loop func(n int)) func() float64 {
		return func() float64 { return by(n, loop) }
	}
	return []benchCase{
		{"select_ready", "ns/turn", "a send to one of 4 channels, a select of the 4, 5,000,000 times", one,
			measured(nanoseconds, 5_000_000, selectReady)},
		{"receive_wait", "ns/turn", "two tasks answer each other, each by a channel, 2,000,000 turns", one,
			measured(nanoseconds, 2_000_000, receiveWait)},
		{"select_wait", "ns/turn", "as receive_wait, each by a select of 4 channels, 2,000,000 turns", one,
			measured(nanoseconds, 2_000_000, selectWait)},
	}
}
