import { behaviourOf, SIMULATED_VERSIONS } from "../../src/kubelet-rules/versions";
import { createNodeInfoManager } from "../../src/simulator/kubelet/objects";
import { byOutcome, rowsOf } from "../support/recorded";

const info = { nodeId: "n1", maxVolumesPerNode: 0, accessibleTopology: null };
const topology = (segments: Readonly<Record<string, string>>) => ({ accessibleTopology: { segments } });

/** What a driver that is there answers after a restart of kubelet, or what else happens to the node. */
const CHANGES: Readonly<Record<string, object | "away" | undefined>> = {
  nothing: {},
  "another node ID": { nodeId: "n2" },
  "another limit": { maxVolumesPerNode: 5 },
  "no limit": { maxVolumesPerNode: 0 },
  "a negative limit": { maxVolumesPerNode: -1 },
  "another limit and node ID": { maxVolumesPerNode: 5, nodeId: "n2" },
  "another node ID, and no limit": { maxVolumesPerNode: -1, nodeId: "n2" },
  "other keys": topology({ zone: "a", rack: "7", room: "1" }),
  "another value": topology({ zone: "b" }),
  "that it is away": "away",
};

test("what each kubelet writes of a driver that changed, beside another one, or why it refuses it", () => {
  const rows = Object.entries(CHANGES).flatMap(([what, change]) =>
    rowsOf(what, SIMULATED_VERSIONS, (version) => {
      const told: string[] = [];
      const labels = { nodeName: "node-1", nodeLabels: { zone: "a" } };
      const kubelet = createNodeInfoManager(labels, behaviourOf(version as never), ({ kind }) =>
        told.push(kind),
      );
      const there = { ...info, maxVolumesPerNode: 9, ...topology({ zone: "a", rack: "7" }) };
      kubelet.install({ ...there, name: "x.csi" });
      kubelet.install({ ...info, name: "a.csi" });
      told.length = 0;
      const refusal =
        change === "away"
          ? kubelet.uninstall("x.csi")
          : kubelet.install({ ...there, ...change, name: "x.csi" });
      const { metadata } = kubelet.node();
      const objects = [metadata.annotations, metadata.labels, kubelet.csiNode().spec.drivers].map((one) =>
        JSON.stringify(one),
      );
      return [refusal ?? "taken", told.join(", ") || "no change", ...objects].join("\n  ");
    }),
  );
  expect(`\n${byOutcome(rows)}\n`).toMatchSnapshot();
});
