/* A library of custom ops as people write them in C, without onnxruntime's header. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT
#endif

typedef void *(*Function)();
typedef void *Status;
enum { FLOAT = 1, INT64 = 7, STRING = 8, DOUBLE = 11 };
enum { REQUIRED, OPTIONAL, VARIADIC };

static const Function *api;
#define API(slot) ((Status(*)())api[slot])
#define TRY(expression)               \
  do {                                \
    Status status_ = (expression);    \
    if (status_) return status_;      \
  } while (0)

typedef struct Op {
  uint32_t version;
  void *(*create)(const struct Op *, const void *, const void *);
  const char *(*name)(const struct Op *);
  const char *(*provider)(const struct Op *);
  int (*input_type)(const struct Op *, size_t);
  size_t (*input_count)(const struct Op *);
  int (*output_type)(const struct Op *, size_t);
  size_t (*output_count)(const struct Op *);
  void (*compute)(void *, void *);
  void (*destroy)(void *);
  int (*input_kind)(const struct Op *, size_t);
  int (*output_kind)(const struct Op *, size_t);
  int (*memory)(const struct Op *, size_t);
  int (*least_inputs)(const struct Op *);
  int (*inputs_alike)(const struct Op *);
  int (*least_outputs)(const struct Op *);
  int (*outputs_alike)(const struct Op *);
  Status (*create2)(const struct Op *, const void *, const void *, void **);
  Status (*compute2)(void *, void *);
  Status (*infer)(const struct Op *, void *);
  int (*start)(const struct Op *);
  int (*end)(const struct Op *);
  void *aliases[4];
  /* what the functions above tell */
  const char *title;
  int inputs[3], kinds[3], outputs[2];
  size_t input_n, output_n;
} Op;

static const char *name(const Op *op) { return op->title; }
static const char *none(const Op *op) { return 0; }
static const char *cpu(const Op *op) { return "CPUExecutionProvider"; }
static const char *gpu(const Op *op) { return "CUDAExecutionProvider"; }
static int input_type(const Op *op, size_t k) { return op->inputs[k]; }
static int input_kind(const Op *op, size_t k) { return op->kinds[k]; }
static int output_type(const Op *op, size_t k) { return op->outputs[k]; }
static int output_kind(const Op *op, size_t k) { return REQUIRED; }
static size_t input_count(const Op *op) { return op->input_n; }
static size_t output_count(const Op *op) { return op->output_n; }
static int zero(const Op *op, size_t k) { return 0; }
static int one(const Op *op) { return 1; }
static int last(const Op *op) { return 0x7fffffff; }
static void destroy(void *kernel) { free(kernel); }

/* ---- what kernels share ---- */

static Status shape_of(const void *value, int64_t *dims, size_t *rank) {
  void *info;
  TRY(API(65)(value, &info));
  TRY(API(61)(info, rank));
  TRY(API(62)(info, dims, *rank));
  API(99)(info);
  return 0;
}

static Status input_of(void *context, size_t k, void **data, int64_t *dims, size_t *rank) {
  void *value;
  TRY(API(90)(context, k, &value));
  if (!value) {
    *data = 0;
    return 0;
  }
  TRY(shape_of(value, dims, rank));
  return API(51)(value, data);
}

static Status output_of(void *context, size_t k, const int64_t *dims, size_t rank, void **data) {
  void *value;
  TRY(API(91)(context, k, dims, rank, &value));
  return API(51)(value, data);
}

static int64_t size_of(const int64_t *dims, size_t rank) {
  int64_t size = 1;
  for (size_t k = 0; k < rank; k++) size *= dims[k];
  return size;
}

/* ---- Scale<by>(x) = x * by, for float and double; its result has the type of x ---- */

typedef struct {
  float by;
  int64_t calls;
} Scale;

static Status scale_create(const Op *op, const void *table, const void *info, void **kernel) {
  api = table;
  Scale *made = calloc(1, sizeof *made);
  Status status = API(85)(info, "by", &made->by);
  if (status) { /* the default of an attribute that is left out */
    API(93)(status);
    made->by = 2;
  }
  *kernel = made;
  return 0;
}

