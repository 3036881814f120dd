import { grouped } from "../../findings/grouped";
import { type Program, tagOf } from "../../manifest/read/program";
import type { ClusterFacts } from "../judge/facts";
import { isWithoutRegistrar } from "../judge/places";

interface ImageRow {
  /** Null: the pods have no registrar any more, as a policy took it out. */
  readonly image: string | null;
  readonly program: Program["kind"] | null;
  /** The image's tag; null: it has none. */
  readonly version: string | null;
}

const imageRow = ({ image, program }: { readonly image: string; readonly program: Program }): ImageRow => ({
  image,
  program: program.kind,
  version: tagOf(image) ?? null,
});
const NONE: ImageRow = { image: null, program: null, version: null };

/** Each registrar of each DaemonSet: its image there, and those that its pods have. */
export function registrarRows({ units, pods }: Pick<ClusterFacts, "units" | "pods">) {
  const podsOf = grouped(pods, ({ setUid }) => setUid);
  return units
    .map((unit) => {
      const { set, registrar, driver } = unit;
      const images = (podsOf.get(set.uid) ?? []).flatMap((pod) => {
        const own = pod.running.registrars.find(({ container }) => container === registrar.container);
        if (own !== undefined) return imageRow(own);
        return isWithoutRegistrar({ pod, unit }) ? NONE : [];
      });
      return {
        /** `NAMESPACE/NAME`. */
        daemonSet: set.name,
        container: registrar.container,
        driver: driver.name,
        ...imageRow(registrar),
        /** How many pods have which image. */
        pods: Array.from(grouped(images, ({ image }) => `${image}`).values(), (same) => ({
          ...same[0],
          count: same.length,
        })),
      };
    })
    .toSorted((one, other) => (one.daemonSet < other.daemonSet ? -1 : 1));
}
