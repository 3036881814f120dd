/** A registrar of the node under soak. */
export interface Role {
  readonly name: string;
  /** A node-wide one finds its drivers by pattern; a sidecar has one. */
  readonly kind: "sidecar" | "node-wide";
  /** A steady one runs from the first to the last minute and is measured; a restless one is stopped and killed. */
  readonly temper: "steady" | "restless";
  /** CSI names of its drivers. */
  readonly drivers: readonly string[];
  /** Flags beside those that every one has. */
  readonly flags: readonly string[];
}

/** Shorter than the longest absence of a driver in the plan, longer than the shortest. */
const GONE_AFTER = "--driver-gone-after=3s";

/** The registrars of the node. Only the drivers of one node-wide registrar have names that begin alike. */
export const ROLES: readonly Role[] = [
  {
    name: "steady sidecar",
    kind: "sidecar",
    temper: "steady",
    drivers: ["disk.csi.example.com"],
    flags: [],
  },
  {
    name: "steady node-wide",
    kind: "node-wide",
    temper: "steady",
    drivers: ["wide-1.csi.example.com", "wide-2.csi.example.com", "wide-3.csi.example.com"],
    flags: [GONE_AFTER],
  },
  {
    name: "restless sidecar",
    kind: "sidecar",
    temper: "restless",
    drivers: ["nfs.csi.example.com"],
    flags: ["--reregister-on-driver-restart"],
  },
  {
    name: "restless node-wide",
    kind: "node-wide",
    temper: "restless",
    drivers: ["far-1.csi.example.com", "far-2.csi.example.com"],
    flags: [GONE_AFTER],
  },
];

export const DRIVERS: readonly string[] = ROLES.flatMap(({ drivers }) => drivers);

/** Who registers this driver when no peer does. */
export function roleOf(driver: string): Role {
  const role = ROLES.find(({ drivers }) => drivers.includes(driver));
  if (role === undefined) throw new Error(`no role has the driver ${driver}`);
  return role;
}
