import { readFileSync, writeFileSync } from "node:fs";
import { nodeTest, registered, registrarArguments } from "../end-to-end/support/node";

/**
 * What Node loads when a program names it, and a sidecar needs for no registration: each takes from 1 to 4 ms of a
 * start.
 */
const NEVER = ["perf_hooks", "worker_threads", "zlib", "dns", "inspector", "readline"];

nodeTest("a registration loads none of Node's modules that it does not need", async (node) => {
  const [preload, loaded] = [node.at("preload.cjs"), node.at("loaded.json")];
  const write = `require("node:fs").writeFileSync(${JSON.stringify(loaded)}, JSON.stringify(process.moduleLoadList))`;
  writeFileSync(preload, `process.once("exit", () => ${write});`);
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
