// feedbus: what feedbus and its jq process say to each other, over a socket and a page that they share.
#pragma once

#include "cjq.h"

#include <atomic>
#include <cstdint>

namespace feedbus_jq {

/// The name under which the process is started: who sees it is the process.
constexpr const char process_name[] = "feedbus: jq";

/// Descriptors of the process.
constexpr int socket_descriptor = 0;
constexpr int page_descriptor = 3;

/// What a process may have of memory: an input of 64 MiB takes up to 1.5 GiB as values of jq.
constexpr uint64_t memory_limit = uint64_t(2) << 30;

/// The first thing that is sent, followed by the program. Answered by one `answer`: `cjq_done`, or `cjq_failed` with jq's
/// message.
struct compile_request {
    uint64_t length;
    uint64_t output_limit;
    uint32_t maximum_outputs;
    uint32_t maximum_depth;
};

/// Followed by `count` lengths (uint64_t), then the texts.
struct batch_request {
    uint32_t count;
    /// Not the outputs are wanted, but whether there is one beside `false` and `null`.
    uint32_t asks_if_holds;
    uint64_t bytes;
};

/// Followed by `length` bytes.
struct answer {
    /// A `cjq_answer`; never `cjq_ended`.
    uint32_t kind;
    uint32_t reserved;
    uint64_t length;
};

/// Shared memory: it is there when the process is not any more.
struct shared_page {
    /// How many inputs were begun, of all batches.
    std::atomic<uint64_t> begun;
};

}  // namespace feedbus_jq
