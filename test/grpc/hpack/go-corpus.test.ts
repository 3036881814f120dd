import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createHpackDecoder } from "../../../src/grpc/hpack/decoder";

interface Block {
  readonly hex: string;
  /** Null where Go refuses the block. */
  readonly fields: readonly (readonly [string, string])[] | null;
}

// Made by corpus/main.go.
const connections: readonly (readonly Block[])[] = readFileSync(join(__dirname, "go-corpus.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

function readOrNull(decode: ReturnType<typeof createHpackDecoder>, hex: string) {
  try {
    return decode(Buffer.from(hex, "hex"));
  } catch {
    return null;
  }
}

test("header blocks are read as Go's decoder reads them, and refused where it refuses them", () => {
  expect(connections).toHaveLength(120);
  for (const blocks of connections) {
    const decode = createHpackDecoder({ maxFields: 1_000, maxBytes: 1_000_000 });
    for (const { hex, fields } of blocks) {
      expect({ hex, fields: readOrNull(decode, hex) }).toEqual({ hex, fields });
    }
  }
});
