import { mkdirSync, unlinkSync } from "node:fs";
import { removeFolder } from "../support/remove-folder";
import { nodeTest, registered, type TestNode } from "./support/node";

const PUBLISHED = "Registration Server started";

async function startRegistered(node: TestNode) {
  await node.driver();
  const kubelet = await node.kubelet();
  const registrar = node.registrar();
  await registered(kubelet);
  await registrar.reached("registered");
  return { kubelet, registrar };
}

nodeTest("a socket that somebody removes is published again, each time", async (node) => {
  const { kubelet, registrar } = await startRegistered(node);
  for (let nth = 2; nth <= 4; nth++) {
    unlinkSync(node.socketPath);
    await registered(kubelet, { nth });
    await registrar.reached("registered", nth);
    expect(registrar.lines(PUBLISHED)).toHaveLength(nth);
  }
});

nodeTest("the directory is removed and made anew, and kubelet restarts: registered again", async (node) => {
  const { kubelet, registrar } = await startRegistered(node);
  await kubelet.restart({
    whileDown: async () => {
      removeFolder(node.pluginDir);
      mkdirSync(node.pluginDir);
      await registrar.line(PUBLISHED, { nth: 2 });
    },
  });
  await registered(kubelet, { nth: 2 });
  expect(registrar.lines(PUBLISHED)).toHaveLength(2);
});

nodeTest("an official registrar that comes after us and dies: registered again", async (node) => {
  const { kubelet, registrar } = await startRegistered(node);
  const official = await node.plugin();
  await registrar.reached("standby");
  await registered(kubelet, { nth: 2 });
  await official.crash();
  await registered(kubelet, { nth: 3 });
  await registrar.reached("registered", 2);
  expect(registrar.lines(PUBLISHED)).toHaveLength(2);
});
