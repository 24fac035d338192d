// feedbus: a jq program and its machine, on libjq.
//
// jq's own parser and printer look at each byte by several calls, and take most of the time of a small program. Here its
// values are made from simdjson's tape and printed by a writer of our own; both give what the jq command gives.

#include "program.h"

#include <csimdjson.h>

#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

extern "C" {
#include <jq.h>
#include <jv.h>
}

struct cjq {
    jq_state *machine = nullptr;
    std::string output;
    std::string scratch;
};

namespace {

/// Stands in front of every program, so that a config has no hands in the process: no environment, no input but the event,
/// no end of the program, no files, nothing on the terminal.
constexpr const char prelude[] =
    "{} as $ENV|def env:{};"
    "def _refused($name):error($name+\" is not available here\");"
    "def input:_refused(\"input\");def inputs:_refused(\"inputs\");"
    "def halt:_refused(\"halt\");def halt_error:_refused(\"halt_error\");def halt_error($code):_refused(\"halt_error\");"
    "def input_filename:null;def input_line_number:_refused(\"input_line_number\");"
    "def modulemeta:_refused(\"modulemeta\");def get_search_list:[];"
    "def debug:.;def stderr:.;\n";

constexpr unsigned deepest_output = 1000;

void collect(void *target, jv message) {
    auto &text = *static_cast<std::string *>(target);
    message = jq_format_error(message);
    if (jv_get_kind(message) == JV_KIND_STRING) {
        if (!text.empty()) { text += '\n'; }
        text.append(jv_string_value(message), size_t(jv_string_length_bytes(jv_copy(message))));
    }
    jv_free(message);
}

jq_state *compile(const char *program, std::string &messages) {
    jq_state *machine = jq_init();
    if (!machine) {
        messages = "no memory";
        return nullptr;
    }
    // Without these, a program with "import" ends the process by an assertion. No folder: no module is ever found.
    jq_set_attr(machine, jv_string("JQ_LIBRARY_PATH"), jv_array());
    jq_set_attr(machine, jv_string("JQ_ORIGIN"), jv_string("/nonexistent"));
    jq_set_attr(machine, jv_string("PROGRAM_ORIGIN"), jv_string("/nonexistent"));
    jq_set_error_cb(machine, collect, &messages);
    const bool good = jq_compile(machine, program) != 0;
    jq_set_error_cb(machine, nullptr, nullptr);
    if (!good) { jq_teardown(&machine); }
    return machine;
}

// MARK: - Values from a tape

struct reader {
    const char *text;
    const csimdjson_entry *tape;
    bool has_escapes;
    std::string &scratch;

    jv string(const csimdjson_entry &entry) const {
        const char *content = text + entry.start + 1;
        const size_t length = entry.link - entry.start - 2;
        if (!has_escapes || !csimdjson_contains_backslash(content, length)) {
            return jv_string_sized(content, int(length));
        }
        scratch.resize(length);
        return jv_string_sized(scratch.data(), int(csimdjson_decode_string(content, length, scratch.data())));
    }

    static jv number(const char *first, const char *last) {
        // Whole numbers that a double holds exactly.
        if (last - first <= 15) {
            const char *p = first + (*first == '-');
            int64_t value = 0;
            while (p < last && *p >= '0' && *p <= '9') { value = value * 10 + (*p++ - '0'); }
            if (p == last && (value != 0 || *first != '-')) { return jv_number(double(*first == '-' ? -value : value)); }
        }
        double value = 0;
        if (std::from_chars(first, last, value).ec == std::errc::result_out_of_range) {
            value = std::strtod(std::string(first, last).c_str(), nullptr);
        }
        return jv_number(value);
    }

    /// The value at `index`; moves `index` behind it.
    jv value(uint32_t &index) const {
        const csimdjson_entry entry = tape[index++];
        const char *const first = text + entry.start;
        switch (*first) {
        case '"': return string(entry);
        case '{': {
            jv object = jv_object();
            while (index < entry.link - 1) {
                jv key = string(tape[index++]);
                object = jv_object_set(object, key, value(index));
            }
            ++index;
            return object;
        }
        case '[': {
            jv array = jv_array_sized(int(tape[entry.link - 1].link) + 1);
            while (index < entry.link - 1) { array = jv_array_append(array, value(index)); }
            ++index;
            return array;
        }
        case 't': return jv_true();
        case 'f': return jv_false();
        case 'n': return jv_null();
        default: return number(first, text + entry.link);
        }
    }
};

// MARK: - Text of values

struct writer {
    std::string &out;

