// feedbus: the plugins that the program `feedbus` knows.

import ConsolePlugin
import ExecPlugin
public import FeedbusPlugin
import JSONLinesPlugin
import NullPlugin
import TakePlugin

extension PluginRegistry {
    /// Every plugin of this repository. A program of your own makes its own list.
    public static func builtins() -> PluginRegistry {
        var registry = PluginRegistry()
        registry.add(ExecSource.self)
        registry.add(ExecStage.self)
        registry.add(ExecSink.self)
        registry.add(Take.self)
        registry.add(Console.self)
        registry.add(JSONLines.self)
        registry.add(Null.self)
        return registry
    }
}
