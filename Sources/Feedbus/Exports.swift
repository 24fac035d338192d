// feedbus: a program imports Feedbus and has all that it needs.

@_exported public import FeedbusBase
@_exported public import FeedbusFlow
@_exported public import FeedbusHTTP
@_exported public import FeedbusJSON
@_exported public import FeedbusLoop
