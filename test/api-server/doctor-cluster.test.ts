import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programPath } from "../cluster/support/build";
import { fencesIn, isShownBy, readText } from "../docs/markdown";
import { allTests } from "../support/each-test";
import { type ClusterWriter, makeSickCluster } from "../tools/doctor/cluster/sick-cluster";
import { startCommand } from "../tools/support/command";
import { createAdmin, startApiServer } from "./support/cluster";

const DOCTOR = join(__dirname, "..", "tools", "doctor", "cluster");
/** What the first of these tests plays again without Go; RECORD=1 writes it anew. */
const RECORDED = join(DOCTOR, "recorded", "sick-cluster.json");

const controlPlane = allTests(startApiServer);
beforeAll(async () => {
  const { admin, must, create, patch } = createAdmin(controlPlane);
  const merge = (path: string, body: object) => must(patch(path, "merge-patch", body));
  const writer: ClusterWriter = {
    create: async (path, body) => (await create(path, body)) as never,
    setStatus: async (path, status) => void (await merge(`${path}/status`, { status })),
  };
  await makeSickCluster(writer, Date.now());
  admin.close();
  const real = `exec "${programPath("kubernetes")}" kubectl "$@"`;
  writeFileSync(controlPlane.at("kubectl"), `#!/bin/sh\n${real}\n`, { mode: 0o755 });
  const variables = `REAL_KUBECTL="${controlPlane.at("kubectl")}"`;
  const recording = `${variables} exec "${process.execPath}" "${DOCTOR}/fake-kubectl.cjs" "$@"`;
  mkdirSync(controlPlane.at("recording"));
  writeFileSync(controlPlane.at("recording", "kubectl"), `#!/bin/sh\n${recording}\n`, { mode: 0o755 });
});

const doctor = (...words: readonly string[]) => doctorRecorded(controlPlane.at("recorded.json"), ...words);

async function doctorRecorded(ANSWERS: string, ...words: readonly string[]) {
  const PATH = `${controlPlane.at("recording")}:${process.env.PATH}`;
  const env = { PATH, ANSWERS, KUBECONFIG: controlPlane.kubeconfig("admin"), FORCE_COLOR: "" };
  using command = startCommand(["doctor", "--cluster", ...words], env);
  const code = await command.exitCode();
  return { code, text: `${command.lines.join("\n")}\n`, stderr: command.stderr };
}

/** A kubeconfig that is the administrator's but for this. */
async function changed(change: object): Promise<string> {
  const own = JSON.parse(await controlPlane.kubectl("config", "view", "--raw", "-o", "json"));
  writeFileSync(controlPlane.at("changed.kubeconfig"), JSON.stringify({ ...own, ...change }));
  return `--kubeconfig=${controlPlane.at("changed.kubeconfig")}`;
}

test("doctor reports of a sick real cluster what docs/doctor.md shows", async () => {
  const answers = process.env.RECORD ? RECORDED : controlPlane.at("recorded.json");
  const { code, text, stderr } = await doctorRecorded(answers);
  expect(stderr).toBe("");
  expect(fencesIn(readText("docs/doctor.md"), "text").filter((fence) => isShownBy(fence, text))).toHaveLength(
    1,
  );
  expect(code).toBe(1);
});

test("--node lets the API server select the node's objects", async () => {
  const { text } = await doctor("--node=node-2", "-o", "json");
  const { nodes, findings } = JSON.parse(text);
  const states = nodes.map(({ node, driver, state }: Record<string, string>) => `${node} ${driver} ${state}`);
  expect(states).toEqual([
    "node-2 disk.csi.example.com restarting",
    "node-2 files.csi.example.com restarting",
    "node-2 shares.csi.example.com registered",
  ]);
  expect(findings.map(({ code }: { code: string }) => code)).toContain("CSI211");
});

test("an account that may list little gets the missing rules as one command, which works", async () => {
  const token = (await controlPlane.kubectl("create", "token", "default", "--namespace=shop")).trim();
  const reader = await changed({ users: [{ name: "user", user: { token } }] });
  const nothing = await doctor(reader);
  expect(nothing.stderr).toMatch(/^registrar doctor: cannot read the cluster: .* is forbidden: /);
  expect([nothing.code, nothing.text]).toEqual([3, "\n"]);

  const account = "--serviceaccount=shop:default";
  await controlPlane.kubectl("create", "clusterrole", "some", "--verb=list", "--resource=csinodes,nodes");
  await controlPlane.kubectl("create", "clusterrolebinding", "some", "--clusterrole=some", account);
  const commandsIn = async () => {
    const { findings } = JSON.parse((await doctor(reader, "-o", "json")).text);
    const unread = findings.filter(({ code }: { code: string }) => code === "CSI212");
    return unread.map(({ command }: { command: string }) => command);
  };
  const commands: string[] = await commandsIn();
  expect(commands).toEqual([expect.stringMatching(/ create clusterrole registrar-doctor --verb=list /)]);
  const words = commands.flatMap((command) => command.split(" ").slice(1));
  await controlPlane.kubectl(...words.filter((word) => word !== reader));
  const bind = ["create", "clusterrolebinding", "doctor", "--clusterrole=registrar-doctor", account];
  await controlPlane.kubectl(...bind);
  expect(await commandsIn()).toEqual([]);
});

test("doctor repeats kubectl's words about a missing context and an unreachable server", async () => {
  expect((await doctor("--context=blue")).stderr).toBe(
    'registrar doctor: kubectl proxy: context "blue" does not exist\n',
  );
  const clusters = [{ name: "cluster", cluster: { server: "https://127.0.0.1:1" } }];
  expect((await doctor(await changed({ clusters }))).stderr).toMatch(
    /^registrar doctor: cannot read the cluster: .*127\.0\.0\.1:1: connect: connection refused\n$/,
  );
});
