import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../../support/eventually";
import { CONTESTANTS, EXAMPLE, registrationSocketOf, TOPOLOGY_KEY } from "../support/objects";
import { createStage, insideOf } from "../support/stage";
import { cluster, insideTest, startStage } from "../support/use-cluster";

const ROUNDS = 10;

/** How long each registrar's driver is refused, in milliseconds. */
const REFUSED_MS = 60_000 * Number(process.env.REFUSED_MINUTES ?? 1);

/** How many requests the API server has served, by verb and resource, except lists and watches. */
async function requests(...resources: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const metrics = await cluster().kubectl("get", "--raw=/metrics");
  const counts = new Map<string, number>();
  for (const [, labels = "", count] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    if (!resources.includes(label("resource"))) continue;
    if (["LIST", "WATCH"].includes(label("verb"))) continue;
    const key = [label("verb"), label("resource"), label("subresource")].filter(Boolean).join(" ");
    counts.set(key, (counts.get(key) ?? 0) + Number(count));
  }
  return counts;
}

insideTest(
  "what a registration costs the API server: a handful of kubelet's requests, none of the registrar's",
  async () => {
    const { node } = insideOf(cluster());
    const { record } = cluster();
    await using _stage = await startStage();
    const before = await requests("csinodes", "nodes");
    for (let round = 0; round < ROUNDS; round++) {
      const registeredAt = record.since(EXAMPLE.driver);
      await node.run("rm", registrationSocketOf(EXAMPLE));
      await eventually(
        () =>
          expect(record.isListed(EXAMPLE.driver) && record.since(EXAMPLE.driver) > registeredAt).toBe(true),
        { what: "the driver was deregistered and registered again" },
      );
    }
    const after = await requests("csinodes", "nodes");
    const each = [...after].map(([key, count]) => [key, (count - (before.get(key) ?? 0)) / ROUNDS] as const);
    process.stdout.write(
      `requests for each deregistration and registration: ${each.map((one) => one.join(": ")).join(", ")}\n`,
    );
    const writes = each
      .filter(([key]) => /^(PUT|PATCH|POST|DELETE)/.test(key))
      .reduce((sum, [, count]) => sum + count, 0);
    expect(writes).toBeGreaterThan(0);
    // Two objects, CSINode and Node, at each of the two; and now and then a conflict.
    expect(writes).toBeLessThan(6);
  },
);

insideTest(
  "what a refusal costs the API server: kubelet's requests for each try, and for each restart of the official registrar",
  async () => {
    const { kubectl, nodeName } = cluster();
    await kubectl("label", "node", nodeName, "--overwrite", `${TOPOLOGY_KEY}=elsewhere`);
    const unlabel = () => kubectl("label", "node", nodeName, `${TOPOLOGY_KEY}-`);
    await using _labelled = { [Symbol.asyncDispose]: async () => void (await unlabel()) };
    for (const contestant of CONTESTANTS) {
      await using stage = createStage(cluster(), contestant);
      await stage.apply();
      const runs = async () => (await stage.status("registrar")).restartCount;
      await eventually(runs, { what: "the registrar's container was started" });
      await delay(20_000);
      const [restarts, before] = [await runs(), await requests("csinodes", "nodes", "pods", "events")];
      await delay(REFUSED_MS);
      const [restartsAfter, after] = [await runs(), await requests("csinodes", "nodes", "pods", "events")];
      const counts = [...after].map(([key, count]) => `${key}: ${count - (before.get(key) ?? 0)}`);
      process.stdout.write(
        `refused for ${REFUSED_MS / 60_000} minutes, ${contestant.name}: ${restartsAfter - restarts} restarts; ${counts.join(", ")}\n`,
      );
      expect(cluster().record.isListed(EXAMPLE.driver)).toBe(false);
    }
  },
  2 * REFUSED_MS + 180_000,
);
