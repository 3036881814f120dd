import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
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
  log = createEventLog("the plugin watcher", KUBELET_EVENTS);
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
/** Whether the dot-name of a rename was still there to be ignored is a matter of luck. */
const story = () =>
  log.stream.history().flatMap((event) => {
    if (event.kind === "file-ignored") return [];
    if (event.kind !== "socket-seen") return [event.kind];
    return [`${event.kind} ${event.generation} ${event.replaced ? "anew" : "new"}`];
  });

test("makes the directory, and sees a socket come and go", async () => {
  await watchSocket("a");
  expect(desired()).toEqual(["a 1"]);
  unlinkSync(path("a"));
  await log.stream.when("socket-gone");
  expect(desired()).toEqual([]);
});

test("finds what is there at its start, in sub-directories too, hidden ones as well", async () => {
  for (const name of ["sub", ".hidden"]) mkdirSync(path(name), { recursive: true });
  for (const name of ["a", "sub/b", ".hidden/c", ".d"]) await bind(name);
  writeFileSync(path("file"), "");
  watch();
  const found = desired().map((entry) => entry.split(" ")[0]);
  expect(found.sort()).toEqual([".hidden/c", "a", "sub/b"]);
});

test("watches a sub-directory that comes later, but no hidden one", async () => {
  watch();
  mkdirSync(path("sub"));
  mkdirSync(path(".hidden"));
  await bind("sub/a");
  await bind(".hidden/b");
  await log.stream.when("socket-seen");
  await caughtUp();
  expect(desired()).toEqual(["sub/a 1", "end 2"]);
  rmSync(path("sub"), { recursive: true });
  await log.stream.when("socket-gone");
  expect(desired()).toEqual(["end 2"]);
});

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

test("a rename over a socket is one creation, with a new generation", async () => {
  await watchSocket("a");
  await bind(".next");
  renameSync(path(".next"), path("a"));
  await caughtUp();
  expect(desired()).toEqual(["a 2", "end 3"]);
  expect(story()).toEqual(["socket-seen 1 new", "socket-seen 2 anew", "socket-seen 3 new"]);
});

test("removed and made again in one breath is a new generation, whatever its inode", async () => {
  await watchSocket("a");
  unlinkSync(path("a"));
  createServer().listen(path("a"), function (this: Server) {
    servers.push(this);
  });
  await caughtUp();
  expect(desired()[0]).toMatch(/^a [2-9]$/);
});

test("keeps a socket that a file was renamed over, as kubelet does, until the file is removed", async () => {
  await watchSocket("a");
  writeFileSync(path(".file"), "");
  renameSync(path(".file"), path("a"));
  await caughtUp();
  expect(desired()).toEqual(["a 1", "end 2"]);
  rmSync(path("a"));
  await log.stream.when("socket-gone");
});

test.each([
  [true, ["a 1"]],
  [false, []],
])(
  "finds a symbolic link to a socket at its start: %s, by the kubelet's version",
  async (scanFollowsLinks, found) => {
    mkdirSync(pluginDir);
    await bind("../elsewhere.sock");
    symlinkSync(path("../elsewhere.sock"), path("a"));
    watch({ scanFollowsLinks });
    expect(desired()).toEqual(found);
  },
);

test.each<[what: string, found: string[], act: () => void]>([
  ["a chmod is no creation", ["a 1", "end 2"], () => chmodSync(path("a"), 0o700)],
  [
    "a renamed socket stays under its old name too, as in kubelet",
    ["a 1", "b 2", "end 3"],
    () => renameSync(path("a"), path("b")),
  ],
  [
    "a file in the place of a removed socket ends it",
    ["end 2"],
    () => {
      unlinkSync(path("a"));
      writeFileSync(path("a"), "");
    },
  ],
])("%s", async (_what, found, act) => {
  await watchSocket("a");
  act();
  await caughtUp();
  expect(desired()).toEqual(found);
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
