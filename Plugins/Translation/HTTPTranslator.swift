// feedbus: a translation service, asked over HTTP.

import FeedbusPlugin

/// Asks a service, politely.
struct HTTPTranslator: Translator {
    let service: TranslationService
    let http: PoliteClient
    let timeout: Duration

    func prepare(from: String, to: String) {}

    func close() {}

    func translate(_ text: String, from: String, to: String) async throws -> String {
        let request = service.request(text, from: from, to: to, timeout: timeout)
        // Yandex says in the body what is wrong, whatever the status.
        let statuses: Set<Int> = service.name == .yandex ? [400, 401, 402, 403, 404, 413, 422, 501] : []
        let service = service
        let answer = try await http.fetch(request, accept: statuses) { try service.translation(in: $0, to: request) }
        guard let text = answer.value else {
            throw FeedbusError("translation.answer", "the service answered that nothing is new")
        }
        return text
    }
}
