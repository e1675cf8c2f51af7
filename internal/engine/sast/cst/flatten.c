/* Parses with tree-sitter and writes the whole tree into one array, so that Go
   pays for one call a file instead of several a node. */
#define _GNU_SOURCE
#include "flatten.h"

#include <malloc.h>
#include <stdlib.h>
#include <time.h>

/* The part of tree_sitter/api.h that has not changed since ABI 13. The Go module
   of the runtime carries the symbols but installs no header. */
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;
typedef struct TSLanguage TSLanguage;
typedef struct { uint32_t row, column; } TSPoint;
typedef struct { uint32_t context[4]; const void *id; const TSTree *tree; } TSNode;
typedef struct { const void *tree; const void *id; uint32_t context[3]; } TSTreeCursor;
typedef struct { void *payload; uint32_t current_byte_offset; bool has_error; } TSParseState;
typedef struct { void *payload; bool (*progress_callback)(TSParseState *); } TSParseOptions;
typedef struct {
  void *payload;
  const char *(*read)(void *, uint32_t, TSPoint, uint32_t *);
  int encoding; /* 0: UTF-8 */
  uint32_t (*decode)(const uint8_t *, uint32_t, int32_t *);
} TSInput;

TSParser *ts_parser_new(void);
void ts_parser_delete(TSParser *);
bool ts_parser_set_language(TSParser *, const TSLanguage *);
TSTree *ts_parser_parse_with_options(TSParser *, const TSTree *, TSInput, TSParseOptions);
void ts_tree_delete(TSTree *);
TSNode ts_tree_root_node(const TSTree *);
TSTreeCursor ts_tree_cursor_new(TSNode);
void ts_tree_cursor_delete(TSTreeCursor *);
TSNode ts_tree_cursor_current_node(const TSTreeCursor *);
uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *);
bool ts_tree_cursor_goto_first_child(TSTreeCursor *);
bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *);
bool ts_tree_cursor_goto_parent(TSTreeCursor *);
uint16_t ts_node_symbol(TSNode);
bool ts_node_is_named(TSNode);
bool ts_node_is_missing(TSNode);
bool ts_node_is_extra(TSNode);
bool ts_node_has_error(TSNode);
uint32_t ts_node_start_byte(TSNode);
uint32_t ts_node_end_byte(TSNode);
TSPoint ts_node_start_point(TSNode);
uint32_t ts_language_symbol_count(const TSLanguage *);
const char *ts_language_symbol_name(const TSLanguage *, uint16_t);
uint32_t ts_language_field_count(const TSLanguage *);
const char *ts_language_field_name_for_id(const TSLanguage *, uint16_t);
void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t), void (*)(void *));

/* What the runtime has allocated in this call. A parse runs from start to end on
   one thread, so a thread-local that is reset at entry is exact. */
static __thread int64_t used;

static void *count(void *p) {
  if (!p) abort(); /* the runtime cannot go on without memory either */
  used += (int64_t)malloc_usable_size(p);
  return p;
}
static void *count_malloc(size_t n) { return count(malloc(n ? n : 1)); }
static void *count_calloc(size_t a, size_t b) { return count(calloc(a ? a : 1, b ? b : 1)); }
static void *count_realloc(void *old, size_t n) {
  if (old) used -= (int64_t)malloc_usable_size(old);
  return count(realloc(old, n ? n : 1));
}
static void count_free(void *p) {
  if (!p) return;
  used -= (int64_t)malloc_usable_size(p);
  free(p);
}
void flat_init(void) { ts_set_allocator(count_malloc, count_calloc, count_realloc, count_free); }

/* renew gives the flattener a new parser. Resetting the old one after a parse that
   was ended is not enough: the runtime (0.25.0) forgets to reset that it was ended
   while it balanced the tree, and its next parse fails an assertion. */
static bool renew(Flattener *f) {
  if (f->parser) ts_parser_delete(f->parser);
  f->parser = ts_parser_new();
  return ts_parser_set_language(f->parser, f->language);
}

Flattener *flat_new(void *language) {
  Flattener *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->language = language;
  if (!renew(f)) {
    flat_free(f);
    return NULL;
  }
  return f;
}

void flat_free(Flattener *f) {
  ts_parser_delete(f->parser);
  free(f->nodes);
  free(f);
}

void flat_trim(Flattener *f) {
  if (f->cap <= 1u << 18) return;
  free(f->nodes);
  f->nodes = NULL;
  f->cap = 0;
}

