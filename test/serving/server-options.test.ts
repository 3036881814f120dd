import { readFileSync } from "node:fs";
import { GRPC_SERVER_OPTIONS, resolveServingOptions } from "../../src/serving/options";

const NAMES = Object.keys(GRPC_SERVER_OPTIONS);
const serverOptions = (name: string, value: unknown) =>
  resolveServingOptions({ csiAddress: "/x.sock", addServices: () => {}, serverOptions: { [name]: value } })
    .serverOptions;

test("serverOptions checks all that grpc-js' server reads", () => {
  const read = ["server", "server-interceptors"].map((name) =>
    readFileSync(require.resolve(`@grpc/grpc-js/build/src/${name}.js`), "utf8"),
  );
  const names = read.join("").match(/(?<=['"])grpc(?:-node)?\.\w+(?=['"])/g);
  expect([...new Set(names)].sort()).toEqual([...NAMES].sort());
});

const NO_LIMIT = Number.POSITIVE_INFINITY;
const WRONG = ["100", "4MB", -2, 1.5, Number.NaN, true, null, {}];
test.each(NAMES)("serverOptions takes what %s can be, and refuses other values", (name) => {
  const [isLength, isTime] = [name.endsWith("message_length"), name.endsWith("_ms")];
  const takes = isLength ? "a whole number of bytes, or -1 or Infinity for no limit" : "a whole number";
  const refusal = { code: "INVALID_OPTION", message: expect.stringContaining(`it takes ${takes}`) };
  for (const value of [...WRONG, ...(isLength ? [] : [-1]), ...(isLength || isTime ? [] : [NO_LIMIT])]) {
    expect(() => serverOptions(name, value)).toThrow(expect.objectContaining(refusal));
    expect(() => serverOptions(name, value)).toThrow(`serverOptions: ${name} is `);
  }
  for (const value of [1, ...(isLength ? [-1, NO_LIMIT] : [])])
    expect(serverOptions(name, value)).toEqual({ [name]: value });
  // A timer that waits longer would end at once.
  for (const value of isTime ? [2 ** 31, Number.MAX_SAFE_INTEGER, NO_LIMIT] : [])
    expect(serverOptions(name, value)).toEqual({ [name]: 2 ** 31 - 1 });
});

test("serverOptions ignores every other name of gRPC, as grpc-js' server does, but no mistyped one", () => {
  const types = readFileSync(require.resolve("@grpc/grpc-js/build/src/channel-options.d.ts"), "utf8");
  const [declared = ""] = types.split("recognizedOptions");
  const names = declared.match(/(?<=')grpc(?:-node)?\.[\w.]+(?=')/g) ?? [];
  const ignored = names.filter((name) => !NAMES.includes(name));
  expect(ignored).toContain("grpc.keepalive_permit_without_calls");
  const ofOthers = ["grpc.max_metadata_size", "grpc.so_reuseport", "grpc.http2.max_pings_without_data"];
  for (const name of [...ignored, ...ofOthers]) expect(serverOptions(name, 1)).toEqual({});
  expect(() => serverOptions("grpc.max_recieve_message_length", 1)).toThrow(
    "did you mean grpc.max_receive_message_length?",
  );
  for (const name of ["max_metadata_size", "foo", "interceptor"])
    expect(() => serverOptions(name, 1)).toThrow(`there is no option "${name}"`);
  expect(serverOptions("grpc.keepalive_time_ms", 0)).toEqual({ "grpc.keepalive_time_ms": 0 });
});
