// feedbus: a jq program and its machine. In the worker process only: libjq ends its process on some inputs.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A compiled jq program with its machine. Used by one thread at a time.
typedef struct cjq cjq;

typedef enum {
    /// The program has no further output for its input.
    cjq_end = 0,
    /// An output: `false` or `null`.
    cjq_false = 1,
    /// Any other output.
    cjq_true = 2,
    /// The program failed on this input; the text is the message.
    cjq_error = 3,
} cjq_status;

/// Compiles a program; reads neither files nor the environment at run time. NULL where it does not compile: then `message`
/// is what jq says, to be given to `free`.
cjq *cjq_make(const char *program, char **message);

void cjq_free(cjq *program);

/// Starts the program on a valid JSON text; what is left of the input before is dropped.
/// Returns false where there is no memory for it or it nests deeper than `max_depth`.
bool cjq_start(cjq *program, const char *text, size_t length, unsigned max_depth);

/// The next output. With `want_text`, its compact JSON text is left in `*text`, which lives until the next call.
cjq_status cjq_next(cjq *program, bool want_text, const char **text, size_t *length);

#ifdef __cplusplus
}
#endif
