// feedbus: example program: the command line of JokesWithTranslation.

import Feedbus

@main
enum JokesWithTranslationMain {
    static func main() {
        App.main("JokesWithTranslation", usage: "[LANGUAGE]") { app in
            let apertium = Apertium(host: app.host)
            try await JokesWithTranslation(app, language: app.arguments.first ?? "es") { text, from, to in
                try await apertium.translate(text, from: from, to: to)
            }.run()
        }
    }
}
