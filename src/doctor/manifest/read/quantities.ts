const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** A Kubernetes quantity as bytes or CPUs, by the grammar of `ParseQuantity`; undefined if it is invalid or missing. */
export function quantityOf(quantity: string): number | undefined {
  const [, digits, exponent, unit = ""] =
    /^([+-]?(?:\d+(?:\.\d*)?|\.\d*)?)(?:[eE]([+-]?\d+)|([KMGTPE]i|[numkMGTPE]?))$/.exec(quantity.trim()) ??
    [];
  if (digits === undefined || quantity.trim() === "") return undefined;
  // Kubernetes reads a missing number as 0.
  const number = /\d/.test(digits) ? digits : "0";
  if (BINARY.includes(unit)) return Number(number) * 1024 ** (BINARY.indexOf(unit) + 1);
  return Number(`${number}e${exponent ?? (DECIMAL.indexOf(unit) - DECIMAL.indexOf("")) * 3}`);
}

export const amountOf = (quantity: string) => quantityOf(quantity) ?? 0;
/** Whether an amount is above a bound; one that is missing or 0 bounds nothing. */
export const exceeds = (amount: number, bound: string) =>
  amount > (amountOf(bound) || Number.POSITIVE_INFINITY);