static Status scale_float(void *kernel, void *context) {
  int64_t dims[8];
  size_t rank;
  float *x, *y;
  TRY(input_of(context, 0, (void **)&x, dims, &rank));
  TRY(output_of(context, 0, dims, rank, (void **)&y));
  for (int64_t k = 0, n = size_of(dims, rank); k < n; k++) y[k] = x[k] * ((Scale *)kernel)->by;
  return 0;
}

static Status scale_double(void *kernel, void *context) {
  int64_t dims[8];
  size_t rank;
  double *x, *y;
  TRY(input_of(context, 0, (void **)&x, dims, &rank));
  TRY(output_of(context, 0, dims, rank, (void **)&y));
  for (int64_t k = 0, n = size_of(dims, rank); k < n; k++) y[k] = x[k] * ((Scale *)kernel)->by;
  return 0;
}

static Status same_type(const Op *op, void *context) {
  void *info;
  TRY(API(268)(context, 0, &info));
  return API(270)(context, 0, info);
}

/* ---- Count(x) = how often the kernel ran ---- */

static Status count(void *kernel, void *context) {
  int64_t *y;
  TRY(output_of(context, 0, 0, 0, (void **)&y));
  *y = ++((Scale *)kernel)->calls;
  return 0;
}

/* ---- Spread<widths>(x, fill?) = x, then fill (or 0) as many times as the widths say, by parts and scratch memory ---- */

typedef struct {
  int64_t widths[4];
  size_t n;
} Spread;

static Status spread_create(const Op *op, const void *table, const void *info, void **kernel) {
  api = table;
  Spread *made = calloc(1, sizeof *made);
  made->n = 4;
  Status status = API(163)(info, "widths", made->widths, &made->n);
  if (status) {
    free(made);
    return status;
  }
  *kernel = made;
  return 0;
}

typedef struct {
  float *y, fill;
} Part;

static void fill_one(void *data, size_t k) { ((Part *)data)->y[k] = ((Part *)data)->fill; }

static Status spread(void *kernel, void *context) {
  Spread *self = kernel;
  int64_t dims[8], none[8], more = 0;
  size_t rank, other;
  float *x, *fill, *y, *copy;
  void *allocator, *scratch, *memory;
  TRY(input_of(context, 0, (void **)&x, dims, &rank));
  TRY(input_of(context, 1, (void **)&fill, none, &other));
  for (size_t k = 0; k < self->n; k++) more += self->widths[k];
  if (more < 0) return API(0)(2, "the widths are negative");
  int64_t n = dims[0], all = n + more;
  TRY(API(69)(1, 0, &memory));
  TRY(API(277)(context, memory, (size_t)(n * sizeof(float)), &scratch));
  API(94)(memory);
  memcpy(scratch, x, n * sizeof(float));
  TRY(API(78)(&allocator));
  TRY(API(75)(allocator, (size_t)(n * sizeof(float) + 1), &copy));
  memcpy(copy, scratch, n * sizeof(float));
  TRY(output_of(context, 0, &all, 1, (void **)&y));
  memcpy(y, copy, n * sizeof(float));
  TRY(API(76)(allocator, copy));
  Part part = {y + n, fill ? *fill : 0};
  return API(274)(context, fill_one, (size_t)more, (size_t)0, &part);
}

/* ---- Join<separator>(words...) = the words of all inputs, one behind the other, in one string, and their lengths ---- */

typedef struct {
  char separator[16];
} Join;

static Status join_create(const Op *op, const void *table, const void *info, void **kernel) {
  api = table;
  Join *made = calloc(1, sizeof *made);
  size_t size = sizeof made->separator;
  Status status = API(87)(info, "separator", made->separator, &size);
  if (status) {
    free(made);
    return status;
  }
  *kernel = made;
  return 0;
}

