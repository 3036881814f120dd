import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeTest, onNode, refused, registered } from "./support/node";

const UNSAFE: readonly string[] = [
  ...["../evil", "a/b", "/evil", "a\\b", "", ".hidden", "..", "a..b"],
  ...["nul\0", "line\nbreak", "escape\u001b[31m", "c1\u009b31m", "bidi\u202e", "separator\u2028"],
  "n".repeat(300),
];

test.each(UNSAFE)(
  "a driver named %j: exit code 1, nothing created",
  onNode(async (node, name) => {
    await node.driver({ name });
    const folder = dirname(node.pluginDir);
    const before = readdirSync(folder);
    const registrar = node.registrar(`--termination-log=${node.terminationLogPath}`);
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });
    const errors = registrar.lines().filter(({ severity }) => severity === "E");
    expect(errors).toHaveLength(1);
    expect(errors[0]?.text).toContain("CSI driver name");
    expect(readFileSync(node.terminationLogPath, "utf8")).toContain("CSI driver name");
    expect(node.files()).toEqual([]);
    expect(readdirSync(folder)).toEqual(before);
  }),
);

/** The API server, which decides, allows less than the specification: kubelet refuses these. */
test.each(["with_underscore", "ends-", "-begins", "spa ce", "ümlaut", "%s%n", '{"a":"b"}', "n".repeat(64)])(
  'a driver named "%s", against the specification, is warned of and announced',
  onNode(async (node, name) => {
    await node.driver({ name });
    const kubelet = await node.kubelet();
    const registrar = node.registrar();
    expect((await refused(kubelet, name)).socketPath).toBe(join(node.pluginDir, `${name}-reg.sock`));
    expect((await registrar.exit()).code).toBe(1);
    const warnings = registrar.lines().filter(({ severity }) => severity === "W");
    expect(warnings.map(({ message }) => message)).toEqual(["CSI driver name breaks the CSI specification"]);
  }),
);

nodeTest("a name of 63 characters in domain notation is no cause for a warning", async (node) => {
  const name = `${"n".repeat(51)}.example.com`;
  await node.driver({ name });
  const kubelet = await node.kubelet();
  const registrar = node.registrar();
  await registered(kubelet, { driverName: name });
  expect(registrar.lines().filter(({ severity }) => severity !== "I")).toEqual([]);
});

nodeTest("a name of 128 characters, which no socket can have: exit code 1, nothing created", async (node) => {
  await node.driver({ name: "n".repeat(128) });
  const registrar = node.registrar();
  expect(await registrar.exit()).toEqual({ code: 1, signal: null });
  expect((await registrar.line("Failed to listen on socket")).fields.err).toMatch(/has \d+ bytes.* 107/);
  expect(node.files()).toEqual([]);
});
