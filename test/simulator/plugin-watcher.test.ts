import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
    if (event.kind === "socket-seen") told.push(`${basename(event.socketPath)} ${event.generation}`);
    else told.push(`${event.kind} ${"path" in event ? basename(event.path) : ""}`);
  });
  const before = countDescriptors();
  const follows = async (change: () => unknown, ...expected: string[]) => {
    told.length = 0;
    await change();
    await eventually(() => expect(told).toEqual(expected));
  };
  await leaveDeadSocket(folder.at("x"));
  await follows(() => writeFileSync(at(".other"), ""), "file-ignored .other");
  await follows(() => renameSync(folder.at("x"), at("x")), "x 1");
  await follows(() => renameSync(at("x"), at("y")), "y 2");
  await follows(() => renameSync(at("y"), at("x")), "x 3");
  await follows(() => linkSync(at("x"), at(".link")), "file-ignored .link");
  await follows(() => rmSync(at("x")), "socket-gone ");
  close();
  await eventually(() => expect(countDescriptors()).toBe(before));
});

test.each([
  [false, ["file-ignored directory", "file-ignored link"]],
  [true, ["file-ignored directory", "socket-seen link"]],
])("links at the scan: a kubelet that follows them: %s", async (scanFollowsLinks, expected) => {
  mkdirSync(folder.at("reg"));
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
});
