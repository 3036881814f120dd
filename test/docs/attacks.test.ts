import { MAX_MESSAGE_BYTES } from "../../src/grpc/guard/frames";
import { DEFAULT_GRPC_SERVER_LIMITS } from "../../src/grpc/server";
import { ATTACKS } from "../grpc/attacks";
import { readText, rowsIn, sectionOf } from "./markdown";

const security = readText("docs/security.md");
const rows = rowsIn(sectionOf(security, "Hostile clients"));

/** Rows that are no bytes on one connection, and the words by which their tests are called. */
const SCENARIOS: Readonly<Record<string, string>> = {
  "500 idle connections": '"500 idle connections, and then kubelet comes',
  "64 clients with calls that they never finish": '"calls of which no request comes"',
  "a byte at a time": '"answers a client that takes its time over every byte',
  "1000 connections, opened and dropped": '"1000 connections, opened and dropped',
};

function constantIn(file: string, name: string): number {
  const [, digits] =
    new RegExp(`^(?:export )?const ${name} = ([\\d_]+);`, "m").exec(readText(`src/${file}`)) ?? [];
  return Number(digits?.replaceAll("_", ""));
}

test("the table of hostile clients has every attack that the tests play, and no other", () => {
  expect(rows.map(([what]) => what)).toEqual([...Object.keys(ATTACKS), ...Object.keys(SCENARIOS)]);
  const files = ["process/attacks", "grpc/server/server", "grpc/server/bounds"];
  const tests = files.map((name) => readText(`test/${name}.test.ts`)).join();
  for (const name of Object.values(SCENARIOS)) expect(tests).toContain(name);
});

test("it says what happens", () => {
  for (const [theme, attacks] of Object.entries(ATTACKS)) {
    const [, happens = ""] = rows.find(([what]) => what === theme) ?? [];
    const kinds = new Set(attacks.map(({ outcome }) => /[a-z]+/.exec(String(outcome))?.[0]));
    const said = ["closed", "reset", "answered", "ignored"].filter((kind) => happens.includes(kind));
    expect([theme, ...said.sort()]).toEqual([theme, ...[...kinds].sort()]);
  }
});

test("its numbers are those of the code", () => {
  const { maxConnections, maxFrames } = DEFAULT_GRPC_SERVER_LIMITS;
  const headerBytes = constantIn("grpc/guard/header-fields.ts", "MAX_LIST_BYTES");
  const wanted = {
    "connections at one time": maxConnections,
    "calls at one time on a connection": Number(/_streams": (\d+)/.exec(readText("src/grpc/server.ts"))?.[1]),
    "bytes of one header block, compressed and decoded": headerBytes,
    "header fields of one block": 128, // Node's own limit: test/grpc/attacks.ts sends more.
    "bytes of the HPACK table": 4_096,
    "CONTINUATION frames of one block": constantIn("grpc/guard/frames.ts", "MAX_CONTINUATION_FRAMES"),
    "bytes of one frame": constantIn("grpc/guard/frames.ts", "MAX_FRAME_BYTES"),
    "messages of one call": 1,
    "other frames since a call was answered": maxFrames,
    "bytes of one message": `${MAX_MESSAGE_BYTES / 2 ** 20} MB`,
    "bytes of all unfinished requests": `${MAX_MESSAGE_BYTES / 2 ** 20} MB`,
    // What a socket may hold before we pause it (test/grpc/server/bytes.test.ts).
    "answers that the client does not read": "128 kB",
    "bytes of a compressed message, unpacked": `${MAX_MESSAGE_BYTES / 2 ** 20} MB`,
  };
  const limits = rowsIn(sectionOf(security, "The registration socket")).map(([what, value]) => [what, value]);
  expect(limits).toEqual(Object.entries(wanted).map(([what, value]) => [what, String(value)]));
});