typedef struct { const char *text; uint32_t len; } Source;

static const char *read_source(void *payload, uint32_t at, TSPoint point, uint32_t *n) {
  Source *s = payload;
  (void)point;
  if (at >= s->len) {
    *n = 0;
    return "";
  }
  *n = s->len - at;
  return s->text + at;
}

/* now_us is the time that this thread has worked, in microseconds: what is parsed
   must not depend on what else the machine does. */
static int64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

typedef struct { int64_t deadline, budget, steps; int why; } Limits;

/* over_limit is asked by the runtime every few hundred steps; true ends the parse. */
static bool over_limit(TSParseState *state) {
  Limits *l = state->payload;
  if (used > l->budget) {
    l->why = FLAT_MEMORY;
    return true;
  }
  if (--l->steps < 0) {
    l->why = FLAT_STEPS;
    return true;
  }
  if (now_us() > l->deadline) {
    l->why = FLAT_DEADLINE;
    return true;
  }
  return false;
}

/* grow makes room for one more node. */
static bool grow(Flattener *f, uint32_t n) {
  if (n < f->cap) return true;
  uint32_t cap = f->cap ? f->cap * 2 : 4096;
  if (cap > 1u << 27) return false;
  FlatNode *nodes = realloc(f->nodes, (size_t)cap * sizeof *nodes);
  if (!nodes) return false;
  f->nodes = nodes;
  f->cap = cap;
  return true;
}

static void fill(FlatNode *to, const TSTreeCursor *c, int32_t parent) {
  TSNode n = ts_tree_cursor_current_node(c);
  TSPoint p = ts_node_start_point(n);
  to->start = ts_node_start_byte(n);
  to->end = ts_node_end_byte(n);
  to->row = p.row;
  to->col = p.column;
  to->parent = parent;
  to->kind = ts_node_symbol(n);
  to->field = ts_tree_cursor_current_field_id(c);
  to->flags = (ts_node_is_named(n) ? 1 : 0) | (to->kind == 65535 ? 2 : 0) | (ts_node_is_missing(n) ? 4 : 0) |
              (ts_node_is_extra(n) ? 8 : 0) | (ts_node_has_error(n) ? 16 : 0);
}

/* flatten walks the tree in pre-order without recursion: depth costs no stack. */
static int64_t flatten(Flattener *f, TSTreeCursor *c) {
  uint32_t n = 0;
  int32_t parent = -1;
  for (;;) {
    if (!grow(f, n)) return FLAT_MEMORY;
    fill(&f->nodes[n], c, parent);
    int32_t me = (int32_t)n++;
    if (ts_tree_cursor_goto_first_child(c)) {
      parent = me;
      continue;
    }
    f->nodes[me].subtree_end = (int32_t)n;
    while (!ts_tree_cursor_goto_next_sibling(c)) {
      if (parent < 0) return n;
      ts_tree_cursor_goto_parent(c);
      f->nodes[parent].subtree_end = (int32_t)n;
      parent = f->nodes[parent].parent;
    }
  }
}

int64_t flat_parse(Flattener *f, const char *src, uint32_t len, uint64_t timeout_us, int64_t budget, int64_t steps) {
  used = 0;
  Source source = {src, len};
  TSInput input = {&source, read_source, 0, NULL};
  Limits limits = {now_us() + (int64_t)timeout_us, budget, steps, FLAT_DEADLINE};
  TSParseOptions options = {&limits, over_limit};
  TSTree *tree = ts_parser_parse_with_options(f->parser, NULL, input, options);
  if (!tree) {
    renew(f); /* the language was accepted before */
    return limits.why;
  }
  TSNode root = ts_tree_root_node(tree);
  f->has_error = ts_node_has_error(root);
  TSTreeCursor c = ts_tree_cursor_new(root);
  int64_t n = flatten(f, &c);
  ts_tree_cursor_delete(&c);
  ts_tree_delete(tree);
  return n;
}

uint32_t flat_symbol_count(void *language) { return ts_language_symbol_count(language); }
const char *flat_symbol_name(void *language, uint16_t symbol) { return ts_language_symbol_name(language, symbol); }
uint32_t flat_field_count(void *language) { return ts_language_field_count(language); }
const char *flat_field_name(void *language, uint16_t field) { return ts_language_field_name_for_id(language, field); }
