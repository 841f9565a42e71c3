/* One row of decoding: y = W x + b, and one position of a decoder, divided among the threads of torch. In each of its blocks

       x <- x + W_O attention(W_QKV norm(x))        x <- x + W_O' attention(W_Q norm(x), memory)        x <- x + W_2 relu(W_1 norm(x))

   and after the last one y = norm(x). A product with one row reads each weight once, so it takes as long as the reading. torch leaves it to
   one core, and spends as much time again between its operations. Here each thread has its share of the heads and of the inner width, and the
   whole decoder is one call. What the threads found is added up at the end of each sublayer, the only time that they wait for each other.
   `one_row.py` calls it; without it torch does the same at half the speed. */

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
  int64_t start, stop;
} Range;

static inline Range part(Share s, int64_t n) { return (Range){first(s, n), last(s, n)}; }
static inline Range whole(int64_t n) { return (Range){0, n}; }

/* -- arithmetic -- */

static inline float dot(const float *a, const float *b, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* y_o = sum_i W_oi x_i over some rows and columns of W, four rows at a time. */
static inline void multiply(const Map *m, Range o, Range i, const float *x, float *y) {
  int64_t n = m->in, wide = i.stop - i.start;
  const float *w = m->weight + o.start * n + i.start;
  x += i.start, y += o.start;
  int64_t rows = o.stop - o.start, r = 0;
  for (; r + 4 <= rows; r += 4, w += 4 * n) {
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int64_t j = 0; j < wide; j++) {
      s0 += w[j] * x[j];
      s1 += w[n + j] * x[j];
      s2 += w[2 * n + j] * x[j];
      s3 += w[3 * n + j] * x[j];
    }
    y[r] = s0, y[r + 1] = s1, y[r + 2] = s2, y[r + 3] = s3;
  }
  for (; r < rows; r++, w += n) y[r] = dot(w, x, wide);
}

/* y <- y + x; nothing to add: NULL. */
static inline void add(const float *x, Range range, float *y) {
  for (int64_t i = range.start; x && i < range.stop; i++) y[i] += x[i];
}

/* y = gain (x - mean) / sqrt(variance + eps) + shift. */
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
    sum += a[s];
  }
  memset(y, 0, (size_t)e * sizeof(float));
  if (most == -INFINITY && sum == sum) return; /* what is not a number is passed on, here and below: weights are damaged */
  sum = 0;
  for (int64_t s = 0; s < positions; s++) sum += a[s] = expf(a[s] - most);
  for (int64_t s = 0; s < positions; s++) {
    float weight = a[s] / sum;
    for (int64_t i = 0; i < e; i++) y[i] += weight * v[s * step + i];
  }
}

/* -- y = W x + b -- */

typedef struct {
  Map map;
  const float *x; /* "i" */
  float *y;       /* "o" */
  Barrier barrier;
} Product;

FASTEST static void linear_share(void *given) {
  Product *p = given;
  Share s = share();
  Range rows = part(s, p->map.out);
  multiply(&p->map, rows, whole(p->map.in), p->x, p->y);
  add(p->map.bias, rows, p->y);
  meet(&p->barrier, s);
}

void linear(const float *weight, const float *bias, int64_t out, int64_t in, const float *x, float *y, unsigned threads) {
  Product product = {.map = {weight, bias, out, in}, .x = x, .y = y};
  divide(linear_share, &product, threads);
}

/* -- one position of a decoder -- */

typedef struct {
  const Block *blocks;
  int64_t count;
  const Norm *after;    /* the last block */
  const float *x;       /* "d" */
  float *y;             /* "d" */
  float *const *caches; /* of each block: keys, then values; "r d" with room for this position */
  int64_t past;         /* positions before this one */
  float *room;          /* for what the threads compute in between: (8 d + f + the most positions) each */
  Barrier barrier;
} Position;

typedef struct {
  Share share;
  int turn;                                  /* which of two sums is next: the other one may still be read */
  float *x, *z, *qkv, *y, *inner, *weights; /* the row; it normalised; "3 d"; "d": answers of the heads; "f"; "s" */
} Thread;