    void string(const char *text, size_t length) {
        out += '"';
        size_t done = 0;
        for (size_t i = 0; i < length; ++i) {
            const auto c = static_cast<unsigned char>(text[i]);
            if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) { continue; }
            out.append(text + done, i - done);
            done = i + 1;
            switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\b': out += "\\b"; break;
            case '\f': out += "\\f"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default: {
                char code[8];
                std::snprintf(code, sizeof code, "\\u%04x", unsigned(c));
                out += code;
            }
            }
        }
        out.append(text + done, length - done);
        out += '"';
    }

    void string(jv value) {
        string(jv_string_value(value), size_t(jv_string_length_bytes(jv_copy(value))));
        jv_free(value);
    }

    void number(double value) {
        if (value == std::floor(value) && std::fabs(value) < 1e15 && !(value == 0 && std::signbit(value))) {
            char digits[24];
            const auto end = std::to_chars(digits, digits + sizeof digits, int64_t(value)).ptr;
            out.append(digits, size_t(end - digits));
            return;
        }
        string_as_is(jv_dump_string(jv_number(value), 0));
    }

    void string_as_is(jv text) {
        out.append(jv_string_value(text), size_t(jv_string_length_bytes(jv_copy(text))));
        jv_free(text);
    }

    /// Takes the value over. False where it nests too deeply.
    bool value(jv value, unsigned depth) {
        switch (jv_get_kind(value)) {
        case JV_KIND_NULL: out += "null"; break;
        case JV_KIND_FALSE: out += "false"; break;
        case JV_KIND_TRUE: out += "true"; break;
        case JV_KIND_NUMBER: number(jv_number_value(value)); break;
        case JV_KIND_STRING: string(value); return true;
        case JV_KIND_ARRAY: {
            if (depth == 0) { break; }
            out += '[';
            const int count = jv_array_length(jv_copy(value));
            for (int i = 0; i < count; ++i) {
                if (i > 0) { out += ','; }
                if (!this->value(jv_array_get(jv_copy(value), i), depth - 1)) {
                    jv_free(value);
                    return false;
                }
            }
            out += ']';
            jv_free(value);
            return true;
        }
        case JV_KIND_OBJECT: {
            if (depth == 0) { break; }
            out += '{';
            bool first = true;
            for (int i = jv_object_iter(value); jv_object_iter_valid(value, i); i = jv_object_iter_next(value, i)) {
                if (!first) { out += ','; }
                first = false;
                string(jv_object_iter_key(value, i));
                out += ':';
                if (!this->value(jv_object_iter_value(value, i), depth - 1)) {
                    jv_free(value);
                    return false;
                }
            }
            out += '}';
            jv_free(value);
            return true;
        }
        case JV_KIND_INVALID: break;
        }
        const jv_kind kind = jv_get_kind(value);
        jv_free(value);
        return kind != JV_KIND_ARRAY && kind != JV_KIND_OBJECT;
    }
};

}  // namespace

extern "C" {

cjq *cjq_make(const char *program, char **message) {
    *message = nullptr;
    std::string messages;
    jq_state *machine = compile((std::string(prelude) + program).c_str(), messages);
    if (machine) {
        auto *made = new (std::nothrow) cjq;
        if (made) {
            made->machine = machine;
            return made;
        }
        jq_teardown(&machine);
    }
    // Once more without the prelude, which a user has not written and should not read about.
    std::string own;
    jq_state *alone = compile(program, own);
    if (alone) {
        jq_teardown(&alone);
        own = "it says nothing";
    }
    *message = strdup(own.c_str());
    return nullptr;
}

void cjq_free(cjq *program) {
    if (!program) { return; }
    jq_teardown(&program->machine);
    delete program;
}

bool cjq_start(cjq *program, const char *text, size_t length, unsigned max_depth) {
    // jq counts bytes and elements in ints.
    if (length > size_t(INT32_MAX) / 2) { return false; }
    csimdjson_result parsed = csimdjson_parse(text, length, max_depth, true);
    if (parsed.status != csimdjson_ok) { return false; }
    const reader source = {text, parsed.tape, parsed.has_escapes, program->scratch};
    uint32_t index = 0;
    jv input = source.value(index);
    csimdjson_free(parsed.tape);
    jq_start(program->machine, input, 0);
    return true;
}

cjq_status cjq_next(cjq *program, bool want_text, const char **text, size_t *length) {
    std::string &out = program->output;
    if (out.capacity() > (size_t(1) << 20)) { std::string().swap(out); }
    out.clear();
    jv value = jq_next(program->machine);
    cjq_status status;
    if (jv_is_valid(value)) {
        const jv_kind kind = jv_get_kind(value);
        status = kind == JV_KIND_NULL || kind == JV_KIND_FALSE ? cjq_false : cjq_true;
        if (!want_text) {
            jv_free(value);
        } else if (!writer{out}.value(value, deepest_output)) {
            status = cjq_error;
            out = "the result nests deeper than 1000";
        }
    } else if (jv_invalid_has_msg(jv_copy(value))) {
        status = cjq_error;
        jv message = jv_invalid_get_msg(value);
        if (jv_get_kind(message) == JV_KIND_STRING) {
            writer{out}.string_as_is(message);
        } else {
            writer{out}.value(message, deepest_output);
        }
    } else {
        jv_free(value);
        status = cjq_end;
    }
    *text = out.data();
    *length = out.size();
    return status;
}

}  // extern "C"
