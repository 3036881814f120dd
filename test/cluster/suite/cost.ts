import { EXAMPLE, registrationSocketOf } from "../support/objects";
import { insideOf } from "../support/stage";
import { until } from "../support/until";
import { cluster, insideTest, startStage } from "../support/use-cluster";

const ROUNDS = 10;

async function requests(): Promise<Map<string, number>> {
  const metrics = await cluster().kubectl("get", "--raw=/metrics");
  const counts = new Map<string, number>();
  for (const [, labels = "", count] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    if (!["csinodes", "nodes"].includes(label("resource")) || ["LIST", "WATCH"].includes(label("verb")))
      continue;
    const key = [label("verb"), label("resource"), label("subresource")].filter(Boolean).join(" ");
    counts.set(key, (counts.get(key) ?? 0) + Number(count));
  }
  return counts;
}

insideTest("a registration costs the API server a handful of kubelet's requests, none of ours", async () => {
  const { node } = insideOf(cluster());
  const { record } = cluster();
  await using _stage = await startStage();
  const before = await requests();
  for (let round = 0; round < ROUNDS; round++) {
    const registeredAt = record.since(EXAMPLE.driver);
    await node.run("rm", registrationSocketOf(EXAMPLE));
    await until(() => {
      expect(record.isListed(EXAMPLE.driver)).toBe(true);
      expect(record.since(EXAMPLE.driver)).toBeGreaterThan(registeredAt);
    }, "the driver was deregistered and registered again");
  }
  const after = await requests();
  const each = [...after].map(([key, count]) => [key, (count - (before.get(key) ?? 0)) / ROUNDS] as const);
  process.stdout.write(`requests for each deregistration and registration: ${each.join("; ")}\n`);
  const writes = each.filter(([key]) => /^(PUT|PATCH|POST|DELETE)/.test(key));
  const sum = writes.reduce((total, [, count]) => total + count, 0);
  expect(sum).toBeGreaterThan(0);
  // Two objects, CSINode and Node, at each of the two; and now and then a conflict.
  expect(sum).toBeLessThan(6);
});
