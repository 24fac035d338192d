// feedbus: the command line.

@main
enum FeedbusCommand {
    static func main() {}
}
