#include "threads.h"

#include <sched.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define PAUSE __builtin_ia32_pause()
#else
#define PAUSE
#endif
#define PATIENCE 20000 /* looks at a flag before the core is offered to others: about half a millisecond */
#define SHORTEST 8     /* calls that one thread does by itself after that: at first, */
#define LONGEST 512    /* and if it happens again and again: some fifteen sentences */

typedef void (*Parallel)(void (*work)(void *), void *job, unsigned threads, unsigned flags); /* GOMP_parallel */
typedef int (*Ask)(void);

static Parallel parallel;
static Ask thread_number, thread_count;

/* A thread that is waited for has no core: other programs compute. Then one thread is faster than two, and the next calls are its own. They are
   few, because it may have been a moment, and twice as many each time that it was not; every call that goes well makes them one fewer. */
static atomic_int late, alone, pause = SHORTEST;

int64_t interface(void) { return 2; } /* changes with what functions are given: structures, arguments (`compiled.py`) */

void use_threads(Parallel begin, Ask number, Ask count) {
  parallel = begin, thread_number = number, thread_count = count;
  atomic_store(&late, 0), atomic_store(&alone, 0), atomic_store(&pause, SHORTEST);
}

Share share(void) { return parallel ? (Share){thread_number(), thread_count()} : (Share){0, 1}; }

void meet(Barrier *b, Share s) {
  if (s.threads == 1) return;
  int phase = atomic_load_explicit(&b->phase, memory_order_acquire);
  if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) + 1 == s.threads) {
    atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&b->phase, phase + 1, memory_order_release);
    return;
  }
  for (int looks = 0; atomic_load_explicit(&b->phase, memory_order_acquire) == phase; looks++)
    if (looks < PATIENCE) PAUSE;
    else atomic_store(&late, 1), sched_yield();
}

void divide(void (*work)(void *), void *job, unsigned threads) {
  if (!parallel || threads == 1 || (atomic_load(&alone) > 0 && atomic_fetch_sub(&alone, 1) > 0)) {
    work(job);
    return;
  }
  parallel(work, job, threads, 0);
  int calls = atomic_load(&pause);
  if (atomic_exchange(&late, 0)) atomic_store(&alone, calls), atomic_store(&pause, 2 * calls < LONGEST ? 2 * calls : LONGEST);
  else if (calls > SHORTEST) atomic_store(&pause, calls - 1);
}
