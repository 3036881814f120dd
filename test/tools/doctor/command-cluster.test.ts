import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fencesIn, isShownBy, readText } from "../../docs/markdown";
import { eventually } from "../../support/eventually";
import { runCommand } from "../../support/run-command";
import { createTempFolder, type TempFolder } from "../../support/temp-folder";
import { startCommand } from "../support/command";

/** What a real API server answered: test/api-server/doctor-cluster.test.ts wrote it. */
const RECORDED = join(__dirname, "cluster", "recorded", "sick-cluster.json");
const REPLAYING = `exec "${process.execPath}" "${join(__dirname, "cluster", "fake-kubectl.cjs")}" "$@"`;

/** A folder that PATH consists of, with a kubectl that does this. */
async function withKubectl<Seen>(script: string, use: (folder: TempFolder) => Promise<Seen>): Promise<Seen> {
  await using folder = await createTempFolder();
  if (script !== "") writeFileSync(folder.at("kubectl"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return await use(folder);
}

async function doctorWith(env: NodeJS.ProcessEnv, ...words: readonly string[]) {
  using command = startCommand(["doctor", ...words], env);
  const code = await command.exitCode();
  return { code, text: command.lines.join("\n"), stderr: command.stderr };
}

const doctor = ({ path }: TempFolder, ANSWERS: string, ...words: readonly string[]) =>
  doctorWith({ COLUMNS: "", PATH: path, ANSWERS, FORCE_COLOR: "", TMPDIR: path }, "--cluster", ...words);

const onSickCluster = (...words: readonly string[]) =>
  withKubectl(REPLAYING, (folder) => doctor(folder, RECORDED, ...words));

test("doctor prints of a recorded cluster exactly what docs/doctor.md shows", async () => {
  const { code, text, stderr } = await onSickCluster();
  const fences = fencesIn(readText("docs/doctor.md"), "text");
  expect(fences.filter((fence) => isShownBy(fence, `${text}\n`))).toHaveLength(1);
  expect([code, stderr]).toEqual([1, ""]);
});

test.each([
  ["60", 60],
  ["-5", 100],
  ["x", 100],
])("without a terminal, a report with COLUMNS=%s has %d columns", async (COLUMNS, width) => {
  const env = (PATH: string) => ({ COLUMNS, PATH, ANSWERS: RECORDED, FORCE_COLOR: "" });
  const { text } = await withKubectl(REPLAYING, ({ path }) => doctorWith(env(path), "--cluster"));
  const words = text.split("\n").filter((line) => /^ {4}(?! )[^/]*$/.test(line));
  const widest = Math.max(...words.map(({ length }) => length));
  expect([widest <= width, widest > width - 10]).toEqual([true, true]);
});

test("JSON has the same findings under stable keys", async () => {
  const { code, text } = await onSickCluster("-o", "json", "--context=blue");
  const report = JSON.parse(text);
  const keysOf = (object: object) => Object.keys(object).join(" ");
  expect(keysOf(report)).toBe("schema healthy target drivers registrars summary findings nodes partial");
  expect(report.partial).toEqual([]);
  expect(report.schema).toBe("registrar.doctor.cluster/1");
  expect(report.target).toEqual({ context: "blue", node: null, driver: null });
  expect(keysOf(report.drivers[0])).toBe("name daemonSets nodes registered csiDriver guessed");
  expect(keysOf(report.registrars[0])).toBe("daemonSet container driver guessed image program version pods");
  expect(keysOf(report.nodes[0])).toBe(
    "node driver state reason code pod csiNode waitingPods volumeAttachments",
  );
  for (const finding of report.findings)
    expect(keysOf(finding)).toBe("code check status subject text fix command follows followsIndex nodes");
  expect(report.nodes.filter(({ state }: { state: string }) => state !== "registered")).toHaveLength(9);
  expect(code).toBe(1);
});

test.each([
  [3, "one does not report", "Not everything is known: 1 unknown, 0 problems, 1 warning", '"Unknown"'],
  [0, "all report", "No problem found: 0 problems, 1 warning, 0 unknown", '"True"'],
])("a driver without a problem: exit code %i where of its nodes %s", (expected, _what, sum, status) =>
  withKubectl(REPLAYING, async (folder) => {
    writeFileSync(folder.at("answers"), readFileSync(RECORDED, "utf8").replaceAll('"Unknown"', status));
    const { code, text } = await doctor(folder, folder.at("answers"), "--driver=shares.csi.example.com");
    expect(text).toMatch(/^shares\.csi\.example\.com {2}4 of 4 /m);
    expect(text).not.toContain("disk.csi");
    expect([code, text]).toEqual([expected, expect.stringContaining(sum)]);
  }),
);

test("a swap prints the command without it for the same cluster and driver", async () => {
  const { text } = await onSickCluster(
    "--swap",
    "--context=a b",
    "--kubeconfig=/k",
    "--driver=disk.csi.example.com",
  );
  expect(text).toMatch(
    /either image:\n +registrar doctor --cluster --context='a b' --kubeconfig=\/k --driver=disk\.csi\.example\.com$/m,
  );
});

test.each([
  ["--cluster", "registrar.doctor.cluster/1", /^kubectl is not in PATH: /],
  ["-f=/nowhere.yaml", "registrar.doctor/1", /^cannot read \/nowhere\.yaml: ENOENT/],
])("%s without a report: JSON says why", async (words, schema, error) => {
  const { code, text } = await doctorWith({ PATH: "/nowhere" }, words, "--output=json");
  expect([code, JSON.parse(text)]).toEqual([3, { schema, error: expect.stringMatching(error) }]);
});

/** kubectl that never serves. */
const HANGING = `exec "${process.execPath}" -e "setInterval(() => {}, 1000)"`;

const NO_CREDENTIALS = "the kubeconfig has no credentials for its user: kubectl asks for name and password";

test.each<readonly [said: string, script: string]>([
  ["kubectl is not in PATH: run this where kubectl can reach the cluster", ""],
  [
    'kubectl proxy: context "blue" does not exist',
    "echo 'error: context \"blue\" does not exist' >&2; exit 1",
  ],
  ["kubectl proxy: it exited with 3", "exit 3"],
  [
    `kubectl proxy: ${NO_CREDENTIALS}`,
    "printf 'Please enter Username: '; read -r name || echo 'error: EOF' >&2; exit 1",
  ],
])("%s: one line, and exit code 3", (said, script) =>
  withKubectl(script, async (folder) => {
    const { code, text, stderr } = await doctor(folder, "", "--context=blue");
    expect(stderr).toMatch(/^.*\n$/);
    expect(stderr).toContain(`registrar doctor: ${said}`);
    expect([code, text]).toEqual([3, ""]);
  }),
);

test("a kubectl that says in several pieces that it serves, serves", () =>
  withKubectl(
    `printf 'Starting to'; /bin/sleep 0.2; printf ' serve on x\\n'; printf 'I1129 12:' >&2; /bin/sleep 0.2; printf '00:00 a log\\n' >&2
    ${REPLAYING}`,
    async (folder) => {
      const { code, text, stderr } = await doctor(folder, RECORDED);
      expect([code, stderr]).toEqual([1, ""]);
      expect(text).toContain("disk.csi.example.com");
    },
  ));

test("a kubectl that ends while it serves: its last words, its exit code, and nothing of its socket", () =>
  withKubectl(
    "echo 'Starting to serve on x'; echo 'error: the token has expired' >&2; echo 'E1129 12:00:00 a log' >&2; exit 7",
    async (folder) => {
      const { code, text, stderr } = await doctor(folder, "");
      const said = "kubectl proxy exited with 7: error: the token has expired";
      expect(stderr).toMatch(new RegExp(`^registrar doctor: cannot read the cluster: ${said}$`, "m"));
      expect([code, text]).toEqual([3, ""]);
    },
  ));

test("no directory for kubectl's socket: one line, and exit code 3", async () => {
  const { code, stderr } = await doctorWith({ TMPDIR: "/nonexistent" }, "--cluster");
  expect(stderr).toMatch(/^registrar doctor: cannot create a directory for kubectl.*: ENOENT.*\n$/);
  expect(code).toBe(3);
});

test("kubectl proxy gets the context and refuses writes, and ends afterwards", () =>
  withKubectl(`echo $$ "$@" > "$TMPDIR/told"\n${REPLAYING}`, async (folder) => {
    await doctor(folder, RECORDED, "--context=blue", "--kubeconfig=/my/config");
    const [pid = "", ...words] = readFileSync(folder.at("told"), "utf8").trim().split(" ");
    expect(words).toEqual([
      "proxy",
      expect.stringMatching(/^--unix-socket=/),
      "--reject-methods=^(POST|PUT|PATCH|DELETE)$",
      "--context=blue",
      "--kubeconfig=/my/config",
    ]);
    expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
    const [, socket = ""] = /=(.*)/.exec(words[1] ?? "") ?? [];
    expect(() => readFileSync(socket)).toThrow("ENOENT");
  }));

test.each(["SIGKILL", "SIGTERM"] as const)(
  "%s during a report leaves neither kubectl nor its directory",
  (signal) =>
    withKubectl(
      `echo $$ > "$TMPDIR/told.new"; mv "$TMPDIR/told.new" "$TMPDIR/told"; ${HANGING}`,
      async (folder) => {
        const env = { PATH: `${folder.path}:${process.env.PATH}`, TMPDIR: folder.path };
        using command = startCommand(["doctor", "--cluster"], env);
        const pid = await eventually(() => readFileSync(folder.at("told"), "utf8"));
        process.kill(command.pid, signal);
        await eventually(() => {
          expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
          expect(readdirSync(folder.path).sort()).toEqual(["kubectl", "told"]);
        });
      },
    ),
);

test("--kubeconfig of an old registrar's arguments does not select the cluster's mode", async () => {
  const { stdout } = await runCommand("doctor", "--kubeconfig=/x", "--plugin-registration-path=/nowhere");
  expect(stdout).toContain("CSI008");
});
