import { readFileSync, writeFileSync } from "node:fs";
import { memoryLimit, whyNoCgroups } from "../../bench/support/cgroups";
import { nodeTest, onNode, registered, registrarArguments } from "../end-to-end/support/node";
import { registrarCommand } from "../support/registrar-command";

/** What no registration needs of Node's modules: each takes from 1 to 4 ms of a start. */
const NEVER = ["worker_threads", "inspector", "readline"];

nodeTest("a registration loads none of Node's modules that it does not need", async (node) => {
  const [preload, loaded] = [node.at("preload.cjs"), node.at("loaded.json")];
  const write = `writeFileSync("${loaded}", JSON.stringify(process.moduleLoadList))`;
  writeFileSync(preload, `process.once("exit", () => require("node:fs").${write});`);
  await node.driver();
  const kubelet = await node.kubelet();
  const registrar = node.cli(registrarArguments(node), { NODE_OPTIONS: `--require=${preload}` });
  await registered(kubelet);
  await registrar.reached("registered");
  await registrar.stop();
  const modules: readonly string[] = JSON.parse(readFileSync(loaded, "utf8"));
  expect(modules).toContain("NativeModule http2");
  expect(NEVER.filter((name) => modules.includes(`NativeModule ${name}`))).toEqual([]);
});

/** So little is too little on every node, though it is enough while others hold Node's pages in memory. */
const SMALL_MI = 30;
/** Needs groups (version 1) that this user may make, as root has. */
const testInGroups = whyNoCgroups() === undefined ? test : test.skip;

testInGroups.each([
  ["text", SMALL_MI, 1],
  ["json", SMALL_MI, 1],
  ["text", 64, 0],
])(
  "in %s, under a limit of %dMi, the log warns of it %d times, before anything else",
  onNode<[format: string, limitMi: number, times: number]>(async (node, format, limitMi, times) => {
    await node.driver();
    const kubelet = await node.kubelet();
    using limit = memoryLimit(limitMi);
    const args = [...registrarArguments(node), `--logging-format=${format}`];
    await using registrar = node.cli(args, {}, { command: limit.inside(registrarCommand()) });
    await registered(kubelet);
    await registrar.stop();
    const lines = registrar.stderr.split("\n");
    expect(lines.filter((line) => line.includes("Memory limit is too small"))).toHaveLength(times);
    if (times > 0) expect(lines[0]).toMatch(/"?limit"?[=:]"30Mi"[ ,]"?set"?[=:]"64Mi"/);
  }),
);
