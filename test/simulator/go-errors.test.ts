import { behaviourOf, SIMULATED_VERSIONS } from "../../src/kubelet-rules/versions";
import { goRpcError } from "../../src/simulator/kubelet/calls";
import { byOutcome } from "../support/recorded";

/** What grpc-js says, by the code of the status. */
const DETAILS: readonly (readonly [code: number, details: string])[] = [
  [4, "Deadline exceeded after 1.000s"],
  [14, "No connection established. Last error: Error: connect ENOENT /x"],
  [14, "No connection established. Last error: Error: connect ECONNREFUSED /x"],
  [14, "No connection established. Last error: Error: connect ENOTKNOWN /x"],
  [14, "No connection established. Last error: Error: Protocol error"],
  [14, "No connection established. Last error: null"],
  [13, "Response message parsing error: index out of range"],
  [13, "Response message parsing error: string field contains invalid UTF-8"],
  [14, "Connection dropped"],
  [1, "Received RST_STREAM with code 8 (Call cancelled)"],
  [13, "Received RST_STREAM with code 99"],
  [8, "no room"],
];

test.each(SIMULATED_VERSIONS)("what ends a handshake, in the words of kubelet %s", (version) => {
  const ended = { code: 14, details: "No connection established. Last error: null" };
  const said = goRpcError(ended, "/s.sock", behaviourOf(version));
  const byVersion =
    Number(version.slice(2)) < 28 ? "closed" : 'error: desc = "error reading server preface: EOF"';
  expect(said).toBe(`rpc error: code = Unavailable desc = connection ${byVersion}`);
});

test("a failed call has the words of kubelet's gRPC", () => {
  const rows = DETAILS.map(([code, details]) => [details, goRpcError({ code, details }, "/s.sock")] as const);
  const without = {
    "an error without a status": new Error("closed"),
    "one with a code alone": Object.assign(new Error("closed"), { code: 14 }),
    "one with details alone": Object.assign(new Error("closed"), { details: "gone" }),
  };
  const plain = Object.entries(without).map(([what, error]) => [what, goRpcError(error, "/s.sock")] as const);
  expect(`\n${byOutcome([...rows, ...plain])}\n`).toMatchSnapshot();
});
