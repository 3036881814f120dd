/** A Kubernetes quantity as bytes or CPUs; undefined if it is invalid or missing. */
export function quantityOf(quantity: string): number | undefined {
  const [, digits, unit = ""] = /^([\d.]+)([EPTGMK]i?|k|m)?$/.exec(quantity) ?? [];
  if (digits === undefined) return undefined;
  if (unit === "m") return Number(digits) / 1000;
  const power = " KMGTPE".indexOf(unit.charAt(0).toUpperCase() || " ");
  return Number(digits) * (unit.endsWith("i") ? 1024 : 1000) ** power;
}
