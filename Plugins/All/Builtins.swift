// feedbus: the plugins that the program `feedbus` knows.

import CombineLatestPlugin
import ConcatPlugin
import ConsolePlugin
import EONETPlugin
import ExecPlugin
public import FeedbusPlugin
import GitHubEventsPlugin
import HTTPPollPlugin
import JSONLinesPlugin
import JokesPlugin
import NullPlugin
import SwitchPlugin
import TakePlugin
import TranslationPlugin
import TrendingReposPlugin
import WithLatestFromPlugin
import ZipPlugin

extension PluginRegistry {
    /// Every plugin of this repository. A program of your own makes its own list.
    public static func builtins() -> PluginRegistry {
        var registry = PluginRegistry()
        registry.add(GitHubEvents.self)
        registry.add(TrendingRepos.self)
        registry.add(EONET.self)
        registry.add(Jokes.self)
        registry.add(HTTPPoll.self)
        registry.add(ExecSource.self)
        registry.add(ExecStage.self)
        registry.add(ExecSink.self)
        registry.add(Translation.self)
        registry.add(Take.self)
        registry.add(CombineLatest.self)
        registry.add(Zip.self)
        registry.add(WithLatestFrom.self)
        registry.add(Concat.self)
        registry.add(Switch.self)
        registry.add(Console.self)
        registry.add(JSONLines.self)
        registry.add(Null.self)
        return registry
    }
}
