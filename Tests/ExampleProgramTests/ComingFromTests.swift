// feedbus: Docs/ComingFrom.md says what is true: its snippets are those that ran, its tables hold every operator.

import Feedbus
import Glibc
import Testing

struct ComingFromTests {
    private func text(_ path: String) throws -> String {
        let file = try #require(fopen("\(packageFolder)/\(path)", "r"), "\(path) is missing")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var byte = fgetc(file)
        while byte != EOF {
            bytes.append(UInt8(byte))
            byte = fgetc(file)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.drop { $0 == " " }
        }
    }

    private func contains(_ lines: [Substring], _ block: [Substring]) -> Bool {
        guard block.count <= lines.count else { return false }
        return (0...lines.count - block.count).contains { lines[$0..<$0 + block.count].elementsEqual(block) }
    }

    @Test func everySnippetIsOneThatRan() throws {
        let tests = lines(try text("Tests/ExampleProgramTests/SnippetTests.swift"))
        var blocks: [[Substring]] = []
        var block: [Substring]?
        for line in lines(try text("Docs/ComingFrom.md")) {
            if line == "```swift" {
                block = []
            } else if line == "```", let whole = block {
                blocks.append(whole)
                block = nil
            } else {
                block?.append(line)
            }
        }
        #expect(blocks.count >= 15)
        let unknown = blocks.filter { !contains(tests, $0) }.map { $0.joined(separator: "\n") }
        #expect(unknown == [], "not in SnippetTests.swift")
    }

    // MARK: - Operators

    /// `name(label:label:)` of every public function, property and initialiser of the types that a user of flows meets.
    private func declared(in file: String, _ owners: [String: String]) throws -> Set<String> {
        var found: Set<String> = []
        var prefix: String?
        let text = try text(file)
        var start = text.startIndex
        while start < text.endIndex {
            let end = text[start...].firstIndex(of: "\n") ?? text.endIndex
            let line = text[start..<end]
            let words = line.split { " <:".contains($0) }
            if let first = line.first, first != " ", first != "}", first != "/",
                first != "@" || line.contains("class "),
                let kind = words.firstIndex(where: { ["extension", "struct", "class", "enum", "actor"].contains($0) }),
                kind + 1 < words.count
            {
                prefix = owners[String(words[kind + 1])]
            }
            if let prefix, line.hasPrefix("    "), !line.hasPrefix("     "), words.contains("public") {
                for kind in ["func ", "var ", "init("] {
                    guard let place = text[start..<end].firstRange(of: kind) else { continue }
                    let rest = text[(kind == "init(" ? place.lowerBound : place.upperBound)...]
                    found.insert(prefix + signature(rest, isProperty: kind == "var "))
                    break
                }
            }
            start = end < text.endIndex ? text.index(after: end) : end
        }
        return found
    }

    /// The name and labels of the declaration with which the text begins.
    private func signature(_ text: Substring, isProperty: Bool) -> String {
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == "`" }.filter { $0 != "`" }
        if isProperty { return name }
        guard let open = text.firstIndex(of: "(") else { return name }
        var depth = 0
        var parameters = [""]
        scan: for character in text[text.index(after: open)...] {
            switch character {
            case "(", "[", "{": depth += 1
            case ")" where depth == 0: break scan
            case ")", "]", "}": depth -= 1
            case "," where depth == 0:
                parameters.append("")
                continue
            default: break
            }
            parameters[parameters.count - 1].append(character)
        }
        let labels = parameters.compactMap { parameter in
            parameter.split { $0 == " " || $0 == "\n" || $0 == ":" }.first.map { "\($0):" }
        }
        return "\(name)(\(labels.joined()))"
    }

    private func files(in folder: String) throws -> [String] {
        let directory = try #require(opendir("\(packageFolder)/\(folder)"))
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".swift") { names.append("\(folder)/\(name)") }
        }
        return names
    }

    @Test func everyOperatorIsInTheTables() throws {
        let owners = [
            "Flow": "", "Subject": "Subject.", "ConnectableFlow": "ConnectableFlow.", "Subscription": "Subscription.",
        ]
        var declared: Set<String> = []
        for file in try files(in: "Sources/FeedbusFlow") { declared.formUnion(try self.declared(in: file, owners)) }
        declared.formUnion(try self.declared(in: "Sources/Feedbus/App+Requests.swift", ["App": "App."]))
        declared.remove("Subscription.makeAsyncIterator()")
        #expect(declared.count > 85)

        let page = try text("Docs/ComingFrom.md")
        let start = try #require(page.firstRange(of: "## Every operator"))
        var listed: [String] = []
        for line in page[start.upperBound...].split(separator: "\n") where line.hasPrefix("| `") {
            listed.append(String(line.dropFirst(3).prefix { $0 != "`" }))
        }
        #expect(declared.subtracting(listed).sorted() == [], "missing in Docs/ComingFrom.md")
        #expect(Set(listed).subtracting(declared).sorted() == [], "Docs/ComingFrom.md lists what there is not")
        #expect(Set(listed).count == listed.count, "Docs/ComingFrom.md lists one twice")
    }
}
