// feedbus: jq programs in processes of their own. Only FeedbusJQ imports this.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A compiled jq program in a process, which is started anew when it has ended. Used by one thread at a time, except for
/// `cjq_kill` and `cjq_progress`.
typedef struct cjq_process cjq_process;

/// Starts the process and compiles the program. NULL where that fails: then `message` says why, to be given to
/// `cjq_free_message`.
cjq_process *cjq_start_process(
    const char *program, uint64_t output_limit, uint32_t maximum_outputs, uint32_t maximum_depth, char **message);

/// Ends the process and waits for its end.
void cjq_free_process(cjq_process *process);

void cjq_free_message(char *message);

/// Adds a text to the batch that is sent next.
void cjq_add(cjq_process *process, const void *text, size_t length);

/// Sends the batch; starts the process first where it has ended. False where it cannot be started: `cjq_reason` says why.
bool cjq_send(cjq_process *process, bool asks_if_holds);

typedef enum {
    /// An output; the input has further answers.
    cjq_output = 0,
    /// The last answer of an input, as all that follow.
    cjq_done = 1,
    /// Where that was asked: there is an output beside `false` and `null`.
    cjq_holds = 2,
    /// The program failed on the input; the text is jq's message.
    cjq_failed = 3,
    /// It cannot be read: too deep or too large.
    cjq_unreadable = 4,
    /// It has more outputs, or more bytes of them, than allowed.
    cjq_too_much = 5,
    /// The process has ended; `cjq_reason` says how.
    cjq_ended = 6,
} cjq_answer;

/// Waits for the next answer to the batch. Its text lives until the next call.
cjq_answer cjq_receive(cjq_process *process, const char **text, size_t *length);

/// How the process has ended, in a few words; lives until the next call.
const char *cjq_reason(cjq_process *process);

/// It was ended by `SIGKILL`.
bool cjq_was_killed(cjq_process *process);

/// How many inputs of the last batch were begun: the one in hand is the last of them.
uint64_t cjq_begun(cjq_process *process);

/// Grows with each input that is begun; from any thread.
uint64_t cjq_progress(cjq_process *process);

/// Kills the process; from any thread.
void cjq_kill(cjq_process *process);

#ifdef __cplusplus
}
#endif
