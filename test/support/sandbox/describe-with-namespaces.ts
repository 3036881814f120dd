import { whyNoSandbox } from "./sandbox";

/**
 * A `describe` of tests in namespaces. Where the machine refuses those to this user, one test's
 * name says so and why; where CI is set, that test fails: nobody reads the names of tests that passed.
 */
export function describeWithNamespaces(name: string, tests: () => void): void {
  const refusal = whyNoSandbox();
  if (refusal === undefined) {
    describe(name, tests);
    return;
  }
  test(`${name}: NOT shown here, this machine refuses namespaces: ${refusal}`, () => {
    expect(process.env.CI ?? "").toMatch(/^(?:false|0)?$/);
    // Anything else is a fault of the sandbox and not of the machine.
    expect(refusal).toMatch(/not permitted|denied|not implemented|No space left|not in PATH|are Linux's/);
  });
}
