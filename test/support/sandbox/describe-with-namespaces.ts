import { whyNoSandbox } from "./sandbox";

/** A `describe` that is skipped, with the reason in its name, where this user gets no namespaces; not where CI is set. */
export function describeWithNamespaces(name: string, tests: () => void): void {
  const refusal = whyNoSandbox();
  const isCi = !/^(?:false|0)?$/.test(process.env.CI ?? "");
  if (refusal === undefined || isCi) describe(name, tests);
  else describe.skip(`${name}, which needs namespaces: ${refusal}`, tests);
}
