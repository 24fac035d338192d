"""The list of checks. A check is a function of a Case, decorated; its docstring is its promise."""

import sys

_all = []


class Check:
    def __init__(self, name, function, promise, needs_recordings, comes_last):
        self.name = name
        self.function = function
        self.promise = promise
        self.needs_recordings = needs_recordings
        self.comes_last = comes_last


def check(function=None, *, recordings=False, last=False):
    """`@check`, or `@check(recordings=True)` for one that reads recorded answers."""

    def add(function):
        _all.append(Check(_name(function), function, _promise(function), recordings, last))
        return function

    return add(function) if function else add


def check_each(table, *, recordings=True):
    """One check for each key of a table: the function is called with the case, the key and the value."""

    def add(function):
        for key, value in table.items():

            def one(case, key=key, value=value):
                function(case, key, value)

            _all.append(Check(f"{_name(function)}[{key}]", one, _promise(function), recordings, False))
        return function

    return add


def checks():
    return list(_all)


def _name(function):
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def _promise(function):
    if not function.__doc__:
        sys.exit(f"the check {function.__name__} has no docstring")
    return " ".join(function.__doc__.split())
