// feedbus: what feedbus and its jq process say to each other, over a socket and a page that they share.
#pragma once

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

/// The first thing that is sent, followed by the program. Answered by one `answer`: `done`, or `failed` with jq's message.
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

enum class answer_kind : uint32_t {
    /// An output; its text follows. The input has further answers.
    output = 0,
    /// The last answer of an input.
    done = 1,
    holds = 2,
    /// With jq's message.
    failed = 3,
    /// It cannot be read: too deep or too large.
    unreadable = 4,
    /// It has more outputs, or more bytes of them, than allowed.
    too_much = 5,
};

/// Followed by `length` bytes.
struct answer {
    answer_kind kind;
    uint32_t reserved;
    uint64_t length;
};

/// Shared memory: it is there when the process is not any more.
struct shared_page {
    /// How many inputs were begun, of all batches.
    std::atomic<uint64_t> begun;
};

}  // namespace feedbus_jq
