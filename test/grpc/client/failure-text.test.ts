import { callFailureText } from "../../../src/grpc/client/failure-text";

test.each([
  [
    "14 UNAVAILABLE: No connection established. Last error: Protocol error (2026-11-21T18:36:38.993Z). Resolution note: ",
    "14 UNAVAILABLE: No connection established. Last error: Protocol error",
  ],
  [
    "14 UNAVAILABLE: No connection established. Last error: Error: connect ENOENT /csi.sock. Resolution note: ",
    "14 UNAVAILABLE: No connection established. Last error: connect ENOENT /csi.sock",
  ],
  [
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1.003s,name resolution: 0.001s,remote_addr=/csi.sock",
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1s",
  ],
  [
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1.002s,name resolution: 0.001s,metadata filters: 0.000s,time to current attempt start: 0.002s,LB pick: 0.003s,remote_addr=/csi.sock",
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1s",
  ],
  [
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1.001s,Waiting for LB pick",
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1s: connected, but nobody speaks HTTP/2 there",
  ],
  [
    "8 RESOURCE_EXHAUSTED: Received message larger than max (70000 vs 65536)",
    "8 RESOURCE_EXHAUSTED: the server misbehaves: its answer has 70000 bytes, 65536 is the most",
  ],
  ["5 NOT_FOUND: the driver's own. Resolution note: none", undefined],
  ["5 NOT_FOUND: as the server says (2026-11-21T18:36:38.993Z)", undefined],
])("%s", (text, clear) => {
  expect(callFailureText(text, 1_000)).toBe(clear ?? text);
});
