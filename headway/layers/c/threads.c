#include "threads.h"

#include <sched.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define PAUSE __builtin_ia32_pause()
#else
#define PAUSE
#endif
#define PATIENCE 20000 /* looks at a flag before the core is offered to others: about half a millisecond */
#define ALONE 512      /* calls that one thread does by itself after that: some ten sentences */

typedef void (*Parallel)(void (*work)(void *), void *job, unsigned threads, unsigned flags); /* GOMP_parallel */
typedef int (*Ask)(void);

static Parallel parallel;
static Ask thread_number, thread_count;

/* A thread that is waited for has no core: other programs compute. Then one thread is faster than two, and the calls to come are its own. */
static atomic_int alone;

void use_threads(Parallel begin, Ask number, Ask count) { parallel = begin, thread_number = number, thread_count = count; }

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
    else atomic_store(&alone, ALONE), sched_yield();
}

void divide(void (*work)(void *), void *job, unsigned threads) {
  int crowded = atomic_load(&alone) > 0 && atomic_fetch_sub(&alone, 1) > 0;
  if (parallel && threads > 1 && !crowded) parallel(work, job, threads, 0);
  else work(job);
}
