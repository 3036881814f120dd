import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import { startPluginWatcher } from "../../src/simulator/kubelet/plugin-watcher";
import { countDescriptors } from "../../src/unix/descriptors";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { leaveDeadSocket } from "../support/foreign-socket";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);

test("kubelet sees a socket under its new name, and its removal, but not that the old name is gone", async () => {
  const at = (name: string) => folder.at("reg", name);
  const told: string[] = [];
  const { close } = startPluginWatcher(folder.at("reg"), { scanFollowsLinks: false }, (event) => {
    if (event.kind === "socket-seen")
      told.push(`${basename(event.socketPath)} ${event.generation}${event.replaced ? ", replaced" : ""}`);
    else told.push(`${event.kind} ${"path" in event ? basename(event.path) : ""}`);
  });
  const before = countDescriptors();
  const follows = async (change: () => unknown, ...expected: string[]) => {
    told.length = 0;
    await change();
    await eventually(() => expect(told).toEqual(expected));
  };
  for (const name of ["x", "z", "deep", "deeper"]) await leaveDeadSocket(folder.at(name));
  await follows(() => writeFileSync(at(".other"), ""), "file-ignored .other");
  // What kubelet hears of is that a file came or went, not that its mode or content changed.
  await follows(() => {
    chmodSync(at(".other"), 0o600);
    writeFileSync(at(".other"), "more");
    writeFileSync(at(".next"), "");
  }, "file-ignored .next");
  await follows(() => renameSync(folder.at("x"), at("x")), "x 1");
  await follows(() => renameSync(at("x"), at("y")), "y 2");
  await follows(() => renameSync(at("y"), at("x")), "x 3, replaced");
  await follows(() => renameSync(folder.at("z"), at("x")), "x 4, replaced");
  await follows(() => linkSync(at("x"), at(".link")), "file-ignored .link");
  await follows(() => rmSync(at("x")), "socket-gone ");
  mkdirSync(at("sub")); // Watched from the scan on that finds the first socket in it.
  await follows(() => renameSync(folder.at("deep"), at("sub/deep")), "deep 5");
  await follows(() => rmSync(at("sub/deep")), "socket-gone ");
  rmdirSync(at("sub"));
  mkdirSync(at("sub"));
  await follows(() => renameSync(folder.at("deeper"), at("sub/deep")), "deep 6");
  writeFileSync(folder.at("file"), "");
  await follows(() => renameSync(folder.at("file"), at("sub/deep")), "socket-gone ", "file-ignored deep");
  close();
  await eventually(() => expect(countDescriptors()).toBe(before));
});

test.each([
  [false, ["file-ignored directory", "file-ignored link", "socket-seen hidden"]],
  [true, ["file-ignored directory", "socket-seen hidden", "socket-seen link"]],
])(
  "links, and hidden directories, at the scan: a kubelet that follows links: %s",
  async (scanFollowsLinks, expected) => {
    mkdirSync(folder.at("reg", ".dots"), { recursive: true });
    await leaveDeadSocket(folder.at("reg", ".dots", "hidden"));
    mkdirSync(folder.at("there"));
    await leaveDeadSocket(folder.at("x"));
    symlinkSync(folder.at("x"), folder.at("reg", "link"));
    symlinkSync(folder.at("there"), folder.at("reg", "directory"));
    const told: string[] = [];
    const { close } = startPluginWatcher(folder.at("reg"), { scanFollowsLinks }, (event) => {
      const path = "path" in event ? event.path : "socketPath" in event ? event.socketPath : "";
      told.push(`${event.kind} ${basename(path)}`);
    });
    close();
    expect(told.sort()).toEqual(expected);
  },
);
