import { EventEmitter } from "node:events";
import fs, {
  chmodSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { systemError } from "../../../src/base/errors";
import { parsePattern } from "../../../src/host-path/path-pattern";
import { discover } from "../../../src/registrar/node-wide/discovery";
import type { Changes } from "../../../src/registrar/node-wide/scan";
import { controlWaits } from "../../support/controlled-waits";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import { leaveDeadSocket } from "../../support/foreign-socket";
import { recordLog } from "../../support/recorded-log";
import { createTempFolder } from "../../support/temp-folder";

const folder = eachTest(createTempFolder);

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
function find(pattern: string, onChanges: (changes: Changes) => void = () => {}, discoverBy = discover) {
  const stop = new AbortController();
  const log = recordLog();
  const path = parsePattern(folder.at(pattern), "--csi-address");
  return { stop, log, running: discoverBy(path, { log: log.logger, signal: stop.signal, onChanges }) };
}

async function discovering(pattern: string, use: (discovered: Discovered) => Promise<void>): Promise<void> {
  const said: (readonly [string, string])[] = [];
  const names = new Map<string, string>();
  const { stop, running } = find(pattern, ({ found, gone, goneDirectories }) => {
    for (const path of gone) said.push([names.get(path) ?? path, "socket gone"]);
    for (const [path, name] of names)
      if (goneDirectories.has(dirname(path))) said.push([name, "directory gone"]);
    for (const [path, { captures }] of found) {
      names.set(path, captures.join(" "));
      said.push([captures.join(" "), "found"]);
    }
  });
  const found = (name: string) => said.filter(([one, what]) => one === name && what === "found").length;
  const told: Discovered["told"] = (last, atLeast = 1) =>
    eventually(() => {
      expect(Object.fromEntries(said)).toEqual(last);
      for (const name of Object.keys(last)) expect(found(name)).toBeGreaterThanOrEqual(atLeast);
    });
  await use({ told });
  stop.abort();
  await running;
}

test("discovery finds present and new sockets that fit, and nothing else", async () => {
  await makeSocket("plugins", "disk", "csi.sock");
  for (const names of [
    ["disk", "csi.socket"],
    [".hidden", "csi.sock"],
    ["deep", "sub", "csi.sock"],
  ])
    await makeSocket("plugins", ...names);
  mkdirSync(folder.at("plugins", "file"));
  writeFileSync(folder.at("plugins", "file", "csi.sock"), "");
  mkdirSync(folder.at("plugins", "directory", "csi.sock"), { recursive: true });
  writeFileSync(folder.at("plugins", "no-directory"), "");
  await discovering("plugins/*/csi.sock", async ({ told }) => {
    // Each directory that is found is looked at once more when it is watched: the next one tells that this is over.
    await told({ disk: "found" });
    await makeSocket("plugins", "block", "csi.sock");
    await told({ disk: "found", block: "found" });
    const stat = jest.spyOn(fs.promises, "stat");
    for (let round = 0; round < 10; round++) writeFileSync(folder.at("plugins", "disk", "log"), "");
    await makeSocket("plugins", "cloud", "csi.sock");
    await told({ disk: "found", block: "found", cloud: "found" });
    expect(stat.mock.calls.flat()).not.toContain(folder.at("plugins", "disk", "csi.sock"));
    remove("plugins", "file", "csi.sock");
    await makeSocket("plugins", "file", "csi.sock");
    await told({ disk: "found", block: "found", cloud: "found", file: "found" });
  });
});

test.each<[string, readonly string[], string]>([
  ["plugins/*/*.sock", ["plugins", "disk", "node.sock"], "disk node"],
  ["plugins/*/node/csi.sock", ["plugins", "disk", "node", "csi.sock"], "disk"],
  ["plugins/csi-*.sock", ["plugins", "csi-disk.sock"], "disk"],
  ["plugins/csi.sock", ["plugins", "csi.sock"], ""],
])("the pattern %s", async (pattern, names, captures) => {
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
    await told({ disk: "directory gone" });
    await makeSocket("elsewhere2", "csi.sock");
    rmSync(folder.at("plugins", "disk"));
    symlinkSync(folder.at("elsewhere2"), folder.at("plugins", "disk"));
    await told({ disk: "found" }, 2);
    rmSync(folder.at("plugins", "disk"));
    await told({ disk: "directory gone" }, 2);
  });
});

