// nested_join.pml: fork and join by calls on the stack: segments, stolen and suspended children, settling.
// SPDX-License-Identifier: MIT
//
// detail/fork.hpp (joins), detail/promise_base.hpp and run_chain (calls). A root forks two parents, each of which
// forks two leaves; two workers. A leaf ends, or suspends once: then anybody may resume it at any time. Lanes are
// atomic here: they have models of their own. Each worker interprets its stack of activations (await_suspend of a
// parent). A plain function that waits in the middle of a segment (parallel_invoke) runs plain calls only; with
// -DNESTED a leaf may run frames there, in a run_chain within run_chain, which takes more care.
//
//   calls/number segment  run_chain gives each handle that it resumes a number that is unique in the process; with NESTED
//               an inner one puts the outer number back, and before that runs whatever lies in the lane above
//               the position that it found: what gave way or suspended in it has left that there
//   calls/call call     a child is given the number of the segment that forks it; the activation resumes it
//   calls/end_here end      a frame whose number is the running segment's says "done" by a flag of the thread, which its
//               caller takes back; any other one settles 1 on the join (joins/settle)
//   joins/publish fork     the join counts n; children n-1 .. 1 go to the lane; child 0 is called
//   joins/next next     done: the lane's newest is its sibling: called
//   joins/all_here done     all n done: the parent goes on
//   joins/stolen stolen   nothing in the lane: settle what is done; the parent goes on if that made the join 0
//   joins/give_way          giving way: as joins/stolen, the rest stays in the lane
//   joins/suspended suspend  the called child has suspended: settle what is done before it; nothing: touch nothing
//
// Proved: every frame ends once; a parent goes on once, after all its children have ended; nobody touches its
// join after that; what is popped on the stack is a sibling; the flag is never left behind; nothing hangs.
//
// BROKEN=1: calls/end_here does not compare numbers: a stolen or resumed child says "done" to nobody
// BROKEN=2: calls/number numbers are unique per thread only: a child resumed elsewhere takes itself for a called one
// BROKEN=3: calls/number a thread keeps one number: a child that its own thread resumes takes itself for a called one
// BROKEN=4: calls/number an inner run_chain keeps the outer number: as above, for what it runs
// BROKEN=5: calls/end_here the flag is not taken back: a suspended child counts as done
// BROKEN=6: joins/suspended counts the suspended child: the parent goes on before it has ended
// BROKEN=7: joins/suspended settles 0: the join may be gone
// BROKEN=8: joins/stolen goes on whatever settling gave: the parent goes on before a stolen child has ended
// BROKEN=9: joins/publish counts the join after the children are in the lane: a thief settles too early
// BROKEN=10: joins/settle settles by a load and a store: two ends count as one
// BROKEN=11: calls/number an inner run_chain leaves in the lane what gave way in it: the outer joins/next pops it
// BROKEN=12: calls/number an inner run_chain pops below the position that it found: the outer joins/next pops its parent's sibling
//
// ALSO -DWORKERS=3: two thieves
// ALSO -DNESTED: a leaf may run frames in an inner run_chain

#ifndef BROKEN
#define BROKEN 0
#endif

#if BROKEN == 4 || BROKEN == 11 || BROKEN == 12
#define NESTED
#endif

#ifndef WORKERS
#define WORKERS 2
#endif
#define FRAMES 7
#define CHILDREN 2
// The root is 0; 1 and 2 are its children, 3..4 and 5..6 theirs.
#define PARENT(f) (((f) - 1) / 2)
#define CHILD(f, i) (2 * (f) + 1 + (i))
#define IS_LEAF(f) ((f) >= 3)

#define DEPTH 5
#define INNER 16  // a stack entry INNER + leaf: that leaf has called run_chain

typedef lane_type {
  byte item[3];
  byte size;
  byte stolen  // stolen + size: the position, an index that only the owner moves
}
lane_type lanes[WORKERS];
byte remaining[FRAMES];    // the joins
byte number[FRAMES];       // calls/call
bool ended[FRAMES];
bool went_on[FRAMES];      // a parent after its join: the join is gone
bool has_suspended[FRAMES];
bool ready[FRAMES];        // suspended leaves that anybody may resume
bool root_taken, root_done;

inline fresh_segment() {  // calls/number
  d_step {
    runs++;
#if BROKEN == 2
    segment = runs
#elif BROKEN == 3
    segment = 16 * (me + 1)
#else
    segment = 16 * (me + 1) + runs
#endif
  }
}

inline pop_newest(w) {
  lanes[w].size--;
  f = lanes[w].item[lanes[w].size];
  lanes[w].item[lanes[w].size] = 0
}

inline take_oldest(w) {
  f = lanes[w].item[0];
  lanes[w].item[0] = lanes[w].item[1];
  lanes[w].item[1] = lanes[w].item[2];
  lanes[w].item[2] = 0;
  lanes[w].size--;
  lanes[w].stolen++
}

// A leaf that waits to be resumed; blocks if there is none.
inline select_ready() {
  if
  :: ready[3] -> f = 3
  :: ready[4] -> f = 4
  :: ready[5] -> f = 5
  :: ready[6] -> f = 6
  fi;
  ready[f] = false
}

