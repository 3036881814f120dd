import { nodeDirectory, resolvePaths } from "../../src/flags/paths";
import { flagsOf } from "./support";

const CONTAINER_DIRECTORY = "/registration";
const NODE_DIRECTORY = "/root/of/kubelet/plugins_registry";
const HOST_SOCKET = "/var/lib/kubelet/plugins/x.csi/csi.sock";

type Given = Readonly<Record<string, string>>;

/** What follows from flags, the others with their defaults, where these folders exist. */
const resolve = (given: Given, ...folders: readonly string[]) => {
  const flags = flagsOf(...Object.entries(given).map(([name, value]) => `--${name}=${value}`));
  return resolvePaths(flags, NODE_DIRECTORY, async (path) => folders.includes(path));
};

const TOLD = { "kubelet-registration-path": HOST_SOCKET };
const NAMED = { "plugin-registration-path": "/elsewhere" };
const ASSUMED = { flag: "plugin-registration-path", value: NODE_DIRECTORY };
const assuming = (value: string) => [ASSUMED, { flag: "kubelet-registration-path", value }];

test.each<
  [what: string, given: Given, folders: string[], endpoint: string, directory: string, assumed: object[]]
>([
  ["a container", TOLD, [CONTAINER_DIRECTORY], HOST_SOCKET, "/registration", []],
  ["a directory that is named", { ...NAMED, ...TOLD }, [], HOST_SOCKET, "/elsewhere", []],
  ["one in a container", { ...NAMED, ...TOLD }, [CONTAINER_DIRECTORY], HOST_SOCKET, "/elsewhere", []],
  ["one on a node", { ...NAMED, ...TOLD }, [NODE_DIRECTORY], HOST_SOCKET, "/elsewhere", []],
  ["a node", { "csi-address": "/s" }, [NODE_DIRECTORY], "/s", NODE_DIRECTORY, assuming("/s")],
  ["a node", { "csi-address": "unix:///s" }, [NODE_DIRECTORY], "/s", NODE_DIRECTORY, assuming("/s")],
  ["a node and a path", TOLD, [NODE_DIRECTORY], HOST_SOCKET, NODE_DIRECTORY, [ASSUMED]],
])("%s: %j", async (_, given, folders, endpoint, pluginRegistrationPath, assumed) => {
  const paths = { kind: "paths", endpoint, pluginRegistrationPath, assumed };
  expect(await resolve(given, ...folders)).toEqual(paths);
});

const REQUIRED = "kubelet-registration-path is a required parameter";

test.each<[given: Given, ...folders: string[]]>([
  [{}, CONTAINER_DIRECTORY],
  [{ "kubelet-registration-path": "" }, CONTAINER_DIRECTORY],
  [{}, CONTAINER_DIRECTORY, NODE_DIRECTORY],
  [{ "plugin-registration-path": CONTAINER_DIRECTORY }, NODE_DIRECTORY],
  [{ mode: "kubelet-registration-probe" }, NODE_DIRECTORY],
])(
  "in a container, with the directory named, or for the official probe, the path is required: %j",
  async (given, ...folders) => {
    expect(await resolve(given, ...folders)).toEqual({ kind: "missing", message: REQUIRED });
  },
);

test("on a node, an invalid csi-address is refused", async () => {
  const refused = expect.objectContaining({ code: "INVALID_OPTION" });
  await expect(resolve({ "csi-address": "tcp://x" }, NODE_DIRECTORY)).rejects.toThrow(refused);
});

test.each([{}, TOLD])("without either directory the error names both, and the fixes: %j", async (given) => {
  const { message } = (await resolve(given)) as { message: string };
  const ways = ["--plugin-registration-path", "KUBELET_ROOT_DIR", "registrar kubelet"];
  for (const part of [CONTAINER_DIRECTORY, NODE_DIRECTORY, ...ways]) expect(message).toContain(part);
});

test.each([
  [{}, "/var/lib/kubelet/plugins_registry"],
  [{ KUBELET_ROOT_DIR: "" }, "/var/lib/kubelet/plugins_registry"],
  [{ KUBELET_ROOT_DIR: "/var/lib/k0s/kubelet/" }, "/var/lib/k0s/kubelet/plugins_registry"],
])("with %j in the environment kubelet's own directory is %s", (env, folder) => {
  expect(nodeDirectory(env)).toBe(folder);
});
