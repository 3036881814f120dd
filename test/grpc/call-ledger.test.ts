import { type CallLedger, createCallLedger } from "../../src/grpc/call-ledger";
import { DATA, END_STREAM, HEADERS, PING, RST_STREAM } from "./wire";

type Step = readonly ["client" | "server", type: number, flags: number, streamId: number];

function after(...steps: readonly Step[]): CallLedger {
  const ledger = createCallLedger();
  for (const [side, type, flags, streamId] of steps) {
    const frame = { type, flags, streamId, length: 0 };
    if (side === "client") ledger.fromClient(frame);
    else ledger.fromServer(frame);
  }
  return ledger;
}

const opened: Step = ["client", HEADERS, 0, 1];

test.each<[string, readonly Step[], boolean, number]>([
  ["nothing yet", [], false, 0],
  ["only a PING", [["client", PING, 0, 0]], false, 0],
  ["a call", [opened], true, 1],
  ["a call and the client's end of it", [opened, ["client", DATA, END_STREAM, 1]], true, 1],
  ["a call and its trailers from the client", [opened, ["client", HEADERS, END_STREAM, 1]], true, 1],
  [
    "a call and the beginning of its answer",
    [opened, ["server", HEADERS, 0, 1], ["server", DATA, 0, 1]],
    true,
    1,
  ],
  ["a call answered with trailers", [opened, ["server", HEADERS, END_STREAM, 1]], true, 0],
  ["a call answered with data", [opened, ["server", DATA, END_STREAM, 1]], true, 0],
  ["a call the server resets", [opened, ["server", RST_STREAM, 0, 1]], true, 0],
  ["a call the client resets", [opened, ["client", RST_STREAM, 0, 1]], true, 0],
  ["another frame whose bit 0 means something else", [opened, ["server", PING, 1, 1]], true, 1],
  [
    "a client's trailers after the answer",
    [opened, ["server", HEADERS, END_STREAM, 1], ["client", HEADERS, END_STREAM, 1]],
    true,
    0,
  ],
  [
    "two calls, one answered",
    [opened, ["client", HEADERS, 0, 3], ["server", HEADERS, END_STREAM, 1]],
    true,
    1,
  ],
])("%s", (_name, steps, everCalled, running) => {
  expect(after(...steps)).toMatchObject({ everCalled, running });
});

test("what comes for a call is bounded as long as it runs", () => {
  const twoMessages = Buffer.alloc(10);
  expect(() => after(opened).contentFromClient(1, twoMessages)).toThrow("a call of more than one message");
  const ended = after(opened, ["server", HEADERS, END_STREAM, 1]);
  expect(() => ended.contentFromClient(1, twoMessages)).not.toThrow();
  const frames = Array.from({ length: 65 }, (): Step => ["client", DATA, 0, 1]);
  expect(() => after(opened, ...frames)).toThrow("a call of more than 64 DATA frames");
});
