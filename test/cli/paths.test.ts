import type { FlagName } from "../../src/cli/flags";
import { CONTAINER_DIRECTORY, nodeDirectory, resolvePaths } from "../../src/cli/paths";

const NODE_DIRECTORY = "/root/of/kubelet/plugins_registry";
const HOST_SOCKET = "/var/lib/kubelet/plugins/x.csi/csi.sock";
const REQUIRED = { kind: "missing", message: "kubelet-registration-path is a required parameter" };

/** The flags with their defaults, but for those that are given. */
function flagsWith(given: Readonly<Record<string, string>>) {
  return {
    csiAddress: given["csi-address"] ?? "/run/csi/socket",
    kubeletRegistrationPath: given["kubelet-registration-path"] ?? "",
    pluginRegistrationPath: given["plugin-registration-path"] ?? CONTAINER_DIRECTORY,
    given: new Set(Object.keys(given) as FlagName[]),
  };
}

const resolve = (given: Readonly<Record<string, string>>, ...folders: readonly string[]) =>
  resolvePaths(flagsWith(given), NODE_DIRECTORY, (path) => folders.includes(path));

describe("in a container", () => {
  test("the official's defaults hold", () => {
    expect(resolve({ "kubelet-registration-path": HOST_SOCKET }, CONTAINER_DIRECTORY)).toEqual({
      kind: "paths",
      kubeletRegistrationPath: HOST_SOCKET,
      pluginRegistrationPath: "/registration",
      assumed: [],
    });
  });

  test("the path that kubelet is told is required", () => {
    expect(resolve({}, CONTAINER_DIRECTORY)).toEqual(REQUIRED);
    expect(resolve({ "kubelet-registration-path": "" }, CONTAINER_DIRECTORY)).toEqual(REQUIRED);
  });

  test("kubelet's own folder, mounted as it is on the host, changes nothing", () => {
    expect(resolve({}, CONTAINER_DIRECTORY, NODE_DIRECTORY)).toEqual(REQUIRED);
  });
});

describe("with the directory named", () => {
  test("it is used, be it there or not", () => {
    const given = { "plugin-registration-path": "/elsewhere", "kubelet-registration-path": HOST_SOCKET };
    for (const folders of [[], [NODE_DIRECTORY], [CONTAINER_DIRECTORY]])
      expect(resolve(given, ...folders)).toEqual({
        kind: "paths",
        kubeletRegistrationPath: HOST_SOCKET,
        pluginRegistrationPath: "/elsewhere",
        assumed: [],
      });
  });

  test("the path that kubelet is told is required", () => {
    expect(resolve({ "plugin-registration-path": "/elsewhere" }, NODE_DIRECTORY)).toEqual(REQUIRED);
  });

  test("by its default is named all the same", () => {
    expect(resolve({ "plugin-registration-path": CONTAINER_DIRECTORY }, NODE_DIRECTORY)).toEqual(REQUIRED);
  });
});

describe("on a node", () => {
  const directory = { flag: "plugin-registration-path", value: NODE_DIRECTORY };

  test.each([
    ["/tmp/csi.sock", "/tmp/csi.sock"],
    ["unix:///tmp/csi.sock", "/tmp/csi.sock"],
  ])("kubelet is told the csi-address %s, and what was assumed is told", (csiAddress, path) => {
    expect(resolve({ "csi-address": csiAddress }, NODE_DIRECTORY)).toEqual({
      kind: "paths",
      kubeletRegistrationPath: path,
      pluginRegistrationPath: NODE_DIRECTORY,
      assumed: [directory, { flag: "kubelet-registration-path", value: path }],
    });
  });

  test("kubelet is told the path that was given", () => {
    expect(resolve({ "kubelet-registration-path": HOST_SOCKET }, NODE_DIRECTORY)).toEqual({
      kind: "paths",
      kubeletRegistrationPath: HOST_SOCKET,
      pluginRegistrationPath: NODE_DIRECTORY,
      assumed: [directory],
    });
  });

  test("a csi-address that is none is refused", () => {
    expect(() => resolve({ "csi-address": "tcp://x" }, NODE_DIRECTORY)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
  });
});

test.each([{}, { "kubelet-registration-path": HOST_SOCKET }])(
  "where there is neither folder, both are named, and the way to simulate one: %j",
  (given) => {
    const { message } = resolve(given) as { message: string };
    for (const part of [
      CONTAINER_DIRECTORY,
      NODE_DIRECTORY,
      "--plugin-registration-path",
      "KUBELET_ROOT_DIR",
      "registrar kubelet",
    ])
      expect(message).toContain(part);
  },
);

test.each([
  [{}, "/var/lib/kubelet/plugins_registry"],
  [{ KUBELET_ROOT_DIR: "" }, "/var/lib/kubelet/plugins_registry"],
  [{ KUBELET_ROOT_DIR: "/var/lib/k0s/kubelet/" }, "/var/lib/k0s/kubelet/plugins_registry"],
])("kubelet's own folder, with %j in the environment: %s", (env, folder) => {
  expect(nodeDirectory(env)).toBe(folder);
});
