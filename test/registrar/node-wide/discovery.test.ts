import { EventEmitter } from "node:events";
import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parsePattern } from "../../../src/host-path/path-pattern";
import { discover } from "../../../src/registrar/node-wide/discovery";
import { controlWaits } from "../../support/controlled-waits";
import { eventually } from "../../support/eventually";
import { leaveDeadSocket } from "../../support/foreign-socket";
import { recordLog } from "../../support/recorded-log";
import { expectNothingLeft } from "../../support/resources";
import { createTempFolder, type TempFolder } from "../../support/temp-folder";

let folder: TempFolder;
beforeEach(async () => {
  folder = await createTempFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

/** A socket file; whether anybody listens is no matter here. */
async function makeSocket(...names: readonly string[]): Promise<void> {
  const path = folder.at(...names);
  mkdirSync(dirname(path), { recursive: true });
  await leaveDeadSocket(path);
}

const remove = (...names: readonly string[]) => rmSync(folder.at(...names), { recursive: true });

interface Discovered {
  /** Resolves when this was told last of each, and each was found so often or more. */
  told(last: Readonly<Record<string, string>>, atLeast?: number): Promise<void>;
}

/** Looks for `pattern`, below the temporary folder, until `stop` is aborted. */
function find(
  pattern: string,
  observer: Partial<Parameters<typeof discover>[2]> = {},
  stop = new AbortController(),
) {
  const log = recordLog();
  const running = discover(
    parsePattern(folder.at(pattern), "--csi-address"),
    { log: log.logger, signal: stop.signal },
    { onFound: () => {}, onGone: () => {}, ...observer },
  );
  return { stop, log, running };
}

/** Runs `use` while `pattern` is looked for. */
async function discovering(pattern: string, use: (discovered: Discovered) => Promise<void>): Promise<void> {
  const said: (readonly [string, string])[] = [];
  const { stop, running } = find(pattern, {
    onFound: (captures) => said.push([captures.join(" "), "found"]),
    onGone: (captures, what) => said.push([captures.join(" "), `${what} gone`]),
  });
  const found = (name: string) => said.filter(([one, what]) => one === name && what === "found").length;
  const told: Discovered["told"] = (last, atLeast = 1) =>
    eventually(() => {
      expect(Object.fromEntries(said)).toEqual(last);
      for (const name of Object.keys(last)) expect(found(name)).toBeGreaterThanOrEqual(atLeast);
    });
  try {
    await use({ told });
  } finally {
    stop.abort();
    await running;
  }
}

test("finds what is there, and what comes", async () => {
  await makeSocket("plugins", "disk", "csi.sock");
  await makeSocket("plugins", "file", "csi.sock");
  await discovering("plugins/*/csi.sock", async ({ told }) => {
    await told({ disk: "found", file: "found" });
    await makeSocket("plugins", "cloud", "csi.sock");
    await told({ disk: "found", file: "found", cloud: "found" });
  });
});

test.each([
  ["a name that does not fit", "csi.socket"],
  ["a hidden folder", "../.hidden/csi.sock"],
  ["a deeper one", "sub/csi.sock"],
])("passes over %s", async (_, path) => {
  await makeSocket("plugins", "disk", path);
  await makeSocket("plugins", "file", "csi.sock");
  await discovering("plugins/*/csi.sock", ({ told }) => told({ file: "found" }));
});

test("passes over what is no socket, until it is one", async () => {
  mkdirSync(folder.at("plugins", "disk"), { recursive: true });
  writeFileSync(folder.at("plugins", "disk", "csi.sock"), "");
  mkdirSync(folder.at("plugins", "file", "csi.sock"), { recursive: true });
  writeFileSync(folder.at("plugins", "cloud"), "");
  await makeSocket("plugins", "last", "csi.sock");
  await discovering("plugins/*/csi.sock", async ({ told }) => {
    await told({ last: "found" });
    remove("plugins", "disk", "csi.sock");
    await makeSocket("plugins", "disk", "csi.sock");
    await told({ last: "found", disk: "found" });
  });
});

test.each<[string, readonly string[], string]>([
  ["more than one star", ["plugins", "disk", "node.sock"], "plugins/*/*.sock"],
  ["folders behind the star", ["plugins", "disk", "node", "csi.sock"], "plugins/*/node/csi.sock"],
  ["a star in the file name", ["plugins", "csi-disk.sock"], "plugins/csi-*.sock"],
  ["no star", ["plugins", "csi.sock"], "plugins/csi.sock"],
])("a pattern with %s", async (_, names, pattern) => {
  const captures = { "plugins/*/*.sock": "disk node", "plugins/csi.sock": "" }[pattern] ?? "disk";
  await discovering(pattern, async ({ told }) => {
    await makeSocket(...names);
    await told({ [captures]: "found" });
    remove(...names);
    await told({ [captures]: "socket gone" });
  });
});

test("follows a symbolic link to a folder", async () => {
  await makeSocket("elsewhere", "csi.sock");
  mkdirSync(folder.at("plugins"));
  symlinkSync(folder.at("elsewhere"), folder.at("plugins", "disk"));
  await discovering("plugins/*/csi.sock", async ({ told }) => {
    await told({ disk: "found" });
    remove("elsewhere");
    await told({ disk: "socket gone" });
    await makeSocket("elsewhere2", "csi.sock");
    rmSync(folder.at("plugins", "disk"));
    symlinkSync(folder.at("elsewhere2"), folder.at("plugins", "disk"));
    await told({ disk: "found" }, 2);
    rmSync(folder.at("plugins", "disk"));
    await told({ disk: "directory gone" }, 2);
  });
});

test("says once where there is nothing yet, and why", async () => {
  const says = async (pattern: string) => {
    const { stop, log, running } = find(pattern);
    stop.abort();
    await running;
    return log.all("No CSI driver here yet").map(({ fields }) => fields);
  };
  await makeSocket("plugins", "disk", "csi.sock");
  expect(await says("plugins/*/csi.sock")).toEqual([]);
  expect(await says("plugins/*/csi_sock")).toEqual([
    { pattern: folder.at("plugins/*/csi_sock"), why: "no socket fits" },
  ]);
  expect(await says("plugin/*/csi.sock")).toEqual([
    {
      pattern: folder.at("plugin/*/csi.sock"),
      why: `${folder.at("plugin")}: not a directory here: is it mounted?`,
    },
  ]);
});

test("tells a socket that goes from one whose folder goes", async () => {
  for (const name of ["disk", "file", "cloud"]) await makeSocket("plugins", name, "csi.sock");
  await discovering("plugins/*/csi.sock", async ({ told }) => {
    await told({ disk: "found", file: "found", cloud: "found" });
    remove("plugins", "disk", "csi.sock");
    await told({ disk: "socket gone", file: "found", cloud: "found" });
    renameSync(folder.at("plugins", "file"), folder.at("away"));
    await told({ disk: "socket gone", file: "directory gone", cloud: "found" });
    remove("plugins");
    await told({ disk: "directory gone", file: "directory gone", cloud: "directory gone" });
  });
});

test("finds a socket again that was made anew with the inode number of its predecessor", async () => {
  await makeSocket("plugins", "disk", "csi.sock");
  await discovering("plugins/*/csi.sock", async ({ told }) => {
    await told({ disk: "found" });
    const path = folder.at("plugins", "disk", "csi.sock");
    const { atime, mtimeMs } = lstatSync(path);
    utimesSync(path, atime, new Date(mtimeMs + 1_000));
    await told({ disk: "found" }, 2);
  });
});

test.each([
  ["the folder of a driver", ["plugins", "disk"]],
  ["the root", ["plugins"]],
  ["the folder above it", ["."]],
])("goes on where %s is made anew at once, which may give it the inode it had", async (_, names) => {
  await discovering("kubelet/plugins/*/csi.sock", async ({ told }) => {
    await makeSocket("kubelet", "plugins", "disk", "csi.sock");
    await told({ disk: "found" });
    for (let round = 0; round < 2; round++) {
      remove("kubelet", ...names);
      mkdirSync(folder.at("kubelet", "plugins", "disk"), { recursive: true });
      await told({ disk: expect.stringMatching(/gone$/) });
      await makeSocket("kubelet", "plugins", "disk", "csi.sock");
      await told({ disk: "found" });
    }
  });
});

test("leaves nothing behind, and says that all is gone", async () => {
  await makeSocket("plugins", "disk", "csi.sock");
  const said: string[] = [];
  await expectNothingLeft(async () => {
    const stop = new AbortController();
    const onGone = (captures: readonly string[], what: string) => said.push(`${captures}: ${what}`);
    await find("plugins/*/csi.sock", { onFound: () => stop.abort(), onGone }, stop).running;
  });
  expect(said).toEqual(["disk: directory"]);
});

/** Looks for sockets without inotify, while every wait of 2.5 s and more is held; `fsPromises` stands in for some of Node's calls. */
async function withoutEvents(
  use: (waits: ReturnType<typeof controlWaits>, found: readonly (readonly string[])[]) => Promise<void>,
  fsPromises: object = {},
): Promise<void> {
  const waits = controlWaits();
  for (const [name, replaced] of [
    ["node:fs", { watch: () => new FakeWatcher() }],
    ["node:fs/promises", fsPromises],
  ] as const)
    jest.doMock(name, () => ({ ...jest.requireActual<object>(name), ...replaced }));
  const { discover: discoverAnew } = await import("../../../src/registrar/node-wide/discovery");
  const stop = new AbortController();
  const found: (readonly string[])[] = [];
  const running = discoverAnew(
    parsePattern(folder.at("*/csi.sock"), "--csi-address"),
    { log: recordLog().logger, signal: stop.signal },
    { onFound: (captures) => found.push(captures), onGone: () => {} },
  );
  await use(waits, found);
  stop.abort();
  await running;
}

test("what inotify misses is found by a look every 30 s", () =>
  withoutEvents(async (waits, found) => {
    await eventually(() => expect(waits.pending()).toEqual([30_000]));
    await makeSocket("a", "csi.sock");
    await waits.end(30_000);
    await eventually(() => expect(found).toEqual([["a"]]));
  }));

test("a directory that could not be read for want of file descriptors is read again before that", async () => {
  const { readdir: read } = jest.requireActual<typeof import("node:fs/promises")>("node:fs/promises");
  let failures = 0;
  const readdir = async (path: string) => {
    if (path.endsWith("/a") && failures++ < 1) throw Object.assign(new Error("EMFILE"), { code: "EMFILE" });
    return read(path);
  };
  await makeSocket("a", "csi.sock");
  await withoutEvents(
    async (_waits, found) => eventually(() => expect(found).toEqual([["a"]])), // No wait of 30 s ends.
    { readdir },
  );
});

/** A watcher that no event reaches. */
class FakeWatcher extends EventEmitter {
  close() {}
  unref() {}
}
