import { writeFileSync } from "node:fs";
import type { ApiAccess } from "../../../../src/kube-api/access";
import {
  lookAtNodeReadiness,
  type NodeReadinessTarget,
} from "../../../../src/tools/doctor/node/read/node-readiness";
import type { Certificate } from "../../../node-readiness/support/certificates";
import { makeTestCertificate, STARTUP_TAINT } from "../../../node-readiness/support/fixture";
import { NODE_NAME, startScriptedApiServer } from "../../../node-readiness/support/scripted-api-server";
import { createTempFolder } from "../../../support/temp-folder";

let certificate: Certificate;
beforeAll(async () => {
  certificate = await makeTestCertificate();
});

const wanted = (access: ApiAccess): NodeReadinessTarget => ({
  startupTaints: [{ key: "{driver}/agent-not-ready", effect: undefined }],
  hasCondition: true,
  impersonatesNode: false,
  nodeName: { kind: "known", name: NODE_NAME },
  access: { kind: "known", access },
});

test("asks for each right that the registrar needs, and reads the Node and CSINode; it writes nothing", async () => {
  await using server = await startScriptedApiServer(certificate);
  server.setTaints([STARTUP_TAINT]);
  server.listed = ["disk.csi.example.com"];
  server.denied = ["patch nodes/status"];
  const seen = await lookAtNodeReadiness(wanted(server.access));
  const allowed = ["get nodes", "watch nodes", "patch nodes", "get csinodes"];
  expect(seen).toMatchObject({
    kind: "asked",
    node: { kind: "done", value: { taints: [STARTUP_TAINT] } },
    listed: { kind: "done", value: [{ name: "disk.csi.example.com" }] },
    rights: { kind: "done", value: { allowed, denied: ["patch nodes/status"] } },
  });
  const kinds = new Set(server.requests.map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual(["ask-for-right", "get-csinode", "get-node"]);
  const fewer = await lookAtNodeReadiness({ ...wanted(server.access), hasCondition: false });
  expect(fewer).toMatchObject({ rights: { value: { allowed, denied: [] } } });
});

test("a token that is not there, or is empty, is told with its path, and nobody is asked", async () => {
  await using folder = await createTempFolder();
  await using server = await startScriptedApiServer(certificate);
  const path = folder.at("token");
  const look = () => lookAtNodeReadiness(wanted({ ...server.access, token: { kind: "file", path } }));
  expect(await look()).toMatchObject({ kind: "no-token", path, why: expect.stringMatching(/ENOENT/) });
  writeFileSync(path, "\n");
  expect(await look()).toMatchObject({ kind: "no-token", why: expect.stringMatching(/is empty/) });
  expect(server.requests).toEqual([]);
});

test("an API server that is away is a fact, not an error", async () => {
  await using server = await startScriptedApiServer(certificate);
  server.script = () => ({ kind: "reset" });
  const failure = { kind: "unreachable" };
  const seen = await lookAtNodeReadiness(wanted(server.access));
  expect(seen).toMatchObject({ rights: { failure }, node: { failure } });
});

test("without a node's name, or an API server, nobody is asked", async () => {
  await using server = await startScriptedApiServer(certificate);
  const unknown = { kind: "unknown", why: "nobody says" } as const;
  for (const change of [{ nodeName: unknown }, { access: unknown }])
    expect(await lookAtNodeReadiness({ ...wanted(server.access), ...change })).toMatchObject({
      kind: "not-asked",
    });
  expect(server.requests).toEqual([]);
});
