import { httpOf } from "./support/http";
import { nodeTest, registered } from "./support/node";

const PUBLISHED = "Registration Server started";

nodeTest("--reregister-on-driver-restart makes kubelet read the node's facts anew", async (node) => {
  const former = await node.driver({ maxVolumes: 8 });
  const kubelet = await node.kubelet();
  const registrar = node.registrar("--reregister-on-driver-restart");
  await registrar.reached("registered");
  await former.kill();
  await node.driver({ maxVolumes: 16 });
  await registered(kubelet, { nth: 2 });
  expect(kubelet.csiNode().spec.drivers[0]?.allocatable?.count).toBe(16);
  expect(registrar.lines(PUBLISHED)).toHaveLength(2);
});

nodeTest(
  "a driver that is killed and comes back: it stays registered; --require-driver is not ready meanwhile",
  async (node) => {
    const former = await node.driver();
    const kubelet = await node.kubelet();
    const registrar = node.registrar("--require-driver", "--http-endpoint=localhost:0");
    await registrar.reached("registered");
    const http = await httpOf(registrar);
    expect(await http.get("/readyz")).toMatchObject({ status: 200 });
    await former.kill();
    const lost = await registrar.line("Lost connection");
    expect([lost.severity, lost.fields.address]).toEqual(["E", `unix://${node.csiAddress}`]);
    const away = await http.get("/readyz");
    expect(away.status).toBe(503);
    expect(away.body).toContain("[-]driver failed: the connection to the CSI driver is lost");
    expect(away.body).toContain("[+]registered ok");
    for (const path of ["/healthz", "/livez"]) expect(await http.get(path)).toMatchObject({ status: 200 });
    await node.driver();
    expect((await registrar.line("Connection restored")).fields.after).toMatch(/^[\d.]+s$/);
    expect(await http.get("/readyz")).toMatchObject({ status: 200 });
    for (const message of ["Lost connection", "Connection restored", PUBLISHED])
      expect([message, registrar.lines(message).length]).toEqual([message, 1]);
    expect(kubelet.events.history().filter(({ kind }) => kind === "deregistered")).toEqual([]);
  },
);
