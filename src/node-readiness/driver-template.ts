import { isQualifiedName } from "../kubelet-rules/resource-name";

/** Stands for the driver's name in a taint's key and in a condition's type. */
export const DRIVER_PLACEHOLDER = "{driver}";

/** A CSI driver chooses its own name. With these domains, subdomains included, it would name what others keep. */
const DOMAINS_OF_OTHERS = ["kubernetes.io", "k8s.io", "cilium.io", "karpenter.sh"];
/** The exception: nfs.csi.k8s.io, smb.csi.k8s.io and their like are CSI drivers. */
const DOMAIN_OF_DRIVERS = "csi.k8s.io";

/** A driver's name for templates that are checked before there is one. */
const SOME_DRIVER = "driver.example.com";

/**
 * Whether it is NAME or DNS-NAME/NAME. With `{driver}` it must be the second: names without a domain are those of
 * Kubernetes itself, such as the condition Ready, and a driver could be called so.
 */
export function isTemplate(text: string): boolean {
  const name = text.replaceAll(DRIVER_PLACEHOLDER, SOME_DRIVER);
  return isQualifiedName(name) && (name === text || name.includes("/"));
}

/** The template with the driver's name in it. Undefined when that is no valid name, or would be that of others. */
export function fillIn(template: string, driverName: string): string | undefined {
  const name = template.replaceAll(DRIVER_PLACEHOLDER, driverName);
  if (name === template) return name;
  return isQualifiedName(name) && !(dependsOnDriver(template) && isOfOthers(name)) ? name : undefined;
}

/** The same as a regular expression, of JavaScript and of RE2, for any driver's name. */
export function patternOf(template: string): string {
  const pieces = template.split(DRIVER_PLACEHOLDER).map((piece) => piece.replaceAll(".", "[.]"));
  return `^${pieces.join("[-.a-zA-Z0-9]+")}$`;
}

const escaped = (domain: string) => domain.replaceAll(".", "[.]");
/** Matches names that are others', but for those that {@link DRIVERS_PATTERN} matches. RE2 has no look-ahead. */
export const OTHERS_PATTERN = `^([^/]*[.])?(${DOMAINS_OF_OTHERS.map(escaped).join("|")})/`;
export const DRIVERS_PATTERN = `^[^/]*[.]${escaped(DOMAIN_OF_DRIVERS)}/`;

const isOfOthers = (name: string) =>
  new RegExp(OTHERS_PATTERN).test(name) && !new RegExp(DRIVERS_PATTERN).test(name);

/** Whether the driver's name is part of the domain. */
export function dependsOnDriver(template: string): boolean {
  const [domain = "", ...rest] = template.split("/");
  return rest.length > 0 && domain.includes(DRIVER_PLACEHOLDER);
}
