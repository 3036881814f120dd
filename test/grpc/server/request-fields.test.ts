import type { HeaderField } from "../../../src/grpc/hpack/static-table";
import { parseCallHead } from "../../../src/grpc/server/request-fields";
import { grpcHeaders } from "../wire";

const REQUEST = grpcHeaders("localhost");
const without = (name: string) => REQUEST.filter(([one]) => one !== name);

test("a request is its path and its metadata", () => {
  const head = parseCallHead([...REQUEST, ["x", "1"], ["x", "2"], ["y", ""]]);
  expect(head?.path).toBe("/pluginregistration.Registration/GetInfo");
  expect(["x", "y", "z"].map((key) => head?.metadata.get(key))).toEqual([["1", "2"], [""], []]);
});

test.each<[string, HeaderField[]]>([
  ["a raw path as authority", grpcHeaders("/var/lib/kubelet/plugins_registry/x-reg.sock")],
  ["no authority", without(":authority")],
  ["Latin-1 in a value", [...REQUEST, ["x", "caf\xe9"]]],
  [
    "a content type with its encoding",
    [...without("content-type"), ["content-type", "application/grpc+proto"]],
  ],
])("%s is taken", (_name, fields) => {
  expect(parseCallHead(fields)).toBeDefined();
});

test.each<[string, HeaderField[]]>([
  ["no method", without(":method")],
  ["another method", [...without(":method"), [":method", "GET"]]],
  ["no scheme", without(":scheme")],
  ["two schemes", [...REQUEST, [":scheme", "https"]]],
  ["two paths", [...REQUEST, [":path", "/"]]],
  ["a field of HTTP/1", [...REQUEST, ["transfer-encoding", "chunked"]]],
  ["capitals in a name", [...REQUEST, ["X", "y"]]],
])("%s is malformed", (_name, fields) => {
  expect(parseCallHead(fields)).toBeUndefined();
});

test.each<[string, HeaderField[], string]>([
  ["CONNECT", [[":method", "CONNECT"]], "a request without :path"],
  ["no content-type", without("content-type"), "a request without content-type"],
  [
    "a browser",
    [...without("content-type"), ["content-type", "text/html"]],
    "a content-type that is not gRPC's",
  ],
  ["two content types", [...REQUEST, ["content-type", "text/html"]], "a content-type that is not gRPC's"],
])("%s is refused", (_name, fields, message) => {
  expect(() => parseCallHead(fields)).toThrow(expect.objectContaining({ code: "PROTOCOL", message }));
});
