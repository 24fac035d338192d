// feedbus: the keyed hash is SipHash-2-4 with 128 bits.

import FeedbusJSON
import Testing

struct KeyedHashTests {
    /// Of the vectors that its authors publish: the key 00 01 … 0f, the texts of 0, 1, 8 and 15 bytes 00 01 ….
    @Test(
        arguments: [
            (0, 0xE6A8_25BA_047F_81A3, 0x9302_55C7_1472_F66D), (1, 0x44AF_996B_D8C1_87DA, 0x45FC_229B_1159_7634),
            (8, 0x61F5_5862_BAA9_623B, 0xB497_14F3_64E2_830F), (15, 0x11A8_B033_99E9_9354, 0xD9C3_CF97_0FEC_087E),
        ] as [(Int, UInt64, UInt64)])
    func theAuthorsVectors(_ count: Int, _ low: UInt64, _ high: UInt64) {
        let hash = KeyedHash(key: (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908))
        let found = Array(0..<UInt8(count)).withUnsafeBytes { hash.hash($0) }
        #expect(found.low == low && found.high == high)
    }

    @Test func everyByteAndTheLengthCount() {
        let hash = KeyedHash()
        var seen: Set<[UInt64]> = []
        var texts = (0..<40).map { [UInt8](repeating: 0, count: $0) }
        for index in 0..<24 {
            var text = [UInt8](repeating: 0, count: 24)
            text[index] = 1
            texts.append(text)
        }
        for text in texts {
            let found = text.withUnsafeBytes { hash.hash($0) }
            seen.insert([found.low, found.high])
        }
        #expect(seen.count == texts.count)
        let other = KeyedHash()
        #expect([1, 2, 3].withUnsafeBytes { hash.hash($0).low } != [1, 2, 3].withUnsafeBytes { other.hash($0).low })
    }
}
