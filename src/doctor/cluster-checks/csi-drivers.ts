import type { ClusterFacts } from "../cluster/cluster-facts";
import { nameOf } from "../cluster/driver-names";
import { type Check, warning } from "../finding";

export const csiDrivers: Check<ClusterFacts> = {
  code: "CSI209",
  name: "csi-drivers",
  verdicts: ({ places, units, csiDrivers: known }) => {
    if (known === undefined) return undefined;
    // Where the name is a guess, so would this be.
    const unsure = new Set(
      units.filter(({ driver }) => driver.kind !== "known").map(({ driver }) => nameOf(driver)),
    );
    const drivers = new Set(
      places.filter(({ state }) => state.kind !== "unprovided").map(({ driver }) => driver),
    );
    return [...drivers]
      .filter((driver) => !unsure.has(driver) && !known.has(driver))
      .map((driver) =>
        warning(
          driver,
          "has no CSIDriver object: Kubernetes attaches its volumes first, and tells it nothing of the pod",
          "apply one with its name: registrar manifest --include=csidriver writes it",
        ),
      );
  },
};
