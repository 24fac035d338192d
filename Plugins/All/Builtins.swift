// feedbus: the plugins that the program `feedbus` knows.

import CombineLatestPlugin
import ConcatPlugin
import ConsolePlugin
import DebouncePlugin
import DelayPlugin
import DistinctPlugin
import EONETPlugin
import ExecPlugin
public import FeedbusPlugin
import FilterPlugin
import GeneratePlugin
import GitHubEventsPlugin
import HTTPPollPlugin
import JSONLinesFilePlugin
import JSONLinesPlugin
import JokesPlugin
import MapPlugin
import NullPlugin
import SamplePlugin
import ScanPlugin
import SwitchPlugin
import TakePlugin
import ThrottlePlugin
import TranslationPlugin
import TrendingReposPlugin
import WindowPlugin
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
        registry.add(JSONLinesFile.self)
        registry.add(Generate.self)
        registry.add(ExecSource.self)
        registry.add(ExecStage.self)
        registry.add(ExecSink.self)
        registry.add(Translation.self)
        registry.add(Filter.self)
        registry.add(Map.self)
        registry.add(Distinct.self)
        registry.add(Scan.self)
        registry.add(Window.self)
        registry.add(Debounce.self)
        registry.add(Throttle.self)
        registry.add(Sample.self)
        registry.add(Delay.self)
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
