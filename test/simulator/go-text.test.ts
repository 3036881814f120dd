import { status } from "@grpc/grpc-js";
import { quoteGoList } from "../../src/logging/escape";
import { goRpcError } from "../../src/simulator/kubelet/calls";

const failed = (code: number, details: string) =>
  Object.assign(new Error("as grpc-js words it"), { code, details });
const lost = (errno: string) =>
  failed(
    status.UNAVAILABLE,
    `No connection established. Last error: Error: connect ${errno} /csi. Resolution note: `,
  );
const dialing = (why: string) =>
  `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: ${why}"`;

test.each([
  ["no socket", lost("ENOENT"), dialing("dial unix /csi: connect: no such file or directory")],
  ["nobody listens", lost("ECONNREFUSED"), dialing("dial unix /csi: connect: connection refused")],
  ["not allowed", lost("EACCES"), dialing("dial unix /csi: connect: permission denied")],
  ["an errno without a text", lost("EWEIRD"), dialing("dial unix /csi: connect: EWEIRD")],
  [
    "no gRPC server",
    failed(
      status.UNAVAILABLE,
      "No connection established. Last error: Failed to connect (now). Resolution note: ",
    ),
    dialing("error reading server preface: EOF"),
  ],
  [
    "too late",
    failed(status.DEADLINE_EXCEEDED, "Deadline exceeded after 0.501s,name resolution: 0.001s"),
    "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
  ],
  [
    "a raw path for a Node server",
    failed(status.INTERNAL, "Received RST_STREAM with code 1 (Protocol error)"),
    "rpc error: code = Internal desc = stream terminated by RST_STREAM with error code: PROTOCOL_ERROR",
  ],
  [
    "cut",
    failed(status.UNAVAILABLE, "Connection dropped"),
    "rpc error: code = Unavailable desc = error reading from server: EOF",
  ],
  [
    "the server's own text",
    failed(status.INTERNAL, 'boom "q"'),
    'rpc error: code = Internal desc = boom "q"',
  ],
  ["Go's spelling", failed(status.CANCELLED, "x"), "rpc error: code = Canceled desc = x"],
  ["no gRPC error", new Error("context deadline exceeded"), "context deadline exceeded"],
])("%s", (_case, error, expected) => {
  expect(goRpcError(error, "/csi")).toBe(expected);
});

test("quotes a list as Go does", () => {
  expect(quoteGoList(["1.0.0", 'a"b'])).toBe('["1.0.0" "a\\"b"]');
});
