// feedbus: example program: the command line of NaturalEvents.

import Feedbus

@main
enum NaturalEventsMain {
    static func main() {
        App.main("NaturalEvents", usage: "[DAYS]") { app in
            let words = app.arguments.first ?? "360"
            guard let days = Int(words), days > 0 else {
                throw FeedbusError(.appUsage, "\(words) is no number of days")
            }
            try await NaturalEvents(app, days: days).run()
        }
    }
}
