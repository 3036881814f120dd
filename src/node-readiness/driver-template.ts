import { isQualifiedName } from "../kubelet-rules/api-validation";

/** Stands for the driver's name in the key of a taint and the type of a condition. */
export const DRIVER_PLACEHOLDER = "{driver}";

/** A CSI driver chooses its own name. Taints and conditions in these domains and their subdomains belong to others. */
const DOMAINS_OF_OTHERS = ["kubernetes.io", "k8s.io", "cilium.io", "karpenter.sh"];
/** The exception: CSI drivers such as nfs.csi.k8s.io and smb.csi.k8s.io. */
const DOMAIN_OF_DRIVERS = "csi.k8s.io";

/** Why a text is neither NAME nor DNS-NAME/NAME. With `{driver}` only the second is valid: a driver may be called Ready. */
export function templateProblem(what: string, text: string, example: string): string | undefined {
  const name = text.replaceAll(DRIVER_PLACEHOLDER, "driver.example.com");
  if (isQualifiedName(name) && (name === text || name.includes("/"))) return undefined;
  return `${what} must be NAME or DNS-NAME/NAME, such as ${example}; with {driver} DNS-NAME/NAME`;
}

/** Puts the driver's name into the template. Undefined if the result is invalid, or belongs to others. */
export function fillIn(template: string, driverName: string): string | undefined {
  const name = template.replaceAll(DRIVER_PLACEHOLDER, driverName);
  if (name === template) return name;
  return isQualifiedName(name) && !(dependsOnDriver(template) && isOfOthers(name)) ? name : undefined;
}

/** The template as a regular expression of JavaScript and RE2 that matches every driver's name. */
export function patternOf(template: string): string {
  const pieces = template.split(DRIVER_PLACEHOLDER).map((piece) => piece.replaceAll(".", "[.]"));
  return `^${pieces.join("[-.a-zA-Z0-9]+")}$`;
}

const escaped = (domain: string) => domain.replaceAll(".", "[.]");
/** Matches names of others, except those that {@link DRIVERS_PATTERN} matches: RE2 has no look-ahead. */
export const OTHERS_PATTERN = `^([^/]*[.])?(${DOMAINS_OF_OTHERS.map(escaped).join("|")})/`;
export const DRIVERS_PATTERN = `^[^/]*[.]${escaped(DOMAIN_OF_DRIVERS)}/`;

const isOfOthers = (name: string) =>
  new RegExp(OTHERS_PATTERN).test(name) && !new RegExp(DRIVERS_PATTERN).test(name);

/** Whether its domain has the driver's name. */
export const dependsOnDriver = (template: string): boolean =>
  template.split("/").slice(0, -1).join().includes(DRIVER_PLACEHOLDER);
