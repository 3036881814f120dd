import { createHpackDecoder } from "../../../src/grpc/hpack/decoder";
import { encodeLiterals } from "../../../src/grpc/hpack/encoder";
import type { HeaderField } from "../../../src/grpc/hpack/static-table";

const UNBOUNDED = { maxFields: Number.MAX_SAFE_INTEGER, maxBytes: Number.MAX_SAFE_INTEGER };

test("literals without indexing, name and value spelled out", () => {
  expect(encodeLiterals([[":path", "/x"]]).toString("latin1")).toBe("\x00\x05:path\x02/x");
});

test.each([0, 1, 126, 127, 128, 254, 255, 16_383, 16_384, 100_000])(
  "a value of %i bytes comes back",
  (length) => {
    const fields: HeaderField[] = [
      ["a", "\xff".repeat(length)],
      ["", ""],
    ];
    expect(createHpackDecoder(UNBOUNDED)(encodeLiterals(fields))).toEqual(fields);
  },
);