test("discovery logs once where it finds nothing, and why", async () => {
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
      why: `${folder.at("plugin")} is not a directory here, or does not answer: is it mounted?`,
    },
  ]);
});

test("discovery distinguishes a removed socket from a removed directory", async () => {
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

test("discovery finds a new socket with its predecessor's inode number, and looks once at fast changes", async () => {
  await makeSocket("plugins", "disk", "csi.sock");
  const stat = jest.spyOn(fs.promises, "stat");
  await discovering("plugins/*/csi.sock", async ({ told }) => {
    await told({ disk: "found" });
    const path = folder.at("plugins", "disk", "csi.sock");
    const { atime, mtimeMs } = lstatSync(path);
    utimesSync(path, atime, new Date(mtimeMs + 1_000));
    await told({ disk: "found" }, 2);
    for (let round = 0; round < 1_000; round++) {
      rmSync(path);
      writeFileSync(path, "");
    }
    await told({ disk: "socket gone" });
  });
  expect(stat.mock.calls.length).toBeLessThan(100);
  stat.mockRestore();
});

test.each([
  ["the folder of a driver", ["plugins", "disk"]],
  ["the root", ["plugins"]],
  ["the folder above it", ["."]],
])("discovery goes on after %s is recreated, perhaps with the same inode", async (_, names) => {
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

/** Looks for sockets without inotify, while every wait of 2.5 s and more is held; `fsPromises` stands in for some of Node's calls. */
async function withoutEvents(
  use: (
    waits: ReturnType<typeof controlWaits>,
    found: readonly (readonly string[])[],
    log: ReturnType<typeof recordLog>,
    goneDirectories: readonly string[],
  ) => Promise<void>,
  fsPromises: object = {},
  pattern = "*/csi.sock",
): Promise<void> {
  const waits = controlWaits();
  const replace = (name: string, by: object) =>
    jest.doMock(name, () => ({ ...jest.requireActual<object>(name), ...by }));
  replace("node:fs", { watch: () => Object.assign(new EventEmitter(), { close() {}, unref() {} }) });
  replace("node:fs/promises", fsPromises);
  const { discover: discoverBy } = await import("../../../src/registrar/node-wide/discovery");
  const found: (readonly string[])[] = [];
  const gone: string[] = [];
  const onChanges = (changes: Changes) => {
    found.push(...changes.found.map(([, { captures }]) => captures));
    gone.push(...changes.goneDirectories);
  };
  const { stop, log, running } = find(pattern, onChanges, discoverBy);
  await use(waits, found, log, gone);
  stop.abort();
  await running;
}

test("a poll every 5 s finds what inotify misses", () =>
  withoutEvents(async (waits, found) => {
    await eventually(() => expect(waits.pending()).toContain(5_000));
    await makeSocket("a", "csi.sock");
    expect(found).toEqual([]);
    await waits.end(5_000);
    await eventually(() => expect(found).toEqual([["a"]]));
  }));

const { readdir: read } = jest.requireActual<typeof import("node:fs/promises")>("node:fs/promises");

test("what comes after the look at a directory and before its watch is found without a poll", async () => {
  await makeSocket(".away", "a", "csi.sock");
  const readdir = async (path: string) => {
    const names = await read(path);
    if (!names.includes("a")) renameSync(folder.at(".away", "a"), folder.at("a"));
    return names;
  };
  // No event comes, and no wait of 5 s ends.
  await withoutEvents(async (_waits, found) => eventually(() => expect(found).toEqual([["a"]])), { readdir });
});

describe("a directory that could not be read", () => {
  /** Node's readdir, which fails with these errnos first. */
  const failing = (...errnos: readonly string[]) => {
    const left = [...errnos];
    const readdir = async (path: string) => {
      const code = left.shift();
      if (code !== undefined) throw systemError(code);
      return read(path);
    };
    return { readdir };
  };
  beforeEach(() => makeSocket("a", "csi.sock"));

  test("that lacked file descriptors is read again before that", () =>
    withoutEvents(
      async (_waits, found) => eventually(() => expect(found).toEqual([["a"]])), // No wait of 5 s ends.
      failing("EMFILE", "EMFILE"),
    ));

  test("that lacks file descriptors to the end leaves no timer", async () => {
    const set = jest.spyOn(globalThis, "setTimeout");
    const clear = jest.spyOn(globalThis, "clearTimeout");
    await withoutEvents(
      async (_waits, _found, log) => {
        await log.when("Cannot read directory, CSI drivers in it stay as they were");
      },
      failing(...Array(1_000).fill("EMFILE")),
    );
    const looks = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === 2_000);
    expect(looks).not.toEqual([]);
    expect(clear.mock.calls.flat()).toEqual(expect.arrayContaining(looks.map(({ value }) => value)));
  });

  test("is named anew where it was removed and is there again", async () => {
    const readdir = async (path: string) => {
      if (path === folder.at("a")) throw systemError("EACCES");
      return read(path);
    };
    await withoutEvents(
      async (waits, _found, log, gone) => {
        const unread = () => log.all("Cannot read directory, CSI drivers in it stay as they were").length;
        await eventually(() => expect(unread()).toBe(1));
        renameSync(folder.at("a"), folder.at(".away"));
        await eventually(async () => {
          await waits.end(5_000);
          expect(gone).toEqual([folder.at("a")]); // Listed without it is not enough: the scan still looks at its path.
        });
        renameSync(folder.at(".away"), folder.at("a"));
        utimesSync(folder.path, 1, 1); // The kernel's clock may not have gone on since the other change.
        await eventually(async () => {
          await waits.end(5_000);
          expect(unread()).toBe(2);
        });
      },
      { readdir },
      "*/*/csi.sock",
    );
  });

  test.each(["EACCES", "EPERM"])("is named with %s and EIO, and read when its mode changed", (errno) => {
    let [failures, isReadable, code] = [0, false, errno];
    const readdir = async (path: string) => {
      if (isReadable) return read(path);
      failures += 1;
      throw systemError(code);
    };
    return withoutEvents(
      async (waits, found, log) => {
        const unread = () => log.all("Cannot read directory, CSI drivers in it stay as they were");
        const look = async () => {
          chmodSync(folder.path, 0o711); // Changes its ctime, whatever its mode was.
          await waits.end(5_000);
        };
        await eventually(() => expect(unread()).toHaveLength(1));
        expect(unread()[0]).toMatchObject({
          severity: "warning",
          fields: { directory: folder.path, check: expect.stringContaining("SELinux") },
        });
        expect(String(unread()[0]?.fields.err)).toContain(errno);
        expect([log.all("No CSI driver here yet"), found]).toEqual([[], []]);
        await eventually(async () => {
          await look();
          expect(failures).toBeGreaterThan(2);
        });
        code = "EIO";
        await eventually(() => look().then(() => expect(unread()).toHaveLength(2)));
        expect(unread()[1]?.fields).not.toHaveProperty("check");
        isReadable = true;
        await eventually(async () => {
          await look();
          expect(found).toEqual([["a"]]);
        });
        isReadable = false; // It fails again, as it did last.
        await eventually(() => look().then(() => expect(unread()).toHaveLength(3)));
      },
      { readdir },
    );
  });
});
