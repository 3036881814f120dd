import { eventually } from "../../support/eventually";
import { runCommand } from "../../support/run-command";
import { DRIVER } from "../support/controlled-registrations";
import { ACCOUNT, useCluster } from "./support/cluster";
import { condition, onStatus, patchNode, policyEnforced } from "./support/patch-node";

const cluster = useCluster(policyEnforced);

const patch = (body: object, options?: object) => patchNode(cluster, body, options);

describe("what manifest writes for every driver of a node", () => {
  const nodeWide = async (...words: readonly string[]) => {
    const flags = ["--startup-taint={driver}/not-ready:NoExecute", "--node-condition={driver}/Ready"];
    const fixed = ["--node-wide", "--image=r:1", `--name=${ACCOUNT}`];
    return (await runCommand("manifest", ...fixed, ...flags, ...words)).stdout;
  };
  const removable = async (domains: readonly string[]) => {
    const removed: string[] = [];
    for (const domain of domains) {
      await cluster.setTaints("node-1", [{ key: `${domain}/not-ready`, effect: "NoExecute" }]);
      const answer = await patch([{ op: "remove", path: "/spec/taints/0" }]);
      const written = await patch(condition(`${domain}/Ready`), onStatus);
      expect(written.kind).toBe(answer.kind);
      if (answer.kind === "done") removed.push(domain);
    }
    return removed;
  };
  const DOMAINS = [DRIVER, "nfs.csi.k8s.io", "node.kubernetes.io", "readiness.k8s.io", "node.cilium.io"];

  test("passes the API server's validation, and leaves out what a driver's name would make others'", async () => {
    await cluster.apply(await nodeWide());
    const words = ["get", "validatingadmissionpolicy", ACCOUNT, "-o", "json"];
    const policy = await cluster.controlPlane.kubectl(...words);
    expect(JSON.parse(policy).status?.typeChecking?.expressionWarnings ?? []).toEqual([]);
    await eventually(async () => expect(await removable([DRIVER])).toEqual([DRIVER]));
    expect(await removable(DOMAINS)).toEqual([DRIVER, "nfs.csi.k8s.io"]);
  });

  test("allows 64 conditions, with names that a driver can have (issue 35)", async () => {
    await cluster.apply(await nodeWide());
    const named = (names: readonly string[]) => ({
      status: { conditions: names.map((name) => ({ ...condition(`${name}/Ready`).status.conditions[0] })) },
    });
    const names = Array.from({ length: 65 }, (_, at) => `d${at}.csi.example.com`);
    await eventually(async () => expect((await patch(named(names.slice(0, 1)), onStatus)).kind).toBe("done"));
    for (const refused of [names, [`${"x".repeat(64)}.`.repeat(5)]])
      expect(await patch(named(refused), onStatus)).toMatchObject({ failure: { kind: "forbidden" } });
    expect((await patch(named(names.slice(0, 60)), onStatus)).kind).toBe("done");
  });

  test("with a list of drivers allows their taints and conditions alone", async () => {
    await cluster.apply(await nodeWide(`--allow-drivers=x.csi.example.com,${DRIVER}`));
    await eventually(async () => expect(await removable(["nfs.csi.k8s.io"])).toEqual([]));
    expect(await removable([...DOMAINS, "x.csi.example.com"])).toEqual([DRIVER, "x.csi.example.com"]);
  });
});
