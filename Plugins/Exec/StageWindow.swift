// feedbus: the events that a stage's child has been given and not answered.

import FeedbusPlugin

/// Which event an output line of a child stands for.
///
/// The rule: a child answers in the order in which it is asked. A line that is a CloudEvents object with the id of an
/// event in flight is the answer to that event; any other line that is no CloudEvents object answers the oldest one. What was
/// asked before the answered event was left out on purpose. Whoever answers takes over the event's receipt; further lines
/// with the same id in the same read share it.
///
/// At most `limit` events (or `weightLimit` bytes) are remembered, more than fit into the pipes between the two. What a
/// child has not answered when so much more was written counts as left out: so a child that filters is never waited for.
struct StageWindow {
    let limit: Int
    let weightLimit: Int
    /// Places before `head` are empty: an event that was let go must not hold its receipt any longer.
    private var events: [Event?] = []
    private var head = 0
    private var weight = 0
    /// The event that was answered last, until the end of the read.
    private var answered: Event?

    init(limit: Int = 4_096, weightLimit: Int = 16 << 20) {
        self.limit = limit
        self.weightLimit = weightLimit
    }

    var count: Int { events.count - head }
    var all: [Event] { events[head...].compactMap(\.self) }

    /// The events are about to be written to the child.
    mutating func ask(_ chunk: Chunk<Event>) {
        for event in chunk {
            events.append(event)
            weight += event.weight
        }
        var surplus = 0
        var excess = weight - weightLimit
        while count - surplus > 1, count - surplus > limit || excess > 0 {
            excess -= events[head + surplus]?.weight ?? 0
            surplus += 1
        }
        release(surplus)
    }

    /// The event to which a CloudEvents object with this id is the answer; nil for an object of its own.
    mutating func answer(id: Bytes) -> Event? {
        if let answered, answered.id == id, head == events.count || events[head]?.id != id { return answered }
        guard let index = events[head...].firstIndex(where: { $0?.id == id }) else { return nil }
        return answer(upTo: index)
    }

    /// The event to which a line of bare data is the answer; nil where none is in flight.
    mutating func answerOldest() -> Event? {
        head < events.count ? answer(upTo: head) : nil
    }

    /// What was read is dealt with.
    mutating func endOfRead() { answered = nil }

    private mutating func answer(upTo index: Int) -> Event? {
        let event = events[index]
        release(index - head + 1)
        answered = event
        return event
    }

    private mutating func release(_ number: Int) {
        guard number > 0 else { return }
        for index in head..<head + number {
            weight -= events[index]?.weight ?? 0
            events[index] = nil
        }
        head += number
        if head == events.count {
            events.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 256 && head > events.count / 2 {
            events.removeFirst(head)
            head = 0
        }
    }
}
