#pragma once
#include <stdbool.h>
#include <stdint.h>

/* A node of the flattened tree, in pre-order; the Go type Node mirrors it. */
typedef struct {
  uint32_t start, end, row, col;
  int32_t parent, subtree_end;
  uint16_t kind, field;
  uint8_t flags;
  uint8_t pad[3];
} FlatNode;

typedef struct {
  void *language, *parser;
  FlatNode *nodes;
  uint32_t cap;
  bool has_error;
} Flattener;

enum { FLAT_DEADLINE = -1, FLAT_MEMORY = -2, FLAT_STEPS = -3 };

/* flat_init replaces the runtime's allocator by one that counts. Once. */
void flat_init(void);
/* flat_new returns NULL for a grammar of an ABI that the runtime does not know. */
Flattener *flat_new(void *language);
void flat_free(Flattener *);
/* flat_parse returns the number of nodes, or a negative reason. */
int64_t flat_parse(Flattener *, const char *src, uint32_t len, uint64_t timeout_us, int64_t budget, int64_t steps);
/* flat_trim gives back the node memory of an unusually large file. */
void flat_trim(Flattener *);

/* Names, for building tables once a language. */
uint32_t flat_symbol_count(void *language);
const char *flat_symbol_name(void *language, uint16_t symbol);
uint32_t flat_field_count(void *language);
const char *flat_field_name(void *language, uint16_t field);
