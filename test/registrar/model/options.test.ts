import { resolve } from "node:path";
import { resolveOptions, resolveRegistrationOptions } from "../../../src/registrar/model/library-options";
import { type RegistrarOptions, readCsiAddress } from "../../../src/registrar/model/options";

const required: RegistrarOptions = {
  csiAddress: "unix:///csi/csi.sock",
  endpoint: "/var/lib/kubelet/plugins/x/csi.sock",
};

test("fills in every default", () => {
  const { logger: _, ...options } = resolveOptions(required);
  expect(options).toEqual({
    ...required,
    csiSocketPath: "/csi/csi.sock",
    onEvent: expect.any(Function),
    pluginRegistrationPath: "/registration",
    timeoutMs: 1_000,
    driverTimeoutMs: 0,
    onRegistrationFailure: "retry",
    reregisterOnDriverRestart: false,
    type: "CSIPlugin",
    supportedVersions: ["1.0.0"],
    isNodeWide: false,
  });
});

test.each(["csi.sock", "unix:csi.sock", "unix://csi.sock"])("a path may be relative: %s", (csiAddress) => {
  const path = resolve("csi.sock");
  expect(resolveOptions({ ...required, csiAddress })).toMatchObject({
    csiAddress: path,
    csiSocketPath: path,
  });
});

test.each([
  ["/csi/csi.sock", "/csi/csi.sock", "/csi/csi.sock"],
  ["unix:///csi/csi.sock", "unix:///csi/csi.sock", "/csi/csi.sock"],
  ["unix:csi.sock", resolve("csi.sock"), resolve("csi.sock")],
  ["unix:csi/", resolve("csi"), resolve("csi")],
])("--csi-address=%j is %j wherever this process goes", (address, csiAddress, csiSocketPath) => {
  expect(readCsiAddress(address)).toEqual({ csiAddress, csiSocketPath });
});

// What each kind of option takes: test/options/read-options.test.ts.
test.each<[object, string]>([
  [{ csiAddress: "tcp://x" }, 'csiAddress is "tcp://x"; it takes the path of a unix socket'],
  [{ csiAddress: undefined }, "csiAddress is missing"],
  [{ csiAddress: `/${"a".repeat(107)}` }, "csiAddress has 108 bytes; it takes the path of"],
  [
    { endpoint: "" },
    'endpoint is ""; it takes the path of a unix socket, 107 bytes at most, absolute, as kubelet',
  ],
  [{ pluginRegistrationPath: "" }, 'pluginRegistrationPath is ""; it takes the path of a directory'],
  // From about here on grpc-js ended the process.
  [{ timeoutMs: 3.6e14 }, "timeoutMs is 360000000000000; it takes milliseconds, more than 0"],
  // A longer timer would fire at once.
  [{ driverTimeoutMs: 2 ** 31 }, "driverTimeoutMs is 2147483648; it takes milliseconds, 0 or more"],
  [{ onRegistrationFailure: "restart" }, 'onRegistrationFailure is "restart"; it takes one of "retry", '],
  [{ reregisterOnDriverRestart: 1 }, "reregisterOnDriverRestart is 1; it takes true or false"],
])("refuses %j", (given, message) => {
  const error = { code: "INVALID_OPTION", message: expect.stringContaining(`startRegistrar: ${message}`) };
  expect(() => resolveOptions({ ...required, ...given })).toThrow(expect.objectContaining(error));
});

test("a plugin of another type needs supportedVersions", () => {
  const dra = { name: "gpu.example.com", endpoint: "/dra.sock", type: "DRAPlugin" } as const;
  const missing = "supportedVersions is missing or empty; name the versions";
  // @ts-expect-error: the type says so, too.
  expect(() => resolveRegistrationOptions(dra)).toThrow(missing);
  const none: string[] = [];
  expect(() => resolveRegistrationOptions({ ...dra, supportedVersions: none })).toThrow(missing);
  const empty = () => resolveRegistrationOptions({ ...dra, supportedVersions: [""] });
  expect(empty).toThrow("it takes a version");
  const given = { ...dra, supportedVersions: ["v1.DRAPlugin"] } as const;
  expect(resolveRegistrationOptions(given)).toMatchObject(given);
  const readAt = (endpoint: string) => resolveRegistrationOptions({ ...given, endpoint });
  for (const among of ["/registration/folder/../dra.sock", "/other/../registration/dra.sock"])
    expect(() => readAt(among)).toThrow("is in the plugin registration directory, where");
  for (const beside of ["/registration/../dra.sock", "/registration-other/dra.sock"])
    expect(readAt(beside).endpoint).toBe(beside);
  const csi = { type: "CSIPlugin", supportedVersions: ["1.0.0"] };
  expect(resolveRegistrationOptions({ name: "x", endpoint: "/x" })).toMatchObject(csi);
});

// A pod's UID becomes a part of the file name.
test.each([
  ["fits", ["7", "A-b", "f".repeat(63), "f".repeat(64)], undefined],
  ["does not fit", ["", "-", "a-", "-a", "a.b", "a/b", "a_b", "a\n", "f".repeat(65)], "INVALID_OPTION"],
])("an instance that %s: %j", (_, instances, code) => {
  const dra = { name: "x", endpoint: "/x", type: "DRAPlugin", supportedVersions: ["v1"] } as const;
  const codeOf = (instance: string) => {
    try {
      return void resolveRegistrationOptions({ ...dra, instance });
    } catch (error) {
      return Object(error).code;
    }
  };
  expect(instances.filter((instance) => codeOf(instance) !== code)).toEqual([]);
});
