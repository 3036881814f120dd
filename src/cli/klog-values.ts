import { quoteGo } from "../logging/escape";
import type { VmoduleRule } from "../logging/vmodule";
import type { Parsed } from "./go-values";

/** `-v` as component-base reads it (`logs/api/v1/pflags.go`): decimal digits, at most 2^31 - 1. */
export function parseVerbosity(text: string): Parsed<number> {
  const fail = (why: string) => ({ error: `strconv.ParseUint: parsing ${quoteGo(text)}: ${why}` });
  if (!/^[0-9]+$/.test(text)) return fail("invalid syntax");
  return Number(text) < 2 ** 31 ? { value: Number(text) } : fail("value out of range");
}

/** `-vmodule`, from the same file: `pattern=N,...`, empty items skipped, patterns unchecked. */
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

const quantityPattern = /^([+-]?[0-9]*\.?[0-9]*)(?:[numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]{1,18})?$/;

/** The number of a resource quantity of Kubernetes (`512`, `1Ki`, `2M`, `1e3`), without its unit: the flag has no effect. */
export function parseQuantity(text: string): Parsed<number> {
  const [, amount] = quantityPattern.exec(text) ?? [];
  if (text === "" || amount === undefined)
    return {
      error: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    };
  // A number without digits ("-", ".") is zero, as in apimachinery.
  return { value: Number.parseFloat(amount) || 0 };
}
