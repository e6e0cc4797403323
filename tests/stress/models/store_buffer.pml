// store_buffer.pml: memory with store buffers, for models where an order of memory accesses matters.
// SPDX-License-Identifier: MIT
//
// Promela is sequentially consistent; machines and C++ are not. Each of the first BUFFERED threads has a
// buffer of two stores that the others do not see yet, and a process that carries them to memory at any time:
//
//   relaxed   may reach memory before an older one to another location
//   release   reaches memory after all older ones; a later load of another location may still overtake it
//   seq_cst   as on x86 and ARM: everything older is in memory, and so is this one, before the thread goes on
//
// A thread reads its own newest store. Read-modify-write operations empty the buffer first. Loads are not
// reordered with loads. So the model is weaker than x86 (TSO) in the stores, and stronger than C++ in the
// loads; what rests on the order of two loads is tested by swapping them.
//
// The includer defines BUFFERED (threads 0 .. BUFFERED-1 have a buffer) and LOCATIONS before.

#define RELAXED 0
#define RELEASE 1

typedef store_buffer {
  byte count;
  byte place[2];
  byte value[2];
  bit order[2];
}

byte mem[LOCATIONS];
store_buffer pending[BUFFERED];

// These processes come first in each model: their _pid is the number of the buffer.
active [BUFFERED] proctype carrier() {
end:
  do
  :: atomic {
       pending[_pid].count > 0 ->
       mem[pending[_pid].place[0]] = pending[_pid].value[0];
       pending[_pid].place[0] = pending[_pid].place[1];
       pending[_pid].value[0] = pending[_pid].value[1];
       pending[_pid].order[0] = pending[_pid].order[1];
       pending[_pid].place[1] = 0;
       pending[_pid].value[1] = 0;
       pending[_pid].order[1] = 0;
       pending[_pid].count--
     }
#ifdef RELAXED_STORES
  :: atomic {
       pending[_pid].count == 2 && pending[_pid].order[1] == RELAXED &&
       pending[_pid].place[0] != pending[_pid].place[1] ->
       mem[pending[_pid].place[1]] = pending[_pid].value[1];
       pending[_pid].place[1] = 0;
       pending[_pid].value[1] = 0;
       pending[_pid].count = 1
     }
#endif
  od
}

// What thread p reads at a.
#define LOAD(p, a)                                                               \
  (pending[p].count == 2 && pending[p].place[1] == (a) -> pending[p].value[1]    \
   : (pending[p].count >= 1 && pending[p].place[0] == (a) -> pending[p].value[0] \
                                                           : mem[a]))

// Everything that thread p has stored is in memory: what a read-modify-write waits for.
#define DRAINED(p) (pending[p].count == 0)

inline store(p, a, v, how) {
  atomic {
    pending[p].count < 2 ->
    pending[p].place[pending[p].count] = a;
    pending[p].value[pending[p].count] = v;
    pending[p].order[pending[p].count] = how;
    pending[p].count++
  }
}

inline store_seq_cst(p, a, v) {
  atomic { DRAINED(p) -> mem[a] = v }
}
