import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { httpOf } from "../end-to-end/support/http";
import { nodeTest } from "../end-to-end/support/node";
import { allRegistered, by, driverFoldersOf, nameOf, socketOf } from "../end-to-end/support/node-wide";
import { eventually } from "../support/eventually";

const [A, B] = [nameOf(0), nameOf(1)];
const [REFUSED, DENIED, BLOCKED] = ["refused.example.com", "denied.example.com", "blocked.example.com"];

nodeTest("every endpoint distinguishes the drivers of a node", async (node) => {
  const { add, registrar: start, csiAddress } = driverFoldersOf(node);
  const refusal = { kind: "refuse", driverName: REFUSED, error: "this one not" } as const;
  const kubelet = await node.kubelet({ faults: [refusal] });
  const registrar = start("--http-endpoint=localhost:0", `--deny-drivers=${DENIED}`, "--timeout=5s");
  const http = await httpOf(registrar);
  expect(await http.get("/readyz")).toMatchObject({ status: 200, body: "ok" });
  writeFileSync(join(node.pluginDir, socketOf(BLOCKED)), "");
  for (const name of [A, B, REFUSED, DENIED, BLOCKED]) await add(name);
  await add("hanging", { faults: [{ kind: "hang", method: "GetPluginInfo" }] });
  await allRegistered(kubelet, [A, B]);
  await add("twin", { name: A }); // Not before: of two that answer in one moment either may be the first.
  await registrar.line("Kubelet refused the driver", by(csiAddress(REFUSED)));
  await registrar.line("CSI driver is excluded by the name lists", by(csiAddress(DENIED)));
  await registrar.line("Failed to listen on socket", by(csiAddress(BLOCKED)));
  const isTaken = "Another CSI driver on this node has the name, waiting";
  expect((await registrar.line(isTaken, by(csiAddress("twin")))).fields.other).toBe(csiAddress(A));

  const all = await http.get("/readyz");
  expect(all.status).toBe(503);
  for (const name of [A, B]) expect(all.body).toContain(`[+]${name}/registered ok`);
  expect(all.body).toContain(`[-]${REFUSED}/registered failed: `);
  expect(all.body).toContain(`[-]${BLOCKED}/registered failed: state is publishing`);
  for (const [folder, reason] of [
    [DENIED, `the name lists exclude ${DENIED}`],
    ["twin", `another driver on this node has the name ${A}`],
    ["hanging", "GetPluginInfo of the CSI driver fails: 4 DEADLINE_EXCEEDED: Deadline exceeded after 5s"],
  ] as const)
    await eventually(async () => {
      const { body } = await http.get("/readyz");
      expect(body).toContain(`[+]${csiAddress(folder)} ok: does not count, state is waiting: ${reason}`);
      // A driver that is denied is as configured.
      const { body: metrics } = await http.get("/metrics");
      const sample = `registrar_driver_trouble{csi_address="${csiAddress(folder)}",reason="`;
      expect(metrics.includes(sample)).toBe(folder !== DENIED);
    });
  expect(await http.get(`/readyz?driver=${REFUSED}`)).toMatchObject({ status: 503 });
  expect(await http.get("/healthz")).toMatchObject({ status: 200 });

  const { body: json } = await http.get("/statusz", { headers: { accept: "application/json" } });
  const drivers: readonly Record<string, unknown>[] = JSON.parse(json).drivers;
  const found = Object.fromEntries(drivers.map(({ csiAddress: at, name }) => [at, name]));
  const others = { [csiAddress("hanging")]: undefined, [csiAddress("twin")]: A };
  const named = [A, B, REFUSED, DENIED, BLOCKED].map((name) => [csiAddress(name), name]);
  expect(found).toEqual({ ...Object.fromEntries(named), ...others });

  const { body: metrics } = await http.get("/metrics");
  const samples = metrics.matchAll(/^registrar_registered\{.*?driver_name="([^"]*)".*\} ([01])$/gm);
  const values = Object.fromEntries(Array.from(samples, ([, name, value]) => [name, value]));
  expect(values).toEqual({ [A]: "1", [B]: "1", [REFUSED]: "0", [BLOCKED]: "0" });

  const about = registrar.lines("Registration state changed");
  const spoken = new Set(about.map(({ fields }) => `${fields.csiAddress} ${fields.driver}`));
  const announced = [A, B, REFUSED, BLOCKED].map((name) => `${csiAddress(name)} ${name}`);
  expect([...spoken].toSorted()).toEqual(announced.toSorted());
});
