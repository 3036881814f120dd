import { mkdirSync, writeFileSync } from "node:fs";
import { createDoctorNode } from "./doctor-node";

test("a directory that is missing, or is none", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const missing = await node.look({ pluginRegistrationPath: node.at("none") });
  expect(missing.says("registration-directory")).toMatch(
    /^problem: .*none is not there; fix: mount the host's/,
  );
  expect(missing.says("registration")).toBe("");
  writeFileSync(node.at("file"), "");
  const file = await node.look({ pluginRegistrationPath: node.at("file") });
  expect(file.says("registration-directory")).toMatch(/^problem: .*file is a file, not a folder/);
});

test("a directory in which no socket path is short enough", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const directory = node.at("d".repeat(90));
  mkdirSync(directory);
  const { says } = await node.look({ pluginRegistrationPath: directory });
  expect(says("socket-path")).toMatch(
    /^problem: .*x\.csi-reg\.sock has \d+ bytes, a unix socket path may have 107/,
  );
});
