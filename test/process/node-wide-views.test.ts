import { httpOf } from "../end-to-end/support/http";
import { nodeTest } from "../end-to-end/support/node";
import { allRegistered, by, driverFoldersOf, nameOf } from "../end-to-end/support/node-wide";
import { eventually } from "../support/eventually";

const [A, REFUSED, DENIED] = [nameOf(0), "refused.example.com", "denied.example.com"];

// test/diagnostics/node-wide-law.test.ts compares all of them, for whatever drivers do.
nodeTest("the endpoint of the built program has the drivers of a node", async (node) => {
  const { add, registrar: start, csiAddress } = driverFoldersOf(node);
  const refusal = { kind: "refuse", driverName: REFUSED, error: "this one not" } as const;
  const kubelet = await node.kubelet({ faults: [refusal] });
  const registrar = start("--http-endpoint=localhost:0", `--deny-drivers=${DENIED}`, "--timeout=5s");
  const http = await httpOf(registrar);
  expect(await http.get("/readyz")).toMatchObject({ status: 200, body: "ok" });
  for (const name of [A, REFUSED, DENIED]) await add(name);
  await add("hanging", { faults: [{ kind: "hang", method: "GetPluginInfo" }] });
  await allRegistered(kubelet, [A]);
  await registrar.line("Kubelet refused the driver", by(csiAddress(REFUSED)));
  await registrar.line("CSI driver is excluded by the name lists", by(csiAddress(DENIED)));

  const all = await http.get("/readyz");
  expect(all.status).toBe(503);
  expect(all.body).toContain(`[+]${A}/registered ok`);
  expect(all.body).toContain(`[-]${REFUSED}/registered failed: `);
  expect(await http.get(`/readyz?driver=${REFUSED}`)).toMatchObject({ status: 503 });
  expect(await http.get("/healthz")).toMatchObject({ status: 200 });
  const reason = "GetPluginInfo of the CSI driver fails: 4 DEADLINE_EXCEEDED: Deadline exceeded after 5s";
  await eventually(async () => {
    const { body } = await http.get("/readyz");
    expect(body).toContain(`[+]${csiAddress("hanging")} ok: does not count, state is waiting: ${reason}`);
  });

  const { body: metrics } = await http.get("/metrics");
  const samples = metrics.matchAll(/^registrar_registered\{.*?driver_name="([^"]*)".*\} ([01])$/gm);
  const values = Object.fromEntries(Array.from(samples, ([, name, value]) => [name, value]));
  expect(values).toEqual({ [A]: "1", [REFUSED]: "0" });

  const about = registrar.lines("Registration state changed");
  const spoken = new Set(about.map(({ fields }) => `${fields.csiAddress} ${fields.driver}`));
  expect([...spoken].toSorted()).toEqual(
    [A, REFUSED].map((name) => `${csiAddress(name)} ${name}`).toSorted(),
  );
});
