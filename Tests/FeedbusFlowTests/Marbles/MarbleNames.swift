// feedbus: what other libraries call the operators.

enum MarbleNames {
    /// Our name for it; the name itself where nobody else has one.
    static func canonical(_ name: String) -> String {
        if MarbleEngine.subjects.contains(name) { return "subject" }
        let parts = name.split(separator: ".")
        let plain = parts.count > 1 && engines.contains(parts[0]) ? parts.dropFirst().joined(separator: ".") : name
        return aliases[plain] ?? plain
    }

    private static let engines: Set<Substring> = ["combine", "flowable", "reactor", "pekko", "rxjs"]

    private static let aliases = [
        "select": "map", "where": "filter", "mapNotNull": "compactMap", "accumulate": "scan", "fold": "reduce",
        "removeDuplicates": "distinctUntilChanged", "tap": "do", "handleEvents": "do", "receiveOn": "observeOn",
        "collect": "toArray", "toList": "toArray", "prefix": "take", "prefixWhile": "takeWhile",
        "first": "take", "last": "takeLast", "drop": "skip", "dropFirst": "skip", "dropWhile": "skipWhile",
        "takeWithTime": "takeFor", "output": "elementAt", "replaceEmpty": "defaultIfEmpty",
        "switchIfEmpty": "ifEmpty", "prepend": "startWith", "mergeWith": "merge", "append": "concat",
        "concatWith": "concat", "combine": "combineLatest", "race": "amb", "mergeMap": "flatMap",
        "mergeMax": "flatMap", "mergeMaxConcurrent": "flatMap", "flatMapMerge": "flatMap",
        "exhaustMap": "flatMapFirst", "switchMap": "flatMapLatest",
        "switch": "flatMapLatest", "switchLatest": "flatMapLatest", "switchToLatest": "flatMapLatest",
        "bufferCount": "buffer", "bufferTime": "buffer", "bufferTimeCount": "buffer", "chunked": "buffer",
        "windowCount": "window", "windowTime": "window", "windowTimeCount": "window", "debounceTime": "debounce",
        "throttleTime": "throttle", "throttleLatest": "throttle", "sampleTime": "sample", "catchError": "catch",
        "onErrorResumeNext": "catch", "catchAndReturn": "catchReturn", "catchErrorJustReturn": "catchReturn",
        "replaceError": "catchReturn", "onErrorReturn": "catchReturn", "throwError": "fail", "error": "fail",
        "of": "from", "publish": "publishConnect", "multicast": "publishConnect", "replay": "publishConnect",
        "sequence": "from",
    ]
}
