import { existsSync } from "node:fs";
import { join } from "node:path";
import { httpOf } from "./support/http";
import { nodeTest, registered } from "./support/node";
import {
  allRegistered,
  by,
  driverFoldersOf,
  nameOf,
  namesOf,
  reached,
  socketOf,
  socketsIn,
} from "./support/node-wide";
import { patience } from "./support/process";

const NAMES = namesOf(20);
nodeTest("20 drivers of a node are registered, and deregistered when the registrar stops", async (node) => {
  const { add, registrar: start, csiAddress } = driverFoldersOf(node);
  for (const name of NAMES.slice(0, 10)) await add(name);
  const kubelet = await node.kubelet();
  const registrar = start();
  for (const name of NAMES.slice(10)) await add(name);
  await allRegistered(kubelet, NAMES);
  const endpoints = kubelet.events
    .history()
    .flatMap((event) => (event.kind === "registered" ? [event.endpoint] : []));
  expect(endpoints.toSorted()).toEqual(NAMES.map(csiAddress).toSorted());
  const drivers = kubelet.csiNode().spec.drivers.map(({ name }) => name);
  expect(drivers.toSorted()).toEqual(NAMES.toSorted());

  expect(await registrar.stop()).toEqual({ code: 0, signal: null });
  expect(node.files()).toEqual([]);
  await Promise.all(NAMES.map((name) => kubelet.deregistered(name, patience())));
});

nodeTest("what befalls one driver does not touch the others", async (node) => {
  const { add, registrar: start, csiAddress } = driverFoldersOf(node);
  const refused = "refused.csi.example.com";
  const kubelet = await node.kubelet({
    faults: [{ kind: "refuse", driverName: refused, reason: "this one not" }],
  });
  for (const name of NAMES.slice(0, 5)) await add(name);
  const registrar = start("--http-endpoint=localhost:0", "--timeout=200ms");
  await allRegistered(kubelet, NAMES.slice(0, 5));

  await add("evil", { name: "../evil" });
  await add("hanging", { faults: [{ kind: "hang", method: "GetPluginInfo" }] });
  await add(refused);
  await add("twin", { name: nameOf(0) });
  for (const name of NAMES.slice(5)) await add(name);
  await allRegistered(kubelet, NAMES);

  expect(
    (await registrar.line("Cannot register the CSI driver", by(csiAddress("evil")))).fields.err,
  ).toContain('"../evil"');
  expect(existsSync(join(node.pluginDir, "..", "evil-reg.sock"))).toBe(false);
  await registrar.line("Error retreiving CSI driver name", by(csiAddress("hanging")));
  await registrar.line("Kubelet refused the driver", by(csiAddress(refused)));
  await registrar.line("Another CSI driver on this node has the name, waiting", by(csiAddress("twin")));

  const http = await httpOf(registrar);
  expect(await http.get("/healthz")).toMatchObject({ status: 200 });
  expect(socketsIn(node)).toEqual(expect.arrayContaining(NAMES.map(socketOf)));
  expect(kubelet.events.history().filter(({ kind }) => kind === "deregistered")).toEqual([]);

  kubelet.setFaults([]);
  await registered(kubelet, { driverName: refused });
});

nodeTest("a driver whose folder goes is deregistered at once, and may come again", async (node) => {
  const { add, remove, registrar: start } = driverFoldersOf(node);
  const kubelet = await node.kubelet();
  const registrar = start("--driver-gone-after=1h");
  for (const name of NAMES.slice(0, 3)) await add(name);
  await allRegistered(kubelet, NAMES.slice(0, 3));

  remove(nameOf(1));
  await kubelet.deregistered(nameOf(1), patience());
  expect((await registrar.line("CSI driver has gone")).fields.reason).toBe("its folder is gone");
  await add(nameOf(1));
  await registered(kubelet, { driverName: nameOf(1), nth: 2 });
  const deregistered = kubelet.events
    .history()
    .flatMap((event) => (event.kind === "deregistered" ? [event.driverName] : []));
  expect(deregistered).toEqual([nameOf(1)]);
});

nodeTest("a restart of a driver is no departure, a longer absence is", async (node) => {
  const { add, registrar: start } = driverFoldersOf(node);
  const kubelet = await node.kubelet();
  const registrar = start("--driver-gone-after=1500ms");
  const [restarted, crashed, removed] = [nameOf(0), nameOf(1), nameOf(2)];
  const drivers = [await add(restarted), await add(crashed), await add(removed)];
  await allRegistered(kubelet, [restarted, crashed, removed]);

  await Promise.all([drivers[0]?.close(), drivers[1]?.kill(), drivers[2]?.close()]);
  await add(restarted);
  for (const name of [crashed, removed]) await kubelet.deregistered(name, patience());
  await registrar.line("CSI driver has gone", { nth: 2 });
  expect(socketsIn(node)).toEqual([socketOf(restarted)]);
  const events = kubelet.events.history();
  expect(events.some((event) => event.kind === "deregistered" && event.driverName === restarted)).toBe(false);

  await add(crashed);
  await add(removed);
  await allRegistered(kubelet, [crashed, removed], 2);
});

nodeTest("of two drivers with one name the second is registered when the first has gone", async (node) => {
  const { add, remove, registrar: start, csiAddress } = driverFoldersOf(node);
  const kubelet = await node.kubelet();
  const registrar = start();
  await add("first", { name: nameOf(0) });
  await registered(kubelet, { driverName: nameOf(0) });
  await add("second", { name: nameOf(0) });
  await registrar.line("Another CSI driver on this node has the name, waiting", by(csiAddress("second")));

  remove("first");
  await registered(kubelet, { driverName: nameOf(0), nth: 2 });
  const last = kubelet.events.history().findLast((event) => event.kind === "registered");
  expect(last).toMatchObject({ endpoint: csiAddress("second") });
});

nodeTest("all are registered again when kubelet restarts, without a new socket", async (node) => {
  const { add, registrar: start } = driverFoldersOf(node);
  for (const name of NAMES) await add(name);
  const kubelet = await node.kubelet();
  const registrar = start();
  await allRegistered(kubelet, NAMES);
  await kubelet.restart();
  await allRegistered(kubelet, NAMES, 2);
  await Promise.all(NAMES.map((name) => reached(registrar, name, "registered")));
  expect(registrar.lines("Registration Server started")).toHaveLength(20);
});

nodeTest("a sidecar beside it keeps its driver, which is taken over when the sidecar goes", async (node) => {
  const { add, registrar: start, csiAddress } = driverFoldersOf(node);
  const kubelet = await node.kubelet();
  for (const name of NAMES.slice(0, 2)) await add(name);
  const path = csiAddress(nameOf(0));
  const sidecar = node.registrar(`--csi-address=${path}`, `--kubelet-registration-path=${path}`);
  await registered(kubelet, { driverName: nameOf(0) });
  const registrar = start();
  await registered(kubelet, { driverName: nameOf(1) });
  await reached(registrar, nameOf(0), "standby");
  expect(kubelet.events.history().filter(({ kind }) => kind === "deregistered")).toEqual([]);
  await sidecar.stop();
  await reached(registrar, nameOf(0), "registered");
});
