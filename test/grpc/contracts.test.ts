import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { protos } from "../../src/grpc/protos";
import { createTempFolder } from "../support/temp-folder";

const ROOT = join(__dirname, "../..");

test("the code generated from proto/ is current; if not, run npm run contracts", async () => {
  await using folder = await createTempFolder();
  const write = `import("./scripts/contracts.mjs").then(({ writeContracts }) => writeContracts(process.argv[1]))`;
  execFileSync(process.execPath, ["-e", write, folder.path], { cwd: ROOT });
  for (const file of ["contracts.ts", "methods.ts"]) {
    const current = readFileSync(join(ROOT, "src/grpc", file), "utf8");
    expect(current).toBe(readFileSync(folder.at(file), "utf8"));
  }
});

test.each([
  ["string a = 1;", '{ a: [1, "text"] }'],
  ["map<string, string> a = 1; repeated string b = 2;", '{ a: [1, "textMap"], b: [2, "texts"] }'],
  ["map<int32, string> a = 1;", "map int32 string"],
  ["map<string, bool> a = 1;", "map string bool"],
  ["optional string a = 1;", "optional string"],
  ["oneof one { bool a = 1; }", "optional bool"],
  ["repeated bool a = 1;", "repeated bool"],
  ["int64 a = 1;", "int64"],
  ["X a = 1;", "X"],
])("a message of a registration with %s has fields for the codec, or is refused: %s", (field, expected) => {
  const write = `
    import protobuf from "protobufjs";
    import { fieldsIn } from "./scripts/contracts.mjs";
    const { root } = protobuf.parse('syntax = "proto3"; message X { ' + process.argv[1] + " }");
    root.resolveAll();
    let text;
    try { text = fieldsIn(root.X) } catch ({ message }) { text = "refused: " + message }
    console.log(text);`;
  const given = ["--input-type=module", "--eval", write, field];
  const text = execFileSync(process.execPath, given, { cwd: ROOT, encoding: "utf8" });
  expect(text.trim()).toEqual(
    expected.startsWith("{") ? expected : expect.stringMatching(new RegExp(`^refused: .* ${expected}$`)),
  );
});

test("each method is made once, with the messages it needs", () => {
  const { registration, identity, node } = protos;
  expect([registration, identity, node].map((service) => Object.keys(service))).toEqual([
    ["GetInfo", "NotifyRegistrationStatus"],
    ["GetPluginInfo", "Probe"],
    ["NodeGetInfo"],
  ]);
  expect(identity.Probe).toBe(identity.Probe);
  expect(identity.Probe.path).toBe("/csi.v1.Identity/Probe");
  const { responseSerialize, responseDeserialize } = node.NodeGetInfo;
  const info = { nodeId: "n", maxVolumesPerNode: -1, accessibleTopology: { segments: { zone: "a" } } };
  expect(responseDeserialize(responseSerialize(info))).toEqual(info);
});