/* x <- x + W y + b: each thread multiplies its own columns, and adds up what all have found. */
static inline void answer(Position *p, Thread *t, const Map *m, Range columns, const float *y) {
  int64_t d = m->out;
  float *sums = p->room + (t->turn ^= 1) * t->share.threads * d;
  multiply(m, whole(d), columns, y, sums + t->share.me * d);
  meet(&p->barrier, t->share);
  add(m->bias, whole(d), t->x);
  for (int i = 0; i < t->share.threads; i++) add(sums + i * d, whole(d), t->x);
}

FASTEST static void pass(Position *p, Thread *t, const Block *b, float *keys, float *values) {
  int64_t d = b->width, e = d / b->heads;
  Range heads = part(t->share, b->heads), mine = {heads.start * e, heads.stop * e}, inner = part(t->share, b->up.out);
  size_t bytes = (size_t)(mine.stop - mine.start) * sizeof(float);

  normalise(&b->before_mixer, t->x, t->z, d, b->eps);
  for (int64_t i = 0; i < 3 * d; i += d) {
    Range rows = {i + mine.start, i + mine.stop};
    multiply(&b->project, rows, whole(d), t->z, t->qkv);
    add(b->project.bias, rows, t->qkv);
  }
  memcpy(keys + p->past * d + mine.start, t->qkv + d + mine.start, bytes);
  memcpy(values + p->past * d + mine.start, t->qkv + 2 * d + mine.start, bytes);
  for (int64_t i = mine.start; i < mine.stop; i += e)
    attend(t->qkv + i, keys + i, values + i, d, NULL, p->past + 1, b->scale, e, t->weights, t->y + i);
  answer(p, t, &b->output, mine, t->y);

  normalise(&b->before_cross, t->x, t->z, d, b->eps);
  multiply(&b->query, mine, whole(d), t->z, t->qkv);
  add(b->query.bias, mine, t->qkv);
  for (int64_t i = mine.start; i < mine.stop; i += e) {
    int64_t at = i * b->positions;
    attend(t->qkv + i, b->keys + at, b->values + at, e, b->added, b->positions, b->scale, e, t->weights, t->y + i);
  }
  answer(p, t, &b->answer, mine, t->y);

  normalise(&b->before_feedforward, t->x, t->z, d, b->eps);
  multiply(&b->up, inner, whole(d), t->z, t->inner);
  add(b->up.bias, inner, t->inner);
  for (int64_t i = inner.start; i < inner.stop; i++) t->inner[i] = t->inner[i] < 0 ? 0 : t->inner[i];
  answer(p, t, &b->down, inner, t->inner);
}

FASTEST static void decoder_share(void *given) {
  Position *p = given;
  const Block *b = p->blocks;
  Share s = share();
  int64_t d = b->width, f = b->up.out, most = p->past + 1 > b->positions ? p->past + 1 : b->positions;
  float *x = p->room + 2 * s.threads * d + s.me * (6 * d + f + most), *z = x + d, *qkv = z + d, *y = qkv + 3 * d, *inner = y + d;
  Thread thread = {.share = s, .x = x, .z = z, .qkv = qkv, .y = y, .inner = inner, .weights = inner + f};
  memcpy(x, p->x, (size_t)d * sizeof(float));
  for (int64_t i = 0; i < p->count; i++) pass(p, &thread, b + i, p->caches[2 * i], p->caches[2 * i + 1]);
  if (s.me == 0) normalise(p->after, x, p->y, d, b->eps);
}

/* y of x. Keys and values are written behind the `past` ones. */
void decoder_step(const Block *blocks, int64_t count, const Norm *after, const float *x, float *y, float *const *caches, int64_t past,
                  float *room, unsigned threads) {
  Position position = {.blocks = blocks, .count = count, .after = after, .x = x, .y = y, .caches = caches, .past = past, .room = room};
  divide(decoder_share, &position, threads);
}
