import { parse } from "yaml";
import { readText } from "../../docs/markdown";
import { CONTESTANTS, type Contestant, containerOf, type DaemonSet, OURS } from "../support/objects";
import { type Change, createStage, type Stage } from "../support/stage";
import { until } from "../support/until";
import { cluster } from "../support/use-cluster";

const NAMES = ["a", "b", "c", "d", "e"].map((letter) => `${letter}.csi.example.com`);
const withoutSidecar: Change = (daemonSet) => {
  const { containers } = daemonSet.spec.template.spec;
  containers.splice(containers.indexOf(containerOf(daemonSet, "registrar")), 1);
};

function nodeWide(): DaemonSet {
  const text = readText("examples/node-wide.yaml");
  return parse(text.replace(/image: registrar:\S+/, `image: ${OURS.image}`));
}

function readyByOneDriver(driver: string, version: string): DaemonSet {
  const daemonSet = nodeWide();
  const { readinessProbe } = containerOf(daemonSet, "registrar");
  Object.assign((readinessProbe as { httpGet: object }).httpGet, { path: `/readyz?driver=${driver}` });
  daemonSet.spec.template.metadata.annotations = { version };
  return daemonSet;
}

const rolledOut = (name: string) =>
  cluster().kubectl("rollout", "status", `daemonset/${name}`, "--namespace=kube-system", "--timeout=90s");
const untilListed = (names: readonly string[]) =>
  until(
    () => expect(NAMES.filter((name) => cluster().record.isListed(name))).toEqual(names),
    `CSINode lists ${names}`,
  );
const stageOf = (driver: string, contestant: Contestant) =>
  createStage(cluster(), contestant, { driver, daemonSet: driver.replaceAll(".", "-") });

test.each(CONTESTANTS)(
  "one registrar for five drivers, one with a sidecar at first: $name",
  async (contestant) => {
    const { apply, remove } = cluster();
    const [last, ...others] = NAMES.map((driver) => stageOf(driver, contestant)) as [Stage, ...Stage[]];
    try {
      await last.apply();
      await last.registered();
      await apply([nodeWide()]);
      for (const stage of others) await stage.apply(withoutSidecar);
      await untilListed(NAMES);

      await last.apply(withoutSidecar);
      await rolledOut(last.plugin.daemonSet);
      await untilListed(NAMES);
      await last.mountsVolume("user-of-the-fifth");
    } finally {
      // First, or each of the others would be waited for as a driver that may come back.
      await remove([nodeWide()]);
      await Promise.all([last, ...others].map((stage) => stage[Symbol.asyncDispose]()));
    }
  },
);

test("the one registrar is updated with maxSurge: the new one stands by, and is ready by a driver", async () => {
  const { apply, remove } = cluster();
  const [driver = ""] = NAMES;
  const stage = stageOf(driver, OURS);
  try {
    await stage.apply(withoutSidecar);
    for (const version of ["1", "2"]) {
      await apply([readyByOneDriver(driver, version)]);
      await rolledOut("csi-registrar");
    }
    await untilListed([driver]);
    await stage.mountsVolume("user-after-the-update");
  } finally {
    await remove([nodeWide()]);
    await stage[Symbol.asyncDispose]();
  }
});
