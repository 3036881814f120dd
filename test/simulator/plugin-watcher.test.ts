import { once } from "node:events";
import { chmodSync, existsSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { createEventLog } from "../../src/simulator/event-stream";
import { KUBELET_EVENTS, type KubeletEvent } from "../../src/simulator/kubelet/events";
import { startPluginWatcher } from "../../src/simulator/kubelet/plugin-watcher";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

let folder: TempFolder;
/** Not there at first. */
let pluginDir: string;
let log: ReturnType<typeof createEventLog<KubeletEvent>>;
let servers: Server[];
let watcher: ReturnType<typeof startPluginWatcher> | undefined;

beforeEach(async () => {
  folder = await createTempFolder();
  pluginDir = folder.at("reg");
  log = createEventLog<KubeletEvent>("the plugin watcher", KUBELET_EVENTS);
  servers = [];
});
afterEach(async () => {
  watcher?.close();
  for (const server of servers) server.close();
  await folder[Symbol.asyncDispose]();
});

const path = (name: string) => join(pluginDir, name);
const watch = (behaviour = { scanFollowsLinks: true }) => {
  watcher = startPluginWatcher(pluginDir, behaviour, log.append);
  return watcher;
};
const bind = async (name: string) => {
  const server = createServer().listen(path(name));
  servers.push(server);
  await once(server, "listening");
};
/** Starts the watcher, and resolves when it has seen its first socket. */
const watchSocket = async (name: string) => {
  watch();
  await bind(name);
  await log.stream.when("socket-seen");
};
/** Resolves when everything before it was looked at: events come in order. */
const caughtUp = async () => {
  const seen = log.stream.when("socket-seen", {
    from: "now",
    where: ({ socketPath }) => socketPath.endsWith("/end"),
  });
  await bind("end");
  await seen;
};
const desired = () =>
  Array.from(
    watcher?.desired.values() ?? [],
    ({ socketPath, generation }) => `${socketPath.slice(pluginDir.length + 1)} ${generation}`,
  );
test("ignores names with a leading dot and files that are no socket, and says so", async () => {
  watch();
  await bind(".a");
  writeFileSync(path("file"), "");
  await caughtUp();
  expect(desired()).toEqual(["end 1"]);
  expect(log.stream.history().map((event) => "because" in event && event.because)).toEqual([
    "hidden",
    "not-a-socket",
    false,
  ]);
});

test("a chmod is no creation", async () => {
  await watchSocket("a");
  chmodSync(path("a"), 0o700);
  await caughtUp();
  expect(desired()).toEqual(["a 1", "end 2"]);
});

test("a socket that was renamed and comes back is a creation", async () => {
  await watchSocket("a");
  renameSync(path("a"), path("b"));
  await log.stream.when("socket-seen", { where: ({ socketPath }) => socketPath === path("b") });
  renameSync(path("b"), path("a"));
  await caughtUp();
  expect(desired()).toContain("a 3");
});

test("says what stands in its way", async () => {
  writeFileSync(pluginDir, "");
  expect(() => watch()).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(pluginDir) }),
  );
  expect(existsSync(pluginDir)).toBe(true);
});

test("a socket that is removed and replaced in one breath is one new generation", async () => {
  await watchSocket("a");
  await bind(".next");
  unlinkSync(path("a"));
  renameSync(path(".next"), path("a"));
  await caughtUp();
  expect(desired()).toEqual(["a 2", "end 3"]);
});