static Status join(void *kernel, void *context) {
  const char *separator = ((Join *)kernel)->separator;
  size_t inputs, rank;
  int64_t dims[8], total = 0, lengths[64];
  char text[4096] = "";
  TRY(API(88)(context, &inputs));
  for (size_t k = 0; k < inputs; k++) {
    void *value;
    size_t bytes, offsets[64];
    char content[4096];
    TRY(API(90)(context, k, &value));
    TRY(shape_of(value, dims, &rank));
    int64_t n = size_of(dims, rank);
    TRY(API(53)(value, &bytes));
    TRY(API(54)(value, content, bytes, offsets, (size_t)n));
    for (int64_t j = 0; j < n; j++) {
      size_t end = j + 1 < n ? offsets[j + 1] : bytes;
      lengths[total] = end - offsets[j];
      if (total++) strcat(text, separator);
      strncat(text, content + offsets[j], end - offsets[j]);
    }
  }
  void *joined;
  int64_t *y;
  TRY(API(91)(context, (size_t)0, (int64_t *)0, (size_t)0, &joined));
  TRY(API(129)(joined, text, (size_t)0));
  TRY(output_of(context, 1, &total, 1, (void **)&y));
  memcpy(y, lengths, total * sizeof *y);
  return 0;
}

/* ---- Foreign(x) calls what whorl does not have; Silent(x) gives nothing ---- */

static Status foreign(void *kernel, void *context) { return API(213)(context); }
static Status silent(void *kernel, void *context) { return 0; }

/* ---- Negate(x) as libraries of old versions: no statuses, and a table that ends early ---- */

static void *old_create(const Op *op, const void *table, const void *info) {
  api = table;
  return calloc(1, 1);
}

static void old_compute(void *kernel, void *context) {
  int64_t dims[8];
  size_t rank;
  float *x, *y;
  input_of(context, 0, (void **)&x, dims, &rank);
  output_of(context, 0, dims, rank, (void **)&y);
  for (int64_t k = 0, n = size_of(dims, rank); k < n; k++) y[k] = -x[k];
}

#define OP(create2, compute2, infer, title, ...)                                                               \
  {17, 0, name, cpu, input_type, input_count, output_type, output_count, 0, destroy, input_kind, output_kind, zero, \
   one, one, one, one, create2, compute2, infer, one, last, {0}, title, __VA_ARGS__}

static const Op ops[] = {
    OP(scale_create, scale_float, same_type, "Scale", {FLOAT}, {0}, {FLOAT}, 1, 1),
    OP(scale_create, scale_double, same_type, "Scale", {DOUBLE}, {0}, {DOUBLE}, 1, 1),
    OP(scale_create, count, 0, "Count", {0}, {0}, {INT64}, 1, 1),
    OP(spread_create, spread, 0, "Spread", {FLOAT, FLOAT}, {REQUIRED, OPTIONAL}, {FLOAT}, 2, 1),
    OP(join_create, join, 0, "Join", {STRING}, {VARIADIC}, {STRING, INT64}, 1, 2),
    OP(scale_create, foreign, 0, "Foreign", {FLOAT}, {0}, {FLOAT}, 1, 1),
    OP(scale_create, silent, 0, "Silent", {FLOAT}, {0}, {FLOAT}, 1, 1),
};
static const Op old = {11, old_create, name, none, input_type, input_count, output_type, output_count, old_compute, destroy,
                       input_kind, output_kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, "Negate", {FLOAT}, {0}, {FLOAT}, 1, 1};
static const Op other = {17, 0, name, gpu, input_type, input_count, output_type, output_count, 0, destroy,
                         input_kind, output_kind, zero, one, one, one, one, scale_create, scale_float, 0, one, last, {0},
                         "OnGpu", {FLOAT}, {0}, {FLOAT}, 1, 1};

typedef struct {
  const void *(*get)(uint32_t);
  const char *(*version)(void);
} Base;

static void *last_domain;

static void release_at_the_end(void) { ((void (*)(void *))api[101])(last_domain); }

EXPORT Status RegisterCustomOps(void *options, const Base *base) {
  api = base->get(17);
  if (!api || strncmp(base->version(), "1.", 2)) return 0;
  void *domain;
  TRY(API(26)("test.kernels", &domain));
  if (!last_domain) atexit(release_at_the_end);
  last_domain = domain;
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) TRY(API(27)(domain, &ops[k]));
  TRY(API(27)(domain, &old));
  TRY(API(27)(domain, &other));
  return API(28)(options, domain);
}
