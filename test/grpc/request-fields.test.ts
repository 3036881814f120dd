import type { HeaderField } from "../../src/grpc/hpack/static-table";
import { passableFields } from "../../src/grpc/request-fields";
import { grpcHeaders } from "./wire";

const REQUEST = grpcHeaders("localhost");
const isServed = (path: string) => path === "/pluginregistration.Registration/GetInfo";
const without = (name: string) => REQUEST.filter(([one]) => one !== name);

test("a good request is left as it is, field by field", () => {
  const fields: HeaderField[] = [...REQUEST, ["user-agent", "grpc-go/1.72.0"], ["x-bin", "AAEC"], ["x", ""]];
  const passed = passableFields(fields, isServed);
  expect(passed.filter((field, index) => field !== fields[index])).toEqual([]);
});

test("a method that is not served is led to the one that answers UNIMPLEMENTED", () => {
  const fields = grpcHeaders("localhost", "Reboot");
  expect(passableFields(fields, isServed)).toEqual(
    fields.map((field) => (field[0] === ":path" ? [":path", "/unserved/unserved"] : field)),
  );
});

test("trailers need neither :path nor content-type", () => {
  expect(passableFields([["x", "y"]], isServed)).toEqual([["x", "y"]]);
});

test.each<[string, HeaderField[], string]>([
  [
    "CONNECT",
    [[":method", "CONNECT"], ...without(":method").filter(([name]) => name !== ":path")],
    "a request without :path",
  ],
  ["no content-type", without("content-type"), "a request without content-type"],
  [
    "a browser",
    [...without("content-type"), ["content-type", "text/html"]],
    "a content-type that is not gRPC's",
  ],
  ["two content types", [...REQUEST, ["content-type", "text/html"]], "a content-type that is not gRPC's"],
  ["Latin-1 in a value", [...REQUEST, ["x", "caf\xe9"]], "a header field that gRPC does not allow"],
  ["a line feed in a value", [...REQUEST, ["x", "a\nb"]], "a header field that gRPC does not allow"],
  ["capitals in a name", [...REQUEST, ["X", "y"]], "a header field that gRPC does not allow"],
  ["a name of nothing", [...REQUEST, ["", "y"]], "a header field that gRPC does not allow"],
])("%s is refused", (_name, fields, message) => {
  expect(() => passableFields(fields, isServed)).toThrow(
    expect.objectContaining({ code: "PROTOCOL", message }),
  );
});
