import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createNodeFolder } from "../support/node-folder";

const SCRIPT = `
  const { mock } = require("node:test");
  const { startCsiDriver, startKubelet } = require("./dist/testing.js");
  const { startRegistrar } = require("./dist/index.js");
  const [csiAddress, pluginRegistrationPath] = process.argv.slice(1);
  mock.timers.enable();
  (async () => {
    await startCsiDriver({ csiAddress, name: "x.csi" });
    require("node:net").connect(csiAddress).unref();
    const kubelet = await startKubelet({ pluginRegistrationPath });
    const registrar = await startRegistrar({ csiAddress, endpoint: csiAddress, pluginRegistrationPath });
    await kubelet.registered("x.csi", { timeoutMs: 60_000 });
    await registrar.ready;
    console.log((await registrar.close()).kind);
  })();
`;

test("the fake timers of node:test, by default of every kind, stop no registration and no part of the kit, which holds no process", async () => {
  await using node = await createNodeFolder();
  const words = ["--eval", SCRIPT, node.csiAddress, node.pluginDir];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 100_000 });
  expect(stdout).toBe("stopped\n");
});
