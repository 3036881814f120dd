import { RegistrarError } from "../../base/errors";
import { isExtendedResource, isSubdomain } from "../../kubelet-rules/api-validation";
import { quoteText } from "../../logging/escape";
import type { Logger } from "../../logging/logger";
import type { PluginType } from "../model/options";
import { SOCKET_TAIL } from "../model/socket-name";

type DriverNameVerdict =
  | { readonly kind: "valid" }
  /** Breaks the specification but is harmless in a file name: we warn, kubelet decides. */
  | { readonly kind: "unusual"; readonly problem: string }
  /** Could leave the registration directory or hide in it: no file may have it. */
  | { readonly kind: "unsafe"; readonly problem: string };

/**
 * CSI specification, GetPluginInfoResponse.name: domain notation, and at most so many characters. The API server's limit for
 * the driver of a ResourceSlice is the same: `ValidateCSIDriverName`, `pkg/apis/core/validation`.
 */
const MOST_SPECIFIED = 63;

/** Linux has no file whose name is longer, and ours is `<driver>-reg.sock`. */
const MAX_BYTES = 255 - SOCKET_TAIL.length;

/** Characters that could steer the terminal in which an operator lists the directory: control, format and line characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export function judgeDriverName(name: string): DriverNameVerdict {
  const unsafe = (problem: string): DriverNameVerdict => ({ kind: "unsafe", problem });
  if (name === "") return unsafe("it is empty");
  if (name.includes("/")) return unsafe("it contains '/'");
  if (name.includes("\\")) return unsafe("it contains a backslash");
  if (UNPRINTABLE.test(name)) return unsafe("it contains control characters");
  if (name.startsWith(".")) return unsafe("it begins with a dot");
  if (name.includes("..")) return unsafe("it contains '..'");
  const bytes = Buffer.byteLength(name);
  if (bytes > MAX_BYTES)
    return unsafe(`it has ${bytes} bytes, and a file's name leaves room for ${MAX_BYTES}`);
  const isShort = name.length <= MOST_SPECIFIED;
  if (isShort && isSubdomain(name.toLowerCase())) return { kind: "valid" };
  const problem = isShort
    ? "the CSI specification allows letters, digits, '-' and '.' only, with a letter or digit at both ends of each part"
    : `it has ${name.length} characters, the CSI specification allows ${MOST_SPECIFIED}`;
  return { kind: "unusual", problem };
}

/** Throws UNSAFE_DRIVER_NAME for a name that could leave the registration directory, warns of other oddities. */
export function admitDriverName(name: string, log: Logger): void {
  const verdict = judgeDriverName(name);
  if (verdict.kind === "unsafe") refuse(`CSI driver name ${quoteText(name)} is refused: ${verdict.problem}`);
  if (verdict.kind === "unusual")
    log.warn("CSI driver name breaks the CSI specification", { name, problem: verdict.problem });
}

/** The same for any plugin: of another than a CSI driver it refuses what kubelet or the API server would. */
export function admitPluginName(type: PluginType, name: string, log: Logger): void {
  if (type === "CSIPlugin") admitDriverName(name, log);
  // Kubernetes takes the letters of a driver's name in either case.
  if (type === "DRAPlugin" && (name.length > MOST_SPECIFIED || !isSubdomain(name.toLowerCase())))
    refuse(`DRA driver name ${quoteText(name)} must be a DNS subdomain, 63 characters at most`);
  if (type === "DevicePlugin" && !isExtendedResource(name))
    refuse(`device plugin name ${quoteText(name)} must be a resource, such as "example.com/disk"`);
}

function refuse(text: string): never {
  throw new RegistrarError("UNSAFE_DRIVER_NAME", text);
}
