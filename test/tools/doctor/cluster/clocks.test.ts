import { type ContainerChange, podStatus, volumeAttachment } from "../../../support/cluster-objects";
import { ago, type Changes, expectSaid, makeCluster, said } from "./memory-cluster";
import { DISK, STORAGE } from "./sick-cluster";

const both = (container: ContainerChange) => podStatus({ registrar: container, driver: container });
const started = (at: string): Changes => ({ inCsiNode: {}, status: both({ kind: "running", at }) });
const ended = { at: ago(-60), exitCode: 1 };
const restarted: ContainerChange = { kind: "running", at: ago(4), restarts: 3, last: ended };
const FUTURE = "a time in the future: the clock of a node or of an API server is wrong";

test.each<readonly [what: string, changes: Changes, lacks: readonly string[]]>([
  ["a container started in an hour", started(ago(-60)), ["pods", FUTURE]],
  ["a container ended in an hour", { status: both(restarted) }, ["pods", FUTURE]],
  ["a container started in half a minute, so it has just started", started(ago(-0.5)), []],
  ...["pods", "nodes", "csinodes", "daemonsets"].map(
    (of) => [`${of} are created in an hour`, { inCsiNode: {} }, [of, FUTURE]] as const,
  ),
])("what depends on a wrong clock is unknown: %s", async (what, changes, [of, why]) => {
  const cluster = await makeCluster(changes);
  cluster.edit((stored) =>
    stored.map(({ path, object }) => {
      const isMeant = /are created/.test(what) && path.endsWith(`/${of}`);
      const metadata = { ...object.metadata, ...(isMeant && { creationTimestamp: ago(-60) }) };
      return { path, object: { ...object, metadata } };
    }),
  );
  const lines = await said(cluster);
  expect(lines.filter((line) => !/^CSI\d+ unknown: /.test(line))).toEqual([]);
  const told = new RegExp(`^CSI113 .*: ${of} \\S+ cannot be judged: it has ${why}`);
  expect(lines.filter((line) => told.test(line))).toHaveLength(of ? 1 : 0);
});

test("where no judge needs the age of an object, a time in the future hides nothing", async () => {
  const cluster = await makeCluster({ inCsiNode: {}, hasCsiDriver: true });
  await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, "node-1"));
  const before = await said(cluster);
  cluster.edit((stored) =>
    stored.map((one) =>
      /csidrivers|volumeattachments$/.test(one.path)
        ? {
            ...one,
            object: { ...one.object, metadata: { ...one.object.metadata, creationTimestamp: ago(-60) } },
          }
        : one,
    ),
  );
  expect(before).not.toEqual([]);
  expect(await said(cluster)).toEqual(before);
});

test("no container started before its pod was created: a CSINode of the same time was not made anew", async () => {
  await expectSaid(await makeCluster(started(ago(90))), /^CSI204 problem: .* kubelet has not registered it/);
});
