/** The outcome of one run. */
export interface Report {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly seconds: number;
}

/** Reads ginkgo's report in JUnit's form. Tests that were not selected are not in it. */
export function readReport(xml: string): Report {
  const cases = Array.from(
    xml.matchAll(/<testcase name="\[It\] ([^"]*)"[^>]*status="(\w+)"/g),
    ([, name = "", status = ""]) => ({ name: unescaped(name), status }),
  );
  return {
    passed: cases.filter(({ status }) => status === "passed").map(({ name }) => name),
    failed: cases
      .filter(({ status }) => !["passed", "skipped", "pending"].includes(status))
      .map(({ name }) => name),
    seconds: Math.round(Number(/<testsuites[^>]* time="([\d.]+)"/.exec(xml)?.[1] ?? 0)),
  };
}

export function summary({ passed, failed, seconds }: Report): string {
  return [
    ...failed.map((name) => `failed: ${name}`),
    `${passed.length} passed, ${failed.length} failed, in ${seconds} s`,
  ].join("\n");
}

const unescaped = (text: string) =>
  text
    .replaceAll("&#34;", '"')
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
