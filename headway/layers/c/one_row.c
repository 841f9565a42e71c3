/* One row of decoding: y = W x + b, and one position of a decoder block, divided among the threads of torch.

       x <- x + W_O attention(W_QKV norm(x))        x <- x + W_O' attention(W_Q norm(x), memory)        x <- x + W_2 relu(W_1 norm(x))

   A product with one row reads each weight once, so it takes as long as the reading. torch leaves it to one core, and spends as much
   time again between its operations. Here each thread has its share of the rows of W and of the heads, and a block is one call. `one_row.py`
   calls it; without it torch does the same at half the speed. */

#include <math.h>
#include <string.h>

#include "threads.h"

typedef struct {
  const float *weight, *bias; /* "o i", "o"; no bias: NULL */
  int64_t out, in;
} Map;

typedef struct {
  const float *gain, *shift; /* "d" */
} Norm;

typedef struct {
  int64_t width, heads, positions; /* d, h, and s: of the memory */
  Norm before_mixer, before_cross, before_feedforward;
  Map project, output, query, answer, up, down;
  const float *keys, *values, *added; /* of the memory: "h s e", "h s e", and "s": -infinity at padding; nothing: NULL */
  float scale, eps;
} Block;

typedef struct {
  const Block *block;
  const Map *map;
  const float *from; /* what `map` is multiplied with */
  float *x;          /* "d": the row, changed in place; of `map`: the result */
  float *keys, *values; /* "r d": the cache, with room for this position */
  int64_t past;         /* positions before this one */
  float *room;          /* for what is computed in between */
  Barrier barrier;
} Job;

/* -- arithmetic -- */

static inline float dot(const float *a, const float *b, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* y = W x + b for the rows of W from `o` on, four at a time; added to y, or with negative numbers set to 0. */
enum After { STORE, ADD, RELU };

static inline void multiply(const Map *m, const float *x, float *y, enum After after, int64_t o, int64_t stop) {
  int64_t n = m->in;
  while (o < stop) {
    float sums[4] = {0};
    int64_t rows = stop - o < 4 ? stop - o : 4;
    const float *w = m->weight + o * n;
    if (rows == 4) {
      float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (int64_t i = 0; i < n; i++) {
        s0 += w[i] * x[i];
        s1 += w[n + i] * x[i];
        s2 += w[2 * n + i] * x[i];
        s3 += w[3 * n + i] * x[i];
      }
      sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
    } else
      for (int64_t r = 0; r < rows; r++) sums[r] = dot(w + r * n, x, n);
    for (int64_t r = 0; r < rows; r++, o++) {
      float z = sums[r] + (m->bias ? m->bias[o] : 0);
      y[o] = after == ADD ? y[o] + z : after == RELU && z < 0 ? 0 : z;
    }
  }
}

/* y = gain (x - mean) / sqrt(variance + eps) + shift. Every thread computes all of it, which is faster than waiting. */
static inline void normalise(const Norm *norm, const float *x, float *y, int64_t d, float eps) {
  float mean = 0, square = 0;
  for (int64_t i = 0; i < d; i++) mean += x[i];
  mean /= (float)d;
  for (int64_t i = 0; i < d; i++) square += (x[i] - mean) * (x[i] - mean);
  float factor = 1 / sqrtf(square / (float)d + eps);
  for (int64_t i = 0; i < d; i++) y[i] = norm->gain[i] * (x[i] - mean) * factor + norm->shift[i];
}

/* y = sum_s softmax_s(scale q . k_s + added_s) v_s of one head; `step` from one position to the next. A query that may see nothing: 0. */
static inline void attend(const float *q, const float *k, const float *v, int64_t step, const float *added, int64_t positions, float scale,
                          int64_t e, float *a, float *y) {
  float most = -INFINITY, sum = 0;
  for (int64_t s = 0; s < positions; s++) {
    a[s] = scale * dot(q, k + s * step, e) + (added ? added[s] : 0);
    most = a[s] > most ? a[s] : most;
  }
  memset(y, 0, (size_t)e * sizeof(float));
  if (most == -INFINITY) return;
  for (int64_t s = 0; s < positions; s++) sum += a[s] = expf(a[s] - most);
  for (int64_t s = 0; s < positions; s++) {
    float weight = a[s] / sum;
    for (int64_t i = 0; i < e; i++) y[i] += weight * v[s * step + i];
  }
}

FASTEST static void linear_share(void *given) {
  Job *job = given;
  Share s = share();
  multiply(job->map, job->from, job->x, STORE, first(s, job->map->out), last(s, job->map->out));
  meet(&job->barrier, s);
}

FASTEST static void block_share(void *given) {
  Job *job = given;
  const Block *b = job->block;
  Share s = share();
  int64_t d = b->width, e = d / b->heads, f = b->up.out, now = job->past + 1, most = now > b->positions ? now : b->positions;
  int64_t from = first(s, d), to = last(s, d), head = first(s, b->heads), heads = last(s, b->heads); /* this thread's rows and heads */
  float *x = job->x, *qkv = job->room, *y = qkv + 3 * d, *inner = y + d, *mine = inner + f + s.me * (d + most), *weights = mine + d;

  normalise(&b->before_mixer, x, mine, d, b->eps);
  for (int64_t part = 0; part < 3 * d; part += d) multiply(&b->project, mine, qkv, STORE, part + head * e, part + heads * e);
  memcpy(job->keys + job->past * d + head * e, qkv + d + head * e, (size_t)((heads - head) * e) * sizeof(float));
  memcpy(job->values + job->past * d + head * e, qkv + 2 * d + head * e, (size_t)((heads - head) * e) * sizeof(float));
  for (int64_t h = head; h < heads; h++)
    attend(qkv + h * e, job->keys + h * e, job->values + h * e, d, NULL, now, b->scale, e, weights, y + h * e);
  meet(&job->barrier, s);
  multiply(&b->output, y, x, ADD, from, to);
  meet(&job->barrier, s);

  normalise(&b->before_cross, x, mine, d, b->eps);
  multiply(&b->query, mine, qkv, STORE, head * e, heads * e);
  for (int64_t h = head; h < heads; h++) {
    int64_t at = h * b->positions * e;
    attend(qkv + h * e, b->keys + at, b->values + at, e, b->added, b->positions, b->scale, e, weights, y + h * e);
  }
  meet(&job->barrier, s);
  multiply(&b->answer, y, x, ADD, from, to);
  meet(&job->barrier, s);

  normalise(&b->before_feedforward, x, mine, d, b->eps);
  multiply(&b->up, mine, inner, RELU, first(s, f), last(s, f));
  meet(&job->barrier, s);
  multiply(&b->down, inner, x, ADD, from, to);
}

/* -- what Python calls -- */

/* y = W x + b. */
void linear(const float *weight, const float *bias, int64_t out, int64_t in, const float *x, float *y, unsigned threads) {
  Map map = {weight, bias, out, in};
  Job job = {.map = &map, .from = x, .x = y};
  divide(linear_share, &job, threads);
}

/* One position: x is changed in place, its keys and values are written behind the `past` ones. */
void block_step(const Block *block, float *x, float *keys, float *values, int64_t past, float *room, unsigned threads) {
  Job job = {.block = block, .x = x, .keys = keys, .values = values, .past = past, .room = room};
  divide(block_share, &job, threads);
}
