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

test("running calls may get no time at the end, by default they have 10 s; no path is in kubelet's directory", () => {
  const given = { csiAddress: "/x.sock", addServices: () => {} };
  const inRegistry = { ...given, endpoint: "/r/x.sock", pluginRegistrationPath: "/r" };
  expect(() => resolveServingOptions(inRegistry)).toThrow(
    "serveCsiDriver: endpoint /r/x.sock is in the plugin registration directory, ",
  );
  expect(resolveServingOptions(given)).toMatchObject({ graceMs: 10_000 });
  expect(resolveServingOptions({ ...given, graceMs: 0 })).toMatchObject({ graceMs: 0 });
});

const NO_LIMIT = Number.POSITIVE_INFINITY;
const WRONG = ["100", "4MB", -2, 1.5, Number.NaN, true, null, {}];
test.each(NAMES)("serverOptions takes what %s can be, and refuses other values", (name) => {
  const [isLength, isTime] = [name.endsWith("message_length"), name.endsWith("_ms")];
  const takes = isLength ? "a whole number of bytes, or -1 or Infinity for no limit" : "a whole number";
  const refusal = { code: "INVALID_OPTION", message: expect.stringContaining(`it takes ${takes}`) };
  for (const value of [...WRONG, ...(isLength ? [] : [-1]), ...(isLength || isTime ? [] : [NO_LIMIT])]) {
    expect(() => serverOptions(name, value)).toThrow(expect.objectContaining(refusal));
    expect(() => serverOptions(name, value)).toThrow(`serveCsiDriver: serverOptions: ${name} is `);
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
  for (const name of ["max_metadata_size", "foo", "interceptor", "my.grpc.foo"])
    expect(() => serverOptions(name, 1)).toThrow(`there is no option "${name}"`);
  const streams = "grpc.max_concurrent_streams";
  expect(serverOptions(streams, 2 ** 32 - 1)).toEqual({ [streams]: 2 ** 32 - 1 });
  expect(() => serverOptions(streams, 2 ** 32)).toThrow("it takes a whole number, 1 to 4294967295");
  expect(serverOptions("grpc.keepalive_time_ms", 0)).toEqual({ "grpc.keepalive_time_ms": 0 });
});
