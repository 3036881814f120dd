import { eventually } from "../support/eventually";
import { nodeTest, refused, registered } from "./support/node";
import { allRegistered, driverFoldersOf, nameOf, namesOf, reached } from "./support/node-wide";
import { patience } from "./support/process";

const NAMES = namesOf(20);
nodeTest(
  "20 drivers of a node are registered, again when kubelet restarts, and deregistered when the registrar stops",
  async (node) => {
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
    // A status that the restart cuts off would be a lost one.
    await Promise.all(NAMES.map((name) => reached(registrar, name, "registered")));
    await kubelet.restart();
    await allRegistered(kubelet, NAMES, 2);
    expect(registrar.lines("Registration Server started")).toHaveLength(20);
    const drivers = kubelet.csiNode().spec.drivers.map(({ name }) => name);
    expect(drivers.toSorted()).toEqual(NAMES.toSorted());

    expect(await registrar.stop()).toEqual({ code: 0, signal: null });
    expect(registrar.stderr).not.toMatch(/^\(node:/m); // Node's own warnings.
    expect(node.files()).toEqual([]);
    await Promise.all(NAMES.map((name) => kubelet.deregistered(name, patience())));
  },
);

nodeTest(
  "a sidecar beside a node-wide registrar keeps its driver, which is taken over when it ends",
  async (node) => {
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
  },
);

nodeTest(
  "refused drivers fail a node's ready probe, which names each, not its health probe",
  async (node) => {
    const folders = driverFoldersOf(node);
    const A = nameOf(0);
    const refusedOnes = namesOf(3).slice(1);
    const probe = async (mode: "health" | "ready") => {
      const probing = folders.registrar(`--mode=${mode}-probe`);
      const { code } = await probing.exit();
      return { code, said: probing.stderr };
    };
    const said = `no registrar of this container for ${folders.csiAddress("*")} answers in ${node.pluginDir}\n`;
    expect(await probe("health")).toEqual({ code: 1, said });
    await folders.add(A);
    for (const name of refusedOnes)
      await folders.add(name, { faults: [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }] });
    const kubelet = await node.kubelet();
    folders.registrar();
    await registered(kubelet, { driverName: A });
    for (const name of refusedOnes) await refused(kubelet, name);
    const each = refusedOnes.map((name) => `${name}: state is \\w+ since [^\n;]*`).join("; ");
    const notRegistered = new RegExp(`^not registered: ${each}\n$`);
    await eventually(async () =>
      expect(await probe("ready")).toEqual({ code: 1, said: expect.stringMatching(notRegistered) }),
    );
    expect(await probe("health")).toEqual({ code: 0, said: "" });
  },
);
