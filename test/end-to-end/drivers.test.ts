import { readFileSync } from "node:fs";
import { httpOf } from "./support/http";
import { nodeTest, registered } from "./support/node";

nodeTest(
  "a driver that is killed and comes back stays registered; with --require-driver /readyz is 503 meanwhile",
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
    for (const message of ["Lost connection", "Connection restored", "Registration Server started"])
      expect([message, registrar.lines(message).length]).toEqual([message, 1]);
    expect(kubelet.events.history().filter(({ kind }) => kind === "deregistered")).toEqual([]);
  },
);

nodeTest("--timeout bounds a call to a driver that hangs, and the next one succeeds", async (node) => {
  await node.driver({ faults: [{ kind: "hang", method: "GetPluginInfo", times: 1 }] });
  const kubelet = await node.kubelet();
  const registrar = node.registrar("--timeout=300ms");
  expect((await registrar.line("Error retreiving CSI driver name")).fields.err).toMatch(/DEADLINE_EXCEEDED/);
  await registered(kubelet);
});

nodeTest("--driver-timeout ends the wait for a driver: exit code 1", async (node) => {
  const flags = ["--driver-timeout=300ms", `--termination-log=${node.terminationLogPath}`];
  const registrar = node.registrar(...flags);
  expect(await registrar.exit()).toEqual({ code: 1, signal: null });
  const reason = `no answer from the CSI driver on ${node.csiAddress} within the driver timeout of 0.3 s`;
  expect(registrar.stderr).toContain(reason);
  expect(readFileSync(node.terminationLogPath, "utf8")).toContain(reason);
  expect(node.files()).toEqual([]);
});
