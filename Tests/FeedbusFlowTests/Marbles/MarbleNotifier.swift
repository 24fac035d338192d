// feedbus: the handlers of the retryWhen cases.

import FeedbusBase
import FeedbusFlow

/// `delay:MS`, `backoff:MS` (MS doubled with each error), `limit:N:MS` (N delayed retries, then the error), `take1:MS`,
/// `empty`, `never`, `error:N`.
struct MarbleNotifier: Sendable {
    private enum Kind: Sendable {
        case delay(Int)
        case backoff(Int)
        case limit(Int, Int)
        case takeOne(Int)
        case empty
        case never
        case error(String)
    }

    private let kind: Kind
    private let clock: any EventClock

    init(_ text: String, clock: any EventClock) throws {
        self.clock = clock
        let parts = text.split(separator: ":").map(String.init)
        let numbers = parts.dropFirst().compactMap { Int($0) }
        switch (parts.first, numbers.count) {
        case ("delay", 1): kind = .delay(numbers[0])
        case ("backoff", 1): kind = .backoff(numbers[0])
        case ("limit", 2): kind = .limit(numbers[0], numbers[1])
        case ("take1", 1): kind = .takeOne(numbers[0])
        case ("empty", _): kind = .empty
        case ("never", _): kind = .never
        case ("error", _): kind = .error(parts.last ?? "N")
        default: throw MarbleLack("handler \(text)")
        }
    }

    func signs(_ errors: Flow<any Error>) -> Flow<Int> {
        let numbered = errors.scan((-1, TestError("") as any Error)) { ($0.0 + 1, $1) }
        switch kind {
        case .delay(let pause): return errors.flatMap { _ in timer(pause) }
        case .backoff(let pause): return numbered.flatMap { number, _ in timer(pause << number) }
        case .limit(let limit, let pause):
            return numbered.flatMap { number, error in number >= limit ? .fail(error) : timer(pause) }
        case .takeOne(let pause): return errors.flatMap { _ in timer(pause) }.take(1)
        case .empty: return .empty
        case .never: return .never
        case .error(let name): return .fail(TestError(name))
        }
    }

    private func timer(_ pause: Int) -> Flow<Int> { .timer(.milliseconds(pause), clock: clock) }
}