proctype worker(byte me) {
  byte who[DEPTH], done[DEPTH];  // done: children that have ended in this activation; or the outer number
  byte position;                 // of the lane before the inner run_chain
  byte depth, f, p, i, before;
  byte segment, runs, nested_runs;
  bool child_done;

loop:
  atomic {
    assert(!child_done && depth == 0);
    f = 0; p = 0; i = 0; before = 0; segment = 0
  }
  if
  :: root_done -> goto stopped
  :: atomic { me == 0 && !root_taken -> root_taken = true }
     fresh_segment();
     goto start
  :: atomic { lanes[me].size > 0 -> pop_newest(me) }
     fresh_segment();
     goto start
  :: atomic { lanes[(me + 1) % WORKERS].size > 0 -> take_oldest((me + 1) % WORKERS) }
     fresh_segment();
     goto start
#if WORKERS == 3
  :: atomic { lanes[(me + 2) % WORKERS].size > 0 -> take_oldest((me + 2) % WORKERS) }
     fresh_segment();
     goto start
#endif
  :: atomic { select_ready() }
     fresh_segment();
     goto end
  fi;

start:
  if
  :: !IS_LEAF(f) ->  // joins/publish
#if BROKEN != 9
     remaining[f] = CHILDREN;
#endif
     atomic {
       number[CHILD(f, 0)] = segment;
       number[CHILD(f, 1)] = segment;
       lanes[me].item[lanes[me].size] = CHILD(f, 1);
       lanes[me].size++
     }
#if BROKEN == 9
     remaining[f] = CHILDREN;
#endif
     d_step {
       who[depth] = f;
       done[depth] = 0;
       depth++;
       f = CHILD(f, 0)
     }
     goto start
  :: IS_LEAF(f) -> goto run_leaf
  fi;

run_leaf:
  if
  :: goto end
  :: atomic {
       !has_suspended[f] ->
       has_suspended[f] = true;
       ready[f] = true
     }
     goto returned
#ifdef NESTED
  :: d_step {
       nested_runs == 0 && depth < DEPTH - 1 ->
       nested_runs++;
       who[depth] = INNER + f;
       done[depth] = segment;
       depth++;
       position = lanes[me].stolen + lanes[me].size
     }
#if BROKEN != 4
     fresh_segment();
#endif
     if
     :: atomic { lanes[0].size > 0 -> take_oldest(0) } goto start
     :: atomic { lanes[1].size > 0 -> take_oldest(1) } goto start
#if BROKEN == 12
     :: atomic { lanes[me].size > 0 -> pop_newest(me) } goto start
#endif
     :: atomic { select_ready() } goto end
     :: goto returned  // nothing to run
     fi
#endif
  fi;

end:
  atomic {
    assert(!ended[f]);
    ended[f] = true
  }
  if
  :: f == 0 ->
     root_done = true;
     goto returned
#if BROKEN == 1
  :: f != 0 && number[f] != 0 ->
#else
  :: f != 0 && number[f] == segment ->  // calls/end_here
#endif
     child_done = true;
     goto returned
  :: else -> p = PARENT(f)
  fi;
  // joins/settle
#if BROKEN == 10
  before = remaining[p];
  atomic {
    assert(!went_on[p]);
    remaining[p] = before - 1;
  }
#else
  atomic {
    assert(!went_on[p]);
    before = remaining[p];
    assert(before >= 1);
    remaining[p] = before - 1
  }
#endif
  if
  :: before == 1 -> goto goes_on
  :: else -> goto returned
  fi;

goes_on:
  atomic {
    assert(!went_on[p]);
    assert(ended[CHILD(p, 0)] && ended[CHILD(p, 1)]);
    went_on[p] = true;
    f = p;
    goto end
  }

returned:
  if
  :: depth == 0 -> goto loop
#ifdef NESTED
  :: depth > 0 && who[depth - 1] >= INNER ->
     assert(!child_done);
#if BROKEN != 11
     if
     :: atomic {
          lanes[me].size > 0 && lanes[me].stolen + lanes[me].size > position ->
          pop_newest(me)
        }
        fresh_segment();
        goto start
     :: lanes[me].size == 0 || lanes[me].stolen + lanes[me].size <= position
     fi;
#endif
     d_step {  // calls/number: the outer segment goes on
       depth--;
       segment = done[depth];
       f = who[depth] - INNER;
       who[depth] = 0;
       done[depth] = 0
     }
     goto run_leaf
#endif
  :: depth > 0 && who[depth - 1] < INNER ->
     d_step {
       depth--;
       p = who[depth];
       i = done[depth];
       who[depth] = 0;
       done[depth] = 0
     }
  fi;
  if
  :: child_done ->
     atomic {
#if BROKEN != 5
       child_done = false;
#endif
       assert(!went_on[p]);
       i++
     }
     if
     :: i == CHILDREN -> goto goes_on  // joins/all_here
     :: i < CHILDREN ->
        if
        :: atomic {
             lanes[me].size > 0 ->  // joins/next
             pop_newest(me);
             assert(f == CHILD(p, i));
             who[depth] = p;
             done[depth] = i;
             depth++
           }
           goto start
        :: lanes[me].size == 0  // joins/stolen
        :: true                 // joins/give_way
        fi
     fi
  :: !child_done ->  // joins/suspended
#if BROKEN == 6
     i++;
#endif
     if
#if BROKEN != 7
     :: i == 0 -> goto returned
     :: i > 0
#else
     :: true
#endif
     fi
  fi;
  atomic {
    assert(!went_on[p]);
    before = remaining[p];
    assert(before >= i);
    remaining[p] = before - i
  }
  if
#if BROKEN == 8
  :: goto goes_on
#else
  :: before == i -> goto goes_on
  :: else -> goto returned
#endif
  fi;

stopped:
  assert(lanes[me].size == 0)
}

init {
  atomic {
    run worker(0);
    run worker(1);
#if WORKERS == 3
    run worker(2)
#endif
  }
}
