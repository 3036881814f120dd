import { DRIVER, nodeTest, registered } from "./support/node";
import { patience } from "./support/process";
import { leaveDeadSocket } from "./support/sockets";

nodeTest("a dead socket from which kubelet backs off: registered under another name, soon", async (node) => {
  await node.driver();
  await leaveDeadSocket(node.socketPath);
  // Its first attempt fails on the dead socket, its second is a minute away.
  const kubelet = await node.kubelet({
    timings: { dialMs: 100, backoffInitialMs: 60_000, backoffMaxMs: 60_000 },
  });
  await kubelet.events.when("failed", patience());
  const registrar = node.registrar("--http-endpoint=localhost:0");
  await registrar.line("Registration Server started", { where: ({ fields }) => fields.found === "dead" });

  const { socketPath } = await registered(kubelet);
  expect(socketPath).toMatch(new RegExp(`/${DRIVER}-[0-9a-z]{4,}-reg\\.sock$`));
  await registrar.reached("registered");
  const visible = node.files().filter((name) => !name.startsWith("."));
  expect(visible.map((name) => `${node.pluginDir}/${name}`)).toEqual([socketPath]);
  expect(registrar.lines("Registration Server started")).toHaveLength(2);

  expect(await registrar.stop()).toEqual({ code: 0, signal: null });
  expect(node.files()).toEqual([]);
});

nodeTest("a dead socket from which kubelet does not back off: the usual name stays", async (node) => {
  await node.driver();
  await leaveDeadSocket(node.socketPath);
  const registrar = node.registrar();
  await registrar.reached("listening");
  const kubelet = await node.kubelet();
  expect((await registered(kubelet)).socketPath).toBe(node.socketPath);
});
