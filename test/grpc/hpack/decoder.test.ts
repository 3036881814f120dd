import { createHpackDecoder } from "../../../src/grpc/hpack/decoder";
import { bytesOf } from "../wire";

const LIMITS = { maxFields: 64, maxBytes: 16_384 };

/** Everything in the dynamic table, newest first: indexes from 62 on are read until there are no more. */
function tableOf(decode: ReturnType<typeof createHpackDecoder>): string[] {
  const entries: string[] = [];
  for (let index = 62; ; index++) {
    try {
      entries.push(...decode(Buffer.of(0x80 | index)).map(text));
    } catch {
      return entries;
    }
  }
}

const text = ([name, value]: readonly [string, string]) => `${name}: ${value}`;

const request1 = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
const request2 = [...request1, "cache-control: no-cache"];
const request3 = [
  ":method: GET",
  ":scheme: https",
  ":path: /index.html",
  ":authority: www.example.com",
  "custom-key: custom-value",
];
const requestTable = ["custom-key: custom-value", "cache-control: no-cache", ":authority: www.example.com"];
const cookie = "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
const date21 = "date: Mon, 21 Oct 2013 20:13:21 GMT";
const date22 = "date: Mon, 21 Oct 2013 20:13:22 GMT";
const response = ["cache-control: private", date21, "location: https://www.example.com"];
const response3 = [
  ":status: 200",
  "cache-control: private",
  date22,
  "location: https://www.example.com",
  "content-encoding: gzip",
  cookie,
];
const responseTable = [cookie, "content-encoding: gzip", date22];

/** The response examples have a table of 256 bytes; here the encoder asks for it. */
const TABLE_OF_256 = "3fe101";

test("a table that is exactly full keeps its oldest entry", () => {
  const decode = createHpackDecoder(LIMITS);
  // 66 bytes of table (section 4.1: name, value and 32 each), and two entries of 33: "a" and "b" without a value.
  decode(bytesOf("3f23 4001 6100 4001 6200"));
  expect(tableOf(decode)).toEqual(["b: ", "a: "]);
});

describe("the examples of RFC 7541, appendix C", () => {
  test.each([
    [
      "C.2.1 literal with indexing",
      "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
      ["custom-key: custom-header"],
      ["custom-key: custom-header"],
    ],
    ["C.2.2 literal without indexing", "040c 2f73 616d 706c 652f 7061 7468", [":path: /sample/path"], []],
    ["C.2.3 literal never indexed", "1008 7061 7373 776f 7264 0673 6563 7265 74", ["password: secret"], []],
    ["C.2.4 indexed", "82", [":method: GET"], []],
  ])("%s", (_name, hex, fields, table) => {
    const decode = createHpackDecoder(LIMITS);
    expect(decode(bytesOf(hex)).map(text)).toEqual(fields);
    expect(tableOf(decode)).toEqual(table);
  });

  test.each([
    [
      "C.4 requests, Huffman code",
      [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
      ],
      [request1, request2, request3],
      requestTable,
    ],
    [
      "C.6 responses, Huffman code, eviction",
      [
        `${TABLE_OF_256} 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
      ],
      [[":status: 302", ...response], [":status: 307", ...response], response3],
      responseTable,
    ],
  ])("%s", (_name, blocks, fields, table) => {
    const decode = createHpackDecoder(LIMITS);
    expect(blocks.map((hex) => decode(bytesOf(hex)).map(text))).toEqual(fields);
    expect(tableOf(decode)).toEqual(table);
  });
});

describe("the dynamic table", () => {
  const indexedA = "4001 6101 62"; // a: b, 34 bytes in the table

  test("is emptied by a size of 0 and filled again after a larger one", () => {
    const decode = createHpackDecoder(LIMITS);
    decode(bytesOf(indexedA));
    expect(decode(bytesOf("20 3fe11f"))).toEqual([]);
    expect(tableOf(decode)).toEqual([]);
    decode(bytesOf(indexedA));
    expect(tableOf(decode)).toEqual(["a: b"]);
  });

  test("is emptied by an entry larger than itself, which is a field all the same", () => {
    const decode = createHpackDecoder(LIMITS);
    decode(bytesOf(`3f03 ${indexedA}`)); // 34 bytes: exactly that entry
    expect(tableOf(decode)).toEqual(["a: b"]);
    expect(decode(bytesOf("4001 6102 6263"))).toEqual([["a", "bc"]]);
    expect(tableOf(decode)).toEqual([]);
  });

  test("lends the name of an entry that goes while the new one comes", () => {
    const decode = createHpackDecoder(LIMITS);
    decode(bytesOf(`3f03 ${indexedA}`));
    expect(decode(bytesOf("7e01 63"))).toEqual([["a", "c"]]);
    expect(tableOf(decode)).toEqual(["a: c"]);
  });
});

describe("what is malformed or over a bound", () => {
  test.each([
    ["index 0", "80", /header index 0 is in no table/],
    ["an index past both tables", "be", /header index 62 is in no table/],
    ["a name index past both tables", "7f00 0161", /header index 63 is in no table/],
    ["a block that ends inside an integer", "ff", /ends in the middle of a field/],
    ["a block that ends before a value", "0001 61", /ends in the middle of a field/],
    ["a string longer than its block", "0005 61", /longer than its block/],
    ["an integer that never ends", "ffffffffffff", /integer without end/],
    ["an integer with a fifth byte behind its prefix", "ff8080808000", /integer without end/],
    ["a table larger than the server's", "3fe21f", /header table of 4097 bytes/],
    ["a table size after a field", "8220", /header table size after a header field/],
    ["Huffman padding of zeros", "0081 00 00", /not valid Huffman code/],
    ["Huffman padding of eight bits", "0082 1fff 00", /not valid Huffman code/],
    ["the Huffman end of string", "0084 ffff ffff 00", /not valid Huffman code/],
  ])("%s", (_name, hex, reason) => {
    expect(() => createHpackDecoder(LIMITS)(bytesOf(hex))).toThrow(
      expect.objectContaining({ code: "PROTOCOL", message: expect.stringMatching(reason) }),
    );
  });

  test("as many bytes as are allowed are taken", () => {
    const [method] = request1;
    const maxBytes = ":method".length + "GET".length + 32;
    expect(createHpackDecoder({ ...LIMITS, maxBytes })(Buffer.of(0x82)).map(text)).toEqual([method]);
    expect(() => createHpackDecoder({ ...LIMITS, maxBytes: maxBytes - 1 })(Buffer.of(0x82))).toThrow(
      `header fields of more than ${maxBytes - 1} bytes`,
    );
  });

  test("one field more than allowed", () => {
    const decode = createHpackDecoder({ ...LIMITS, maxFields: 3 });
    expect(decode(bytesOf("828282"))).toHaveLength(3);
    expect(() => decode(bytesOf("82828282"))).toThrow("more than 3 header fields");
  });

  test("few bytes that stand for very many", () => {
    const decode = createHpackDecoder({ ...LIMITS, maxFields: 10_000 });
    decode(Buffer.concat([bytesOf("4001 617f 8116"), Buffer.alloc(2_944, "x")]));
    expect(decode(Buffer.alloc(5, 0xbe))).toHaveLength(5);
    expect(() => decode(Buffer.alloc(6, 0xbe))).toThrow("header fields of more than 16384 bytes");
  });
});
