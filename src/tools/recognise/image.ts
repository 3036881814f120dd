import { literal, type Rule } from "./rule";

/** The last part of its name in kubernetes-csi, Calico (no `csi-`), Rancher, OpenShift (`ose-*`, `*-rhel9`), Chainguard, GKE. */
const OFFICIAL =
  "([a-z0-9._-]*-)?node-driver-registrar(-fips|-rhel[0-9]+|-amd64|-arm64)?|csi-driver-registrar";

/** Image names of the other sidecars of kubernetes-csi, in its registry and in mirrors. */
const OTHER_SIDECAR =
  /(?:^|-)(?:livenessprobe|provisioner|attacher|resizer|snapshotter|snapshot-controller|snapshot-metadata|health-monitor-(?:controller|agent)|cluster-driver-registrar)(?:-fips|-rhel[0-9]+)?$/;
export const isOtherSidecar = (imageName: string): boolean => OTHER_SIDECAR.test(imageName);

/** An image by the last part of its name, whatever its tag or digest. */
const named = (name: string): Rule => ({
  at: ["image"],
  matches: `(^|/)(${name})(:[^/@]+)?(@[^/]+)?$`,
  absent: false,
});

export const HAS_OFFICIAL_NAME = named(OFFICIAL);

/** One of these names. */
export const hasName = (names: readonly string[]): Rule => named(names.map(literal).join("|"));

/** Its tag; empty: none. The name is the last part of the repository. */
export function partsOf(image: string) {
  const [, repository = "", tag = ""] = /^(.*?)(?::([^:/@]*))?(?:@.*)?$/s.exec(image) ?? [];
  return { repository, name: repository.replace(/.*\//s, ""), tag };
}

export const lastPart = (image: string): string => partsOf(image).name;

/** The release that an image's tag names; undefined for an image without a tag. */
export const tagOf = (image: string): string | undefined => partsOf(image).tag || undefined;
