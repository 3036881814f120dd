import { DRIVER, nodeTest, registered, type TestNode } from "./support/node";
import { patience } from "./support/process";

/** A registrar under another name than usual, as kubelet backs off from a dead socket under the usual one. */
async function startUnderAlias(node: TestNode) {
  await node.driver();
  // Its first attempt fails, its second is a minute away.
  const kubelet = await node.kubelet({
    faults: [{ kind: "refuse", stage: "validation", reason: "before the reboot", times: 1 }],
    timings: { backoffInitialMs: 60_000, backoffMaxMs: 60_000 },
  });
  const before = await node.plugin();
  await kubelet.events.when("failed", patience());
  await before.crash();
  const registrar = node.registrar();
  const { socketPath } = await registered(kubelet);
  await registrar.reached("registered");
  return { kubelet, registrar, socketPath };
}

const visible = (node: TestNode) =>
  node.files().flatMap((name) => (name.startsWith(".") ? [] : [`${node.pluginDir}/${name}`]));

nodeTest("a dead socket from which kubelet backs off: registered under another name, soon", async (node) => {
  const { registrar, socketPath } = await startUnderAlias(node);
  expect(socketPath).toMatch(new RegExp(`/${DRIVER}-[0-9a-z_]+-reg\\.sock$`));
  expect(visible(node)).toEqual([socketPath]);
  const published = registrar.lines("Registration Server started").map(({ fields }) => fields);
  expect(published).toEqual([
    { socketPath: node.socketPath, found: "dead" },
    { socketPath, found: "gone" },
  ]);
  expect(await registrar.stop()).toEqual({ code: 0, signal: null });
  expect(node.files()).toEqual([]);
});

nodeTest("killed under the other name: the next one is registered again, with one socket", async (node) => {
  const { kubelet, registrar } = await startUnderAlias(node);
  registrar.kill("SIGKILL");
  await registrar.exit();
  const next = node.registrar();
  const { socketPath } = await registered(kubelet, { nth: 2 });
  await next.reached("registered");
  expect(visible(node)).toEqual([socketPath]);
});
