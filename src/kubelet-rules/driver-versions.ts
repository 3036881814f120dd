import { quoteGo, quoteGoList } from "../logging/escape";
import type { VersionsWording } from "./versions";

export type Version = readonly number[];

/**
 * The highest of a plugin's versions that kubelet can use, or kubelet's reason why it can use no version: it skips versions that it
 * cannot parse and those of major 2 and above, and the highest one left must be of major 1.
 * Source: `HighestSupportedVersion` in apimachinery's `pkg/util/version/version.go`, in `csi_plugin.go` up to 1.28.
 */
function highestSupportedVersion(versions: readonly string[], wording: VersionsWording): Version | string {
  let highest: Version | undefined;
  let problem = "<nil>";
  for (const text of versions.toReversed()) {
    const version = parseVersion(text);
    if (typeof version === "string") problem = version;
    else if ((version[0] ?? 0) <= 1 && (highest === undefined || isLess(highest, version))) highest = version;
  }
  if (highest?.[0] === 1) return highest;
  const by = (driver: string) => `reported${wording === "by-driver" ? ` by ${driver}` : ""}`;
  return highest === undefined
    ? `could not find a highest supported version from versions ([${versions.join(" ")}]) ${by("this driver")}: ${problem}`
    : `highest supported version ${by("driver")} is ${highest.join(".")}, must be v1.x`;
}

/**
 * Compares a CSI driver's versions with the one registered under its name: an equal or higher one wins, although
 * kubelet's text says "higher". Returns the one to use, or kubelet's refusal.
 * Source: `validateVersions` in `pkg/volume/csi/csi_plugin.go`.
 */
export function validateVersions(
  caller: "ValidatePlugin" | "RegisterPlugin",
  name: string,
  versions: readonly string[],
  registered: Version | undefined,
  wording: VersionsWording,
): Version | string {
  const where = `kubernetes.io/csi: ${caller} for CSI driver ${quoteGo(name)} failed.`;
  if (versions.length === 0) return `${where} Plugin returned an empty list for supported versions`;
  const offered = highestSupportedVersion(versions, wording);
  if (typeof offered === "string")
    return `${where} None of the versions specified ${quoteGoList(versions)} are supported. err=${offered}`;
  if (registered !== undefined && !isLess(registered, offered)) {
    const peer = "Another driver with the same name is already registered with a higher supported version";
    return `${where} ${peer}: ${quoteGo(registered.join("."))}`;
  }
  return offered;
}

function parseVersion(text: string): Version | string {
  const [, numbers] = /^\s*v?([0-9]+(?:\.[0-9]+)*)/.exec(text) ?? [];
  if (numbers === undefined) return `could not parse ${quoteGo(text)} as version`;
  const components = numbers.split(".");
  const [major = ""] = components;
  if (components.length < 2) return `illegal version string ${quoteGo(text)}`;
  if (major.startsWith("0") && major !== "0")
    return `illegal zero-prefixed version component ${quoteGo(major)} in ${quoteGo(text)}`;
  return components.map(Number);
}

function isLess(a: Version, b: Version): boolean {
  const index = b.findIndex((part, at) => part !== (a[at] ?? 0));
  return (a[index] ?? 0) < (b[index] ?? 0);
}
