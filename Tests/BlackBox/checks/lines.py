"""A child that prints the odd JSON-lines files: a bad line costs only itself."""

import json

from support import recorded
from support.jsontext import minified, strict
from support.registry import check, check_each
from support.verdict import hold, same

NAMES = """blns__even.jsonl duckdb__12188.ndjson duckdb__bluesky.even.jsonl duckdb__different_schemas.ndjson duckdb__empty.ndjson
duckdb__example_rn.ndjson duckdb__example_rn.ndjson.gz duckdb__filter_keystage.ndjson duckdb__geojson_nested.ndjson
duckdb__geojson_pseudo_columns_nasty.geojsonl duckdb__malformed_union_empty_object.ndjson duckdb__map_of_mixed_date_timestamps.jsonl
duckdb__map_of_nulls.jsonl duckdb__map_of_structs.jsonl duckdb__multiple_objects_per_line.ndjson duckdb__sample_utf8_bom.json
duckdb__top_level_two_arrays.json duckdb__unterminated_quotes.ndjson duckdb__whitespace_only.json lnav__otel_collector.jsonl
simdjson__adversarial.json simdjson__amazon_cellphones.ndjson simdjson__fail01.ndjson simdjson__pass01.ndjson simdjson__twitterescaped.json
simdjson__update-center.json visidata__dev_formats.jsonl visidata__sample_data_benchmark.jsonl visidata__tests_golden_load-conllu.jsonl
visidata__tests_join-merge-1.jsonl""".split()


def value_of(line):
    try:
        text = line.decode("utf-8")
        strict(text)
        return minified(text)
    except ValueError:
        return None


@check_each({name: None for name in NAMES})
def odd_lines(case, name, _):
    """Every line that is JSON comes out, in order and unchanged; the others are reported; CRLF, long lines, no last newline."""
    file = recorded.path(f"jsonl-odd/{name}")
    lines = [line.rstrip(b"\r") for line in file.read_bytes().split(b"\n")]
    values = [value_of(line) for line in lines if line.strip()]
    good = [one for one in values if one is not None]
    bad = len(values) - len(good)
    case.config({"child": {"plugin": "Exec", "with": {"command": ["cat", str(file)]}}})
    run = case.once()
    events = case.events()
    same([one.data for one in events], good, "the lines that are JSON")
    same({one.type for one in events} - {"dev.feedbus.line"}, set(), "the type")
    if bad:
        hold(run.told(r"\bchild\b", level="warning"), f"{bad} bad lines are reported", seen=run.tail)
    again = [one.id for one in events]
    case.once()
    same([one.id for one in case.events(repeats=True)][len(again) :], again, "the ids are the same the next time")


@check
def a_file_that_is_rotated_while_nobody_reads(case):
    """With `follow`, the rest of the old file comes first, then the new one: also with --once; a file that is gone is said."""
    path = case.write("in.jsonl", '{"n":1}\n{"n":2}\n')
    case.config({"a": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl", "id": "/n", "follow": True}}})

    def rotated(old, new):
        with open(path, "a") as file:
            file.write(old)
        path.rename(case.folder / f"in.jsonl.{len(case.lines())}")
        case.write("in.jsonl", new)

    case.once()
    rotated('{"n":3}\n', '{"n":4}\n')
    case.once()
    same([one.id for one in case.events()], ["1", "2", "3", "4"], "events after --once")
    rotated('{"n":5}\n', '{"n":6}\n')
    run = case.start("run", "--config", "config.json")
    case.until(lambda: len(case.lines()) == 6, "both", run=run)
    run.stop().exits(0)
    same([one.id for one in case.events()][4:], ["5", "6"], "events of a run that follows")
    rotated('{"n":7}\n', '{"n":8}\n')
    next(case.folder.glob("in.jsonl.6")).unlink()
    run = case.once()
    hold(run.told("is not read", level="warning"), "what is gone is said", seen=run.tail)
    same([one.id for one in case.events()][6:], ["8"], "the new file")


@check
def a_last_line_that_gets_its_end_later(case):
    """A file without a final newline that grows: what came before is not read again."""
    path = case.write("in.jsonl", '{"n":1}\n{"n":2}')
    case.config({"a": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl"}}})
    for more in ("", "\n", '{"n":3}\r\n{"n":4}', '\r\n{"n":5}\n'):
        with open(path, "a") as file:
            file.write(more)
        case.once()
    same([one.data for one in case.events()], [f'{{"n":{n}}}' for n in range(1, 6)], "events")


@check
def refused_lines_that_find_no_room_come_again(case):
    """Two of three fit into the store of dead letters: the place in the file stays before the third until there is room."""
    case.write("in.jsonl", '{"n":1}\nbad1\nbad2\n{"n":2}\nbad3\n{"n":3}\n')
    case.config(
        {"lines": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl"}}},
        sinks={"out": {"plugin": "JSONLines", "from": ["lines"], "with": {"path": "out.jsonl"}}},
        feedbus={"state": "var", "dead_letters": {"max_events": 2}},
    )
    run = case.once(code=1)
    hold(run.told(r"\blines\b", "stays before the lines that the store of dead letters does not take"), "said", seen=run.tail)
    hold(run.told("dead letters 2, undelivered 1, dropped 0"), "counted", seen=run.tail)
    case.once("--set", "feedbus.dead_letters.max_events=10")
    state = case.start("state", "export").wait().exits(0).out
    hold(b'"text":"bad3"' in state, "the third line is kept when there is room", seen=state)
    case.once("--set", "feedbus.dead_letters.max_events=10")
    same(len(case.events(repeats=True)), 6, "events: all twice, and none a third time")
    numbers = [json.loads(event.data)["n"] for event in case.events(repeats=True)]
    hold(set(numbers) == {1, 2, 3}, "all other lines", seen=numbers)


@check
def more_refused_lines_than_may_wait_are_all_kept(case):
    """20,000 at once: the file is read at the pace of the store."""
    case.write("in.jsonl", "".join(f"bad {number}\n" for number in range(20_000)) + '{"n":1}\n')
    case.config(
        {"lines": {"plugin": "JSONLinesFile", "with": {"path": "in.jsonl"}}},
        sinks={"out": {"plugin": "JSONLines", "from": ["lines"], "with": {"path": "out.jsonl"}}},
        feedbus={"state": "var", "dead_letters": {"max_events": 100_000}},
    )
    run = case.once()
    hold(run.told("dead letters 20000, undelivered 0, dropped 0"), "all are kept", seen=run.tail)
