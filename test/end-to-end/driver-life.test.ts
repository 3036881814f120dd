import { httpOf } from "./support/http";
import { DRIVER, nodeTest, registered } from "./support/node";
import { patience } from "./support/process";

const PUBLISHED = "Registration Server started";

nodeTest("a driver that is killed and comes back: one line each, and it stays registered", async (node) => {
  const former = await node.driver();
  const kubelet = await node.kubelet();
  const registrar = node.registrar("--http-endpoint=localhost:0");
  await registrar.reached("registered");
  await former.kill();
  const lost = await registrar.line("Lost connection");
  expect([lost.severity, lost.fields.address]).toEqual(["E", `unix://${node.csiAddress}`]);
  const http = await httpOf(registrar);
  expect(await http.get("/readyz")).toMatchObject({ status: 200 });
  await node.driver();
  expect((await registrar.line("Connection restored")).fields.after).toMatch(/^[\d.]+s$/);
  expect(await http.get("/readyz")).toMatchObject({ status: 200 });
  expect(registrar.lines("Lost connection")).toHaveLength(1);
  expect(registrar.lines("Connection restored")).toHaveLength(1);
  expect(registrar.lines(PUBLISHED)).toHaveLength(1);
  expect(kubelet.events.history().filter(({ kind }) => kind === "deregistered")).toEqual([]);
});

nodeTest("another version on return is noted, and the registration stays as it is", async (node) => {
  const former = await node.driver({ vendorVersion: "1.0" });
  const kubelet = await node.kubelet();
  const registrar = node.registrar();
  await registrar.reached("registered");
  await former.close();
  await node.driver({ vendorVersion: "1.1" });
  await registrar.line("Connection restored");
  const noted = await registrar.line(
    "CSI driver came back as another version, its registration stays as it is",
  );
  expect(noted.fields).toEqual({ was: "1.0", vendorVersion: "1.1" });
  expect(registrar.lines(PUBLISHED)).toHaveLength(1);
  expect(kubelet.events.history().filter(({ kind }) => kind === "deregistered")).toEqual([]);
});

nodeTest("another name on return: the old socket goes, the new name is registered", async (node) => {
  const former = await node.driver();
  const kubelet = await node.kubelet();
  const registrar = node.registrar();
  await registrar.reached("registered");
  await former.close();
  await node.driver({ name: "other.csi.example.com" });
  const { socketPath } = await registered(kubelet, { driverName: "other.csi.example.com" });
  await kubelet.deregistered(DRIVER, patience());
  expect(socketPath).toBe(`${node.pluginDir}/other.csi.example.com-reg.sock`);
  expect(node.files().filter((name) => !name.startsWith("."))).toEqual(["other.csi.example.com-reg.sock"]);
  expect(kubelet.csiNode().spec.drivers.map(({ name }) => name)).toEqual(["other.csi.example.com"]);
});

nodeTest("an evil name on return: exit code 1, and nothing is left", async (node) => {
  const former = await node.driver();
  const registrar = node.registrar();
  await registrar.reached("listening");
  await former.close();
  await node.driver({ name: "../evil" });
  expect(await registrar.exit()).toEqual({ code: 1, signal: null });
  expect(node.files()).toEqual([]);
});

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

nodeTest("--require-driver: not ready while the driver is away, though registered", async (node) => {
  const former = await node.driver();
  await node.kubelet();
  const registrar = node.registrar("--require-driver", "--http-endpoint=localhost:0");
  await registrar.reached("registered");
  const http = await httpOf(registrar);
  expect(await http.get("/readyz")).toMatchObject({ status: 200 });
  await former.kill();
  await registrar.line("Lost connection");
  const away = await http.get("/readyz");
  expect(away.status).toBe(503);
  expect(away.body).toContain("[-]driver failed: the connection to the CSI driver is lost");
  expect(away.body).toContain("[+]registered ok");
  for (const path of ["/healthz", "/livez"]) expect(await http.get(path)).toMatchObject({ status: 200 });
  await node.driver();
  await registrar.line("Connection restored");
  expect(await http.get("/readyz")).toMatchObject({ status: 200 });
});

nodeTest("a driver that restarts again and again costs no publication", async (node) => {
  let driver = await node.driver();
  await node.kubelet();
  const registrar = node.registrar();
  await registrar.reached("registered");
  for (let nth = 1; nth <= 3; nth++) {
    await driver.kill();
    driver = await node.driver();
    await registrar.line("Connection restored", { nth });
  }
  expect(registrar.lines("Registration state changed").at(-1)?.fields.to).toBe("registered");
  expect(registrar.lines(PUBLISHED)).toHaveLength(1);
});
