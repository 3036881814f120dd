import { whyNoSandbox } from "./sandbox";

/**
 * A `describe` of tests in namespaces. Where the machine refuses those to this user, they are skipped, and the name says
 * why; where CI is set, they run and fail.
 */
export function describeWithNamespaces(name: string, tests: () => void): void {
  const refusal = whyNoSandbox();
  const isCi = !/^(?:false|0)?$/.test(process.env.CI ?? "");
  if (refusal === undefined || isCi) describe(name, tests);
  else describe.skip(`${name}, which needs namespaces: ${refusal}`, tests);
}
