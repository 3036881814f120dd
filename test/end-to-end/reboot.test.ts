import { DRIVER, nodeTest, registered } from "./support/node";
import { patience } from "./support/process";

nodeTest("a dead socket from which kubelet backs off: registered under another name, soon", async (node) => {
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

  expect(socketPath).toMatch(new RegExp(`/${DRIVER}-[0-9a-z_]+-reg\\.sock$`));
  expect(node.visibleFiles().map((name) => `${node.pluginDir}/${name}`)).toEqual([socketPath]);
  const published = registrar.lines("Registration Server started").map(({ fields }) => fields);
  expect(published).toEqual([
    { socketPath: node.socketPath, found: "dead" },
    { socketPath, found: "gone" },
  ]);
  expect(await registrar.stop()).toEqual({ code: 0, signal: null });
  expect(node.files()).toEqual([]);
});
