import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { startKubelet } from "../../src/simulator/kubelet/kubelet";
import { eachTest } from "../support/each-test";
import { createTestNode } from "../support/registrar-node";

const node = eachTest(createTestNode);
const kubelet = eachTest(() => node.kubelet({ faults: [{ kind: "never-call" }] }));

const path = (name: string) => join(node.pluginDir, name);
const bind = (name: string) => once(node.keep(createServer().listen(path(name))), "listening");
/** Resolves when kubelet sees it: everything before it was looked at. */
const appears = async (name: string, act: () => unknown = () => bind(name)) => {
  const where = ({ socketPath }: { readonly socketPath: string }) => socketPath === path(name);
  const seen = kubelet.events.when("socket-seen", { from: "now", where });
  await act();
  await seen;
};
/** The sockets as they were seen, each with its generation. */
const seen = () =>
  kubelet.events
    .history("socket-seen")
    .map(({ socketPath, generation }) => `${basename(socketPath)} ${generation}`);

test("ignores names with a leading dot and files that are no sockets, and says so", async () => {
  await bind(".a");
  writeFileSync(path("file"), "");
  await appears("end");
  expect(seen()).toEqual(["end 1"]);
  const ignored = kubelet.events.history("file-ignored").map(({ because }) => because);
  expect(ignored).toEqual(["hidden", "not-a-socket"]);
});

test("a chmod is no creation", async () => {
  await appears("a");
  chmodSync(path("a"), 0o700);
  await appears("end");
  expect(seen()).toEqual(["a 1", "end 2"]);
});

test("a socket that was renamed and comes back is a creation", async () => {
  await appears("a");
  await appears("b", () => renameSync(path("a"), path("b")));
  renameSync(path("b"), path("a"));
  await appears("end");
  expect(seen()).toContain("a 3");
  expect(kubelet.events.history("socket-gone")).toEqual([]);
});

test("a socket that was renamed out of the directory, or is linked elsewhere, stays until its name goes", async () => {
  await appears("a");
  renameSync(path("a"), `${node.pluginDir}-a`);
  await appears("c");
  await appears("b", () => symlinkSync(`${node.pluginDir}-a`, path("b")));
  unlinkSync(path("b"));
  const gone = kubelet.events.when("socket-gone");
  await expect(gone).resolves.toMatchObject({ socketPath: path("b") });
});

test("a symbolic link to a folder is ignored, also when it comes later", async () => {
  mkdirSync(`${node.pluginDir}-folder`);
  await once(node.keep(createServer().listen(`${node.pluginDir}-folder/a`)), "listening");
  symlinkSync(`${node.pluginDir}-folder`, path("link"));
  await appears("end");
  expect(seen()).toEqual(["end 1"]);
});

test("a socket whose other link stays hidden a while is gone when it is removed", async () => {
  await bind(".reg");
  await appears("a", () => linkSync(path(".reg"), path("a")));
  linkSync(path("a"), path(".out"));
  unlinkSync(path("a"));
  expect(await kubelet.events.when("socket-gone")).toMatchObject({ socketPath: path("a") });
});

test("a socket that is removed and replaced in one breath is one new generation", async () => {
  await appears("a");
  await bind(".next");
  unlinkSync(path("a"));
  renameSync(path(".next"), path("a"));
  await appears("end");
  expect(seen()).toEqual(["a 1", "a 2", "end 3"]);
});

test("makes its directory, and says what stands in its way", async () => {
  writeFileSync(path("file"), "");
  for (const pluginRegistrationPath of [path("file"), "/proc/none/one"]) {
    const message = expect.stringContaining(pluginRegistrationPath);
    const blocked = startKubelet({ pluginRegistrationPath });
    await expect(blocked).rejects.toMatchObject({ code: "SOCKET_UNUSABLE", message });
  }
  await node.kubelet({ pluginRegistrationPath: path("new/one") });
  expect(existsSync(path("new/one"))).toBe(true);
});
