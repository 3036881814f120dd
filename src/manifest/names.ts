import { invalidOption } from "../base/errors";
import { isLabel, isSubdomain } from "../kubelet-rules/resource-name";
import { judgeDriverName } from "../registrar/driver/driver-name";

// What the API server accepts as a name. Each function throws INVALID_OPTION; the message begins with the flag.

/** Throws for the value of a flag. */
export function refuse(flag: string, value: string, why: string): never {
  throw invalidOption(`--${flag} ${JSON.stringify(value)} ${why}`);
}

/** For names that become parts of other names or values of labels (RFC 1123 label). */
export function checkLabel(flag: string, value: string): void {
  if (isLabel(value)) return;
  refuse(
    flag,
    value,
    "must be 1 to 63 lower case letters, digits and '-', with a letter or digit at both ends",
  );
}

/** For names of objects (RFC 1123 subdomain). */
export function checkSubdomain(flag: string, value: string): void {
  if (isSubdomain(value)) return;
  refuse(flag, value, "must be lower case letters, digits and '-' in parts joined by '.', as a DNS name is");
}

/** A CSI driver's name that may also name a CSIDriver object: the CSI specification's rule, and no upper case. */
export function checkDriverName(flag: string, value: string): void {
  const verdict = judgeDriverName(value);
  if (verdict.kind !== "valid") refuse(flag, value, `is no driver name: ${verdict.problem}`);
  if (!isSubdomain(value)) {
    refuse(
      flag,
      value,
      "cannot name a CSIDriver object: use lower case letters, digits and '-' in parts joined by '.'",
    );
  }
}

/** The API server does not parse image references: it accepts everything that is not empty and has no space. */
export function checkImage(flag: string, value: string): void {
  if (!/^[\w][\w.:/@-]*$/.test(value))
    refuse(flag, value, "is no image reference: give NAME:TAG or NAME@DIGEST");
}

/** An absolute path on the host that can be mounted into a container at the same place. */
export function checkHostPath(flag: string, value: string): void {
  const isPlain = /^(?:\/[^/:\s]+)+$/.test(value);
  if (!isPlain || value.split("/").some((part) => part === "." || part === ".."))
    refuse(flag, value, "must be an absolute path without '.', '..', ':', spaces and a '/' at its end");
}

/** The name of one folder. */
export function checkFolderName(flag: string, value: string): void {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(value)) {
    refuse(flag, value, "must be the name of a folder: letters, digits, '-', '_' and '.', no '/'");
  }
}
