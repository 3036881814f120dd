import { parseAllDocuments } from "yaml";
import { readText } from "../../docs/markdown";
import { CONTESTANTS, OURS } from "../support/objects";
import { until } from "../support/patience";
import { type Change, createStage, type Stage } from "../support/stage";
import { cluster } from "../support/use-cluster";

const NAMES = ["a", "b", "c", "d", "e"].map((letter) => `${letter}.csi.example.com`);
const withoutSidecar: Change = ({ spec }) => {
  const { containers } = spec.template.spec;
  containers.splice(
    containers.findIndex(({ name }) => name === "registrar"),
    1,
  );
};

function nodeWideObjects(): readonly object[] {
  const text = readText("examples/node-wide.yaml").replaceAll(
    /image: registrar:\S+/g,
    `image: ${OURS.image}`,
  );
  return parseAllDocuments(text).map((document) => document.toJS() as object);
}
const listed = () => NAMES.filter((name) => cluster().record.isListed(name));

test.each(CONTESTANTS)(
  "one registrar for five drivers, of which one comes with a sidecar that leaves: $name",
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
      await until(() => expect(listed()).toEqual(NAMES), { what: "CSINode lists all five" });

      await last.apply(withoutSidecar);
      const { kubectl } = cluster();
      await kubectl(
        "rollout",
        "status",
        `daemonset/${last.plugin.daemonSet}`,
        "--namespace=kube-system",
        "--timeout=90s",
      );
      await until(() => expect(listed()).toEqual(NAMES), { what: "CSINode lists all five again" });
      await last.mountsVolume("user-of-the-fifth");
    } finally {
      // First, or each of the others would be waited for as a driver that may come back.
      await kubectlWith(nodeWideObjects(), "delete", "--wait=true");
      await Promise.all(stages.map((stage) => stage[Symbol.asyncDispose]()));
    }
  },
);
