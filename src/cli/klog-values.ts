import { quoteGo } from "../logging/escape";
import type { VmoduleRule } from "../logging/vmodule";
import type { Parsed } from "./go-values";

/** `-v` as component-base reads it (`logs/api/v1/pflags.go`): decimal digits, at most 2^31 - 1. */
export function parseVerbosity(text: string): Parsed<number> {
  const fail = (why: string) => ({ error: `strconv.ParseUint: parsing ${quoteGo(text)}: ${why}` });
  if (!/^[0-9]+$/.test(text)) return fail("invalid syntax");
  return Number(text) < 2 ** 31 ? { value: Number(text) } : fail("value out of range");
}

/** `-vmodule`, from the same source: `pattern=N,...`, empty items skipped, patterns unchecked. */
export function parseVmodule(text: string): Parsed<readonly VmoduleRule[]> {
  const value: VmoduleRule[] = [];
  for (const item of text.split(",").filter((item) => item !== "")) {
    const parts = /^([^=]+)=([^=]+)$/.exec(item);
    if (parts === null) return { error: `${quoteGo(item)} does not have the pattern=N format` };
    const [, pattern = "", level = ""] = parts;
    const verbosity = parseVerbosity(level);
    if ("error" in verbosity) return { error: `parsing verbosity in ${quoteGo(item)}: ${verbosity.error}` };
    value.push({ pattern, verbosity: verbosity.value });
  }
  return { value };
}

const factorOf: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};
const quantityPattern = /^([+-]?[0-9]*(?:\.[0-9]*)?)([eEinumkKMGTP]*[-+]?[0-9]*)$/;

/** A resource quantity of Kubernetes (`512`, `1Ki`, `2M`, `1e3`) as a number, fractions rounded up. */
export function parseQuantity(text: string): Parsed<number> {
  const [, amount = "", suffix = ""] = quantityPattern.exec(text) ?? [];
  if (amount + suffix === "") {
    return {
      error: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    };
  }
  const factor = /^[eE][-+]?[0-9]{1,18}$/.test(suffix) ? Number(`1${suffix}`) : factorOf[suffix];
  if (factor === undefined) return { error: "unable to parse quantity's suffix" };
  // A number without digits ("-", ".") is zero, as in apimachinery.
  return { value: Math.ceil(Number.parseFloat(amount) * factor) || 0 };
}
