import { createHpackDecoder } from "../../../src/grpc/hpack/decoder";
import { encodeLiterals } from "../../../src/grpc/hpack/encoder";
import type { HeaderField } from "../../../src/grpc/hpack/static-table";

const UNBOUNDED = { maxFields: Number.MAX_SAFE_INTEGER, maxBytes: Number.MAX_SAFE_INTEGER };

test("literals without indexing, name and value spelled out", () => {
  const block = encodeLiterals({ tableSizes: [], fields: [[":path", "/x"]] });
  expect(block.toString("latin1")).toBe("\x00\x05:path\x02/x");
});

test.each([
  [[0], "20"],
  [[10], "2a"],
  [[30], "3e"],
  [[31], "3f00"],
  [[1337], "3f9a0a"],
  [[0, 4096], "203fe11f"],
])("table sizes %j", (tableSizes, hex) => {
  expect(encodeLiterals({ tableSizes, fields: [] }).toString("hex")).toBe(hex);
});

test.each([0, 1, 126, 127, 128, 254, 255, 16_383, 16_384, 100_000])(
  "a value of %i bytes comes back",
  (length) => {
    const fields: HeaderField[] = [
      ["a", "\xff".repeat(length)],
      ["", ""],
    ];
    expect(createHpackDecoder(UNBOUNDED)(encodeLiterals({ tableSizes: [], fields })).fields).toEqual(fields);
  },
);
