// feedbus: signatures of the operators, until each has its file.

public import FeedbusBase

extension Flow {
    public func map<Output: Sendable>(_ transform: @escaping @Sendable (Element) throws -> Output) -> Flow<Output> {
        fatalError("not yet")
    }
    public func mapAsync<Output: Sendable>(_ transform: @escaping @Sendable (Element) async throws -> Output) -> Flow<
        Output
    > { fatalError("not yet") }
    public func mapChunks<Output: Sendable>(
        _ transform: @escaping @Sendable (Chunk<Element>) async throws -> Chunk<Output>
    ) -> Flow<Output> { fatalError("not yet") }
    public func filter(_ isIncluded: @escaping @Sendable (Element) throws -> Bool) -> Flow { fatalError("not yet") }
    public func compactMap<Output: Sendable>(_ transform: @escaping @Sendable (Element) throws -> Output?) -> Flow<
        Output
    > { fatalError("not yet") }
    public func flatMap<Output: Sendable>(
        maxConcurrent: Int = .max, _ transform: @escaping @Sendable (Element) throws -> Flow<Output>
    ) -> Flow<Output> { fatalError("not yet") }
    public func concatMap<Output: Sendable>(_ transform: @escaping @Sendable (Element) throws -> Flow<Output>) -> Flow<
        Output
    > { fatalError("not yet") }
    public static func concat(_ flows: [Flow]) -> Flow { fatalError("not yet") }
    public static func merge(_ flows: [Flow]) -> Flow { fatalError("not yet") }
    public static func merge(_ flows: Flow<Flow>, maxConcurrent: Int) -> Flow { fatalError("not yet") }
    public static func combineLatest(_ flows: [Flow]) -> Flow<[Element]> { fatalError("not yet") }
    public func combineLatest<Other: Sendable>(_ other: Flow<Other>) -> Flow<(Element, Other)> { fatalError("not yet") }
    public static func zip(_ flows: [Flow], buffer: Int = 128) -> Flow<[Element]> { fatalError("not yet") }
    public func zip<Other: Sendable>(_ other: Flow<Other>, buffer: Int = 128) -> Flow<(Element, Other)> {
        fatalError("not yet")
    }
    public func withLatestFrom<Other: Sendable>(_ other: Flow<Other>) -> Flow<(Element, Other)> {
        fatalError("not yet")
    }
    public func scan<State: Sendable>(_ initial: State, _ step: @escaping @Sendable (State, Element) throws -> State)
        -> Flow<State>
    { fatalError("not yet") }
    public func reduce<State: Sendable>(_ initial: State, _ step: @escaping @Sendable (State, Element) throws -> State)
        -> Flow<State>
    { fatalError("not yet") }
    public func distinct<Key: Hashable & Sendable>(by key: @escaping @Sendable (Element) throws -> Key) -> Flow {
        fatalError("not yet")
    }
    public func distinctUntilChanged(_ areEqual: @escaping @Sendable (Element, Element) throws -> Bool) -> Flow {
        fatalError("not yet")
    }
    public func take(_ count: Int) -> Flow { fatalError("not yet") }
    public func takeWhile(_ condition: @escaping @Sendable (Element) throws -> Bool) -> Flow { fatalError("not yet") }
    public func skip(_ count: Int) -> Flow { fatalError("not yet") }
    public func startWith(_ elements: Chunk<Element>) -> Flow { fatalError("not yet") }
    public func retry(attempts: Int = .max) -> Flow { fatalError("not yet") }
    public func retry(
        _ policy: RetryPolicy, clock: any EventClock, seed: UInt64 = 0,
        when isRetriable: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> Flow { fatalError("not yet") }
    public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Flow) -> Flow { fatalError("not yet") }
    public func replaceError(with element: Element) -> Flow { fatalError("not yet") }
    public func share(replay: Int = 0, scope: SubjectScope = .whileConnected, capacity: Int = 256) -> Flow {
        fatalError("not yet")
    }
    public func buffer(_ capacity: Int, policy: OverflowPolicy = .block) -> Flow { fatalError("not yet") }
    public func `do`(
        onStart: (@Sendable () async throws -> Void)? = nil,
        onNext: (@Sendable (Chunk<Element>) async throws -> Void)? = nil,
        onCompletion: (@Sendable () async throws -> Void)? = nil, onError: (@Sendable (any Error) async -> Void)? = nil
    ) -> Flow { fatalError("not yet") }
    public func timeout(_ duration: Duration, clock: any EventClock) -> Flow { fatalError("not yet") }
    public func delay(_ duration: Duration, clock: any EventClock) -> Flow { fatalError("not yet") }
}
extension Flow where Element: Hashable {
    public func distinct() -> Flow { distinct(by: { $0 }) }
}
extension Flow where Element: Equatable {
    public func distinctUntilChanged() -> Flow { distinctUntilChanged { $0 == $1 } }
}
