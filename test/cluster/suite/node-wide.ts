import { readText } from "../../docs/markdown";
import { parse } from "../../support/yaml";
import { CONTESTANTS, containerOf, type DaemonSet, OURS } from "../support/objects";
import { type Change, createStage, type Stage } from "../support/stage";
import { until } from "../support/until";
import { cluster } from "../support/use-cluster";

const NAMES = ["a", "b", "c"].map((letter) => `${letter}.csi.example.com`);
const withoutSidecar: Change = (daemonSet) => {
  const { containers } = daemonSet.spec.template.spec;
  containers.splice(containers.indexOf(containerOf(daemonSet, "registrar")), 1);
};

/** examples/node-wide.yaml, ready by one driver; another version is a roll-out with maxSurge. */
function nodeWide(version: string): DaemonSet {
  const text = readText("examples/node-wide.yaml");
  const daemonSet: DaemonSet = parse(text.replace(/image: registrar:\S+/, `image: ${OURS.image}`));
  const { readinessProbe } = containerOf(daemonSet, "registrar");
  Object.assign((readinessProbe as { httpGet: object }).httpGet, { path: `/readyz?driver=${NAMES[0]}` });
  daemonSet.spec.template.metadata.annotations = { version };
  return daemonSet;
}

const rolledOut = (name: string) =>
  cluster.kubectl("rollout", "status", `daemonset/${name}`, "--namespace=kube-system", "--timeout=90s");
const untilListed = () =>
  until(() => expect(NAMES.filter((name) => !cluster.record.isListed(name))).toEqual([]), "CSINode has all");

test.each(CONTESTANTS)(
  "one registrar for several drivers, one with a sidecar at first, and an update of it: $name",
  async (contestant) => {
    const { apply, remove } = cluster;
    const [last, ...others] = NAMES.map((driver) =>
      createStage(cluster, contestant, { driver, daemonSet: driver.replaceAll(".", "-") }),
    ) as [Stage, ...Stage[]];
    try {
      await last.apply();
      await last.registered();
      await apply([nodeWide("1")]);
      for (const stage of others) await stage.apply(withoutSidecar);
      await untilListed();

      await last.apply(withoutSidecar);
      await rolledOut(last.plugin.daemonSet);
      await untilListed();
      // Until its pod has been ready for minReadySeconds: the DaemonSet controller plans one later look, not a second one.
      await rolledOut("csi-registrar");
      await apply([nodeWide("2")]);
      await rolledOut("csi-registrar");
      await untilListed();
      await last.mountsVolume("user-after-the-update");
    } finally {
      // First, or each of the others would be waited for as a driver that may come back.
      await remove([nodeWide("2")]);
      await Promise.all([last, ...others].map((stage) => stage[Symbol.asyncDispose]()));
    }
  },
);
