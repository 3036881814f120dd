import type { Stats } from "node:fs";
import fs, { linkSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { segmentsOf } from "../../../src/host-path/path-pattern";
import { carefulLook, diff, NOTHING, type Scan, scan } from "../../../src/registrar/node-wide/scan";
import { versionOf } from "../../../src/unix/file-identity";
import { findFile } from "../../../src/unix/files";
import { eachTest } from "../../support/each-test";
import { leaveDeadSocket } from "../../support/foreign-socket";
import { mayMount, mountHanging } from "../../support/hanging-mount";
import { createTempFolder } from "../../support/temp-folder";

const folder = eachTest(createTempFolder);

const patternOf = (path: string) => ({ segments: segmentsOf(path) });

/** The sockets of a scan by path, and which file each is. */
const socketsOf = ({ sockets }: Scan) =>
  Object.fromEntries(Array.from(sockets, ([path, { stats }]) => [path, versionOf(stats)]));

describe("the difference of any two scans", () => {
  const numbers = fc.integer({ min: 1, max: 3 });
  const statsOf = (ino: number, mtimeMs = 0) => ({ dev: 1, ino, mtimeMs, birthtimeMs: 0 }) as Stats;
  const sockets = fc.dictionary(fc.constantFrom("x", "y"), fc.tuple(numbers, numbers));
  const directories = fc.dictionary(fc.constantFrom("a", "b"), fc.record({ ino: numbers, sockets }));
  /** Of `/p/STAR/STAR`. */
  const scans = fc.option(fc.record({ ino: numbers, directories }), { nil: undefined }).map((root): Scan => {
    if (root === undefined) return NOTHING;
    const entry = (stats: Stats) => ({ stats, captures: [], entries: new Map() });
    const below = Object.entries(root.directories).map(([name, one]) => ({ path: `/p/${name}`, ...one }));
    return {
      directories: new Map([
        ["/p", entry(statsOf(root.ino))],
        ...below.map(({ path, ino }) => [path, entry(statsOf(ino))] as const),
      ]),
      sockets: new Map(
        below.flatMap(({ path, sockets }) =>
          Object.entries(sockets).map(
            ([name, [ino, ms]]) => [`${path}/${name}`, entry(statsOf(ino, ms))] as const,
          ),
        ),
      ),
    };
  });
  const inodeOf = (path: string, { directories }: Scan) => directories.get(path)?.stats.ino;

  test("leads from the one to the other, and says which directories went", () => {
    fc.assert(
      fc.property(scans, scans, (before, now) => {
        const { found, gone, goneDirectories } = diff(before, now);
        const isIn = (path: string) => inodeOf("/p", now) === inodeOf("/p", before) && inodeOf(path, now);
        for (const path of before.directories.keys())
          expect(goneDirectories.has(path)).toBe(isIn(path) !== inodeOf(path, before));
        const known = new Map(before.sockets);
        for (const path of gone) expect(known.delete(path)).toBe(true);
        for (const path of known.keys()) expect(goneDirectories.has(dirname(path))).toBe(false);
        for (const [path, entry] of found) {
          expect(known.has(path)).toBe(false);
          known.set(path, entry);
        }
        expect(socketsOf({ ...now, sockets: known })).toEqual(socketsOf(now));
        expect(diff(now, now)).toEqual({ found: [], gone: [], goneDirectories: new Set() });
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a scan of what has changed", () => {
  const names = fc.constantFrom("a", "b");
  const changes = fc.oneof(
    fc.record({ kind: fc.constant("socket"), in: names, name: names, which: fc.nat(1) }),
    fc.record({ kind: fc.constant("remove"), in: names, name: names }),
    fc.record({ kind: fc.constant("directory"), in: names }),
    fc.record({ kind: fc.constant("move"), in: names, to: names }),
    fc.record({ kind: fc.constant("link"), in: names, to: names }),
    fc.record({ kind: fc.constant("nothing") }),
  );

  test("finds the same as a full scan, and keeps no removed name", async () => {
    const templates = [folder.at("one.sock"), folder.at("other.sock")];
    for (const path of templates) await leaveDeadSocket(path);
    const root = folder.at("plugins");
    const pattern = patternOf(`${root}/*/*.sock`);
    await fc.assert(
      fc.asyncProperty(fc.array(changes, { maxLength: 12 }), async (steps) => {
        rmSync(root, { recursive: true, force: true });
        mkdirSync(root);
        let before = NOTHING;
        for (const step of steps) {
          const changed = new Set(change(root, templates, step));
          const now = await scan(pattern, { before, changed });
          const all = await scan(pattern);
          expect(socketsOf(now)).toEqual(socketsOf(all));
          expect([...now.directories.keys()].sort()).toEqual([...all.directories.keys()].sort());
          for (const [path, { entries }] of now.directories)
            expect([...entries.keys()].sort()).toEqual(
              [...(all.directories.get(path)?.entries.keys() ?? [])].sort(),
            );
          before = now;
        }
      }),
      { numRuns: 60 },
    );
  });

  /** Does a step that may fail, as where a directory is missing. Returns the directories that inotify would name. */
  function change(root: string, templates: readonly string[], step: object): readonly string[] {
    const { kind, in: where, name, to, which = 0 } = step as Record<string, string> & { which?: number };
    const [at, target] = [`${root}/${where}`, `${root}/${to}`];
    const all = ["a", "b"].map((one) => `${root}/${one}`);
    try {
      if (kind === "socket") linkSync(templates[which] ?? "", `${at}/${name}.sock`);
      if (kind === "remove") rmSync(`${at}/${name}.sock`);
      if (kind === "directory") {
        rmSync(at, { recursive: true, force: true });
        mkdirSync(at);
      }
      if (kind === "move") renameSync(at, target);
      if (kind === "link") symlinkSync(at, target);
    } catch {}
    if (kind === "nothing") return [];
    // A change behind a link is one of both directories.
    const hasLink = all.some((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
    const own = { socket: [at], remove: [`${at}/${name}.sock`] }[kind ?? ""] ?? [root];
    return [...own, ...(hasLink ? all : [])];
  }
});

(mayMount() ? test : test.skip)(
  "no mount that hangs is looked into, but for that of all drivers",
  async () => {
    for (const name of ["a", "evil"]) mkdirSync(folder.at(name));
    await leaveDeadSocket(folder.at("a", "csi.sock"));
    using _mount = mountHanging(folder.at("evil"));
    const stat = jest.spyOn(fs.promises, "stat");
    const onLeftOut = jest.fn();
    const look = carefulLook(folder.path, onLeftOut);
    const { sockets } = await scan(patternOf(folder.at("*", "csi.sock")), { look });
    expect([...sockets.keys()]).toEqual([folder.at("a", "csi.sock")]);
    expect(await look(folder.at("evil"))).toBe("gone");
    expect(onLeftOut.mock.calls).toEqual([[{ mountPoint: folder.at("evil"), fileSystem: "fuse" }]]);
    expect(stat.mock.calls.flat()).toContain(folder.at("a"));
    expect(stat.mock.calls.flat()).not.toContain(folder.at("evil"));
    stat.mockRestore();
    expect(await carefulLook(folder.at("evil"), onLeftOut)(folder.at("evil", "a"))).toBe("hanging");
  },
);

test("a mount below the root that cannot hang is looked at", async () => {
  expect(await carefulLook("/", () => {})("/proc")).toMatchObject({ mode: lstatSync("/proc").mode });
});

test("the sockets of a directory that cannot be listed are still looked at, and stay", async () => {
  mkdirSync(folder.at("a"));
  await leaveDeadSocket(folder.at("a", "x.sock"));
  const pattern = patternOf(folder.at("a", "*.sock"));
  const before = await scan(pattern);
  jest.spyOn(fs.promises, "readdir").mockRejectedValue(new Error("EIO: i/o error"));
  const now = await scan(pattern, { before, changed: new Set([folder.at("a")]) });
  jest.restoreAllMocks();
  expect(socketsOf(now)).toEqual(socketsOf(before));
  expect(before.sockets.size).toBe(1);
});

test.each(
  [[], ["a"], ["a", "x.sock"]].flatMap((names) =>
    (["hanging", "unreadable"] as const).map(
      (found) => [names.join("/") || "its root", found, names] as const,
    ),
  ),
)("while %s is %s all is as before", async (_what, found, names) => {
  mkdirSync(folder.at("a"));
  await leaveDeadSocket(folder.at("a", "x.sock"));
  const pattern = patternOf(folder.at("*", "*.sock"));
  const before = await scan(pattern);
  expect(before.sockets.size).toBe(1);
  const look = async (path: string) => (path === folder.at(...names) ? found : findFile(path));
  const now = await scan(pattern, { before, changed: new Set([folder.path, folder.at("a")]), look });
  expect(diff(before, now)).toEqual({ found: [], gone: [], goneDirectories: new Set() });
  expect(socketsOf(now)).toEqual(socketsOf(before));
});
