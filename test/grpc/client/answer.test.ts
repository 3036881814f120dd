import { callFailureText, deadlineText, isTooLarge } from "../../../src/grpc/client/answer";

const TOO_LARGE = "Received message larger than max (70000 vs 65536)";
const LAST = "14 UNAVAILABLE: No connection established. Last error:";
const NOTE = ". Resolution note: ";
const AFTER = "4 DEADLINE_EXCEEDED: Deadline exceeded after";
const STUCK = "no HTTP/2 connection by then: the server is slow, hangs, or does not speak HTTP/2";

test.each([
  [`${LAST} Protocol error (2026-11-21T18:36:38.993Z)${NOTE}`, `${LAST} Protocol error`],
  [`${LAST} Error: connect ENOENT /csi.sock${NOTE}`, `${LAST} connect ENOENT /csi.sock`],
  [`${AFTER} 1.003s,name resolution: 0.001s,LB pick: 0.003s,remote_addr=/csi.sock`, `${AFTER} 1s`],
  [`${AFTER} 1.001s,Waiting for LB pick`, `${AFTER} 1s; ${STUCK}`],
  [
    `8 RESOURCE_EXHAUSTED: ${TOO_LARGE}`,
    "8 RESOURCE_EXHAUSTED: the server misbehaves: its answer has 70000 bytes, 65536 is the most",
  ],
  ["5 NOT_FOUND: the driver's own. Resolution note: none", undefined],
  ["5 NOT_FOUND: as the server says (2026-11-21T18:36:38.993Z)", undefined],
])("%s", (text, clear) => {
  expect(callFailureText(text, 1_000)).toBe(clear ?? text);
});

test("errors of our own call have the deadline in seconds, and grpc-js' details of a too large answer", () => {
  expect(deadlineText(1_500)).toBe(`${AFTER} 1.5s`);
  expect([{ details: TOO_LARGE }, { details: "no" }, undefined].filter(isTooLarge)).toHaveLength(1);
});
