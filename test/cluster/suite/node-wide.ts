import { parse } from "yaml";
import { readText } from "../../docs/markdown";
import { eventually } from "../../support/eventually";
import { CONTESTANTS, containerOf, type DaemonSet, OURS } from "../support/objects";
import { type Change, createStage, type Stage } from "../support/stage";
import { cluster } from "../support/use-cluster";

const NAMES = ["a", "b", "c", "d", "e"].map((letter) => `${letter}.csi.example.com`);
const withoutSidecar: Change = (daemonSet) => {
  const { containers } = daemonSet.spec.template.spec;
  containers.splice(containers.indexOf(containerOf(daemonSet, "registrar")), 1);
};

/** The only object of the example is a DaemonSet. */
function nodeWideObjects(): readonly DaemonSet[] {
  const text = readText("examples/node-wide.yaml").replace(/image: registrar:\S+/, `image: ${OURS.image}`);
  return [parse(text)];
}

/** The example, ready by one driver's readiness; each `version` is another pod template. */
function readyByOneDriver(driver: string, version: string): readonly object[] {
  return nodeWideObjects().map((daemonSet) => {
    const { readinessProbe } = containerOf(daemonSet, "registrar");
    const { httpGet } = readinessProbe as { readonly httpGet: { path: string } };
    httpGet.path = `/readyz?driver=${driver}`;
    daemonSet.spec.template.metadata.annotations = { version };
    return daemonSet;
  });
}

const rolledOut = (name: string) =>
  cluster().kubectl("rollout", "status", `daemonset/${name}`, "--namespace=kube-system", "--timeout=90s");
const listed = () => NAMES.filter((name) => cluster().record.isListed(name));

test.each(CONTESTANTS)(
  "one registrar for five drivers, one of them with a sidecar that is then removed: $name",
  async (contestant) => {
    const { kubectlWith } = cluster();
    const stages = NAMES.map((driver) =>
      createStage(cluster(), contestant, { driver, daemonSet: driver.replaceAll(".", "-") }),
    );
    const last = stages.at(-1) as Stage;
    try {
      await last.apply();
      await last.registered();
      await kubectlWith(nodeWideObjects(), "apply", "--server-side", "--validate=strict");
      for (const stage of stages.slice(0, -1)) await stage.apply(withoutSidecar);
      await eventually(() => expect(listed()).toEqual(NAMES), { what: "CSINode lists all five" });

      await last.apply(withoutSidecar);
      await rolledOut(last.plugin.daemonSet);
      await eventually(() => expect(listed()).toEqual(NAMES), { what: "CSINode lists all five again" });
      await last.mountsVolume("user-of-the-fifth");
    } finally {
      // First, or each of the others would be waited for as a driver that may come back.
      await kubectlWith(nodeWideObjects(), "delete", "--wait=true");
      await Promise.all(stages.map((stage) => stage[Symbol.asyncDispose]()));
    }
  },
);

test("the one registrar is updated with maxSurge: the new one stands by for a driver, and counts as ready by it", async () => {
  const { kubectlWith } = cluster();
  const [driver = ""] = NAMES;
  const stage = createStage(cluster(), OURS, { driver, daemonSet: driver.replaceAll(".", "-") });
  const apply = (version: string) =>
    kubectlWith(readyByOneDriver(driver, version), "apply", "--server-side", "--validate=strict");
  try {
    await stage.apply(withoutSidecar);
    await apply("1");
    await rolledOut("csi-registrar");
    await apply("2");
    await rolledOut("csi-registrar");
    await eventually(() => expect(listed()).toEqual([driver]), { what: "CSINode lists the driver" });
    await stage.mountsVolume("user-after-the-update");
  } finally {
    await kubectlWith(nodeWideObjects(), "delete", "--wait=true");
    await stage[Symbol.asyncDispose]();
  }
});
