import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { startFakeRegistrar } from "../simulator/fake-registrar";
import { leaveDeadSocket } from "../support/foreign-socket";
import { removeFolder } from "../support/remove-folder";
import { DRIVER, nodeTest, onNode, registered, type TestNode } from "./support/node";

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

test.each([
  ["removed and made anew", removeFolder],
  ["moved away, and another one made", (folder: string) => renameSync(folder, `${folder}-old`)],
])(
  "the directory is %s and kubelet restarts: registered again",
  onNode(async (node, _, remove) => {
    const { kubelet, registrar } = await startRegistered(node);
    await kubelet.restart({
      whileDown: async () => {
        remove(node.pluginDir);
        mkdirSync(node.pluginDir);
        await registrar.line(PUBLISHED, { nth: 2 });
      },
    });
    await registered(kubelet, { nth: 2 });
    expect(registrar.lines(PUBLISHED)).toHaveLength(2);
  }),
);

nodeTest("a directory that is away for a while is waited for", async (node) => {
  await node.driver();
  const registrar = node.registrar();
  await registrar.reached("listening");
  removeFolder(node.pluginDir);
  expect((await registrar.line("Failed to listen on socket")).fields.err).toContain("ENOENT");
  const kubelet = await node.kubelet(); // makes its directory
  await registered(kubelet);
});

nodeTest("a dead socket that is put in our socket's place is replaced", async (node) => {
  const { kubelet, registrar } = await startRegistered(node);
  await leaveDeadSocket(`${node.pluginDir}/.dead`);
  renameSync(`${node.pluginDir}/.dead`, node.socketPath);
  await registered(kubelet, { nth: 2 });
  expect(registrar.lines(PUBLISHED).map(({ fields }) => fields.found)).toEqual(["gone", "dead"]);
});

nodeTest("a file that is put in our socket's place is left alone until somebody removes it", async (node) => {
  const { kubelet, registrar } = await startRegistered(node);
  writeFileSync(`${node.pluginDir}/.mine`, "mine");
  renameSync(`${node.pluginDir}/.mine`, node.socketPath);
  expect((await registrar.line("Failed to listen on socket")).fields.err).toContain("is not a socket");
  expect(readFileSync(node.socketPath, "utf8")).toBe("mine");
  unlinkSync(node.socketPath);
  await registered(kubelet, { nth: 2 });
});

nodeTest("nothing is published while kubelet is between GetInfo and its notice", async (node) => {
  await node.driver({ faults: [{ kind: "slow", method: "NodeGetInfo", delayMs: 700, times: 1 }] });
  const kubelet = await node.kubelet();
  const registrar = node.registrar();
  await registrar.reached("asked");
  unlinkSync(node.socketPath);
  await registered(kubelet, { nth: 2 });
  await registrar.reached("registered", 2);
  const story = registrar.lines("Registration state changed").map(({ fields }) => fields.to);
  const order = ["publishing", "listening", "asked", "registered"];
  expect(story).toEqual([...order, ...order]);
});

nodeTest(
  "an official registrar that shuts down beside us removes our socket: registered again",
  async (node) => {
    await node.driver();
    const kubelet = await node.kubelet();
    const info = { name: DRIVER, endpoint: node.csiAddress };
    const official = await startFakeRegistrar({ socketPath: node.socketPath, info });
    await registered(kubelet);
    const registrar = node.registrar();
    await registered(kubelet, { nth: 2 });
    await registrar.reached("registered");
    unlinkSync(node.socketPath); // as the official does at SIGTERM, without a look at whose it is
    await official.close();
    await registered(kubelet, { nth: 3 });
  },
);

test.each([
  ["shuts down", "close"],
  ["dies", "crash"],
] as const)(
  "an official registrar that came after us %s: registered again",
  onNode(async (node, _, end) => {
    const { kubelet, registrar } = await startRegistered(node);
    const info = { name: DRIVER, endpoint: node.csiAddress };
    const official = await startFakeRegistrar({ socketPath: node.socketPath, info });
    await registrar.reached("standby");
    await registered(kubelet, { nth: 2 });
    await official[end]();
    await registered(kubelet, { nth: 3 });
    await registrar.reached("registered", 2);
    expect(registrar.lines(PUBLISHED)).toHaveLength(2);
  }),
);
